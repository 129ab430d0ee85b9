/* src/tiledmm/once/tuning.h. Every number that was measured on a GPU, in a table by architecture.
   Uses: once/device.h. Used by: the launchers and their plans, type/choose.h. */
#if TMM__HOST && !defined(TMM__PART_TUNING)
#define TMM__PART_TUNING
/* A row for each GPU that was measured. A device without one takes the first row. bench/notes/ says
   how the numbers were found. Clocks are those of a multiprocessor, times are in seconds if nothing
   else is said, and sizes in elements. */
/* Instances that have numbers of their own. */
enum { TMM__TUNED_SMALL = 4, TMM__TUNED_TENSOR = 3, TMM__TUNED_FLOAT = 4 };
typedef struct tmm__tuning {
    const char *device;
    int capability; /* 10 major + minor */

    /* TMM_AUTO, elements of C to a multiprocessor: up to which TMM_SHARED_16 is faster than
       TMM_REGISTER; up to which TMM_SMALL may be faster than TMM_PIPELINED and TMM_TENSOR, and up to
       how many multiply-adds; from which K on it has to share out K, and float does so up to... */
    double shared_area, small_area, small_work, small_long_k, small_long_k_area;
    /* TMM_REGISTER: what a tile of 64 x 64 and one of 128 x 128 cost. */
    double register_64, register_128;

    /* KERNEL PACK: seconds of its launch, and which part of a product's time it saves: of one by
       instance ANY, by instance NN, and of TENSOR. */
    double pack_launch, pack_saves_any, pack_saves_nn, pack_saves_tensor;

    /* KERNEL PIPELINED, with small and large tiles. issue: the part of the time in which multiply-adds
       are issued, with 1, 2 and 3 blocks on a multiprocessor. Clocks: a launch with whole tiles; one
       whose tiles are cut in few pieces, and for each piece; with KERNEL REDUCE; by clusters, and for
       each round; in even shares, and for each partial tile. */
    double issue[2][4];
    double whole_launch, cut_launch, cut_piece[2], reduce_launch[2];
    double cluster_launch, cluster_round[2], even_launch[2], even_partial[2];
    int reduce_from; /* pieces of a tile from which KERNEL REDUCE adds them up */

    /* KERNEL TENSOR, clocks. alone, busy: a step of a tile of each instance, if it is the only tile of
       a multiprocessor and if there are more. small_tiles: a step of small tiles that are alone takes
       at least so many for each of them, since all copy from L2. The others as of PIPELINED. */
    struct {
        double alone[TMM__TUNED_TENSOR], busy[TMM__TUNED_TENSOR], small_tiles, store[2];
        double reduce_launch, reduce_piece[2], last_launch, last_piece;
        double even_step, even_launch, even_partial;
        int reduce_wide_from; /* pieces from which eight blocks add up each part of a tile */
    } tensor;

    /* KERNEL SMALL, nanoseconds: a launch with each instance, and each k, of float, double and other
       types; KERNEL SUM, and each byte that it reads; what the host takes for two launches and
       memory. gain: the part of the time that has to remain. */
    struct {
        double launch[TMM__TUNED_SMALL], each_k[3][TMM__TUNED_SMALL];
        double sum_launch, sum_byte, host, gain;
    } small;

    /* KERNEL TENSOR FLOAT. window, tile: clocks of 64 k of a tile of each instance by wgmma, then by
       mma.sync, and of a tile besides. With two blocks on a multiprocessor, of two tiles. A tile of
       64 x 64 by wgmma is given so few that squares from 384 on, where it pays, take it.
       l2_bytes: blocks keep together in k if A and B have more. convert_few_k: up to this K operands
       with few lines are converted by 1024 threads a block; convert_256_k, convert_512_k: up to
       these K by 256 and 512. */
    struct {
        double window[2][TMM__TUNED_FLOAT], tile[2][TMM__TUNED_FLOAT], l2_bytes;
        int convert_256_k, convert_few_k, convert_512_k;
        /* TMM_AUTO: the least M or N, and K. For wgmma: clocks and bytes a second, and what FP32
           multiply-adds do (FLOP a second) and take longer to launch (seconds). For mma.sync: the
           least M N K, and of M N / (M + N): converting an element takes as long as so many
           multiply-adds save. */
        double least_edge, least_k;
        double clock, bandwidth, fp32_flops, fp32_launch;
        double mma_least_work, mma_least_edge;
    } fp16;
} tmm__tuning;

static const tmm__tuning tmm__tunings[] = {
    {"NVIDIA H200; an H100 was measured with the same",
     90,
     900,
     2048,
     4.2e6,
     2048,
     1600,
     1.4,
     4.0,
     4e-6,
     0.15,
     0.06,
     0.15,
     {{1, 0.50, 0.62, 0.70}, {1, 0.68, 0.79, 0.79}},
     8000,
     12000,
     {2100, 4400},
     {22000, 27000},
     13000,
     {1200, 5000},
     {16000, 20000},
     {2100, 4200},
     5,
     {{2130, 600, 660},
      {2130, 630, 690},
      6.25,
      {1.0, 0.8},
      15000,
      {300, 100},
      5000,
      7000,
      1.14,
      16000,
      0.4,
      32},
     {{2000, 2300, 2500, 2700},
      {{5.2, 6.2, 10.3, 15.6}, {4.5, 6.2, 8.3, 11.5}, {0, 6.9, 0, 19.4}},
      1400,
      1.4e-3,
      8000,
      0.9},
     {{{4400, 3450, 1300, 450}, {4500, 2400}},
      {{3000, 2500, 2000, 2900}, {3500, 1800}},
      6e7,
      256,
      512,
      2048,
      64,
      256,
      1.9e9,
      4.3e12,
      40e12,
      1.05e-6,
      7e8,
      200}},
};

/* The row for the current device. */
static inline const tmm__tuning *tmm__tuned(void)
{
    int count = (int)(sizeof tmm__tunings / sizeof *tmm__tunings);
    for (int n = 0; n < count; n++)
        if (tmm__tunings[n].capability == tmm__current_device()->capability)
            return &tmm__tunings[n];
    return &tmm__tunings[0];
}
#endif
