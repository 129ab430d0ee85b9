/* All of both headers, with C linkage. */
#define TMM_IMPLEMENTATION
#define RAYT_IMPLEMENTATION
#include <tiledmm.cuh>
#include <raytrace.cuh>
