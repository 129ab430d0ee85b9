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
    int capability; /* 10 major + minor */
    int bus_width;  /* of its memory, in bits: tells devices of one capability apart, */
    int processors; /* as do its multiprocessors */
    double clock;   /* of a multiprocessor at work, in GHz */
    double launch;  /* of an empty kernel behind another, in nanoseconds */
    double memory;  /* bytes read in a nanosecond */
    double l2_bytes;
} tmm__gpu;

/* The H100's row is the H200's with memory of its own (bench/results/h100/memory.csv: 3114). */
static const tmm__gpu tmm__gpus[] = {
    {"NVIDIA H200", 90, 6144, 132, 1.9, 550, 4300, 50e6},
    {"NVIDIA H100", 90, 5120, 132, 1.9, 550, 2900, 50e6},
};

/* Instances that have numbers of their own. */
enum {
    TMM__TUNED_SMALL = 4,
    TMM__TUNED_SKINNY = 5,
    TMM__TUNED_PIPELINED = 3,
    TMM__TUNED_TENSOR = 3,
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

/* KERNEL DIRECT, in clocks: once; for each halving of the sums of a warp; if a member has more than
   one k, and for each round of TMM__DIRECT_DEEP k but the first; to add the sums of warps, and for
   each halving of these. For each warp of a multiprocessor; for each of its k, and for each line of
   L1 that it reads then; for each byte that comes from L2. */
typedef struct tmm__direct_costs {
    double first, halving, loop, round, barrier, warp, load, line, byte;
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
    /* Nanoseconds that the host takes for a launch, for two of them, and memory. The part of the
       time that has to remain for SMALL and SKINNY to cut K. */
    double host, gain;
    tmm__block_costs shared_16[TMM__TUNED_TYPES], register_64[TMM__TUNED_TYPES],
        register_128[TMM__TUNED_TYPES];
    /* KERNEL OUTER, if op(B) is contiguous along the columns, and along k. */
    tmm__block_costs outer[2][TMM__TUNED_TYPES];
    /* KERNEL SMALL, by instance; and for each element of a tile, by how many times fewer than eight
       warps store it. */
    double small_few;
    struct {
        int rows, cols;
        tmm__block_costs block[TMM__TUNED_TYPES];
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
    /* KERNEL TENSOR of double, by instance (width: elements to a copy), and the same.
       reduce_wide_from: slices from which eight blocks add up each part of a tile. last: the tiles
       of a last, short round are cut. */
    struct {
        struct {
            int tile_m, tile_n, width;
            tmm__block_costs block;
        } instances[TMM__TUNED_TENSOR];
        double reduce, reduce_slice, reduce_slice_wide;
        int reduce_wide_from;
        double last, last_slice, even, even_step, even_partial;
    } tensor;
    /* KERNEL NARROW: a step of a tile, of two on a multiprocessor, with Q along k and along the
       lines; of 3 and of 4 groups; with tiles of 512 and of 256 lines of Q. alone: so much longer
       where it is the only one. A launch, and each tile besides; for each byte of its sum. most:
       rows or columns that it takes by itself. */
    struct {
        double step[2][2][2], alone, launch, tile, sum_byte, most;
    } narrow;
    tmm__direct_costs direct[TMM__TUNED_TYPES];
    /* KERNEL PACK: once, and bytes read and written in a nanosecond as a part of those of
       memory. */
    double pack, pack_rate;
    /* KERNEL TENSOR FLOAT. window, tile: clocks of 64 k of a tile of each instance by wgmma, then
       by mma.sync, and of a tile besides. With two blocks on a multiprocessor, of two tiles.
       l2_bytes: blocks keep together in k if A and B have more. convert_one_wave_k: up to this K
       operands with few lines are converted by 1024 threads a block; convert_256_k, convert_512_k:
       up to these K by 256 and 512. */
    struct {
        double window[2][TMM__TUNED_FLOAT], tile[2][TMM__TUNED_FLOAT], l2_bytes;
        int convert_256_k, convert_one_wave_k, convert_512_k;
        /* KERNEL CONVERT: once, and bytes in a nanosecond as a part of those of memory. */
        double convert, convert_rate;
    } fp16;

    /* KERNEL TENSOR INT8. What all elements cost by FP64, and what they would cost one by one, in
       products of bytes by one modulus; first: what the first one costs, times M N; slow: where
       FP64 has 1/64 of the rate of FP32, as predicted. TMM_AUTO: multiply-adds of bytes of a
       multiprocessor in a clock, by wgmma and (as predicted) by mma.sync; bytes of memory as a part
       of those read; nanoseconds of all launches. slow_edge: the least M, N and K where FP64 is
       slow. */
    struct {
        double fp64, each, first, fp64_slow, each_slow;
        double rate, rate_slow, memory, launches, slow_edge;
    } int8;
} tmm__costs;

/* Of an H200. */
static const tmm__costs tmm__measured = {
    25.4,  /* l2 */
    0.878, /* write */
    1.22,  /* cached */
    5000,  /* host */
    0.9,   /* gain */
    {{1560, 231, {36.5, 23.7, 15.8, 14.4}, 0.16, 0, 85.3},
     {1660, 431, {44.2, 34.7, 25.1, 25.1}, 0.05, 0, 91.3},
     {2500, 400, {60, 60, 60, 60}, 0.1, 0.1, 200}}, /* shared_16 */
    {{3570, 1950, {70.1, 55.9, 66.3, 65.4}, 0.08, 0.2, 623},
     {5530, 4320, {205, 205, 199, 190}, 0.03, 0.03, 1820},
     {2500, 1000, {80, 80, 80, 80}, 0.1, 0.1, 500}}, /* register_64 */
    {{7170, 5920, {203, 181, 206, 182}, 0, 0.15, 3740},
     {11400, 14900, {463, 467, 463, 449}, 0.02, 0.05, 14500},
     {4000, 3000, {300, 300, 300, 300}, 0.1, 0.1, 1500}}, /* register_128 */
    {
        {{1870, 545, {283, 168, 119, 82.6}, 0, 0, 645},
         {2140, 872, {291, 217, 196, 127}, 0, 0.02, 967},
         {2000, 700, {60, 60, 60, 60}, 0.1, 0.1, 350}}, /* outer, B along the columns */
        {{2290, 740, {296, 191, 157, 149}, 0, 0.07, 840},
         {2480, 1170, {364, 307, 259, 250}, 0, 0, 1260},
         {2000, 700, {200, 200, 200, 200}, 0.1, 0.1, 350}}, /* outer, B along k */
    },
    0.592, /* small_few */
    {{16,
      16,
      {{2780, 174, {10.1, 9.41, 11.9, 9.48}, 0.1, 0, 64.3},
       {2940, 158, {7.96, 8.66, 8.81, 9.51}, 0.28, 0, 61.2},
       {2760, 658, {9.88, 9.88, 9.88, 9.88}, 0.1, 0.1, 329}}},
     {16,
      32,
      {{3120, 275, {13.1, 12.2, 14.7, 12.1}, 0.07, 0.02, 101},
       {3580, 392, {10.6, 11.7, 13.3, 12.7}, 0.27, 0.07, 124},
       {3330, 1020, {13.1, 13.1, 13.1, 13.1}, 0.1, 0.1, 508}}},
     {32,
      32,
      {{3600, 499, {20.1, 18.4, 20.3, 18.9}, 0.11, 0, 152},
       {4160, 1280, {14.8, 19.3, 18.8, 19.3}, 0.25, 0, 341},
       {3710, 1730, {24.7, 24.7, 24.7, 24.7}, 0.1, 0.1, 867}}},
     {32,
      64,
      {{4150, 1280, {30.6, 33.3, 36.3, 32.2}, 0.12, 0.07, 474},
       {5860, 2280, {23.2, 27.1, 29.2, 25.5}, 0.29, 0.04, 529},
       {4090, 3170, {36.9, 36.9, 36.9, 36.9}, 0.1, 0.1, 1580}}}}, /* small_c */
    {{1,
      1,
      {{{1460, 779, {8.73, 9, 8.12, 7.85}, 0, 0.01, 543},
        {1930, 0, {5.46, 5.54, 7.15, 7.4}, 0, 0, 101}},
       {{1910, 58.6, {12.4, 12.5, 13.2, 13.5}, 0, 0.01, 162},
        {2080, 305, {9.92, 9.43, 9.78, 9.88}, 0, 0.06, 237}}}},
     {1,
      4,
      {{{2180, 635, {8.57, 8.08, 8.14, 8.74}, 0.02, 0.14, 297},
        {2370, 213, {5.47, 6.08, 6.55, 6.72}, 0.01, 0, 180}},
       {{1750, 894, {18.8, 16.2, 14.2, 13.5}, 0.06, 0, 450},
        {2260, 648, {11.8, 11, 11.9, 12.9}, 0.07, 0, 273}}}},
     {1,
      16,
      {{{3100, 470, {59.8, 64, 65.4, 65.9}, 0, 0, 548},
        {4230, 1020, {37.6, 40.3, 42.1, 35.4}, 0, 0.04, 864}},
       {{2780, 0.0851, {75.9, 63.4, 71.4, 71.6}, 0, 0, 100},
        {2790, 1750, {58.7, 36, 36.7, 37.4}, 0, 0.06, 1880}}}},
     {0,
      4,
      {{{1550, 0.0355, {18.7, 18.4, 20.1, 19.3}, 0, 0, 107},
        {2210, 795, {13, 12.2, 10.6, 11.3}, 0, 0.02, 288}},
       {{1540, 701, {16.1, 15.2, 16.2, 15.4}, 0, 0, 329},
        {2180, 863, {14.9, 11.3, 14.8, 12}, 0, 0, 268}}}},
     {0,
      16,
      {{{4080, 1410, {26.6, 28.5, 28.7, 27.8}, 0, 0.02, 1180},
        {8180, 1250, {20.3, 20.8, 21.7, 20.8}, 0.11, 0.01, 1260}},
       {{2330, 1370, {28.7, 29.6, 29.7, 29}, 0.02, 0, 1640},
        {2720, 1220, {29.9, 32.7, 31.1, 24.5}, 0.15, 0.1, 822}}}}}, /* skinny */
    3440,                                                           /* sum */
    0.00176,                                                        /* sum_byte */
    {
        {{4770, 2140, {143, 105, 91.5, 93.3}, 0.04, 0.02, 2640},
         {7220, 6450, {151, 143, 161, 135}, 0, 0.04, 1170},
         {5800, 5100, {163, 163, 184, 155}, 0, 0, 5250}}, /* pipelined */
        2310,                                             /* cut */
        {1520, 1810},                                     /* cut_slice */
        {5340, 7620},                                     /* reduce */
        5,                                                /* reduce_from */
        1710,                                             /* cluster */
        {599, 3870},                                      /* cluster_round */
        {8560, 7170},                                     /* even */
        {1060, 1930},                                     /* even_partial */
    },
    {
        {{128, 128, 2, {9690, 11100, {128, 133, 132, 135}, 0, 0.07, 13200}},
         {64, 64, 2, {3350, 2210, {45.6, 34.6, 35.1, 30.7}, 0.05, 0, 2720}},
         {64, 64, 1, {3770, 2340, {48.9, 42, 40.7, 40}, 0, 0, 2140}}}, /* tensor */
        8960,                                                          /* reduce */
        328,                                                           /* reduce_slice */
        89.3,                                                          /* reduce_slice_wide */
        32,                                                            /* reduce_wide_from */
        5220,                                                          /* last */
        8070,                                                          /* last_slice */
        13000,                                                         /* even */
        1.07,                                                          /* even_step */
        0.284,                                                         /* even_partial */
    },
    {
        {{{1285, 1060}, {1536, 1364}}, {{1168, 1017}, {1476, 1315}}}, /* step */
        1.12,                                                         /* alone */
        11400,                                                        /* launch */
        4400,                                                         /* tile */
        1.43e-3,                                                      /* sum_byte */
        160,                                                          /* most */
    },
    {{760, 55, 176, 294, 93, 62, 2.79, 0.13, 0.01},
     {870, 43, 326, 449, 97, 59, 2.12, 0.25, 0.01},
     {760, 55, 176, 294, 93, 62, 2.79, 0.13, 0.01}}, /* direct */
    3020,                                            /* pack */
    0.779,                                           /* pack_rate */
    {
        {{3900, 2910, 1110, 768}, {4500, 2400}},     /* window */
        {{17400, 15700, 5000, 0.267}, {3500, 1800}}, /* tile */
        6e7,                                         /* l2_bytes */
        256,                                         /* convert_256_k */
        512,                                         /* convert_one_wave_k */
        2048,                                        /* convert_512_k */
        4900,                                        /* convert */
        0.836,                                       /* convert_rate */
    },
    {
        26,    /* fp64 */
        1600,  /* each */
        6.5e6, /* first */
        400,   /* fp64_slow */
        2000,  /* each_slow */
        2890,  /* rate */
        512,   /* rate_slow */
        0.79,  /* memory */
        3e4,   /* launches */
        256,   /* slow_edge */
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
