/* src/raytrace/kernels/instances.h. KERNEL TILE for each size of a tile.
   Uses: config.h. Used by: config.h, set_aside.h, tile.cuh. */
#if RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_INSTANCES)
#define RAYT__PART_INSTANCES
/* ============================== INSTANCES ===================================================== */
/* KERNEL TILE for tiles of 64 and 32 pixels. The file includes itself with RAYT__EMIT set: then all
   of it but KERNEL TILE is left out. Small tiles, with small regions, are for small spheres, and for
   images of few pixels, which must keep all multiprocessors busy. */
#define RAYT__EMIT
#define RAYT_TILE   64
#define RAYT_ACROSS 4
#define RAYT_LANE_W 4
#define RAYT_LANE_H 2
#include RAYT_HEADER
#define RAYT_TILE   32
#define RAYT_ACROSS 4
#define RAYT_LANE_W 2
#define RAYT_LANE_H 1
#include RAYT_HEADER
#undef RAYT__EMIT
#endif
