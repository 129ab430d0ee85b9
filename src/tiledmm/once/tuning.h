/* src/tiledmm/once/tuning.h. Every number that was measured on a GPU: of GPUs, and of blocks of
   kernels.
   Uses: config.h. Used by: launch/, costs.h, device.h, type/explain.h, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* A GPU is described by what it does in a nanosecond (tmm__gpu), one that was not measured by
   its data sheet. A kernel is described by the clocks of its blocks (tmm__costs), those of an
   H200, which GPUs share as far as they share instructions: see bench/notes/choice.md. */

/* Types that have numbers of their own. */
enum { TMM__TUNED_AS_FLOAT, TMM__TUNED_AS_DOUBLE, TMM__TUNED_AS_OTHER, TMM__TUNED_TYPES };
enum { TMM__TUNED_AS_HALF = TMM__TUNED_TYPES }; /* for tmm__rate alone */

/* Kernels by what multiplies: see tmm__rate. */
typedef enum tmm__family {
    TMM__COST_SIMPLE, /* TMM_SHARED_16, TMM_REGISTER_64 and TMM_REGISTER_128 */
    TMM__COST_OUTER,
    TMM__COST_SMALL,
    TMM__COST_SKINNY,
    TMM__COST_PIPELINED,
    TMM__COST_TENSOR /* of double, or of float */
} tmm__family;

/* What a GPU does. */
typedef struct tmm__gpu {
    const char *device;
    int capability;  /* 10 major + minor */
    int bus_width;   /* of its memory, in bits: tells devices of one capability apart, */
    int processors;  /* as do its multiprocessors */
    double clock;    /* of a multiprocessor at work, in GHz */
    double launch;   /* of an empty kernel behind another, in nanoseconds */
    double memory;   /* bytes read in a nanosecond */
    double l2_bytes; /* that are read again faster than from memory */
} tmm__gpu;

/* The H200's as an earlier bench/tune.cu measured it, its L2 by times of arrays of all sizes. The
   H100's: launch and memory are those of bench/results/h100/shapes.csv and memory.csv, its clock is
   the H200's, its L2 in proportion. */
static const tmm__gpu tmm__gpus[] = {
    {"NVIDIA H200", 90, 6016, 132, 1.98, 550, 4590, 39e6},
    {"NVIDIA H100", 90, 5120, 132, 1.98, 890, 3110, 33e6},
};

/* Instances that have numbers of their own. */
enum {
    TMM__TUNED_OUTER = 2,
    TMM__TUNED_SMALL = 4,
    TMM__TUNED_SKINNY = 4,
    TMM__TUNED_PIPELINED = 2,
    TMM__TUNED_TENSOR = 5,
    TMM__TUNED_FLOAT = 4,
    TMM__TUNED_THIN = 4,
    TMM__TUNED_HALF = 3
};
/* Tiles of KERNEL PIPELINED: 64 x 128 or 128 x 64, and 128 x 128. */
enum { TMM__SMALL_TILE, TMM__LARGE_TILE, TMM__TILE_SIZES };
enum { TMM__MOST_RESIDENT = 3 }; /* blocks on a multiprocessor that are told apart */

/* Clocks of the blocks that a multiprocessor has. */
typedef struct tmm__block_costs {
    double first; /* once for a launch */
    double more;  /* each block but the first */
    /* Each k of a block that is alone, of each of two, of three, and of those beyond three. */
    double k[TMM__MOST_RESIDENT + 1];
    double along_k; /* part by which `more` and k rise if operands are contiguous along k, */
    double single;  /* or if they cannot be read by 16 bytes */
    double odd;     /* each block, if rows of C cannot be stored by 16 bytes */
} tmm__block_costs;

/* KERNEL SMALL, in clocks, of an instance. */
typedef struct tmm__small_costs {
    double warps;   /* for which a multiprocessor has registers */
    double first;   /* each round of tiles that are at work together, */
    double few;     /* divided by the warps of a tile, */
    double step;    /* and each step of 8 k of a warp */
    double tile;    /* each tile of a multiprocessor, */
    double warp;    /* each of its warps, */
    double work;    /* and each of its steps */
    double along_k; /* part by which steps take longer if operands are contiguous along k, */
    double single;  /* or if they cannot be read by 16 bytes */
    double odd;     /* each tile, if rows of C cannot be stored by 16 bytes */
} tmm__small_costs;

/* KERNEL OUTER, in clocks. Operands are read from L1, or copied to shared memory. */
typedef struct tmm__outer_costs {
    double direct;                     /* from L1: once, */
    double direct_each;                /* and each k but the first */
    double copy;                       /* by shared memory: once, */
    double copy_each;                  /* each element that a thread copies, */
    double copied;                     /* and for each warp each element that a lane copies */
    double odd;                        /* part by which C takes longer off sectors, */
    double apart;                      /* and times that memory and L2 do: see outer_guess */
    double batch;                      /* times that a batch takes longer */
    double warp[TMM__TUNED_OUTER];     /* for each warp of the busiest multiprocessor: C, */
    double k[TMM__TUNED_OUTER];        /* each k by shared memory, */
    double direct_k[TMM__TUNED_OUTER]; /* and each k from L1 */
} tmm__outer_costs;

/* KERNEL DIRECT, in clocks. */
typedef struct tmm__direct_costs {
    double first;   /* once */
    double halving; /* each halving of the sums of a warp */
    double round;   /* each round of TMM__DIRECT_DEEP k of a member but the first */
    double barrier; /* each halving of the sums of a block's warps, and one more */
    double warp;    /* each warp of a multiprocessor, */
    double load;    /* each of its k, */
    double line;    /* and each line of L1 that it reads for that */
    double byte;    /* each byte that comes from L2 */
    double cluster; /* to add the sums of a cluster's blocks */
    double memory;  /* times that memory takes longer if L2 does not hold A and B */
    double piece;   /* bytes of a line to a block with which memory takes twice as long */
    double share;   /* part by which it does for each group more that shares a row of A */
} tmm__direct_costs;

typedef struct tmm__costs { /* in clocks, if nothing else is said */
    double l2;              /* bytes that a multiprocessor copies from L2 in a clock, if all do */
    double write;   /* times that a byte of C takes longer than one that is read, beyond L2 */
    double cached;  /* times that L2 is faster than memory */
    double exposed; /* part that shows of the shorter: blocks' clocks, or bytes through memory */
    double host;    /* nanoseconds of the host for two launches and memory */
    double gain;    /* part of the time that may remain where SMALL or SKINNY cuts K */
    tmm__block_costs shared_16[TMM__TUNED_TYPES];
    tmm__block_costs register_64[TMM__TUNED_TYPES];
    tmm__block_costs register_128[TMM__TUNED_TYPES];
    struct {
        int rows, cols; /* of C that a warp of KERNEL OUTER has */
    } outer_warp[TMM__TUNED_OUTER];
    tmm__outer_costs outer[TMM__TUNED_TYPES];
    struct {
        int rows, cols; /* of its tile */
        tmm__small_costs tile[TMM__TUNED_TYPES];
    } small_c[TMM__TUNED_SMALL];
    struct {
        int along_k; /* as in TMM__SKINNY_LIST */
        int width;
        tmm__block_costs block[2]; /* of float; copied one by one, by 16 bytes */
    } skinny[TMM__TUNED_SKINNY];
    double sum;      /* KERNEL SUM: once, */
    double sum_byte; /* and each byte that it reads */
    /* KERNEL PIPELINED of float. What a tile that is cut along K takes besides. */
    struct {
        tmm__block_costs block[TMM__TUNED_PIPELINED]; /* any, TN, NN */
        double cut;                                   /* few slices: once, */
        double cut_slice[TMM__TILE_SIZES];            /* and each slice */
        double reduce[TMM__TILE_SIZES];               /* with KERNEL REDUCE, */
        int reduce_from;                              /* for so many slices and more */
        double cluster;                               /* by a cluster, */
        double cluster_round[TMM__TILE_SIZES];        /* and each round of them */
        double even[TMM__TILE_SIZES];                 /* even shares (stream-K), */
        double even_partial[TMM__TILE_SIZES];         /* and each partial tile */
    } pipelined;
    /* KERNEL TENSOR of double, and the same. An element is one of a tile. */
    struct {
        struct {
            int tile_m;
            int tile_n;
            int width; /* elements to a copy */
            tmm__block_costs block;
        } instances[TMM__TUNED_TENSOR];
        double copied;            /* part of the bytes it copies that L2 counts */
        double slices;            /* slices that the first one's block adds: once, */
        double slice;             /* and each element of another slice */
        double reduce;            /* with KERNEL REDUCE: once, */
        double reduce_slice;      /* each slice, */
        double reduce_slice_wide; /* or that, where eight blocks add each part of a tile: */
        int reduce_wide_from;     /* from so many slices on */
        double last;              /* the tiles of a short last round cut: once, */
        double last_slice;        /* and each slice but the first, of 128 x 128 */
        double even;              /* even shares: once, */
        double even_step;         /* times that k takes longer, in slices of 128 x 128, too, */
        double even_partial;      /* each element of a partial tile, */
        double even_held;         /* and the part of L2 that goes by before a line is lost */
        double cluster;           /* by a cluster: once, */
        double cluster_round;     /* and each element of a round of blocks */
        double within;            /* part that L2 gives more of copies that begin within sectors */
        double last_round; /* part of memory's speed that a last round of few tiles leaves idle */
        /* Power sets the clock of what keeps all units and more than half of L2 busy. */
        double power;      /* part by which a launch takes longer, were all of L2 busy, */
        double power_from; /* beyond so many nanoseconds */
        double latency;    /* clocks until memory has sent what a block without others waits for */
    } tensor;
    struct { /* KERNEL NARROW. */
        /* A step of a tile, of two on a multiprocessor: Q along k, and along the lines; 3 and 4
           groups; tiles of 512 and of 256 lines of Q. */
        double step[2][2][2];
        double alone;    /* times that it takes longer where a tile is the only one */
        double launch;   /* once */
        double tile;     /* each tile, */
        double odd;      /* and more where rows of C cannot be stored by 16 bytes */
        double sum_byte; /* each byte of its sum */
        double most;     /* rows or columns of which TMM_AUTO was measured to take it */
    } narrow;
    tmm__direct_costs direct[TMM__TUNED_TYPES];
    double pack;      /* KERNEL PACK: once, */
    double pack_rate; /* and bytes read and written, as a part of memory's rate */
    /* KERNEL TENSOR FLOAT, each by wgmma, then by mma.sync; of an instance that has two blocks on
       a multiprocessor, of two tiles. */
    struct {
        int tile[2][TMM__TUNED_FLOAT][3];      /* rows, columns, warpgroups that share the k */
        double once[2];                        /* a launch */
        double window[2][TMM__TUNED_FLOAT];    /* 64 k of a tile, */
        double busy[2][TMM__TUNED_FLOAT];      /* more where all multiprocessors are at work */
        double tile_more[2][TMM__TUNED_FLOAT]; /* a tile besides */
        double odd[2];   /* each element, where rows of C begin within sectors, or 16 bytes */
        double part[2];  /* of tiles in parts, one to a block, then several: each, in a round, */
        double add[2];   /* and each to be added */
        double l2_bytes; /* of A and B from which blocks keep together in k */
        double convert;  /* KERNEL CONVERT: once, */
        double convert_round; /* each round of all blocks that fit, */
        double convert_rate;  /* and bytes in a nanosecond, as a part of memory's rate */
    } fp16;
    /* KERNEL THIN FLOAT. */
    struct {
        int cols[TMM__TUNED_THIN];       /* lines of the thin operand in a tile */
        double step[2][TMM__TUNED_THIN]; /* 32 k of a tile, by wgmma and by mma.sync */
        double apart[3]; /* times that copies of 4 bytes take, rows off lines, and off 16 bytes */
        double once;     /* nanoseconds of all launches */
        double again;    /* a block of a batch that begins when another one ends */
        double read;   /* bytes of the large operand in a nanosecond, as a part of memory's rate */
        double split;  /* times that a byte of the thin one, and of planes, takes by that rate, */
        double beyond; /* more where L2 does not hold them, */
        double add;    /* and of partial tiles, */
        double add_more; /* more where a block has stored one before */
        double power;    /* as for TENSOR of double, where tensor cores are the limit */
    } thin;
    tmm__block_costs half[TMM__TUNED_HALF]; /* KERNEL TENSOR HALF by mma.sync */
    /* By wgmma: once, 64 k, a tile, a tile of partial sums, `odd` of a tile; part of 64 k that few blocks save. */
    double half_wgmma[TMM__TUNED_HALF][6];
    double half_parts[3]; /* clusters with parts of k: once, a sum; a launch behind KERNEL ALIGN */
    /* KERNEL THIN HALF, in nanoseconds, and what all of 16 bits have: kernels/tensor_half/costs.h. */
    struct {
        double tile[3], step[4], latency[2], cluster[2], memory[2], asked[3], l2[2];
        double align[3], sum[2], host, apart[3], late, words[2], direct;
    } half_thin;
    /* KERNEL TINY HALF: once (first), 32 k (deep), and more for an operand by 2 bytes (late); a tile; 16 k
       of an operand by 8, 4 and 2 bytes, [3]: more of these as far as they exist; 4 rows of C by elements,
       or as many lanes; times that memory takes. */
    struct {
        double first, deep, late, tile, load[4], rows, memory;
    } half_tiny;
    /* KERNEL TENSOR INT8. The device chooses by the first five, in products of bytes by one
       modulus; TMM_AUTO by the last four. `slow` is predicted: fp64_slow and each_slow where FP64
       has 1/64 of the rate of FP32, rate_slow by mma.sync. */
    struct {
        double fp64;  /* all elements by FP64 */
        double each;  /* all elements one by one, */
        double first; /* and the first one, times M N */
        double fp64_slow, each_slow;
        double rate, rate_slow; /* multiply-adds of bytes of a multiprocessor in a clock */
        double memory;          /* bytes of memory as a part of those read */
        double launches;        /* nanoseconds of all launches */
    } int8;
} tmm__costs;

/* Of an H200. bench/fit/fit prints it anew, from times of plans. */
static const tmm__costs tmm__measured = {
    26.2,  /* l2 */
    1.08,  /* write */
    1.06,  /* cached */
    0.144, /* exposed */
    5000,  /* host */
    0.9,   /* gain */
    {
        /* shared_16: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {1680, 250, {39.7, 26, 16.4, 14.6}, 0.08, 0, 78.9},   /* float */
        {1770, 406, {43.5, 34.7, 26.9, 25.5}, 0.05, 0, 117},  /* double */
        {2610, 417, {62.5, 62.5, 62.5, 62.5}, 0.1, 0.1, 208}, /* other */
    },
    {
        /* register_64: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {3650, 1730, {78.2, 63.9, 73.7, 70.1}, 0, 0.194, 644}, /* float */
        {5780, 3780, {216, 210, 208, 200}, 0.02, 0.03, 2440},  /* double */
        {2610, 1040, {83.4, 83.4, 83.4, 83.4}, 0.1, 0.1, 521}, /* other */
    },
    {
        /* register_128: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {7740, 5640, {213, 183, 196, 186}, 0, 0.19, 3000},    /* float */
        {11300, 12600, {524, 528, 511, 495}, 0, 0.04, 13700}, /* double */
        {4170, 3130, {313, 313, 313, 313}, 0.1, 0.1, 1560},   /* other */
    },
    {
        /* outer_warp */
        {8, 128},
        {16, 32},
    },
    {
        /* outer */
        {
            /* float */
            1490,        /* direct */
            287,         /* direct_each */
            1880,        /* copy */
            45.1,        /* copy_each */
            8.39,        /* copied */
            0.763,       /* odd */
            2,           /* apart */
            1.15,        /* batch */
            {186, 129},  /* warp */
            {7.0, 2.72}, /* k */
            {39, 5.24},  /* direct_k */
        },
        {
            /* double */
            1380,         /* direct */
            142,          /* direct_each */
            2380,         /* copy */
            39.3,         /* copy_each */
            5.67,         /* copied */
            0.058,        /* odd */
            3,            /* apart */
            1.15,         /* batch */
            {415, 168},   /* warp */
            {17.7, 12.9}, /* k */
            {77.6, 61.4}, /* direct_k */
        },
        {
            /* other */
            1490,        /* direct */
            287,         /* direct_each */
            2220,        /* copy */
            53.6,        /* copy_each */
            9.35,        /* copied */
            0.182,       /* odd */
            2,           /* apart */
            1.15,        /* batch */
            {217, 124},  /* warp */
            {13.7, 5.7}, /* k */
            {39, 5.24},  /* direct_k */
        },
    },
    {
        /* small_c, of each: warps, first, few, step, tile, warp, work, along_k, single, odd */
        {
            16,                                                  /* rows */
            16,                                                  /* cols */
            {{20, 2320, 423, 422, 163, 0, 68.3, 0.09, 0.01, 0},  /* float */
             {24, 2330, 1760, 281, 107, 0, 62, 0.45, 0.13, 0},   /* double */
             {20, 2270, 423, 456, 158, 0, 65.7, 0.1, 0.1, 343}}, /* other */
        },
        {
            16,                                                          /* rows */
            32,                                                          /* cols */
            {{16, 1820, 2180, 468, 58.6, 62.2, 80.3, 0.18, 0.067, 33.5}, /* float */
             {16, 2090, 3820, 313, 105, 41, 77.5, 0.62, 0.14, 27.2},     /* double */
             {16, 1790, 1980, 539, 55.9, 55.5, 92.3, 0.1, 0.1, 529}},    /* other */
        },
        {
            32,                                                       /* rows */
            32,                                                       /* cols */
            {{16, 1490, 3580, 763, 200, 89, 131, 0.12, 0.07, 66.4},   /* float */
             {12, 1770, 6900, 541, 319, 64, 104, 0.386, 0.151, 23.2}, /* double */
             {16, 1430, 3540, 954, 200, 86.4, 167, 0.1, 0.1, 904}},   /* other */
        },
        {
            32,                                                        /* rows */
            64,                                                        /* cols */
            {{12, 1330, 7600, 927, 198, 170, 214, 0.216, 0.136, 69.1}, /* float */
             {8, 1190, 15500, 841, 0, 328, 161, 0.4, 0.12, 69.4},      /* double */
             {12, 1290, 7250, 1160, 198, 162, 273, 0.1, 0.1, 1650}},   /* other */
        },
    },
    {
        /* skinny, of each: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
        {
            1,                                                       /* along_k */
            4,                                                       /* width */
            {{2060, 374, {8.52, 9.15, 8.96, 8.87}, 0.01, 0.07, 417}, /* one by one */
             {3650, 286, {5.72, 7.38, 7.2, 6.66}, 0.03, 0, 299}},    /* by 16 bytes */
        },
        {
            1,                                                       /* along_k */
            16,                                                      /* width */
            {{3060, 642, {58.3, 58.9, 70.5, 63.7}, 0, 0.00233, 714}, /* one by one */
             {3220, 998, {39.7, 42.2, 47.7, 34.4}, 0, 0.02, 778}},   /* by 16 bytes */
        },
        {
            0,                                                       /* along_k */
            4,                                                       /* width */
            {{1370, 0.037, {19.9, 18, 22.7, 19.3}, 0, 0.00559, 102}, /* one by one */
             {1850, 545, {10.2, 12.5, 9.74, 10.6}, 0, 0.02, 377}},   /* by 16 bytes */
        },
        {
            0,                                                          /* along_k */
            16,                                                         /* width */
            {{3830, 1480, {29.9, 29.3, 29.1, 28.8}, 0, 0, 1470},        /* one by one */
             {8410, 5630, {18.5, 18.1, 18.1, 17.4}, 0.01, 0.01, 1930}}, /* by 16 bytes */
        },
    },
    3170,    /* sum */
    0.00209, /* sum_byte */
    {
        /* pipelined */
        {
            /* block: first, more, k of 1, 2, 3 and more blocks, along_k, single, odd */
            {5030, 2180, {144, 109, 91.5, 103}, 0.0554, 0.0429, 2050}, /* any */
            {7920, 5690, {154, 145, 148, 120}, 0, 0, 1200},            /* TN */
        },
        2800,         /* cut */
        {1470, 2970}, /* cut_slice */
        {4910, 7650}, /* reduce */
        5,            /* reduce_from */
        1770,         /* cluster */
        {528, 4350},  /* cluster_round */
        {5740, 7180}, /* even */
        {852, 2320},  /* even_partial */
    },
    {
        /* tensor */
        {
            /* instances: tile_m, tile_n, width, block (first, more, k of 1, 2, 3 and more blocks,
               along_k, single, odd) */
            {128, 128, 2, {10600, 15000, {130, 126, 134, 137}, 0, 0.05, 15000}},    /* 128 x 128 */
            {64, 64, 2, {4130, 1910, {37.8, 36.4, 36.7, 33.1}, 0.02, 0.159, 1910}}, /* 64 x 64 */
            {64, 64, 1, {3660, 2160, {50.5, 44.2, 45.4, 44.5}, 0, 0.103, 563}},     /* any */
            {32, 64, 2, {3140, 1300, {25.3, 21.5, 21.8, 20.6}, 0.02, 0.209, 1290}}, /* 32 x 64 */
            {96, 128, 2, {8000, 11500, {102, 100, 104, 106}, 0, 0.05, 12000}},      /* 96 x 128 */
        },
        0.778, /* copied */
        8680,  /* slices */
        0.308, /* slice */
        10200, /* reduce */
        598,   /* reduce_slice */
        93.1,  /* reduce_slice_wide */
        32,    /* reduce_wide_from */
        3840,  /* last */
        5430,  /* last_slice */
        15700, /* even */
        1.1,   /* even_step */
        0.276, /* even_partial */
        0.107, /* even_held */
        2620,  /* cluster */
        0.259, /* cluster_round */
        1.9,   /* within */
        0.394, /* last_round */
        0.17,  /* power */
        2e5,   /* power_from */
        1780,  /* latency */
    },
    {
        /* narrow */
        {{{1370, 1090}, {1560, 1330}}, {{1210, 1060}, {1460, 1340}}}, /* step */
        1.14,                                                         /* alone */
        3940,                                                         /* launch */
        4900,                                                         /* tile */
        204,                                                          /* odd */
        8e-4,                                                         /* sum_byte */
        1500,                                                         /* most */
    },
    {
        /* direct */
        {
            /* float */
            1040,    /* first */
            86.8,    /* halving */
            426,     /* round */
            146,     /* barrier */
            51,      /* warp */
            1.69,    /* load */
            0.417,   /* line */
            0.00318, /* byte */
            1090,    /* cluster */
            1.2,     /* memory */
            20,      /* piece */
            0.54,    /* share */
        },
        {
            /* double */
            1310,    /* first */
            74.5,    /* halving */
            405,     /* round */
            122,     /* barrier */
            34.8,    /* warp */
            1.48,    /* load */
            0.75,    /* line */
            0.00366, /* byte */
            1250,    /* cluster */
            1.08,    /* memory */
            20,      /* piece */
            0.335,   /* share */
        },
        {
            /* other */
            1040,    /* first */
            86.8,    /* halving */
            426,     /* round */
            146,     /* barrier */
            51,      /* warp */
            1.69,    /* load */
            0.417,   /* line */
            0.00318, /* byte */
            1090,    /* cluster */
            1.2,     /* memory */
            20,      /* piece */
            0.54,    /* share */
        },
    },
    3510,  /* pack */
    0.715, /* pack_rate */
    {
        /* fp16 */
        {{{256, 128, 1}, {128, 192, 1}, {128, 64, 1}, {64, 64, 2}},
         {{128, 128, 1}, {64, 64, 1}, {0, 0, 0}, {0, 0, 0}}}, /* tile */
        {1410, 0},                                            /* once */
        {{3500, 2330, 898, 667}, {4690, 2500, 0, 0}},         /* window */
        {{517, 702, 322, 90}, {0, 0, 0, 0}},                  /* busy */
        {{10600, 8420, 3610, 2040}, {3650, 1880, 0, 0}},      /* tile_more */
        {0.215, 0.438},                                       /* odd */
        {2720, 4160},                                         /* part */
        {800, 580},                                           /* add */
        6e7,                                                  /* l2_bytes */
        4500,                                                 /* convert */
        1240,                                                 /* convert_round */
        2.0,                                                  /* convert_rate */
    },
    {
        /* thin */
        {32, 64, 96, 128},                                    /* cols */
        {{1010, 1240, 1490, 1770}, {1450, 2200, 2990, 4900}}, /* step */
        {1.26, 1.01, 1.14},                                   /* apart */
        5990,                                                 /* once */
        3000,                                                 /* again: estimated */
        0.93,                                                 /* read */
        0.303,                                                /* split */
        2.43,                                                 /* beyond */
        1.21,                                                 /* add */
        1.56,                                                 /* add_more */
        0.229,                                                /* power */
    },
    {
        /* half */
        {7080, 5980, {33.9, 33.2, 35.4, 45.7}, 0, 2.68, 9990},
        {7210, 1540, {26, 19, 25.5, 23.9}, 0, 3.88, 5260},
        {5150, 1070, {12, 9.31, 6.26, 6.22}, 0, 3.76, 1020},
    },
    {
        /* half by wgmma */
        {1070, 1110, 3870, 9060, 9250, 0.115},
        {1640, 613, 1920, 2960, 4470, 0.104},
        {1660, 871, 3200, 4960, 8440, 0.115},
    },
    {875, 0.248, 1500}, /* half parts */
    {
        /* half thin */
        {34.7, 2200, 37.6},         /* tile */
        {192, 227, 369, 482},       /* step */
        {2530, 3290},               /* latency */
        {1520, 18},                 /* cluster */
        {1200, 600},                /* memory */
        {962000, 293000, 0.0393},   /* asked */
        {15000, 2.46},              /* l2 */
        {2880, 0.000166, 0.000476}, /* align */
        {4020, 0.000282},           /* sum */
        6760,                       /* host */
        {1.9, 2.68, 0.327},         /* apart */
        1.06,                       /* late */
        {0.034, 0.041},             /* words */
        1.4,                        /* direct: clocks of KERNEL DIRECT, times those of float */
    },
    /* half tiny */
    {554, 1310, 831, 93.9, {38.7, 55, 44.1, 70.1}, 21.2, 1.17},
    {
        /* int8 */
        26,      /* fp64 */
        1600,    /* each */
        6500000, /* first */
        400,     /* fp64_slow */
        2000,    /* each_slow */
        2770,    /* rate */
        491,     /* rate_slow */
        0.74,    /* memory */
        30000,   /* launches */
    },
};

/* The row of a GPU, of which `sheet` has what the data sheet says; or that, if it has none. */
static inline tmm__gpu tmm__gpu_for(const tmm__gpu *sheet)
{
    const int count = (int)(sizeof tmm__gpus / sizeof *tmm__gpus);
    for (int n = 0; n < count; n++)
        if (tmm__gpus[n].capability == sheet->capability &&
            tmm__gpus[n].bus_width == sheet->bus_width &&
            tmm__gpus[n].processors == sheet->processors)
            return tmm__gpus[n];
    return *sheet;
}

/* The costs that predict: bench/fit tries others. */
#ifndef TMM__COSTS
#define TMM__COSTS (&tmm__measured)
#endif
static inline const tmm__costs *tmm__tuned(void)
{
    return TMM__COSTS;
}
#endif
