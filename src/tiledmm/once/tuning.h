/* src/tiledmm/once/tuning.h. Every number that was measured on a GPU, in a table by architecture.
   Uses: once/device.h. Used by: the launchers and their plans, type/choose.h. */
#if TMM__HOST && !defined(TMM__PART_TUNING)
#define TMM__PART_TUNING
/* A row for each GPU that was measured. A device without one takes the first row. bench/notes/ says
   how the numbers were found. Clocks are those of a multiprocessor, times are in seconds if nothing
   else is said, and sizes in elements. */
/* Instances that have numbers of their own. */
enum { TMM__TUNED_SMALL = 4, TMM__TUNED_SKINNY = 5, TMM__TUNED_TENSOR = 3, TMM__TUNED_FLOAT = 4 };
/* Types that have numbers of their own. */
enum { TMM__TUNED_AS_FLOAT, TMM__TUNED_AS_DOUBLE, TMM__TUNED_AS_OTHER, TMM__TUNED_TYPES };
/* Tiles of KERNEL PIPELINED: 64 x 128 or 128 x 64, and 128 x 128. */
enum { TMM__SMALL_TILE, TMM__LARGE_TILE, TMM__TILE_SIZES };
enum { TMM__MOST_RESIDENT = 3 }; /* of its blocks on a multiprocessor */

typedef struct tmm__tuning {
    const char *device;
    int capability; /* 10 major + minor */
    int bus_width;  /* of its memory, in bits: tells devices of one capability apart */

    struct {
        /* Elements of C to a multiprocessor: up to `shared_area` TMM_SHARED_16 is faster than
           TMM_REGISTER. Up to `small_area` TMM_SMALL may be faster than TMM_PIPELINED and
           TMM_TENSOR, if there are at most `small_work` multiply-adds to a multiprocessor. From
           `small_long_k` on it has to cut K, and float does so up to `small_long_k_area`. */
        double shared_area, small_area, small_work, small_long_k, small_long_k_area;
        /* What a tile of 64 x 64 and one of 128 x 128 of TMM_REGISTER cost. */
        double register_64, register_128;
        /* Up to outer_k TMM_OUTER is the fastest; up to outer_small_k if there are at most outer_area
           elements of C to a multiprocessor. Clocks a nanosecond, of KERNEL PIPELINED, and the part
           of its time that TMM_SMALL must stay below to be taken for M or N up to 64. */
        double outer_k, outer_small_k, outer_area, clock, small_gain;
        /* Float, elements of C to a multiprocessor: from register_area on TMM_REGISTER is the fastest
           up to register_k, and from register_mid_area to register_mid_most up to register_mid_k. */
        double register_k, register_area, register_mid_k, register_mid_area, register_mid_most;
        double
            tensor_k; /* double: up to this K, from register_area on, TMM_TENSOR is faster than SMALL */
    } choice;

    /* KERNEL PACK: seconds of its launch, and which part of a product's time it saves: of one by
       instance ANY, by instance NN, and of TENSOR. */
    struct {
        double launch, saves_any, saves_nn, saves_tensor;
    } pack;

    /* KERNEL PIPELINED, by the size of its tiles. issue: the part of the time in which multiply-adds
       are issued, by blocks on a multiprocessor. The others are clocks:
         whole_launch                  a launch with whole tiles
         cut_launch, cut_slice         one whose tiles are cut along K in few slices, and each slice
         reduce_launch                 one with KERNEL REDUCE, from `reduce_from` slices of a tile on
         cluster_launch, _round        one by clusters, and each round of them
         even_launch, even_partial     one with even shares (stream-K), and each partial tile */
    struct {
        double issue[TMM__TILE_SIZES][TMM__MOST_RESIDENT + 1];
        double whole_launch, cut_launch, cut_slice[TMM__TILE_SIZES], reduce_launch[TMM__TILE_SIZES];
        int reduce_from;
        double cluster_launch, cluster_round[TMM__TILE_SIZES];
        double even_launch[TMM__TILE_SIZES], even_partial[TMM__TILE_SIZES];
    } pipelined;

    /* KERNEL TENSOR, clocks. steps: a step of a tile, if it is the only one on a multiprocessor
       (alone) and if there are more (busy). l2_step: a step of a tile of 64 x 64 that is alone takes
       at least so many for each tile, since all copy from L2. store: for each element of C, with one
       block on a multiprocessor or several. reduce_wide_from: slices from which eight blocks add up
       each part of a tile. last: the tiles of a last, short round are cut. The others as of
       PIPELINED. */
    struct {
        struct {
            int tile_m, tile_n, width; /* of the instance; width: elements to a copy */
            double alone, busy;
        } steps[TMM__TUNED_TENSOR];
        double l2_step, store_alone, store_shared;
        double reduce_launch, reduce_slice, reduce_slice_wide;
        int reduce_wide_from;
        double last_launch, last_slice, even_step, even_launch, even_partial;
    } tensor;

    /* KERNEL SMALL, nanoseconds. tiles: a launch with each, and each k; 0: a type that has it not.
       Then KERNEL SUM, and each byte that it reads; what the host takes for two launches and memory.
       gain: the part of the time that has to remain for K to be cut. round: of more tiles than
       multiprocessors, what each further round takes besides. */
    struct {
        struct {
            int rows, cols;
            double launch, each_k[TMM__TUNED_TYPES];
        } tiles[TMM__TUNED_SMALL];
        double sum_launch, sum_byte, host, gain, round;
    } small_c;

    /* KERNEL SKINNY, nanoseconds: by instance, of elements of 4 bytes and of 8, a launch, and a stage
       of a block with copies of single elements and of 16 bytes. Blocks that share a multiprocessor
       take as long as one after the other, and each of them `block` besides; one that is alone, by so
       much longer. bandwidth: bytes of the
       large operand that are read in a nanosecond, at most. */
    struct {
        struct {
            int along_k, width;
            double launch[2], stage[2][2];
        } instances[TMM__TUNED_SKINNY];
        double block, alone, bandwidth;
    } skinny;

    /* KERNEL TENSOR FLOAT. window, tile: clocks of 64 k of a tile of each instance by wgmma, then by
       mma.sync, and of a tile besides. With two blocks on a multiprocessor, of two tiles. A tile of
       64 x 64 by wgmma is given so few that squares from 384 on, where it pays, take it.
       l2_bytes: blocks keep together in k if A and B have more. convert_one_wave_k: up to this K operands
       with few lines are converted by 1024 threads a block; convert_256_k, convert_512_k: up to
       these K by 256 and 512. */
    struct {
        double window[2][TMM__TUNED_FLOAT], tile[2][TMM__TUNED_FLOAT], l2_bytes;
        int convert_256_k, convert_one_wave_k, convert_512_k;
        /* TMM_AUTO: the least M or N, and K. For wgmma: clocks and bytes a second, and what FP32
           multiply-adds do (FLOP a second) and take longer to launch (seconds). For mma.sync: the
           least M N K, and of M N / (M + N): converting an element takes as long as so many
           multiply-adds save. */
        double least_edge, least_k;
        double clock, bandwidth, fp32_flops, fp32_launch;
        double mma_least_work, mma_least_edge;
    } fp16;

    /* KERNEL TENSOR INT8. What all elements cost by FP64, and what they would cost one by one, in
       products of bytes by one modulus; slow: where FP64 has 1/64 of the rate of FP32, as predicted.
       first: what the first one costs, times M N.
       TMM_AUTO: multiply-adds of bytes and bytes of memory a second, seconds of all launches, and
       FLOP a second of FP64. slow_edge: the least M, N and K where FP64 is slow. */
    struct {
        double fp64, each, first, fp64_slow, each_slow;
        double rate, bandwidth, launches, fp64_flops, slow_edge;
    } int8;
} tmm__tuning;

/* The numbers of the H100 are those of the H200: its speeds were alike with them. */
static const tmm__tuning tmm__tunings[] = {
    {
        "NVIDIA H200",
        90,   /* capability */
        6144, /* bus_width */
        {
            900,   /* shared_area */
            2048,  /* small_area */
            4.2e6, /* small_work */
            2048,  /* small_long_k */
            1600,  /* small_long_k_area */
            1.4,   /* register_64 */
            4.0,   /* register_128 */
            4,     /* outer_k */
            8,     /* outer_small_k */
            8000,  /* outer_area */
            1.9,   /* clock */
            0.8,   /* small_gain */
            32,    /* register_k */
            400,   /* register_area */
            80,    /* register_mid_k */
            1500,  /* register_mid_area */
            5000,  /* register_mid_most */
            64,    /* tensor_k */
        },
        {
            4e-6, /* launch */
            0.15, /* saves_any */
            0.06, /* saves_nn */
            0.15, /* saves_tensor */
        },
        {
            {{1, 0.50, 0.62, 0.70}, {1, 0.68, 0.79, 0.79}}, /* issue */
            8000,                                           /* whole_launch */
            12000,                                          /* cut_launch */
            {2100, 4400},                                   /* cut_slice */
            {22000, 27000},                                 /* reduce_launch */
            5,                                              /* reduce_from */
            13000,                                          /* cluster_launch */
            {1200, 5000},                                   /* cluster_round */
            {16000, 20000},                                 /* even_launch */
            {2100, 4200},                                   /* even_partial */
        },
        {
            {{128, 128, 2, 2130, 2130}, /* steps */
             {64, 64, 2, 600, 630},
             {64, 64, 1, 660, 690}},
            6.25,  /* l2_step */
            1.0,   /* store_alone */
            0.8,   /* store_shared */
            15000, /* reduce_launch */
            300,   /* reduce_slice */
            100,   /* reduce_slice_wide */
            32,    /* reduce_wide_from */
            5000,  /* last_launch */
            7000,  /* last_slice */
            1.14,  /* even_step */
            16000, /* even_launch */
            0.4,   /* even_partial */
        },
        {
            {{16, 16, 2000, {5.2, 4.5, 0}}, /* tiles: float, double, others */
             {16, 32, 2300, {6.2, 6.2, 6.9}},
             {32, 32, 2500, {10.3, 8.3, 0}},
             {32, 64, 2700, {15.6, 11.5, 19.4}}},
            1400,   /* sum_launch */
            1.4e-3, /* sum_byte */
            8000,   /* host */
            0.9,    /* gain */
            150,    /* round */
        },
        {
            {
                {1, 1, {2000, 2000}, {{550, 260}, {440, 260}}}, /* instances */
                {1, 4, {2000, 2000}, {{700, 460}, {500, 390}}},
                {1, 16, {2400, 2400}, {{1100, 800}, {1000, 1000}}},
                {0, 4, {2000, 2000}, {{580, 440}, {520, 440}}},
                {0, 16, {3800, 2400}, {{920, 900}, {600, 560}}},
            },
            500,  /* block */
            1.2,  /* alone */
            4000, /* bandwidth */
        },
        {
            {{4400, 3450, 1300, 450}, {4500, 2400}},  /* window */
            {{3000, 2500, 2000, 2900}, {3500, 1800}}, /* tile */
            6e7,                                      /* l2_bytes */
            256,                                      /* convert_256_k */
            512,                                      /* convert_one_wave_k */
            2048,                                     /* convert_512_k */
            64,                                       /* least_edge */
            256,                                      /* least_k */
            1.9e9,                                    /* clock */
            4.3e12,                                   /* bandwidth */
            40e12,                                    /* fp32_flops */
            1.05e-6,                                  /* fp32_launch */
            7e8,                                      /* mma_least_work */
            200,                                      /* mma_least_edge */
        },
        {
            26,      /* fp64 */
            1600,    /* each */
            6.5e6,   /* first */
            400,     /* fp64_slow */
            2000,    /* each_slow */
            7.25e14, /* rate */
            3.4e12,  /* bandwidth */
            3e-5,    /* launches */
            57e12,   /* fp64_flops */
            256,     /* slow_edge */
        },
    },
    {
        "NVIDIA H100",
        90,   /* capability */
        5120, /* bus_width */
        {
            900,   /* shared_area */
            2048,  /* small_area */
            4.2e6, /* small_work */
            2048,  /* small_long_k */
            1600,  /* small_long_k_area */
            1.4,   /* register_64 */
            4.0,   /* register_128 */
            4,     /* outer_k */
            8,     /* outer_small_k */
            8000,  /* outer_area */
            1.9,   /* clock */
            0.8,   /* small_gain */
            32,    /* register_k */
            400,   /* register_area */
            80,    /* register_mid_k */
            1500,  /* register_mid_area */
            5000,  /* register_mid_most */
            64,    /* tensor_k */
        },
        {
            4e-6, /* launch */
            0.15, /* saves_any */
            0.06, /* saves_nn */
            0.15, /* saves_tensor */
        },
        {
            {{1, 0.50, 0.62, 0.70}, {1, 0.68, 0.79, 0.79}}, /* issue */
            8000,                                           /* whole_launch */
            12000,                                          /* cut_launch */
            {2100, 4400},                                   /* cut_slice */
            {22000, 27000},                                 /* reduce_launch */
            5,                                              /* reduce_from */
            13000,                                          /* cluster_launch */
            {1200, 5000},                                   /* cluster_round */
            {16000, 20000},                                 /* even_launch */
            {2100, 4200},                                   /* even_partial */
        },
        {
            {{128, 128, 2, 2130, 2130}, /* steps */
             {64, 64, 2, 600, 630},
             {64, 64, 1, 660, 690}},
            6.25,  /* l2_step */
            1.0,   /* store_alone */
            0.8,   /* store_shared */
            15000, /* reduce_launch */
            300,   /* reduce_slice */
            100,   /* reduce_slice_wide */
            32,    /* reduce_wide_from */
            5000,  /* last_launch */
            7000,  /* last_slice */
            1.14,  /* even_step */
            16000, /* even_launch */
            0.4,   /* even_partial */
        },
        {
            {{16, 16, 2000, {5.2, 4.5, 0}}, /* tiles: float, double, others */
             {16, 32, 2300, {6.2, 6.2, 6.9}},
             {32, 32, 2500, {10.3, 8.3, 0}},
             {32, 64, 2700, {15.6, 11.5, 19.4}}},
            1400,   /* sum_launch */
            1.4e-3, /* sum_byte */
            8000,   /* host */
            0.9,    /* gain */
            150,    /* round */
        },
        {
            {
                {1, 1, {2000, 2000}, {{550, 260}, {440, 260}}}, /* instances */
                {1, 4, {2000, 2000}, {{700, 460}, {500, 390}}},
                {1, 16, {2400, 2400}, {{1100, 800}, {1000, 1000}}},
                {0, 4, {2000, 2000}, {{580, 440}, {520, 440}}},
                {0, 16, {3800, 2400}, {{920, 900}, {600, 560}}},
            },
            500,  /* block */
            1.2,  /* alone */
            2700, /* bandwidth */
        },
        {
            {{4400, 3450, 1300, 450}, {4500, 2400}},  /* window */
            {{3000, 2500, 2000, 2900}, {3500, 1800}}, /* tile */
            6e7,                                      /* l2_bytes */
            256,                                      /* convert_256_k */
            512,                                      /* convert_one_wave_k */
            2048,                                     /* convert_512_k */
            64,                                       /* least_edge */
            256,                                      /* least_k */
            1.9e9,                                    /* clock */
            4.3e12,                                   /* bandwidth */
            40e12,                                    /* fp32_flops */
            1.05e-6,                                  /* fp32_launch */
            7e8,                                      /* mma_least_work */
            200,                                      /* mma_least_edge */
        },
        {
            26,      /* fp64 */
            1600,    /* each */
            6.5e6,   /* first */
            400,     /* fp64_slow */
            2000,    /* each_slow */
            7.25e14, /* rate */
            3.4e12,  /* bandwidth */
            3e-5,    /* launches */
            57e12,   /* fp64_flops */
            256,     /* slow_edge */
        },
    },
};

/* The row for a device: of those with its capability the one with the nearest width of memory. */
static inline const tmm__tuning *tmm__tuning_for(int capability, int bus_width)
{
    const int count = (int)(sizeof tmm__tunings / sizeof *tmm__tunings);
    const tmm__tuning *nearest = NULL;
    for (int n = 0; n < count; n++) {
        const tmm__tuning *row = &tmm__tunings[n];
        if (row->capability != capability) continue;
        if (nearest == NULL ||
            abs(row->bus_width - bus_width) < abs(nearest->bus_width - bus_width))
            nearest = row;
    }
    return nearest != NULL ? nearest : &tmm__tunings[0];
}

/* The row for the current device. */
static inline const tmm__tuning *tmm__tuned(void)
{
    const tmm__device *device = tmm__current_device();
    return tmm__tuning_for(device->capability, device->bus_width);
}
#endif
