/* bench/host.cu - products from host memory to host memory, and over several devices, beside
   cublasXt and beside what copies and arithmetic alone take in the same run.

   Build   nvcc -O3 -arch=native bench/host.cu -lcublas -o host
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native)
   or      cpu/cucc bench/host.cu -o host      (the CPU runner: tiny sizes, no cuBLAS; no figures)
   Run     ./host                       all devices: one, about a minute; four, about a minute and a half
           ./host --devices 0 --type double --shape 16384 --pageable
           ./host --help

   A row is one way at one size. Times are wall times around the call, the median of three after one
   that does not count.
     host      tmm_?gemm_host, all defaults; memory is pinned or pageable (both touched before)
     resident  tmm_?gemm_multi: rows of A, B and C lie on the devices, and stay there
     course    5000 x 5000 double, pageable, into memory from malloc that nobody has touched:
               tmm_dmatmul and tmm_dgemm_host beside the way of the textbook (cudaMalloc, cudaMemcpy,
               TMM_SHARED_32, cudaMemcpy, cudaFree) and the same with cublasDgemm
   Beside them, of the same run:
     floor     A and B (each device its rows of them) to the devices and C back at the same time, by
               cudaMemcpyAsync from pinned memory, all devices at once
     compute   what lies on the devices multiplied by the fastest kernel that does this type (all of
               B on each device), all devices at once
     limit     the longer one of both; the column is the time over it
     Xt        cublasXt?gemm from pinned memory with the best block of N, N/2, 8192, 4096, 2048, 1024
               (from large to small, until one takes twice as long as the best); "Xt/ms" above 1: ours
               is faster
     effic.    the time on one device over D times the time on D devices
   Inputs are uniform in (-1, 1), C is poisoned. The first result of each type and size goes through
   tmm_freivalds, in pieces by several threads (the cost is O(N^2): about a second at 32768); every
   other one of that size must have the same bits. So must, at a small size off every tile, all ways
   and device counts. */
#include "../tiledmm.cuh"
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#if !defined(__CUCC__) && !defined(NO_CUBLAS)
#define HAVE_CUBLAS 1
#include <cublasXt.h>
#include <cublas_v2.h>
#else
#define HAVE_CUBLAS 0
#endif
#define BENCH "host"
#include "common.h"

#ifdef __CUCC__
enum { ON_CPU = 1 };
static const long long ONE_DEVICE[2] = {96, 161}, SEVERAL[2] = {96, 161}, QUICK = 64, COURSE = 100,
                       ODD = 77;
#else
enum { ON_CPU = 0 };
static const long long ONE_DEVICE[2] = {8192, 16384}, SEVERAL[2] = {16384, 32768}, QUICK = 4096,
                       COURSE = 5000, ODD = 2999;
#endif
enum { MOST_DEVICES = 16, MOST_SHAPES = 16, MOST_ROWS = 256, MOST_THREADS = 64, REPS = 3 };
static const char *const type_names[2] = {"float", "double"};

typedef struct options {
    int types[2];
    long long shapes[MOST_SHAPES];
    int shape_count, devices[MOST_DEVICES], device_count, pageable, quick;
    tmm_kernel kernel;
    const char *csv;
} options;

typedef struct row {
    const char *what, *memory;
    tmm_type type;
    long long N;
    int devices;
    double ms, floor, compute, xt, efficiency, gbytes; /* milliseconds; GB/s; 0: not measured */
    long long block;                                   /* of cublasXt */
    const char *kernel, *result;
    char goal[64];
    int met; /* 1, 0, or -1: no goal */
} row;

static options o;
static row rows[MOST_ROWS];
static int row_count, failures, on_h200;
static char *A, *B, *C;                            /* pinned */
static char *pageable_A, *pageable_B, *pageable_C; /* NULL until wanted */
static FILE *csv;

/* ---------------------------------- what is asked for ----------------------------------------- */
static void print_help(void)
{
    printf(
        "usage: host [options]\n"
        "Times products from host memory, and over several devices, beside cublasXt, with checks.\n"
        "Without options: on one device N = %lld and %lld, on several %lld and %lld.\n\n"
        "  --type float|double  only this type\n"
        "  --shape N            this size instead of the list (repeatable)\n"
        "  --devices 0,1,...    these devices (default: all; one named twice acts as two)\n"
        "  --kernel NAME        this kernel (default: auto)\n"
        "  --pageable           also from pageable memory on several devices, or with --shape\n"
        "  --quick              N = %lld alone\n"
        "  --csv FILE           writes the rows to FILE as well\n"
        "  --help               this text\n",
        ONE_DEVICE[0], ONE_DEVICE[1], SEVERAL[0], SEVERAL[1], QUICK);
}

static int parse_options(int count, char **words)
{
    for (int n = 1; n < count; n++) {
        const char *word = words[n], *value = n + 1 < count ? words[n + 1] : NULL;
        const char *shown = value ? value : "nothing";
        long long number;
        if (strcmp(word, "--help") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--pageable") == 0) {
            o.pageable = 1;
            continue;
        } else if (strcmp(word, "--quick") == 0) {
            o.quick = 1;
            continue;
        } else if (strcmp(word, "--type") == 0) {
            if (!value || (strcmp(value, "float") != 0 && strcmp(value, "double") != 0))
                return refuse("--type is float or double, not '%s'", shown);
            o.types[value[0] == 'd'] = 1;
        } else if (strcmp(word, "--shape") == 0) {
            if (!parse_number(value, 0, 1, 1 << 17, &number) || o.shape_count == MOST_SHAPES)
                return refuse("--shape is a whole number from 1 to 131072, 16 times at most, not "
                              "'%s'",
                              shown);
            o.shapes[o.shape_count++] = number;
        } else if (strcmp(word, "--devices") == 0) {
            const char *at = value;
            o.device_count = 0;
            do {
                if (o.device_count == MOST_DEVICES)
                    return refuse("--devices: too many in '%s'", shown);
                at = parse_number(at, ',', 0, 1000, &number);
                if (!at) return refuse("--devices is a list such as 0,1, not '%s'", shown);
                o.devices[o.device_count++] = (int)number;
            } while (*at || at[-1] == ',');
        } else if (strcmp(word, "--kernel") == 0) {
            int found = 0;
            for (; found < TMM_KERNEL_COUNT; found++) {
                const char *name = tmm_kernel_string((tmm_kernel)found);
                if (value && name && strcmp(name, value) == 0) break;
            }
            if (found == TMM_KERNEL_COUNT)
                return refuse("--kernel: no kernel is called '%s'", shown);
            o.kernel = (tmm_kernel)found;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || value[0] == '-') return refuse("%s needs the name of a file", word);
            o.csv = value;
        } else {
            return refuse("'%s' is not understood", word);
        }
        n++;
    }
    if (!o.types[0] && !o.types[1]) o.types[0] = o.types[1] = 1;
    return 1;
}

/* ---------------------------------- errors, time, threads ------------------------------------- */
static void must_tmm(tmm_status status, const char *what)
{
    if (status == TMM_OK) return;
    fprintf(stderr, "host: %s: %s\n", what, tmm_last_error());
    exit(2);
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static size_t size_of(tmm_type type)
{
    return type == TMM_FLOAT ? sizeof(float) : sizeof(double);
}

/* Work shared out over threads: part number `part` of `parts`. */
typedef struct task {
    void (*work)(struct task *t);
    int part, parts;
    tmm_type type;
    char *to;
    const char *from;
    long long count; /* elements, or bytes */
    u64 seed, sum;
    const char *A, *B, *C; /* for Freivalds' check, N x N */
    long long N;
    double excess;
} task;

static void *run_task(void *t)
{
    ((task *)t)->work((task *)t);
    return NULL;
}

static int thread_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (ON_CPU) return 3;
    return cores < 1 ? 1 : cores > MOST_THREADS ? (int)MOST_THREADS : (int)cores;
}

/* Runs `parts` copies of a task; the sum of their sums, and in *excess the largest excess. */
static u64 in_parallel(const task *common, int parts, double *excess)
{
    static task tasks[MOST_THREADS];
    static pthread_t threads[MOST_THREADS];
    int started[MOST_THREADS];
    u64 sum = 0;
    for (int n = 0; n < parts; n++) {
        tasks[n] = *common;
        tasks[n].part = n, tasks[n].parts = parts;
        started[n] = pthread_create(&threads[n], NULL, run_task, &tasks[n]) == 0;
        if (!started[n]) run_task(&tasks[n]);
    }
    for (int n = 0; n < parts; n++) {
        if (started[n]) pthread_join(threads[n], NULL);
        sum += tasks[n].sum;
        if (excess && !(tasks[n].excess <= *excess)) *excess = tasks[n].excess;
    }
    return sum;
}

static void share(const task *t, long long *from, long long *to)
{
    *from = t->count * t->part / t->parts;
    *to = t->count * (t->part + 1) / t->parts;
}

static void fill_work(task *t)
{
    long long i, end;
    for (share(t, &i, &end); i < end; i++) {
        double x = ((double)(mix(t->seed + (u64)i) >> 11) + 0.5) / 4503599627370496.0 - 1;
        if (t->type == TMM_FLOAT)
            ((float *)t->to)[i] = (float)x;
        else
            ((double *)t->to)[i] = x;
    }
}

static void copy_work(task *t) /* from NULL: poisons with NaN */
{
    long long i, end;
    share(t, &i, &end);
    if (t->from)
        memcpy(t->to + i, t->from + i, (size_t)(end - i));
    else
        memset(t->to + i, 0xff, (size_t)(end - i));
}

static void sum_work(task *t) /* of the bits of all elements and where they are */
{
    long long i, end;
    for (share(t, &i, &end); i < end; i++)
        t->sum += mix((u64)i ^ (t->type == TMM_FLOAT ? ((const unsigned *)t->from)[i]
                                                     : ((const u64 *)t->from)[i]));
}

/* The parts form a square: each takes some rows of A and some columns of B, and what they make of
   C. So most of the work is done once, not once a thread. */
static void freivalds_work(task *t)
{
    long long edge = 1, size = (long long)size_of(t->type);
    while ((edge + 1) * (edge + 1) <= t->parts) edge++;
    if (t->part >= edge * edge) return;
    long long i = t->N * (t->part / edge) / edge, i1 = t->N * (t->part / edge + 1) / edge;
    long long j = t->N * (t->part % edge) / edge, j1 = t->N * (t->part % edge + 1) / edge;
    if (i == i1 || j == j1) return;
    if (tmm_freivalds(t->type, i1 - i, j1 - j, t->N, t->A + i * t->N * size, t->N, t->B + j * size,
                      t->N, t->C + (i * t->N + j) * size, t->N, 2, t->seed + (u64)t->part,
                      &t->excess) != TMM_OK)
        t->excess = HUGE_VAL;
}

static void fill(tmm_type type, char *X, long long N, u64 seed)
{
    task t;
    memset(&t, 0, sizeof t);
    t.work = fill_work, t.type = type, t.to = X, t.count = N * N, t.seed = mix(seed);
    in_parallel(&t, thread_count(), NULL);
}

static void copy(char *to, const char *from, long long bytes)
{
    task t;
    memset(&t, 0, sizeof t);
    t.work = copy_work, t.to = to, t.from = from, t.count = bytes;
    in_parallel(&t, thread_count(), NULL);
}

static u64 checksum(tmm_type type, const char *X, long long N)
{
    task t;
    memset(&t, 0, sizeof t);
    t.work = sum_work, t.type = type, t.from = X, t.count = N * N;
    return in_parallel(&t, thread_count(), NULL);
}

/* ---------------------------------- rows ------------------------------------------------------ */
static double flops(long long N)
{
    return 2.0 * (double)N * (double)N * (double)N;
}

static double limit_of(const row *r)
{
    return r->floor > r->compute ? r->floor : r->compute;
}

/* One goal of a row; all must be met. */
static void goal(row *r, int met, const char *format, double wanted)
{
    size_t used = strlen(r->goal);
    if (used) used += (size_t)snprintf(r->goal + used, sizeof r->goal - used, "; ");
    if (used < sizeof r->goal) snprintf(r->goal + used, sizeof r->goal - used, format, wanted);
    r->met = met && r->met != 0;
}

/* What one to four H200s should reach. */
static void set_goals(row *r)
{
    int host = strcmp(r->what, "host") == 0, pinned = strcmp(r->memory, "pinned") == 0;
    r->met = -1;
    if (!on_h200) return;
    if (host && r->devices == 1 && (r->N == 8192 || r->N == 16384)) {
        double most = pinned ? 1.15 : 1.35;
        goal(r, r->ms <= most * limit_of(r), "%.2f x limit", most);
    }
    if (host && pinned && r->xt > 0 && r->N >= 16384) {
        double least = r->devices < 4 ? 1 : r->N == 16384 ? 1.6 : 1.5;
        goal(r, r->xt > least * r->ms, "Xt/ms > %.1f", least);
    }
    if (host && pinned && r->devices > 1 && r->N == 32768 && r->efficiency > 0)
        goal(r, r->efficiency >= 0.9, "efficiency %.2f", 0.9);
    if (strcmp(r->what, "resident") == 0 && r->devices > 1 && r->N == 16384 && r->efficiency > 0)
        goal(r, r->efficiency >= 0.95, "efficiency %.2f", 0.95);
    if (strcmp(r->what, "tmm_dmatmul") == 0 && r->N == 5000) goal(r, r->ms <= 100, "%.0f ms", 100);
}

/* A number, or "-" if it was not measured. */
static const char *shown(char *text, const char *format, double x)
{
    snprintf(text, 24, x > 0 ? format : "-", x);
    return text;
}

static void heading(void)
{
    printf("\n%-14s %-6s %6s %3s %-8s %10s %8s %9s %9s %6s %9s %6s %6s %6s %-9s  %s\n", "what",
           "type", "N", "dev", "memory", "ms", "GFLOP/s", "floor", "compute", "limit", "Xt ms",
           "block", "Xt/ms", "effic.", "result", "goal");
}

static row *add_row(const char *what, tmm_type type, long long N, int devices, const char *memory,
                    double ms)
{
    static row spare;
    row *r = row_count < MOST_ROWS ? &rows[row_count++] : &spare;
    memset(r, 0, sizeof *r);
    r->what = what, r->type = type, r->N = N, r->devices = devices, r->memory = memory, r->ms = ms;
    r->kernel = "", r->result = "";
    if (strcmp(memory, "device") != 0)
        r->gbytes = 3e-6 * (double)N * (double)N * (double)size_of(type) / ms;
    for (int n = 0; n < row_count && devices > 1; n++)
        if (strcmp(rows[n].what, what) == 0 && rows[n].type == type && rows[n].N == N &&
            rows[n].devices == 1 && strcmp(rows[n].memory, memory) == 0)
            r->efficiency = rows[n].ms / (devices * ms);
    return r;
}

static void finish_row(row *r)
{
    char t[8][24];
    double rate = flops(r->N) / r->ms * 1e-6, limit = limit_of(r);
    set_goals(r);
    if (strcmp(r->result, "WRONG") == 0 || strcmp(r->result, "OTHER BITS") == 0) failures++;
    printf("%-14s %-6s %6lld %3d %-8s %10.3f %8s %9s %9s %6s %9s %6s %6s %6s %-9s  %s%s\n", r->what,
           type_names[r->type], r->N, r->devices, r->memory, r->ms, shown(t[0], "%.0f", rate),
           shown(t[1], "%.3f", r->floor), shown(t[2], "%.3f", r->compute),
           shown(t[3], "%.3f", limit > 0 ? r->ms / limit : 0), shown(t[4], "%.3f", r->xt),
           shown(t[5], "%.0f", (double)r->block), shown(t[6], "%.3f", r->xt / r->ms),
           shown(t[7], "%.3f", r->efficiency), r->result, r->goal,
           r->met < 0 ? ""
           : r->met   ? ": met"
                      : ": MISSED");
    fflush(stdout);
    if (csv)
        fprintf(csv,
                "%s,%s,%lld,%d,%s,%.6g,%.6g,%.6g,%.6g,%s,%.6g,%.6g,%lld,%.6g,%.6g,%.6g,%s,%s,%s\n",
                r->what, type_names[r->type], r->N, r->devices, r->memory, r->ms, rate, r->floor,
                r->compute, r->kernel, limit > 0 ? r->ms / limit : 0, r->xt, r->block,
                r->xt / r->ms, r->efficiency, r->gbytes, r->result, r->goal,
                r->met < 0 ? ""
                : r->met   ? "met"
                           : "missed");
}

/* ---------------------------------- on the devices -------------------------------------------- */
/* A device's rows of A and C, and all of B. */
typedef struct place {
    int device;
    long long row, rows;
    char *A, *B, *C;
    cudaStream_t in, out;
} place;

static place places[MOST_DEVICES];

static void take_places(const int *devices, int count, tmm_type type, long long N)
{
    size_t size = size_of(type);
    for (int n = 0; n < count; n++) {
        place *p = &places[n];
        p->device = devices[n];
        p->row = N * n / count, p->rows = N * (n + 1) / count - p->row;
        size_t bytes = (size_t)(p->rows * N) * size;
        must(cudaSetDevice(p->device), "cudaSetDevice");
        must(cudaMalloc((void **)&p->A, bytes + 1), "device memory for A");
        must(cudaMalloc((void **)&p->B, (size_t)(N * N) * size), "device memory for B");
        must(cudaMalloc((void **)&p->C, bytes + 1), "device memory for C");
        must(cudaStreamCreateWithFlags(&p->in, cudaStreamNonBlocking), "stream");
        must(cudaStreamCreateWithFlags(&p->out, cudaStreamNonBlocking), "stream");
        must(cudaMemcpyAsync(p->A, A + (size_t)(p->row * N) * size, bytes, cudaMemcpyHostToDevice,
                             p->in),
             "copy of A");
        must(cudaMemcpyAsync(p->B, B, (size_t)(N * N) * size, cudaMemcpyHostToDevice, p->in),
             "copy of B");
        must(cudaMemsetAsync(p->C, 0xff, bytes, p->in), "poisoning C");
    }
    for (int n = 0; n < count; n++) must(cudaStreamSynchronize(places[n].in), "copies");
}

static void leave_places(int count)
{
    for (int n = 0; n < count; n++) {
        place *p = &places[n];
        must(cudaSetDevice(p->device), "cudaSetDevice");
        cudaFree(p->A);
        cudaFree(p->B);
        cudaFree(p->C);
        cudaStreamDestroy(p->in);
        cudaStreamDestroy(p->out);
    }
    must(cudaSetDevice(o.devices[0]), "cudaSetDevice");
}

static void wait_for_devices(int count)
{
    for (int n = 0; n < count; n++) {
        must(cudaSetDevice(places[n].device), "cudaSetDevice");
        must(cudaDeviceSynchronize(), "a device");
    }
}

enum { COPY_IN = 1, COPY_OUT = 2 };

/* All devices at once copy their rows of A and B from pinned memory, theirs of C to it. */
static double time_copies(int count, tmm_type type, long long N, int ways)
{
    double times[REPS];
    for (int rep = -1; rep < REPS; rep++) {
        double start = now();
        for (int n = 0; n < count; n++) {
            place *p = &places[n];
            size_t first = (size_t)(p->row * N) * size_of(type);
            size_t bytes = (size_t)(p->rows * N) * size_of(type);
            must(cudaSetDevice(p->device), "cudaSetDevice");
            if (ways & COPY_IN) {
                must(cudaMemcpyAsync(p->A, A + first, bytes, cudaMemcpyHostToDevice, p->in),
                     "copy of A");
                must(cudaMemcpyAsync(p->B + first, B + first, bytes, cudaMemcpyHostToDevice, p->in),
                     "copy of B");
            }
            if (ways & COPY_OUT)
                must(cudaMemcpyAsync(C + first, p->C, bytes, cudaMemcpyDeviceToHost, p->out),
                     "copy of C");
        }
        wait_for_devices(count);
        if (rep >= 0) times[rep] = now() - start;
    }
    return median(times, REPS);
}

static int multiply_places(int count, tmm_type type, long long N, tmm_kernel kernel)
{
    for (int n = 0; n < count; n++) {
        place *p = &places[n];
        tmm_status status;
        must(cudaSetDevice(p->device), "cudaSetDevice");
        if (type == TMM_FLOAT)
            status =
                tmm_sgemm_with(kernel, TMM_OP_N, TMM_OP_N, p->rows, N, N, 1, (const float *)p->A, N,
                               (const float *)p->B, N, 0, (float *)p->C, N, 0);
        else
            status =
                tmm_dgemm_with(kernel, TMM_OP_N, TMM_OP_N, p->rows, N, N, 1, (const double *)p->A,
                               N, (const double *)p->B, N, 0, (double *)p->C, N, 0);
        if (status == TMM_ERROR_UNSUPPORTED) return 0;
        must_tmm(status, "a product on a device");
    }
    wait_for_devices(count);
    return 1;
}

/* The time of the kernel asked for, or of the fastest of those that may be, chosen with up to 4096
   columns and a K of 4096. 0 if it does not do this type. */
static double time_compute(int count, tmm_type type, long long N, const char **name)
{
    static const tmm_kernel all[3] = {TMM_PIPELINED, TMM_AUTO, TMM_TENSOR};
    tmm_kernel best = o.kernel;
    double shortest = HUGE_VAL, times[REPS];
    for (int n = 0; n < 3 && o.kernel == TMM_AUTO; n++) {
        long long trial = N > 4096 ? 4096 : N;
        if (all[n] == TMM_TENSOR && (type == TMM_FLOAT || ON_CPU)) continue;
        if (all[n] == TMM_PIPELINED && type == TMM_DOUBLE) continue; /* TMM_TENSOR */
        if (!multiply_places(count, type, trial, all[n])) continue;  /* loads it */
        double start = now();
        multiply_places(count, type, trial, all[n]);
        double took = now() - start;
        if (took < shortest) shortest = took, best = all[n];
    }
    *name = tmm_kernel_string(best);
    for (int rep = -1; rep < REPS; rep++) {
        double start = now();
        if (!multiply_places(count, type, N, best)) return 0;
        if (rep >= 0) times[rep] = now() - start;
    }
    return median(times, REPS);
}

/* tmm_?gemm_multi; the result comes back to C. */
static double time_resident(int count, tmm_type type, long long N)
{
    tmm_part parts[MOST_DEVICES];
    double times[REPS];
    size_t size = size_of(type);
    memset(parts, 0, sizeof parts);
    for (int n = 0; n < count; n++) {
        place *p = &places[n];
        parts[n].device = p->device;
        parts[n].rows = parts[n].rows_B = p->rows;
        parts[n].A = p->A, parts[n].C = p->C;
        parts[n].B = p->B + (size_t)(p->row * N) * size;
        parts[n].lda = parts[n].ldb = parts[n].ldc = N;
    }
    for (int rep = -1; rep < REPS; rep++) {
        for (int n = 0; n < count; n++) {
            must(cudaSetDevice(places[n].device), "cudaSetDevice");
            must(cudaMemset(places[n].C, 0xff, (size_t)(places[n].rows * N) * size), "poison");
        }
        wait_for_devices(count);
        double start = now();
        if (type == TMM_FLOAT)
            must_tmm(tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, N, N, N, 1, 0, parts, count, o.kernel),
                     "tmm_sgemm_multi");
        else
            must_tmm(tmm_dgemm_multi(TMM_OP_N, TMM_OP_N, N, N, N, 1, 0, parts, count, o.kernel),
                     "tmm_dgemm_multi");
        if (rep >= 0) times[rep] = now() - start;
    }
    copy(C, NULL, (long long)(size * (size_t)(N * N)));
    for (int n = 0; n < count; n++) {
        must(cudaSetDevice(places[n].device), "cudaSetDevice");
        must(cudaMemcpy(C + (size_t)(places[n].row * N) * size, places[n].C,
                        (size_t)(places[n].rows * N) * size, cudaMemcpyDeviceToHost),
             "copy of C");
    }
    return median(times, REPS);
}

/* ---------------------------------- from host memory ------------------------------------------ */
static void multiply_host(const int *devices, int count, tmm_type type, long long N, const char *a,
                          const char *b, char *c)
{
    tmm_host_options how;
    memset(&how, 0, sizeof how);
    how.device_count = count, how.devices = devices, how.kernel = o.kernel;
    if (type == TMM_FLOAT)
        must_tmm(tmm_sgemm_host(TMM_OP_N, TMM_OP_N, N, N, N, 1, (const float *)a, N,
                                (const float *)b, N, 0, (float *)c, N, &how),
                 "tmm_sgemm_host");
    else
        must_tmm(tmm_dgemm_host(TMM_OP_N, TMM_OP_N, N, N, N, 1, (const double *)a, N,
                                (const double *)b, N, 0, (double *)c, N, &how),
                 "tmm_dgemm_host");
}

static double time_host(const int *devices, int count, tmm_type type, long long N, const char *a,
                        const char *b, char *c)
{
    double times[REPS];
    for (int rep = -1; rep < REPS; rep++) {
        copy(c, NULL, N * N * (long long)size_of(type));
        double start = now();
        multiply_host(devices, count, type, N, a, b, c);
        if (rep >= 0) times[rep] = now() - start;
    }
    return median(times, REPS);
}

#if HAVE_CUBLAS
/* Row-major, so A and B change places. */
static double run_xt(cublasXtHandle_t handle, tmm_type type, size_t N)
{
    static const float one = 1, zero = 0;
    static const double one_double = 1, zero_double = 0;
    double start = now();
    if (type == TMM_FLOAT)
        must_cublas(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, (float *)B, N,
                                  (float *)A, N, &zero, (float *)C, N),
                    "cublasXtSgemm");
    else
        must_cublas(cublasXtDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one_double,
                                  (double *)B, N, (double *)A, N, &zero_double, (double *)C, N),
                    "cublasXtDgemm");
    return now() - start;
}
#endif

static double time_xt(const int *devices, int count, tmm_type type, long long N, long long *best)
{
    *best = 0;
#if HAVE_CUBLAS
    const long long blocks[6] = {N, N / 2, 8192, 4096, 2048, 1024};
    double shortest = HUGE_VAL, times[REPS];
    int list[MOST_DEVICES];
    cublasXtHandle_t handle;
    memcpy(list, devices, (size_t)count * sizeof *list);
    must_cublas(cublasXtCreate(&handle), "cublasXtCreate");
    must_cublas(cublasXtDeviceSelect(handle, count, list), "cublasXtDeviceSelect");
    long long last = N + 1;
    for (int n = 0; n < 6; n++) {
        if (blocks[n] < 1 || blocks[n] >= last) continue;
        last = blocks[n];
        must_cublas(cublasXtSetBlockDim(handle, (int)last), "cublasXtSetBlockDim");
        double took = run_xt(handle, type, (size_t)N), again = run_xt(handle, type, (size_t)N);
        if (again < took) took = again;
        if (took < shortest) shortest = took, *best = last;
        if (took > 2 * shortest) break;
    }
    must_cublas(cublasXtSetBlockDim(handle, (int)*best), "cublasXtSetBlockDim");
    for (int rep = -1; rep < REPS; rep++) {
        double took = run_xt(handle, type, (size_t)N);
        if (rep >= 0) times[rep] = took;
    }
    must_cublas(cublasXtDestroy(handle), "cublasXtDestroy");
    return median(times, REPS);
#else
    (void)devices, (void)count, (void)type, (void)N;
    return 0;
#endif
}

/* ---------------------------------- checks ---------------------------------------------------- */
static u64 expected; /* the checksum of C for the inputs at hand, once it is known to be right */
static int is_known;

static int is_product(tmm_type type, long long N, const char *c)
{
    double excess = 0;
    task t;
    memset(&t, 0, sizeof t);
    t.work = freivalds_work, t.type = type, t.A = A, t.B = B, t.C = c, t.N = N;
    t.seed = mix((u64)N);
    in_parallel(&t, thread_count(), &excess);
    return excess <= 1;
}

static const char *check(tmm_type type, long long N, const char *c)
{
    u64 sum = checksum(type, c, N);
    if (is_known) return sum == expected ? "same bits" : "OTHER BITS";
    is_known = is_product(type, N, c);
    expected = sum;
    return is_known ? "ok" : "WRONG";
}

static void new_inputs(tmm_type type, long long N)
{
    fill(type, A, N, 2 * (u64)N);
    fill(type, B, N, 2 * (u64)N + 1);
    is_known = 0;
}

static void *pageable(long long bytes)
{
    void *x = malloc((size_t)bytes + 1);
    if (!x) {
        fprintf(stderr, "host: no host memory for %lld bytes\n", bytes);
        exit(2);
    }
    return x;
}

/* ---------------------------------- the points ------------------------------------------------ */
/* One size on some of the devices; `beside` with cublasXt, `both` from pageable memory, too. */
static void run_point(const int *devices, int count, tmm_type type, long long N, int resident,
                      int beside, int both)
{
    row r, *added;
    long long bytes = N * N * (long long)size_of(type);
    memset(&r, 0, sizeof r);
    take_places(devices, count, type, N);
    r.floor = time_copies(count, type, N, COPY_IN | COPY_OUT);
    r.compute = time_compute(count, type, N, &r.kernel);
    if (resident) {
        double ms = time_resident(count, type, N);
        added = add_row("resident", type, N, count, "device", ms);
        added->compute = r.compute, added->kernel = r.kernel;
        added->result = check(type, N, C);
        finish_row(added);
    }
    leave_places(count);
    for (int way = 0; way <= both; way++) {
        char *a = way ? pageable_A : A, *b = way ? pageable_B : B, *c = way ? pageable_C : C;
        if (way) copy(a, A, bytes), copy(b, B, bytes);
        double ms = time_host(devices, count, type, N, a, b, c);
        added = add_row("host", type, N, count, way ? "pageable" : "pinned", ms);
        added->floor = r.floor, added->compute = r.compute, added->kernel = r.kernel;
        added->result = check(type, N, c);
        if (beside && way == 0) added->xt = time_xt(devices, count, type, N, &added->block);
        if (added->xt > 0 && !is_product(type, N, C)) {
            printf("cublasXt is WRONG here, so its time says nothing\n");
            added->xt = 0;
        }
        finish_row(added);
    }
}

/* Every way and number of devices, at a size off every tile: the same bits. */
static int same_bits(tmm_type type)
{
    long long N = ODD, bytes = N * N * (long long)size_of(type);
    int good = 1;
    const char *result;
    char *a = (char *)pageable(bytes), *b = (char *)pageable(bytes), *c = (char *)pageable(bytes);
    new_inputs(type, N);
    copy(a, A, bytes), copy(b, B, bytes);
    for (int count = 1; count <= o.device_count; count++)
        for (int way = 0; way < 3; way++) {
            if (way == 2) {
                take_places(o.devices, count, type, N);
                time_resident(count, type, N);
                leave_places(count);
            } else {
                copy(way ? c : C, NULL, bytes);
                multiply_host(o.devices, count, type, N, way ? a : A, way ? b : B, way ? c : C);
            }
            result = check(type, N, way == 1 ? c : C);
            if (strcmp(result, "WRONG") == 0 || strcmp(result, "OTHER BITS") == 0) {
                printf("%s, N = %lld, %d devices, %s: %s\n", type_names[type], N, count,
                       way == 0   ? "pinned"
                       : way == 1 ? "pageable"
                                  : "resident",
                       result);
                good = 0;
            }
        }
    free(a), free(b), free(c);
    return good;
}

/* ---------------------------------- the course's case ----------------------------------------- */
enum { WAY_MATMUL, WAY_HOST, WAY_TEXTBOOK, WAY_CUBLAS, WAYS };
static const char *const way_names[WAYS] = {"tmm_dmatmul", "tmm_dgemm_host", "textbook",
                                            "cublasDgemm"};
#if HAVE_CUBLAS
static cublasHandle_t cublas;
#endif

static void run_way(int way, long long N, const char *a, const char *b, char *c)
{
    size_t bytes = (size_t)(N * N) * sizeof(double);
    double *dA, *dB, *dC;
    if (way == WAY_MATMUL) {
        must_tmm(tmm_dmatmul(N, N, N, (const double *)a, (const double *)b, (double *)c),
                 "tmm_dmatmul");
        return;
    }
    if (way == WAY_HOST) {
        multiply_host(o.devices, 1, TMM_DOUBLE, N, a, b, c);
        return;
    }
    must(cudaMalloc((void **)&dA, bytes), "device memory");
    must(cudaMalloc((void **)&dB, bytes), "device memory");
    must(cudaMalloc((void **)&dC, bytes), "device memory");
    must(cudaMemcpy(dA, a, bytes, cudaMemcpyHostToDevice), "copy of A");
    must(cudaMemcpy(dB, b, bytes, cudaMemcpyHostToDevice), "copy of B");
    if (way == WAY_TEXTBOOK)
        must_tmm(tmm_dgemm_with(TMM_SHARED_32, TMM_OP_N, TMM_OP_N, N, N, N, 1, dA, N, dB, N, 0, dC,
                                N, 0),
                 "tmm_dgemm_with");
#if HAVE_CUBLAS
    static const double one = 1, zero = 0;
    if (way == WAY_CUBLAS)
        must_cublas(cublasDgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, (int)N, (int)N, (int)N, &one, dB,
                                (int)N, dA, (int)N, &zero, dC, (int)N),
                    "cublasDgemm");
#endif
    must(cudaMemcpy(c, dC, bytes, cudaMemcpyDeviceToHost), "copy of C");
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
}

static void run_course(void)
{
    enum { RUNS = 5 };
    long long N = COURSE, bytes = N * N * (long long)sizeof(double);
    double times[WAYS][RUNS];
    const char *results[WAYS];
    char *a = (char *)pageable(bytes), *b = (char *)pageable(bytes);
    new_inputs(TMM_DOUBLE, N);
    copy(a, A, bytes), copy(b, B, bytes);
#if HAVE_CUBLAS
    must_cublas(cublasCreate(&cublas), "cublasCreate");
#endif
    for (int run = -1; run < RUNS; run++)
        for (int way = 0; way < WAYS; way++) {
            if (way == WAY_CUBLAS && !HAVE_CUBLAS) continue;
            char *c = (char *)pageable(bytes); /* new pages each time */
            double start = now();
            run_way(way, N, a, b, c);
            double took = now() - start;
            if (run >= 0) times[way][run] = took;
            if (run == RUNS - 1) {
                is_known = 0; /* the ways sum in different orders */
                results[way] = check(TMM_DOUBLE, N, c);
            }
            free(c);
        }
    for (int way = 0; way < WAYS; way++) {
        if (way == WAY_CUBLAS && !HAVE_CUBLAS) continue;
        row *r = add_row(way_names[way], TMM_DOUBLE, N, 1, "fresh", median(times[way], RUNS));
        r->result = results[way];
        finish_row(r);
    }
#if HAVE_CUBLAS
    cublasDestroy(cublas);
#endif
    free(a), free(b);
}

/* ---------------------------------- rates of copies ------------------------------------------- */
static void show_rate(const char *what, int devices, double bytes, double ms)
{
    printf("  %-44s %8.1f GB/s\n", what, bytes / ms * 1e-6);
    if (csv)
        fprintf(csv, "%s,,,%d,pinned,%.6g,,,,,,,,,,%.6g,,,\n", what, devices, ms,
                bytes / ms * 1e-6);
}

static void measure_rates(void)
{
    long long N = ON_CPU ? 128 : 8192; /* 256 MB a matrix */
    double bytes = (double)(N * N) * sizeof(float), times[REPS];
    new_inputs(TMM_FLOAT, N);
    printf("copies from and to pinned memory, and between devices:\n");
    for (int count = 1; count <= o.device_count; count += count == 1 ? o.device_count - 1 : 1) {
        take_places(o.devices, count, TMM_FLOAT, N);
        show_rate(count == 1 ? "to one device" : "to all devices", count, 2 * bytes,
                  time_copies(count, TMM_FLOAT, N, COPY_IN));
        show_rate(count == 1 ? "from one device" : "from all devices", count, bytes,
                  time_copies(count, TMM_FLOAT, N, COPY_OUT));
        show_rate(count == 1 ? "both ways at once: one device" : "both ways at once: all devices",
                  count, 3 * bytes, time_copies(count, TMM_FLOAT, N, COPY_IN | COPY_OUT));
        if (count > 1 && o.devices[0] != o.devices[1]) {
            int can = 0, access[2] = {o.devices[0], o.devices[1]};
            must(cudaDeviceCanAccessPeer(&can, access[0], access[1]), "cudaDeviceCanAccessPeer");
            for (int n = 0; n < 2 && can; n++) { /* as tmm_?gemm_host does; "already" is fine */
                must(cudaSetDevice(access[n]), "cudaSetDevice");
                cudaDeviceEnablePeerAccess(access[1 - n], 0);
                cudaGetLastError();
            }
            for (int rep = -1; rep < REPS; rep++) {
                double start = now();
                must(cudaSetDevice(access[0]), "cudaSetDevice");
                must(cudaMemcpyPeerAsync(places[1].B, access[1], places[0].B, access[0],
                                         (size_t)bytes, places[0].in),
                     "copy between devices");
                must(cudaStreamSynchronize(places[0].in), "copy between devices");
                if (rep >= 0) times[rep] = now() - start;
            }
            show_rate(can ? "from device to device" : "from device to device (no access)", 2, bytes,
                      median(times, REPS));
        }
        leave_places(count);
        if (o.device_count == 1) break;
    }
}

/* ---------------------------------- the job --------------------------------------------------- */
static void *allocate_pinned(void *x)
{
    /* three at once: the time goes into pages, not into the GPU */
    must(cudaMallocHost((void **)((char **)x)[0], *(size_t *)((char **)x)[1]), "pinned memory");
    return NULL;
}

static void take_pinned(size_t bytes)
{
    char **matrices[3] = {&A, &B, &C};
    void *arguments[3][2];
    pthread_t threads[3];
    int started[3];
    for (int n = 0; n < 3; n++) {
        arguments[n][0] = matrices[n], arguments[n][1] = &bytes;
        started[n] = pthread_create(&threads[n], NULL, allocate_pinned, arguments[n]) == 0;
        if (!started[n]) allocate_pinned(arguments[n]);
    }
    for (int n = 0; n < 3; n++)
        if (started[n]) pthread_join(threads[n], NULL);
}

static void run_all(void)
{
    int several = o.device_count > 1;
    const long long *shapes = o.shape_count ? o.shapes : several ? SEVERAL : ONE_DEVICE;
    int count = o.shape_count ? o.shape_count : 2, listed = !o.shape_count && !o.quick;
    int both = o.pageable || (!several && !o.shape_count);
    long long largest = COURSE * COURSE * (long long)sizeof(double), sizes = 0;
    if (o.quick && !o.shape_count) shapes = &QUICK, count = 1;
    for (int n = 0; n < count; n++)
        for (int type = 0; type < 2; type++) {
            long long bytes = shapes[n] * shapes[n] * (long long)size_of((tmm_type)type);
            if (o.types[type] && bytes > sizes) sizes = bytes;
        }
    if (sizes > largest) largest = sizes;
    if (largest < 8192ll * 8192 * 4 && !ON_CPU) largest = 8192ll * 8192 * 4; /* for the rates */
    if (largest < 128 * 128 * 4) largest = 128 * 128 * 4;
    take_pinned((size_t)largest);
    if (both) {
        pageable_A = (char *)pageable(sizes);
        pageable_B = (char *)pageable(sizes);
        pageable_C = (char *)pageable(sizes);
    }
    measure_rates();
    for (int type = 0; type < 2; type++) {
        if (!o.types[type]) continue;
        int good = same_bits((tmm_type)type);
        printf("%s, N = %lld, pinned, pageable, resident, 1 to %d devices: %s\n", type_names[type],
               ODD, o.device_count, good ? "same bits" : "WRONG");
        failures += !good;
    }
    heading();
    for (int type = 0; type < 2; type++)
        for (int n = 0; n < count && o.types[type]; n++) {
            new_inputs((tmm_type)type, shapes[n]);
            run_point(o.devices, 1, (tmm_type)type, shapes[n], several, !several, both);
            if (several)
                run_point(o.devices, o.device_count, (tmm_type)type, shapes[n], 1, 1, both);
        }
    if (listed && o.types[TMM_DOUBLE]) run_course();
    cudaFreeHost(A);
    cudaFreeHost(B);
    cudaFreeHost(C);
    free(pageable_A), free(pageable_B), free(pageable_C);
}

int main(int count, char **words)
{
    int devices = 0, missed = 0;
    struct cudaDeviceProp device;
    double start = now();
    if (!parse_options(count, words)) return 2;
#if HAVE_CUBLAS
    strict_cublas();
#endif
    must(cudaGetDeviceCount(&devices), "no usable CUDA device");
    if (o.device_count == 0)
        for (; o.device_count < devices && o.device_count < MOST_DEVICES; o.device_count++)
            o.devices[o.device_count] = o.device_count;
    csv = open_csv(o.csv);
    if (csv)
        fprintf(csv, "what,type,N,devices,memory,ms,gflops,floor_ms,compute_ms,compute_kernel,"
                     "times_limit,cublasxt_ms,cublasxt_block,cublasxt_over_ours,efficiency,gbytes,"
                     "result,goal,met\n");
    must(cudaGetDeviceProperties(&device, o.devices[0]), "the first device");
    must(cudaSetDevice(o.devices[0]), "the first device");
    cuda_versions v = get_versions();
    on_h200 = strstr(device.name, "H200") != NULL && o.kernel == TMM_AUTO;
    printf("%d x %s, driver %s, CUDA %s, %d threads on the host%s\n", o.device_count, device.name,
           v.driver, v.toolkit, thread_count(), ON_CPU ? "; all times are CPU times" : "");
    run_all();
    for (int n = 0; n < row_count; n++) missed += rows[n].met == 0;
    if (on_h200) printf("%d goals missed\n", missed);
    if (!close_csv(csv, o.csv)) return 2;
    printf("\n%.0f s; %s\n", (now() - start) / 1e3,
           failures ? "some results were WRONG" : "all results are right");
    return failures != 0;
}
