/* src/tiledmm/once/schedule.h. Which block computes what (stream-K), and constants of kernels and
   launchers.
   Uses: config.h. Used by: host/devices.h, kernels/common/, launch/, device.h, type/, kernels/. */
#if TMM__KERNELS && !defined(TMM__ONCE)
/* Blocks of a grid along y or z, at most. */
enum { TMM__MOST_GRID = 65535 };

/* What a launcher is allowed to do; or to know: it gets all of a batch, so that what it chooses is so
   for all products; an operand has been prepared. */
enum {
    TMM__CUT_K = 1,
    TMM__PACK = 2,
    TMM__SPLIT = 4,
    TMM__ALL_OF_BATCH = 8,
    TMM__READY_A = 16,
    TMM__READY_B = 32
};

/* How the k of a tile are divided: not at all; in slices, added up by a block of the tile, by
   KERNEL REDUCE or SUM, or by a cluster; in slices, but only tiles of a last, short round; in even
   shares (stream-K). */
enum {
    TMM__PLAN_WHOLE,
    TMM__PLAN_SLICES,
    TMM__PLAN_REDUCE,
    TMM__PLAN_CLUSTERS,
    TMM__PLAN_LAST_ROUND,
    TMM__PLAN_EVEN
};

/* How a tile of an operand is copied; KERNEL PIPELINED says what they mean. */
enum { TMM__ALONG_K, TMM__ALONG_LINES, TMM__VECTORS };

/* Rows of tiles that are walked together, by KERNEL PIPELINED and KERNEL TENSOR. */
enum { TMM__BAND = 4, TMM__TENSOR_BAND = 8 };

/* Blocks of a cluster that have the slices of a tile, at most: 2, 4 or this many. */
enum { TMM__MOST_CLUSTER = 8 };

enum { TMM__MOST_SLICES = 8 }; /* of a tile of the last wave */

/* Threads that add the parts of an element in KERNEL SUM where C is small. */
enum { TMM__SUM_GROUPS = 8 };

/* Which block computes what: see KERNEL PIPELINED. */
typedef struct tmm__schedule {
    int tiles_down, tiles_across; /* the tiles of C */
    int steps;                    /* steps along K for each */
    int streamk_tiles;            /* tiles whose steps are divided among blocks: the first ones */
    int streamk_blocks;           /* which these are: the last ones of the grid */
    int reduce;                   /* 1: KERNEL REDUCE adds all partial tiles */
    int packed_A, packed_B;       /* 1: KERNEL PACK has padded its lines to whole tiles */
    int is_tall;    /* tiles are 128 x 64, not 64 x 128: KERNEL PIPELINED, any operands; or 64 x 32,
                       not 32 x 64: KERNEL TENSOR */
    int cluster;    /* blocks of a cluster, which have the slices of one tile; 0: no clusters */
    void *partials; /* partial tiles, one for each block */
    unsigned long long *flags; /* flags[block] == ticket: its partial tile is ready */
    unsigned long long ticket; /* another one for every launch */
#ifdef TMM_DOUBLE_TENSOR
    const unsigned *unless; /* KERNEL TENSOR does nothing if this is not 0; NULL: it does */
#endif
#ifdef TMM_WITH_SYRK
    int triangle, squares, ratio_log2; /* see once/triangle.cuh */
#endif
} tmm__schedule;
#endif
