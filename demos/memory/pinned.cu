/* pinned.cu - pinned and pageable host memory: copies to the device, back, and both at once.

   Memory from malloc is pageable: the system may move or swap its pages at any time, so the driver
   copies it to the device by way of a pinned buffer of its own. Memory from cudaMallocHost is
   pinned: the device reads and writes it by itself, at the speed of the bus, and asynchronously, so
   that copies in, kernels and copies out of different chunks overlap. Pinning is slow and takes
   memory away from the system: do it once, for buffers that are used often.

   Build and run: nvcc -O3 -arch=native pinned.cu -o pinned && ./pinned [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME  "pinned"
#define TASK  "2 x + 1; limit: a direction of the bus (more than 100 %: both at once)"
#define EXTRA "copies"
#define RATE  "GB/s"
#ifndef __CUCC__ /* the CPU runner, which takes less of everything */
#define __CUCC__ 0
#endif /* 128 MB in, 128 MB out */
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, THREADS = 256, STREAMS = 4 };
static float host[N], expected[N], pageable[N], pageable_out[N];
static float *pinned, *pinned_out, *in, *out; /* in and out: of the device */
static cudaStream_t streams[STREAMS];

/* out = 2 in + 1, a thread a float: 8 bytes a float of device memory, which is far faster than the
   bus over which the 4 bytes in and the 4 bytes out of each float come. */
__global__ void scale(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = 2 * in[i] + 1;
}

/* ---- the same in every demo: errors, times, rows of the table and the CSV file; main below -- */
static double work, limit, base, best, allowed; /* of a way; G/s; ms of "(right)"; ms; difference */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;
#define RANDOM(i)   ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
#define CHECK(call) check(call, #call)

static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs < 2 || ms < best ? ms : best; /* the CPU tells nothing of times */
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row; compares OUT, unless it is NULL, with what is expected. Gives "x time". */
static double row(const char *way, double loads, double stores, double extra, double MB, void *out)
{
    size_t i = 0, count = out ? sizeof expected / sizeof *expected : 0;
    double rate = work / best * 1e-6;
    if (out) CHECK(cudaMemcpy(host, out, sizeof expected, cudaMemcpyDefault));
    while (i < count && host[i] - expected[i] <= allowed && expected[i] - host[i] <= allowed) i++;
    const char *result = !out ? "-" : i < count ? "WRONG" : "ok";
    failures += i < count;
    if (limit == 0) limit = rate; /* that of the first way, if nothing else is known */
    if (base == 0 || strstr(way, "(right)")) base = best;
    printf("%-31s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%9.1f%8.2f%8s\n", way, loads, stores, extra, MB,
           best, rate, 100 * rate / limit, best / base, result);
    if (csv)
        fprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.1f,%.2f,%s\n", way, loads, stores, extra, MB,
                best, rate, 100 * rate / limit, best / base, result);
    return best / base;
}

/* The job in CHUNKS parts: a stream keeps its order, several of them overlap. */
static void run(const float *from, float *to, int chunks)
{
    const size_t part = N / chunks, bytes = part * sizeof *to;
    for (size_t c = 0, at = 0; at < N; c++, at += part) {
        cudaStream_t s = streams[c % STREAMS];
        CHECK(cudaMemcpyAsync(in + at, from + at, bytes, cudaMemcpyHostToDevice, s));
        scale<<<part / THREADS, THREADS, 0, s>>>(in + at, out + at);
        CHECK(cudaMemcpyAsync(to + at, out + at, bytes, cudaMemcpyDeviceToHost, s));
    }
}

static void task(void)
{
    const double MB = 4e-6 * N;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocHost(&pinned, sizeof host));
    CHECK(cudaMallocHost(&pinned_out, sizeof host));
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamCreate(&streams[s]));
    for (int i = 0; i < N; i++) pinned[i] = pageable[i] = expected[i] = RANDOM(i);

    work = 4.0 * N;
    while (again(in)) CHECK(cudaMemcpyAsync(in, pinned, sizeof host, cudaMemcpyHostToDevice));
    row("copy from pinned (right)", 0, 0, 1, MB, in);
    while (again(in)) CHECK(cudaMemcpyAsync(in, pageable, sizeof host, cudaMemcpyHostToDevice));
    double slow = row("copy from pageable", 0, 0, 1, MB, in);

    work = 8.0 * N;
    for (int i = 0; i < N; i++) expected[i] = 2 * expected[i] + 1;
    while (again(out)) run(pinned, pinned_out, 16);
    row("job; pinned; 16 chunks (right)", N, N, 32, 2 * MB, pinned_out);
    memset(pinned_out, 0xff, sizeof host); /* again poisons only what is on the device */
    while (again(out)) run(pinned, pinned_out, 1);
    double whole = row("job; pinned; as a whole", N, N, 2, 2 * MB, pinned_out);
    while (again(out)) run(pageable, pageable_out, 1);
    row("job; pageable; as a whole", N, N, 2, 2 * MB, pageable_out);

    printf("\nComputed: 16 chunks need 32 copies, which a GPU overlaps, instead of 2.\n");
    if (!ON_CPU)
        printf("Pageable: %.2f times the time; %s.\nAs a whole: %.2f times; %s.\n", slow,
               slow > 1.2 ? "the CPU copies it first" : "this system reaches it about as fast",
               whole, whole > 1.2 ? "one direction at a time" : "chunks gain little on this bus");
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(pinned_out));
}

int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    if (argc == 3 && !strcmp(argv[1], "--csv")) csv = fopen(argv[2], "w");
    if (argc > 1 && !help && !csv)
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    if (help) {
        puts("usage: " NAME " [--csv FILE]\n" TASK "\nWithout a GPU: ./build.sh run memory/" NAME);
    } else {
        CHECK(cudaGetDeviceProperties(&device, 0));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
               "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
        if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
        task();
        if (ON_CPU) puts("Times and rates (nan) need a GPU: the CPU runner counts and checks.");
        CHECK(cudaDeviceReset()); /* frees what the task has allocated */
        if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
        printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    }
    if (fflush(stdout) == 0) return failures > 0;
    if (errno != EPIPE) perror(NAME ": standard output"); /* a closed pipe needs no words */
    return 1;
}
