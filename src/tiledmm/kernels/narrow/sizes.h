/* src/tiledmm/kernels/narrow/sizes.h. Sizes of KERNEL NARROW, and its instances.
   Uses: once/config.h. Used by: kernel.cuh, launch.h, type/instances.h. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* KERNEL NARROW: depth of a step, and stages; lines of Q and places of P in a row of a stage, and a
   row, which has 4 more against bank conflicts. The least K for which TMM_AUTO takes it: below, its
   time is that of storing C, which others do faster. */
enum {
    TMM__NARROW_LEAST = 16,
    TMM__NARROW_THREADS = 128,
    TMM__NARROW_DEPTH = 8,
    TMM__NARROW_STAGES = 3,
    TMM__NARROW_LINES = 512,
    TMM__NARROW_PLACES = 64,
    TMM__NARROW_PITCH = TMM__NARROW_PLACES + TMM__NARROW_LINES + 4
};

/* A tile of KERNEL NARROW, and how lines of C lie. */
typedef struct tmm__narrow {
    int down_log2; /* a tile has 1024 >> down_log2 lines of Q, and a group of P 4 << down_log2 */
    int tilesP;    /* along P */
    int turned;    /* lines of P are columns of C */
} tmm__narrow;

/* The instances: pass, name, groups of lines of P. */
#define TMM__NARROW_LIST(_) TMM__IF_FLOAT(_(3, 3, 3) _(4, 4, 4))
#endif
