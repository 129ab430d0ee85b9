/* src/tiledmm/once/schedule.h. Which block computes what (stream-K), and constants of kernels and
   launchers.
   Uses: once/ptx.cuh. Used by: KERNEL PIPELINED, TENSOR, TENSOR FLOAT and their launchers. */
#if TMM__KERNELS && !defined(TMM__PART_SCHEDULE)
#define TMM__PART_SCHEDULE
/* Blocks of a grid along y or z, at most. */
enum { TMM__MOST_GRID = 65535 };

/* Rows or columns of a narrow C that KERNEL SKINNY takes at most. */
enum { TMM__SKINNY_MOST = 16 };

/* What a launcher is allowed to do. */
enum { TMM__CUT_K = 1, TMM__PACK = 2 };

/* How the k of a tile are divided: not; in slices that a block of the tile adds up, KERNEL REDUCE
   or SUM, or a cluster; only of the tiles of a last, short round; in even shares (stream-K). */
enum {
    TMM__PLAN_WHOLE,
    TMM__PLAN_SLICES,
    TMM__PLAN_REDUCE,
    TMM__PLAN_CLUSTERS,
    TMM__PLAN_LAST_ROUND,
    TMM__PLAN_EVEN
};

/* How a tile of an operand is copied: see KERNEL PIPELINED. */
enum { TMM__ALONG_K, TMM__ALONG_LINES, TMM__VECTORS };

/* Blocks of KERNEL PIPELINED for any operands to a multiprocessor, for elements of `size` bytes. */
#if defined(__CUDA_ARCH__) && !TMM__ASYNC
#define TMM__ANY_BLOCKS(size) 2
#else
#define TMM__ANY_BLOCKS(size) ((size) <= 4 ? 3 : 2)
#endif

/* KERNEL OUTER: columns of a thread, the most warps of a block, the most k that are read straight
   from L1, the most in shared memory, beyond which it is not thought of, and a multiple of which is
   there. */
enum { TMM__OUTER_COLS = 4, TMM__OUTER_WARPS = 8 };
enum { TMM__OUTER_DIRECT = 2, TMM__OUTER_MOST = 64, TMM__OUTER_STEP = 16 };

enum { TMM__SMALL_WARPS_LOG2 = 3 }; /* KERNEL SMALL: warps of a block at most */

/* KERNEL DIRECT: threads of a block, as a power of two, and at most; k of which all loads are under
   way together; multiply-adds beyond which it is not thought of, more where C has so few rows or
   columns that nearly each element is read once. What neighbouring threads are: see there. */
enum { TMM__DIRECT_BLOCK = 8, TMM__DIRECT_MOST = 1024, TMM__DIRECT_DEEP = 8 };
/* Threads that a multiprocessor has room for, with elements of 4 bytes and of 8. */
enum { TMM__DIRECT_RESIDENT = 2048, TMM__DIRECT_RESIDENT_8 = 1024 };
enum { TMM__DIRECT_WORK = 3000000, TMM__DIRECT_NARROW_WORK = 100000000, TMM__DIRECT_NARROW = 4 };
enum { TMM__MEMBERS, TMM__GROUPS };
/* Blocks of its clusters, as a power of two, groups of such a block at most; K that they are
   not thought of up to. */
enum { TMM__DIRECT_CLUSTER = 3, TMM__DIRECT_GROUPS = 64, TMM__DIRECT_CLUSTER_K = 256 };

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

/* Its tile, and how lines of C stand: see there. */
typedef struct tmm__narrow {
    int down_log2; /* a tile has 1024 >> down_log2 lines of Q, and a group of P 4 << down_log2 */
    int tilesP;    /* along P */
    int turned;    /* lines of P are columns of C */
} tmm__narrow;

/* KERNEL PIPELINED: k of a step, stages, threads of a block; lines that instance ANY copies
   together; rows that TN stores through shared memory at a time. */
enum { TMM__PIPELINED_DEPTH = 8, TMM__PIPELINED_STAGES = 3, TMM__PIPELINED_THREADS = 128 };
enum { TMM__PIPELINED_UNIT = 64, TMM__PIPELINED_STAGED_ROWS = 4 };

/* Rows of tiles that are walked together, by KERNEL PIPELINED and KERNEL TENSOR. */
enum { TMM__BAND = 4, TMM__TENSOR_BAND = 8 };

/* Blocks of a cluster that have the slices of a tile, at most: 2, 4 or this many. */
enum { TMM__MOST_CLUSTER = 8 };

/* KERNEL TENSOR: depth of a step, and stages; bytes of all stages with tiles of m x n elements. */
enum { TMM__TENSOR_DEPTH = 16 };
enum { TMM__TENSOR_PITCH = 40 }; /* of 32 columns of C in shared memory: no bank conflicts */
#define TMM__TENSOR_STAGES(m, n) ((m) + (n) < 128 ? 4 : 3)
enum { TMM__MOST_SLICES = 8 }; /* of a tile of the last wave */
#define TMM__TENSOR_BYTES(m, n) (TMM__TENSOR_STAGES(m, n) * TMM__TENSOR_DEPTH * ((m) + (n)) * 8)

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
} tmm__schedule;
#endif
