/* pinned.cu - pinned and pageable host memory: copies to the device, back, and both at once.

   Memory from malloc is pageable: the system may move or swap its pages at any time, so the driver
   copies it to the device by way of a pinned buffer of its own. Memory from cudaMallocHost is
   pinned: the device reads and writes it by itself, at the speed of the bus, and asynchronously, so
   that copies in, kernels and copies out of different chunks overlap. Pinning is slow and takes
   memory away from the system: do it once, for buffers that are used often.

   Build and run: nvcc -O3 -arch=native pinned.cu -o pinned && ./pinned [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK \
    "2 x + 1 for host memory; limit: a direction of the bus (more than 100 %: both at once)"
#define EXTRA "copies"
#define RATE  "GB/s"
#ifdef __CUCC__ /* the CPU runner */
enum { ON_CPU = 1, N = 1 << 14 };
#else /* 128 MB in, 128 MB out */
enum { ON_CPU = 0, N = 1 << 25 };
#endif
enum { THREADS = 256, STREAMS = 4 };
static float host[N], host_out[N];

/* out = 2 in + 1, a thread a float: 8 bytes a float of device memory, which is far faster than the
   bus over which the 4 bytes in and the 4 bytes out of each float come. */
__global__ void scale(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = 2 * in[i] + 1;
}

/* ---- the same in every demo: errors, times, rows of the table and the CSV file; main below -- */
static double work, limit, base; /* of a way; the highest rate; seconds that are 1 in "x time" */
static float best;               /* milliseconds */
static int failures;
static FILE *csv;
static cudaDeviceProp device;
static cudaEvent_t start, stop;

/* RANDOM: a number below 2^24 that belongs to i. CHECK: an error ends the program. */
#define RANDOM(i)   (((unsigned)(i)*2654435761u ^ (unsigned)(i) >> 9) * 2246822519u >> 8)
#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(2);
}

static int again(void *result) /* while (again(what RUN writes)) RUN; the best of nine counts */
{
    static int runs;
    float ms;
    CHECK(cudaGetLastError());
    if (runs > 0) {
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = runs == 1 || ms < best ? ms : best;
    }
    if (runs++ == (ON_CPU ? 1 : 9)) return runs = 0;
    CHECK(cudaMemset(result, 0xff, sizeof host)); /* NaN; meanwhile the host starts RUN */
    CHECK(cudaEventRecord(start));
    return 1;
}

/* Writes a row and gives the seconds; OK is negative if nothing was compared. */
static double row(const char *way, double loads, double stores, double extra, double MB, int ok)
{
    double s = best * 1e-3, rate = work / s, times = base > 0 ? s / base : 1;
    limit = limit > 0 ? limit : rate; /* that of the first way, if nothing else is known */
    failures += !ok;
    for (int f = 0; f < (csv ? 2 : 1); f++) {
        FILE *file = f ? csv : stdout;
        fprintf(file, f ? "%s,%.0f,%.0f,%g,%.2f" : "%-31s%12.0f%12.0f%9g%9.2f", way, loads, stores,
                extra, MB);
        if (ON_CPU) /* where times mean nothing */
            fputs(f ? ",,,," : "        -        -        -       -", file);
        else
            fprintf(file, f ? ",%.4f,%.1f,%.1f,%.2f" : "%9.4f%9.1f%9.1f%8.2f", best, rate * 1e-9,
                    100 * rate / limit, times);
        fprintf(file, f ? ",%s\n" : "%8s\n", ok < 0 ? "-" : ok ? "ok" : "WRONG");
    }
    return s;
}

/* ---- the task ------------------------------------------------------------------------------ */
static float *in, *out;
static cudaStream_t streams[STREAMS];

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

static int is_right(float *to) /* and poisons it for the next way */
{
    int right = 1;
    for (int i = 0; i < N; i++) right &= to[i] == 2 * (float)RANDOM(i) + 1;
    memset(to, 0xff, sizeof host);
    return right;
}

static void task(void)
{
    const double MB = 4e-6 * N;
    float *pinned, *pinned_out;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocHost(&pinned, sizeof host));
    CHECK(cudaMallocHost(&pinned_out, sizeof host));
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamCreate(&streams[s]));
    for (int i = 0; i < N; i++) pinned[i] = host[i] = RANDOM(i);

    work = 4.0 * N;
    while (again(in)) CHECK(cudaMemcpyAsync(in, pinned, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(pinned_out, in, sizeof host, cudaMemcpyDeviceToHost));
    base = row("copy from pinned (right)", 0, 0, 1, MB, memcmp(pinned_out, host, sizeof host) == 0);
    while (again(in)) CHECK(cudaMemcpyAsync(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(pinned_out, in, sizeof host, cudaMemcpyDeviceToHost));
    double slow =
        row("copy from pageable", 0, 0, 1, MB, memcmp(pinned_out, host, sizeof host) == 0) / base;

    work = 8.0 * N, base = 0;
    while (again(out)) run(pinned, pinned_out, 16);
    base = row("job; pinned; 16 chunks (right)", N, N, 32, 2 * MB, is_right(pinned_out));
    while (again(out)) run(pinned, pinned_out, 1);
    double whole = row("job; pinned; as a whole", N, N, 2, 2 * MB, is_right(pinned_out)) / base;
    while (again(out)) run(host, host_out, 1);
    row("job; pageable; as a whole", N, N, 2, 2 * MB, is_right(host_out));

    printf("\nComputed: 16 chunks need 32 copies, which a GPU overlaps, instead of 2.\n");
    if (!ON_CPU)
        printf("Pageable: %.2f times the time; %s.\nAs a whole: %.2f times; %s.\n", slow,
               slow > 1.2 ? "the CPU copies it first" : "this system reaches it about as fast",
               whole, whole > 1.2 ? "one direction at a time" : "chunks gain little on this bus");
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(pinned_out));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

/* ---- the same in every demo ---------------------------------------------------------------- */
int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--help") == 0)
        return printf("usage: %s [--csv FILE]\n%s\n", words[0], TASK) < 0;
    if (count == 3 && strcmp(words[1], "--csv") == 0) csv = fopen(words[2], "w");
    if (count > 1 && !csv) {
        fprintf(stderr, "%s: cannot understand or write %s\n", words[0], words[count - 1]);
        return 2;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    printf("%s: %s\n\n%-31s%12s%12s%9s%9s%9s%9s%9s%8s%8s\n", device.name, TASK, "way", "loads",
           "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
    if (csv) fprintf(csv, "way,loads,stores," EXTRA ",MB,ms," RATE ",%% limit,x time,result\n");
    task();
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    if (csv && fclose(csv) != 0) failures += printf("\nThe CSV file could not be written.\n");
    printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    return failures > 0;
}
