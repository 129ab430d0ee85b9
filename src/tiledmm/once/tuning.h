/* src/tiledmm/once/tuning.h. Every number that was measured on a GPU: of GPUs, and of blocks of
   kernels.
   Uses: nothing.
   Used by: once/device.h, once/costs.h, the launchers and their plans, type/choose.h. */
#if TMM__HOST && !defined(TMM__PART_TUNING)
#define TMM__PART_TUNING
/* Times are predicted from two tables. A GPU is described by what it does in a nanosecond
   (tmm__gpu); its data sheet says that of one that was not measured. A kernel is described by the
   clocks of its blocks (tmm__costs), which GPUs share as far as they share instructions: those of
   an H200. bench/notes/choice.md says how they were found. */

/* Types that have numbers of their own. */
enum { TMM__TUNED_AS_FLOAT, TMM__TUNED_AS_DOUBLE, TMM__TUNED_AS_OTHER, TMM__TUNED_TYPES };

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
    TMM__TUNED_PIPELINED = 3,
    TMM__TUNED_TENSOR = 4,
    TMM__TUNED_FLOAT = 4
};
/* Tiles of KERNEL PIPELINED: 64 x 128 or 128 x 64, and 128 x 128. */
enum { TMM__SMALL_TILE, TMM__LARGE_TILE, TMM__TILE_SIZES };
enum { TMM__MOST_RESIDENT = 3 }; /* blocks on a multiprocessor that are told apart */

/* Clocks of the blocks that a multiprocessor has: `first` once, and for each k of a block k[0] if
   it is alone, k[1] if there are two, k[2] if three, k[3] for each beyond these; for each block but
   the first `more`. All but `first` take longer by the part along_k if operands are contiguous
   along k, and by `single` if they cannot be read by 16 bytes. For each block `odd`, if rows of C
   cannot be stored by 16 bytes. */
typedef struct tmm__block_costs {
    double first, more, k[TMM__MOST_RESIDENT + 1], along_k, single, odd;
} tmm__block_costs;

/* KERNEL SMALL, in clocks, of an instance of which a multiprocessor has registers for so many warps.
   For each round of tiles that are at work together: `first`, `few` / warps of a tile, and `step`
   for each step of 8 k of a warp. For each tile of a multiprocessor: `tile`, `warp` for each of its
   warps, `work` for each of its steps, and `odd`, if rows of C cannot be stored by 16 bytes. Steps
   take longer by the parts along_k and `single`: see tmm__block_costs. */
typedef struct tmm__small_costs {
    double warps, first, few, step, tile, warp, work, along_k, single, odd;
} tmm__small_costs;

/* KERNEL OUTER, in clocks. Straight from L1: once, and for each k but the first. By shared memory:
   once, and for each element that a thread copies. For each warp of the busiest multiprocessor:
   each element that a lane copies; C, by instance; each k by shared memory, and from L1. Where rows
   of C begin within sectors and a block has 32 columns: odd, how much longer C takes; apart, how
   much longer memory and L2 do. batch: how much longer a batch takes. */
typedef struct tmm__outer_costs {
    double direct, direct_each, copy, copy_each, copied, odd, apart, batch;
    double warp[TMM__TUNED_OUTER], k[TMM__TUNED_OUTER], direct_k[TMM__TUNED_OUTER];
} tmm__outer_costs;

/* KERNEL DIRECT, in clocks: once; for each halving of the sums of a warp; for each round of
   TMM__DIRECT_DEEP k of a member but the first; to add the sums of warps, and for each halving of
   these; cluster: to add those of its blocks. For each warp of a multiprocessor; for each of its k,
   and for each line of L1 that it reads then; for each byte that comes from L2. memory: how much
   longer memory takes beyond L2; piece: bytes of a line with which it is twice as long, since other
   blocks read what lies beside them at other times; share: and for each group more that shares its
   loads. */
typedef struct tmm__direct_costs {
    double first, halving, round, barrier, warp, load, line, byte, cluster, memory, piece, share;
} tmm__direct_costs;

/* Clocks, if nothing else is said. */
typedef struct tmm__costs {
    /* Bytes that all multiprocessors together copy from L2 in a clock, for each of them. */
    double l2;
    /* How many times as long it takes to write a byte of C as to read one, if L2 does not hold
       C. */
    double write;
    /* How much faster L2 is than memory. */
    double cached;
    /* The part that is not hidden of what is shorter: blocks' clocks, or bytes through memory. */
    double exposed;
    /* Nanoseconds that the host takes for a launch, for two of them, and memory. The part of the
       time that has to remain for SMALL and SKINNY to cut K; for SKINNY saving `host` will do. */
    double host, gain;
    tmm__block_costs shared_16[TMM__TUNED_TYPES], register_64[TMM__TUNED_TYPES],
        register_128[TMM__TUNED_TYPES];
    /* KERNEL OUTER: of C that a warp has, by instance; and the costs. */
    struct {
        int rows, cols;
    } outer_warp[TMM__TUNED_OUTER];
    tmm__outer_costs outer[TMM__TUNED_TYPES];
    struct {
        int rows, cols;
        tmm__small_costs tile[TMM__TUNED_TYPES];
    } small_c[TMM__TUNED_SMALL];
    /* KERNEL SKINNY, by instance, of elements of 4 bytes and of 8, with copies of single elements
       and of 16 bytes. */
    struct {
        int along_k, width;
        tmm__block_costs block[2][2];
    } skinny[TMM__TUNED_SKINNY];
    /* KERNEL SUM: once, and for each byte that it reads. */
    double sum, sum_byte;
    /* KERNEL PIPELINED of float, by instance: any, TN, NN. What a tile that is cut along K takes
       besides: in few slices, and each slice; with KERNEL REDUCE, for reduce_from slices and more;
       by a cluster, and each round of them; with even shares (stream-K), and each partial tile. */
    struct {
        tmm__block_costs block[TMM__TUNED_PIPELINED];
        double cut, cut_slice[TMM__TILE_SIZES], reduce[TMM__TILE_SIZES];
        int reduce_from;
        double cluster, cluster_round[TMM__TILE_SIZES];
        double even[TMM__TILE_SIZES], even_partial[TMM__TILE_SIZES];
    } pipelined;
    /* KERNEL TENSOR of double, by instance (width: elements to a copy), and the same. copied: the
       part of the bytes it copies that L2 counts. slice: for each element of a slice that another
       block adds up. reduce_wide_from: slices from which eight blocks add up each part of a tile.
       last: the tiles of a last, short round are cut. even_held: the part of L2 whose worth of
       bytes goes by before a line is lost, see tmm__again. */
    struct {
        struct {
            int tile_m, tile_n, width;
            tmm__block_costs block;
        } instances[TMM__TUNED_TENSOR];
        double copied, slices, slice, reduce, reduce_slice, reduce_slice_wide;
        int reduce_wide_from;
        double last, last_slice, even, even_step, even_partial, even_held;
        double cluster, cluster_round; /* and for each element of a round of blocks */
        double within; /* how much more L2 has to give where copies begin within sectors */
        /* Power sets the clock of what keeps all units and more than half of L2 busy. Beyond
           power_from nanoseconds a launch takes longer: by `power`, were all of L2 busy. */
        double power, power_from;
    } tensor;
    /* KERNEL NARROW: a step of a tile, of two on a multiprocessor, with Q along k and along the
       lines; of 3 and of 4 groups; with tiles of 512 and of 256 lines of Q. alone: so much longer
       where it is the only one. A launch, and each tile besides; each where rows of C cannot be
       stored by 16 bytes; for each byte of its sum. most: rows or columns of which TMM_AUTO was
       measured to take it. */
    struct {
        double step[2][2][2], alone, launch, tile, odd, sum_byte, most;
    } narrow;
    tmm__direct_costs direct[TMM__TUNED_TYPES];
    /* KERNEL PACK: once, and bytes read and written in a nanosecond as a part of those of
       memory. */
    double pack, pack_rate;
    /* KERNEL TENSOR FLOAT, each by wgmma, then by mma.sync. Clocks of a launch, once; of 64 k of a
       tile of each instance: window, and busy more where all multiprocessors are at work; of a tile
       besides; for each element where rows of C cannot be stored by whole sectors, or 16 bytes. With
       two blocks on a multiprocessor, of two tiles. For tiles in parts, one to a block, then
       several: of a part, in each round; of each part, to be added. l2_bytes: blocks keep together
       in k if A and B have more. */
    struct {
        int tile[2][TMM__TUNED_FLOAT][3]; /* rows, columns, warpgroups that share the k */
        double once[2], window[2][TMM__TUNED_FLOAT], busy[2][TMM__TUNED_FLOAT];
        double tile_more[2][TMM__TUNED_FLOAT], odd[2], part[2], add[2], l2_bytes;
        /* KERNEL CONVERT: clocks of a launch, once, and of each round of all blocks that fit; bytes
           in a nanosecond as a part of those of memory. */
        double convert, convert_round, convert_rate;
    } fp16;

    /* KERNEL TENSOR INT8. What all elements cost by FP64, and what they would cost one by one, in
       products of bytes by one modulus; first: what the first one costs, times M N; slow: where
       FP64 has 1/64 of the rate of FP32, as predicted. TMM_AUTO: multiply-adds of bytes of a
       multiprocessor in a clock, by wgmma and (as predicted) by mma.sync; bytes of memory as a part
       of those read; nanoseconds of all launches. */
    struct {
        double fp64, each, first, fp64_slow, each_slow;
        double rate, rate_slow, memory, launches;
    } int8;
} tmm__costs;

/* Of an H200. */
static const tmm__costs tmm__measured = {
    26.2,  /* l2 */
    1.08,  /* write */
    1.06,  /* cached */
    0.144, /* exposed */
    5000,  /* host */
    0.9,   /* gain */
    {{1680, 250, {39.7, 26, 16.4, 14.6}, 0.08, 0, 78.9},
     {1770, 406, {43.5, 34.7, 26.9, 25.5}, 0.05, 0, 117},
     {2610, 417, {62.5, 62.5, 62.5, 62.5}, 0.1, 0.1, 208}}, /* shared_16 */
    {{3650, 1730, {78.2, 63.9, 73.7, 70.1}, 0, 0.194, 644},
     {5780, 3780, {216, 210, 208, 200}, 0.02, 0.03, 2440},
     {2610, 1040, {83.4, 83.4, 83.4, 83.4}, 0.1, 0.1, 521}}, /* register_64 */
    {{7740, 5640, {213, 183, 196, 186}, 0, 0.19, 3000},
     {11300, 12600, {524, 528, 511, 495}, 0, 0.04, 13700},
     {4170, 3130, {313, 313, 313, 313}, 0.1, 0.1, 1560}}, /* register_128 */
    {{8, 128}, {16, 32}},                                 /* outer_warp */
    {{1490, 287, 1880, 45.1, 8.39, 0.763, 2, 1.15, {186, 129}, {5.8, 2.72}, {39, 5.24}},
     {1380, 142, 2380, 39.3, 5.67, 0.058, 3, 1.15, {415, 168}, {17.7, 12.9}, {77.6, 61.4}},
     {1490,
      287,
      2220,
      53.6,
      9.35,
      0.182,
      2,
      1.15,
      {217, 124},
      {13.7, 5.7},
      {39, 5.24}}}, /* outer */
    {{16,
      16,
      {{20, 2320, 423, 422, 163, 0, 68.3, 0.09, 0.01, 0},
       {24, 2330, 1760, 281, 107, 0, 55, 0.61, 0.13, 0},
       {20, 2270, 423, 456, 158, 0, 65.7, 0.1, 0.1, 343}}},
     {16,
      32,
      {{16, 1820, 2180, 468, 58.6, 62.2, 80.3, 0.18, 0.067, 33.5},
       {16, 2090, 3820, 313, 105, 41, 77.5, 0.62, 0.14, 27.2},
       {16, 1790, 1980, 539, 55.9, 55.5, 92.3, 0.1, 0.1, 529}}},
     {32,
      32,
      {{16, 1490, 3580, 763, 200, 89, 131, 0.12, 0.07, 66.4},
       {12, 1840, 7000, 541, 323, 64.9, 110, 0.38, 0.15, 23.2},
       {16, 1430, 3540, 954, 200, 86.4, 167, 0.1, 0.1, 904}}},
     {32,
      64,
      {{12, 1330, 7600, 927, 198, 170, 214, 0.216, 0.136, 69.1},
       {8, 1190, 15500, 841, 0, 328, 161, 0.4, 0.12, 69.4},
       {12, 1290, 7250, 1160, 198, 162, 273, 0.1, 0.1, 1650}}}}, /* small_c */
    {{1,
      4,
      {{{2340, 374, {9.35, 9.15, 8.96, 8.87}, 0.01, 0.07, 427},
        {2390, 281, {5.84, 6.34, 6.73, 6.66}, 0.03, 0, 299}},
       {{2320, 743, {15.7, 14.2, 13.7, 13.9}, 0, 0, 456},
        {2210, 759, {12.6, 11.1, 11.7, 11.9}, 0.1, 0, 704}}}},
     {1,
      16,
      {{{3290, 642, {60.1, 62.7, 64.7, 64.9}, 0, 0, 714},
        {3890, 950, {41, 34.5, 41.8, 37.4}, 0, 0.02, 982}},
       {{2650, 0.0887, {77.6, 69.6, 71.9, 70}, 0, 0, 102},
        {2780, 2590, {60.6, 37.7, 40.3, 42.3}, 0, 0.01, 2040}}}},
     {0,
      4,
      {{{1750, 0.037, {19.3, 18.8, 20, 19.2}, 0, 0, 104},
        {2270, 599, {12.8, 11.3, 10.8, 11.2}, 0, 0.02, 420}},
       {{1740, 312, {14.9, 14.4, 14.9, 15}, 0, 0, 303},
        {2250, 888, {13.5, 10.9, 13.2, 11.2}, 0, 0, 354}}}},
     {0,
      16,
      {{{3830, 1480, {29.9, 29.3, 29.1, 28.8}, 0, 0, 1470},
        {8620, 5500, {18.5, 18.1, 18.1, 17.4}, 0.01, 0.01, 1930}},
       {{2570, 1090, {31.1, 28.5, 27.5, 26.7}, 0.01, 0, 993},
        {3030, 1270, {28.3, 30.1, 29.7, 23.2}, 0.14, 0.05, 771}}}}}, /* skinny */
    3170,                                                            /* sum */
    0.00209,                                                         /* sum_byte */
    {
        {{5230, 1810, {144, 105, 92.6, 92.3}, 0.057, 0.039, 2150},
         {7300, 4880, {157, 148, 166, 146}, 0, 0, 1220},
         {7150, 4710, {169, 167, 184, 162}, 0, 0, 4800}}, /* pipelined */
        2800,                                             /* cut */
        {1470, 2970},                                     /* cut_slice */
        {4910, 7650},                                     /* reduce */
        5,                                                /* reduce_from */
        2190,                                             /* cluster */
        {660, 4830},                                      /* cluster_round */
        {8070, 7180},                                     /* even */
        {1080, 1850},                                     /* even_partial */
    },
    {
        {{128, 128, 2, {10600, 9960, {130, 126, 134, 137}, 0, 0.05, 15000}},
         {64, 64, 2, {4210, 2130, {42.5, 34.4, 37.7, 31.9}, 0.02, 0.1, 2280}},
         {64, 64, 1, {4580, 2120, {47.5, 43.9, 45.4, 44.5}, 0, 0, 900}},
         {32, 64, 2, {4120, 1340, {25.4, 18.7, 21.8, 19.4}, 0.02, 0.2, 1390}}}, /* tensor */
        0.72,                                                                   /* copied */
        7890,                                                                   /* slices */
        0.347,                                                                  /* slice */
        6380,                                                                   /* reduce */
        375,                                                                    /* reduce_slice */
        101,    /* reduce_slice_wide */
        32,     /* reduce_wide_from */
        5290,   /* last */
        7980,   /* last_slice */
        11100,  /* even */
        1.04,   /* even_step */
        0.253,  /* even_partial */
        0.0559, /* even_held */
        2500,   /* cluster */
        0.25,   /* cluster_round */
        1.5,    /* within */
        0.27,   /* power */
        1e5,    /* power_from */
    },
    {
        {{{1270, 1050}, {1580, 1320}}, {{1160, 998}, {1490, 1320}}}, /* step */
        1.15,                                                        /* alone */
        6330,                                                        /* launch */
        1910,                                                        /* tile */
        172,                                                         /* odd */
        1.07e-3,                                                     /* sum_byte */
        1500,                                                        /* most */
    },
    {{1040, 86.8, 426, 146, 51, 1.69, 0.417, 0.00318, 1090, 1.2, 20, 0.54},
     {1310, 74.5, 405, 132, 34.8, 1.48, 0.651, 0.00366, 1250, 1.08, 20, 0.335},
     {1040, 86.8, 426, 146, 51, 1.69, 0.417, 0.00318, 1090, 1.2, 20, 0.54}}, /* direct */
    3510,                                                                    /* pack */
    0.715,                                                                   /* pack_rate */
    {
        {{{256, 128, 1}, {128, 192, 1}, {128, 64, 1}, {64, 64, 2}},
         {{128, 128, 1}, {64, 64, 1}}},            /* tile */
        {1410, 0},                                 /* once */
        {{3500, 2330, 898, 667}, {4690, 2500}},    /* window */
        {{517, 702, 322, 90}, {0}},                /* busy */
        {{10600, 8420, 3610, 2040}, {3650, 1880}}, /* tile_more */
        {0.215, 0.438},                            /* odd */
        {3380, 4160},                              /* part */
        {602, 580},                                /* add */
        6e7,                                       /* l2_bytes */
        5770,                                      /* convert */
        1240,                                      /* convert_round */
        1.87,                                      /* convert_rate */
    },
    {
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

static inline const tmm__costs *tmm__tuned(void)
{
    return &tmm__measured;
}
#endif
