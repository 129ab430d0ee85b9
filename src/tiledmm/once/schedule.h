/* src/tiledmm/once/schedule.h. Which block computes what (stream-K), and constants that kernels share with their launchers.
   Uses: once/ptx.cuh. Used by: KERNEL PIPELINED, TENSOR, TENSOR FLOAT and their launchers. */
#if TMM__KERNELS && !defined(TMM__PART_SCHEDULE)
#define TMM__PART_SCHEDULE
/* Blocks of a grid along y or z, at most. */
enum { TMM__MOST_GRID = 65535 };

/* Rows or columns of a narrow C that KERNEL SKINNY takes at most. */
enum { TMM__SKINNY_MOST = 16 };

/* What a launcher is allowed to do. */
enum { TMM__CUT_K = 1, TMM__PACK = 2 };

/* How the k of a tile are divided: not; in pieces that a block of the tile adds up, KERNEL REDUCE or
   SUM, or a cluster; only of the tiles of a last, short round; in even shares (stream-K). */
enum {
    TMM__PLAN_WHOLE,
    TMM__PLAN_PIECES,
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

/* KERNEL OUTER: rows and columns of a thread, and threads of a block. */
enum { TMM__OUTER_EDGE = 4, TMM__OUTER_THREADS = 128 };

/* Rows of tiles that are walked together, by KERNEL PIPELINED and KERNEL TENSOR. */
enum { TMM__BAND = 4, TMM__TENSOR_BAND = 8 };

/* Blocks of a cluster that have the pieces of a tile, at most: 2, 4 or this many. */
enum { TMM__MOST_CLUSTER = 8 };

/* KERNEL TENSOR: depth of a step, and stages; bytes of all stages with tiles of m x n elements. */
enum { TMM__TENSOR_DEPTH = 16, TMM__TENSOR_STAGES = 3 };
enum { TMM__MOST_PIECES = 8 }; /* of a tile of the last round */
#define TMM__TENSOR_BYTES(m, n) (TMM__TENSOR_STAGES * TMM__TENSOR_DEPTH * ((m) + (n)) * 8)

/* Which block computes what: see KERNEL PIPELINED. */
typedef struct tmm__schedule {
    int tiles_down, tiles_across; /* the tiles of C */
    int steps;                    /* steps along K for each */
    int streamk_tiles;            /* so many tiles are shared out in steps, not whole */
    int streamk_blocks;           /* among the last so many blocks; the others have whole tiles */
    int reduce;                   /* all pieces become partial tiles, for KERNEL REDUCE */
    int packed_A, packed_B;       /* by KERNEL PACK: lines padded to whole tiles */
    int tall;       /* tiles are 128 x 64, not 64 x 128: KERNEL PIPELINED, any operands */
    int cluster;    /* so many blocks, of one cluster, have a tile's pieces; 0: no clusters */
    void *partials; /* a tile of sums for each block */
    unsigned long long *flags; /* one for each block: its partial tile is ready, */
    unsigned long long ticket; /* when it holds this number, no other launch's */
} tmm__schedule;
#endif
