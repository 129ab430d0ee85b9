/* What a device can do at most, for bench/shapes.cu. Included after tiledmm.cuh and summary.h. */
#ifndef BENCH_RATES_H
#define BENCH_RATES_H
#include "summary.h"

/* Rates of the device: bytes and operations in a second. */
typedef struct rates {
    const char *device;
    double read, flops[TYPES];
} rates;

/* Of an H200 as bench/gemm measured them with CUDA 13.0 (results/h200/gemm_cublas.csv): a reading
   kernel, 4.5 to 4.6 TB/s in different runs; loops of FFMA and of DMMA; and a third of what cuBLAS
   reaches with halves, since TMM_AUTO_TENSOR takes three products of halves for one of floats. For
   products of bytes a 13th of the data sheet's 1979 TOP/s, since it takes 13 of them at least; int by
   a loop of IMAD. An H100
   has the same units; its memory is not measured: 0.9 of its data sheet's 3.35 TB/s. */
static const rates known_rates[] = {
    {"NVIDIA H200", 4.5e12, {65e12, 66e12, 247e12, 152e12, 33e12}},
    {"NVIDIA H100 80GB HBM3", 3.0e12, {65e12, 66e12, 247e12, 152e12, 33e12}},
};

/* By clocks and units of others: operations of a multiprocessor in a clock, from the table of
   arithmetic throughput in the CUDA C++ Programming Guide; those of halves with sums in float. */
static inline rates rates_by_units(const char *device, int major, int minor)
{
    int clock = 0, memory = 0, bus = 0, processors = 0, capability = 10 * major + minor;
    rates r;
    must(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0), "clock");
    must(cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, 0), "clock of the memory");
    must(cudaDeviceGetAttribute(&bus, cudaDevAttrGlobalMemoryBusWidth, 0), "width of the bus");
    must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "processors");
    double each = 1e3 * clock * processors; /* clocks of all multiprocessors in a second */
    int lanes = capability < 86 ? 64 : 128;
    int doubles = capability == 80 || capability == 100 ? 64 : capability == 90 ? 128 : 2;
    int halves = capability == 80 ? 1024 : capability == 90 || capability == 100 ? 2048 : 512;
    r.device = device;
    r.read = 2e3 * memory * bus / 8;
    r.flops[TYPE_FLOAT] = 2 * lanes * each;
    r.flops[TYPE_DOUBLE] = 2 * doubles * each;
    r.flops[TYPE_TENSOR] = most_of(2 * halves / 3, 2 * lanes) * each;
    r.flops[TYPE_INT8] = most_of(4 * halves / 13, 2 * doubles) * each;
    r.flops[TYPE_INT] = 2 * 64 * each;
    return r;
}

static inline rates get_rates(const char *device, int major, int minor)
{
    for (size_t n = 0; n < sizeof known_rates / sizeof *known_rates; n++)
        if (strcmp(device, known_rates[n].device) == 0) return known_rates[n];
    return rates_by_units(device, major, minor);
}
#endif
