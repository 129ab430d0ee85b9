/* bench/host.cu - products from host memory to host memory, and over several devices. Beside them
   stand cublasXt and what copies and arithmetic alone take in the same run.

   Build   nvcc -O3 -arch=native bench/host.cu -lcublas -o host
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native)
   or      cpu/cucc bench/host.cu -o host      (the CPU runner: tiny sizes, no cublasXt; no figures)
   Run     ./host                       all devices: one, about a minute; four, about two
           ./host --devices 0 --type double --shape 16384 --pageable
           ./host --help

   A row is one way at one size. Times are wall times around the call, the median of three after one
   that does not count.
     host      tmm_?gemm_host, all defaults; memory is pinned or pageable (A and B touched before)
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
   Inputs are uniform in (-1, 1), C is poisoned before the last time. The first result of each type
   and size is checked on the first device, as race.h does it: all elements beside those of cuBLAS,
   at least 512 beside exact sums. For that four matrices must fit there. Every other one of that
   size must have the same bits. tests/host.cu asks the same at other sizes. */
#include "../tiledmm.cuh"
#include <unistd.h>
#include <cublas_v2.h>
#ifndef __CUCC__ /* the CPU runner has no cublasXt */
#include <cublasXt.h>
#endif
#define BENCH "host"
#include "places.h"
#include "race.h"

#ifdef __CUCC__
enum { ON_CPU = 1 };
static const long long ONE_DEVICE[2] = {48, 97}, SEVERAL[2] = {48, 97}, QUICK = 64, COURSE = 60,
                       RATES = 128;
#else
enum { ON_CPU = 0 };
static const long long ONE_DEVICE[2] = {8192, 16384}, SEVERAL[2] = {16384, 32768}, QUICK = 4096,
                       COURSE = 5000, RATES = 8192;
#endif
enum { MOST_ROWS = 256 };

typedef struct options {
    int types[2];
    number_list shapes, devices;
    int pageable, quick;
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
static int devices[MOST_DEVICES], device_count;
static row rows[MOST_ROWS];
static int row_count, failures, missed, on_h200;
static char *A, *B, *C; /* pinned */
static char *pageable_A, *pageable_B, *pageable_C;
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

static int parse_kernel(const option *known, const char *value)
{
    *(tmm_kernel *)known->to = (tmm_kernel)find_kernel(value);
    return find_kernel(value) >= 0;
}

static int parse_options(int count, char **words)
{
    static const option known[] = {
        {"--type", parse_type, o.types, "--type is float or double, not '%s'", 0, 2},
        {"--shape", parse_numbers, &o.shapes,
         "--shape is a whole number from 1 to 131072, not '%s'", 1, 1 << 17},
        {"--devices", parse_numbers, &o.devices, "--devices is a list such as 0,1, not '%s'", 0,
         1000},
        {"--kernel", parse_kernel, &o.kernel, "--kernel: no kernel is called '%s'", 0, 0},
        {"--pageable", NULL, &o.pageable, NULL, 0, 0},
        {"--quick", NULL, &o.quick, NULL, 0, 0},
        {"--csv", parse_path, &o.csv, NEEDS_FILE, 0, 0},
    };
    if (!parse_words(count, words, known, sizeof known / sizeof *known, print_help)) return 0;
    if (!o.types[0] && !o.types[1]) o.types[0] = o.types[1] = 1;
    return 1;
}

/* ---------------------------------- rows ------------------------------------------------------ */
/* One goal of a row, where it is set; all must be met. */
static void goal(row *r, int set, int met, const char *format, double wanted)
{
    const size_t used = strlen(r->goal);
    if (!set || used + 24 > sizeof r->goal) return;
    if (used) strcat(r->goal, "; ");
    snprintf(r->goal + strlen(r->goal), 24, format, wanted);
    r->met = met && r->met != 0;
}

/* What one to four H200s should reach. */
static void set_goals(row *r, double limit)
{
    const int pinned = strcmp(r->memory, "pinned") == 0, several = r->devices > 1;
    const int host = on_h200 && strcmp(r->what, "host") == 0,
              compared = several && r->efficiency > 0;
    const int resident = on_h200 && strcmp(r->what, "resident") == 0;
    const double most = pinned ? 1.15 : 1.35;
    const double least = r->devices < 4 ? 1 : r->N == 16384 ? 1.6 : 1.5;
    r->met = -1;
    goal(r, host && !several && (r->N == 8192 || r->N == 16384), r->ms <= most * limit,
         "%.2f x limit", most);
    goal(r, host && pinned && r->xt > 0 && r->N >= 16384, r->xt > least * r->ms, "Xt/ms > %.1f",
         least);
    goal(r, host && pinned && compared && r->N == 32768, r->efficiency >= 0.9, "efficiency %.2f",
         0.9);
    goal(r, resident && compared && r->N == 16384, r->efficiency >= 0.95, "efficiency %.2f", 0.95);
    goal(r, on_h200 && strcmp(r->what, "tmm_dmatmul") == 0 && r->N == 5000, r->ms <= 100, "%.0f ms",
         100);
}

static row *add_row(const char *what, const job *j, const char *memory, double ms)
{
    static row spare;
    row *r = row_count < (int)MOST_ROWS ? &rows[row_count++] : &spare;
    memset(r, 0, sizeof *r);
    r->what = what, r->memory = memory, r->type = j->type, r->N = j->N, r->devices = j->count;
    r->ms = ms, r->kernel = "";
    if (strcmp(memory, "device") != 0) r->gbytes = 3e-6 * (double)bytes_of(j, j->N) / ms;
    for (int n = 0; n < row_count && r->devices > 1; n++)
        if (strcmp(rows[n].what, what) == 0 && rows[n].type == r->type && rows[n].N == r->N &&
            rows[n].devices == 1 && strcmp(rows[n].memory, memory) == 0)
            r->efficiency = rows[n].ms / (r->devices * ms);
    return r;
}

static void finish_row(row *r)
{
    static const char *const verdicts[3] = {"", ": missed", ": met"}; /* of none, 0 and 1 */
    const double work = 2 * (double)r->N * (double)r->N * (double)r->N, rate = work / r->ms * 1e-6;
    const double limit = fmax(r->floor, r->compute), times_limit = limit > 0 ? r->ms / limit : 0;
    set_goals(r, limit);
    failures += strcmp(r->result, "ok") != 0 && strcmp(r->result, "same bits") != 0;
    missed += r->met == 0;
    printf("%-14s %-6s %6lld %3d %-8s %10.3f", r->what, type_names[r->type], r->N, r->devices,
           r->memory, r->ms);
    print_number(rate, 8, 0), print_number(r->floor, 9, 3), print_number(r->compute, 9, 3);
    print_number(times_limit, 6, 3), print_number(r->xt, 9, 3);
    print_number((double)r->block, 6, 0), print_number(r->xt / r->ms, 6, 3);
    print_number(r->efficiency, 6, 3);
    printf(" %-9s  %s%s\n", r->result, r->goal, verdicts[r->met + 1]);
    fflush(stdout);
    if (!csv) return;
    fprintf(csv, "%s,%s,%lld,%d,%s,%.6g,%.6g,%.6g,%.6g,%s,%.6g,%.6g,%lld,%.6g,%.6g,%.6g,%s,%s,%s\n",
            r->what, type_names[r->type], r->N, r->devices, r->memory, r->ms, rate, r->floor,
            r->compute, r->kernel, times_limit, r->xt, r->block, r->xt / r->ms, r->efficiency,
            r->gbytes, r->result, r->goal, r->met < 0 ? "" : verdicts[r->met + 1] + 2);
}

/* ---------------------------------- the ways -------------------------------------------------- */
/* The time of the kernel asked for, or of the fastest, chosen with up to 4096 columns and a K of
   4096. TMM_PIPELINED of double is TMM_TENSOR where the device has it. */
static double time_compute(job j, const char **name)
{
    static const tmm_kernel all[2] = {TMM_PIPELINED, TMM_AUTO};
    const long long N = j.N;
    double shortest = HUGE_VAL;
    tmm_kernel best = o.kernel;
    j.N = N > 4096 ? 4096 : N;
    for (int n = 0; n < 2 && o.kernel == TMM_AUTO; n++) {
        j.kernel = all[n];
        must(cudaSetDevice(places[0].device), "cudaSetDevice");
        if (multiply(&places[0].q, all[n], 0, &places[0].q.C, 0) != TMM_OK) continue;
        const double ms = time_of(run_places, NULL, &j);
        if (ms < shortest) shortest = ms, best = all[n];
    }
    *name = tmm_kernel_string(best);
    j.kernel = best, j.N = N;
    return time_of(run_places, NULL, &j);
}

#define DEFINE_WAYS(letter, T)                                                             \
    static tmm_status letter##_resident(const job *j, tmm_part *parts)                     \
    {                                                                                      \
        return tmm_##letter##gemm_multi(TMM_OP_N, TMM_OP_N, j->N, j->N, j->N, 1, 0, parts, \
                                        j->count, o.kernel);                               \
    }                                                                                      \
    static tmm_status letter##_host(const job *j, const tmm_host_options *how)             \
    {                                                                                      \
        const long long N = j->N;                                                          \
        return tmm_##letter##gemm_host(TMM_OP_N, TMM_OP_N, N, N, N, 1, (const T *)j->a, N, \
                                       (const T *)j->b, N, 0, (T *)j->c, N, how);          \
    }
DEFINE_WAYS(s, float)
DEFINE_WAYS(d, double)

static void run_resident(const job *j)
{
    tmm_part parts[MOST_DEVICES];
    memset(parts, 0, sizeof parts);
    for (int n = 0; n < j->count; n++) {
        const place *p = &places[n];
        parts[n].device = p->device;
        parts[n].rows = parts[n].rows_B = p->rows;
        parts[n].A = p->A, parts[n].B = p->B + bytes_of(j, p->row), parts[n].C = p->C;
        parts[n].lda = parts[n].ldb = parts[n].ldc = j->N;
    }
    must_tmm(j->type == TMM_FLOAT ? s_resident(j, parts) : d_resident(j, parts), "tmm_?gemm_multi");
}
/* The result comes back to C. */
static double time_resident(job j)
{
    const double ms = time_of(run_resident, poison_places, &j);
    memset(C, 0xff, bytes_of(&j, j.N));
    j.ways = COPY_OUT;
    run_copies(&j);
    return ms;
}

static void run_host(const job *j)
{
    tmm_host_options how;
    memset(&how, 0, sizeof how);
    how.device_count = j->count, how.devices = j->devices, how.kernel = o.kernel;
    must_tmm(j->type == TMM_FLOAT ? s_host(j, &how) : d_host(j, &how), "tmm_?gemm_host");
}
static void poison_host(job *j, int last)
{
    if (last) memset(j->c, 0xff, bytes_of(j, j->N));
}

#ifndef __CUCC__
/* Row-major, so A and B change places. */
static void run_xt(const job *j)
{
    static const float one = 1, zero = 0;
    static const double one_d = 1, zero_d = 0;
    const cublasXtHandle_t handle = (cublasXtHandle_t)j->handle;
    const cublasOperation_t N = CUBLAS_OP_N;
    const size_t n = (size_t)j->N;
    must_cublas(j->type == TMM_FLOAT ? cublasXtSgemm(handle, N, N, n, n, n, &one, (float *)B, n,
                                                     (float *)A, n, &zero, (float *)C, n)
                                     : cublasXtDgemm(handle, N, N, n, n, n, &one_d, (double *)B, n,
                                                     (double *)A, n, &zero_d, (double *)C, n),
                "cublasXt?gemm");
}

static double time_xt(job j, long long *best)
{
    const long long blocks[6] = {j.N, j.N / 2, 8192, 4096, 2048, 1024};
    double shortest = HUGE_VAL;
    int list[MOST_DEVICES];
    cublasXtHandle_t handle;
    memcpy(list, j.devices, (size_t)j.count * sizeof *list);
    must_cublas(cublasXtCreate(&handle), "cublasXtCreate");
    must_cublas(cublasXtDeviceSelect(handle, j.count, list), "cublasXtDeviceSelect");
    j.handle = handle;
    for (int n = 0; n < 6; n++) {
        if (blocks[n] < 1 || (n > 1 && blocks[n] >= blocks[1])) continue;
        must_cublas(cublasXtSetBlockDim(handle, (int)blocks[n]), "cublasXtSetBlockDim");
        const double took = time_of(run_xt, poison_host, &j);
        if (took < shortest) shortest = took, *best = blocks[n];
        if (took > 2 * shortest) break;
    }
    must_cublas(cublasXtDestroy(handle), "cublasXtDestroy");
    return shortest;
}
#else
static double time_xt(job, long long *)
{
    return 0;
}
#endif

/* ---------------------------------- checks ---------------------------------------------------- */
static device d; /* the first one, where results are checked */
static problem q;
static u64 expected; /* the checksum of C for the inputs at hand; 0: none is known to be right */

static int call_peer(const device_race *r, const contender *, int)
{
    return multiply_theirs(r->d, r->q, 0, 0);
}
/* From the host memory that `how` is. */
static int call_upload(const device_race *r, const contender *c, int)
{
    const size_t bytes = (size_t)(r->q->s.M * r->q->s.N) * type_size(r->q->element);
    must(cudaMemcpyAsync(data_of(r->q, &r->q->C, 0), c->how, bytes, cudaMemcpyHostToDevice,
                         r->d->stream),
         "copy of C");
    return 1;
}

static void take_problem(const job *j)
{
    const shape s = {'N', 'N', j->N, j->N, j->N, j->N, j->N, j->N, 1, 0};
    must(cudaSetDevice(devices[0]), "the first device");
    get_pool(&d, lay_out(&q, &s, j->type, NULL));
    (void)lay_out(&q, &s, j->type, d.pool);
    q.seed = (u64)j->N;
}

/* What a result is: the first is compared with a peer's, those that follow with its bits, unless
   they may have others. */
static const char *verify(const job *j, const char *c, int other_bits)
{
    const double bound = ((double)j->N + 2) * type_unit[j->type];
    const device_race by = {&d, &q, bound, bound, 0, 0};
    const int compare = expected == 0 || other_bits;
    contender peer, ours;
    memset(&peer, 0, sizeof peer), memset(&ours, 0, sizeof ours);
    peer.call = call_peer, peer.theirs = 1, ours.call = call_upload, ours.how = c;
    take_problem(j);
    fill(&d, &q);
    if (compare && (!check(&by, &peer, 0) || peer.result)) {
        fprintf(stderr, BENCH ": what is compared with is %s\n", peer.result);
        exit(2);
    }
    (void)check(&by, &ours, compare);
    drop_pool(&d);
    if (ours.result) return ours.result;
    if (!compare) return ours.checksum == expected ? "same bits" : "OTHER BITS";
    if (!other_bits) expected = ours.checksum;
    return "ok";
}

/* Into A and B. */
static void new_inputs(const job *j)
{
    const size_t bytes = bytes_of(j, j->N);
    take_problem(j);
    fill(&d, &q);
    must(cudaStreamSynchronize(d.stream), "inputs");
    must(cudaMemcpy(A, data_of(&q, &q.A, 0), bytes, cudaMemcpyDeviceToHost), "copy of A");
    must(cudaMemcpy(B, data_of(&q, &q.B, 0), bytes, cudaMemcpyDeviceToHost), "copy of B");
    drop_pool(&d);
    expected = 0;
}

static job first_job(tmm_type type, long long N)
{
    const job j = {devices, 1, 0, type, N, A, B, C, o.kernel, NULL};
    return j;
}

static char *pageable(size_t bytes)
{
    char *x = (char *)malloc(bytes + 1);
    if (x) return x;
    fprintf(stderr, BENCH ": no host memory for %zu bytes\n", bytes);
    exit(2);
}

/* ---------------------------------- the points ------------------------------------------------ */
/* The same in pageable memory. */
static job to_pageable(job j)
{
    const size_t bytes = bytes_of(&j, j.N);
    memcpy(pageable_A, A, bytes), memcpy(pageable_B, B, bytes);
    j.a = pageable_A, j.b = pageable_B, j.c = pageable_C;
    return j;
}

/* One size on some of the devices; `beside` with cublasXt, `both` from pageable memory, too. */
static void run_point(job j, int resident, int beside, int both)
{
    const char *kernel;
    row *r;
    take_places(&j);
    const double floor_ms = time_copies(j, COPY_IN | COPY_OUT), compute = time_compute(j, &kernel);
    const double resident_ms = resident ? time_resident(j) : 0;
    leave_places(&j);
    if (resident) {
        r = add_row("resident", &j, "device", resident_ms);
        r->compute = compute, r->kernel = kernel, r->result = verify(&j, C, 0);
        finish_row(r);
    }
    for (int way = 0; way <= both; way++) {
        job from = way ? to_pageable(j) : j;
        r = add_row("host", &j, way ? "pageable" : "pinned", time_of(run_host, poison_host, &from));
        r->floor = floor_ms, r->compute = compute, r->kernel = kernel;
        r->result = verify(&j, from.c, 0);
        if (beside && way == 0) r->xt = time_xt(j, &r->block);
        if (r->xt > 0 && strcmp(verify(&j, C, 1), "ok") != 0) {
            printf("cublasXt is WRONG here, so its time says nothing\n");
            r->xt = 0;
        }
        finish_row(r);
    }
}

/* ---------------------------------- the course's case ----------------------------------------- */
static void run_matmul(const job *j)
{
    must_tmm(tmm_dmatmul(j->N, j->N, j->N, (const double *)j->a, (const double *)j->b,
                         (double *)j->c),
             "tmm_dmatmul");
}

/* By TMM_SHARED_32, or cuBLAS, which has a stream of its own. */
static void run_textbook(const job *j)
{
    const size_t bytes = bytes_of(j, j->N);
    take_problem(j);
    must(cudaMemcpy(data_of(&q, &q.A, 0), j->a, bytes, cudaMemcpyHostToDevice), "copy of A");
    must(cudaMemcpy(data_of(&q, &q.B, 0), j->b, bytes, cudaMemcpyHostToDevice), "copy of B");
    must(cudaDeviceSynchronize(), "copies");
    if (!(j->ways ? multiply_theirs(&d, &q, 0, 0)
                  : multiply(&q, TMM_SHARED_32, 0, &q.D, d.stream) == TMM_OK)) {
        fprintf(stderr, BENCH ": the product of the textbook is refused\n");
        exit(2);
    }
    must(cudaDeviceSynchronize(), "the product");
    must(cudaMemcpy(j->c, data_of(&q, &q.D, 0), bytes, cudaMemcpyDeviceToHost), "copy of C");
    drop_pool(&d);
}

/* New pages for the result. */
static void take_fresh(job *j, int)
{
    free(j->c);
    j->c = pageable(bytes_of(j, j->N));
}

static void run_course(void)
{
    static const struct {
        const char *name;
        void (*run)(const job *);
    } ways[] = {{"tmm_dmatmul", run_matmul},
                {"tmm_dgemm_host", run_host},
                {"textbook", run_textbook},
                {"cublasDgemm", run_textbook}};
    job j = first_job(TMM_DOUBLE, COURSE);
    new_inputs(&j);
    j = to_pageable(j);
    for (int way = 0; way < 4; way++) {
        j.c = NULL, j.ways = way == 3;
        row *r = add_row(ways[way].name, &j, "fresh", time_of(ways[way].run, take_fresh, &j));
        r->result = verify(&j, j.c, 1); /* the ways sum in different orders */
        finish_row(r);
        free(j.c);
    }
}

/* ---------------------------------- rates of copies ------------------------------------------- */
static void show_rate(const char *how, const char *whom, int count, double bytes, double ms)
{
    char what[64];
    const double rate = bytes / ms * 1e-6;
    snprintf(what, sizeof what, "%s%s", how, whom);
    printf("  %-44s %8.1f GB/s\n", what, rate);
    if (csv) fprintf(csv, "%s,,,%d,pinned,%.6g,,,,,,,,,,%.6g,,,\n", what, count, ms, rate);
}

/* All of B from the first device to the second. */
static void run_peers(const job *j)
{
    must(cudaSetDevice(j->devices[0]), "cudaSetDevice");
    must(cudaMemcpyPeerAsync(places[1].B, j->devices[1], places[0].B, j->devices[0],
                             bytes_of(j, j->N), places[0].in),
         "copy between devices");
    must(cudaStreamSynchronize(places[0].in), "copy between devices");
}

static void measure_rates(void)
{
    job j = first_job(TMM_FLOAT, RATES);
    const double bytes = (double)bytes_of(&j, j.N);
    new_inputs(&j);
    printf("copies from and to pinned memory, and between devices:\n");
    for (int several = 0; several <= (device_count > 1); several++) {
        j.count = several ? device_count : 1;
        take_places(&j);
        const char *whom = several ? "all devices" : "one device";
        show_rate("to ", whom, j.count, 2 * bytes, time_copies(j, COPY_IN));
        show_rate("from ", whom, j.count, bytes, time_copies(j, COPY_OUT));
        show_rate("both ways at once: ", whom, j.count, 3 * bytes,
                  time_copies(j, COPY_IN | COPY_OUT));
        if (several && j.devices[0] != j.devices[1]) {
            int can = 0;
            must(cudaDeviceCanAccessPeer(&can, j.devices[0], j.devices[1]), "access to a peer");
            for (int n = 0; n < 2 && can; n++) { /* as tmm_?gemm_host does; "already" is fine */
                must(cudaSetDevice(j.devices[n]), "cudaSetDevice");
                cudaDeviceEnablePeerAccess(j.devices[1 - n], 0);
                cudaGetLastError();
            }
            show_rate("from device to device", can ? "" : " (no access)", 2, bytes,
                      time_of(run_peers, NULL, &j));
        }
        leave_places(&j);
    }
}

/* ---------------------------------- the job --------------------------------------------------- */
static void run_all(void)
{
    const int several = device_count > 1, both = o.pageable || (!several && !o.shapes.count);
    const long long *sizes = o.shapes.count ? o.shapes.at : several ? SEVERAL : ONE_DEVICE;
    int count = o.shapes.count ? o.shapes.count : 2;
    if (o.quick && !o.shapes.count) sizes = &QUICK, count = 1;
    size_t most = (size_t)(RATES * RATES) * sizeof(float), square = 8 * (size_t)(COURSE * COURSE);
    if (square > most) most = square;
    for (int n = 0; n < count * 2; n++) {
        square = (size_t)(sizes[n / 2] * sizes[n / 2]) * type_size((tmm_type)(n % 2));
        if (o.types[n % 2] && square > most) most = square;
    }
    must(cudaMallocHost((void **)&A, most), "pinned memory");
    must(cudaMallocHost((void **)&B, most), "pinned memory");
    must(cudaMallocHost((void **)&C, most), "pinned memory");
    pageable_A = pageable(most), pageable_B = pageable(most), pageable_C = pageable(most);
    measure_rates();
    printf("\n%-14s %-6s %6s %3s %-8s %10s %8s %9s %9s %6s %9s %6s %6s %6s %-9s  %s\n", "what",
           "type", "N", "dev", "memory", "ms", "GFLOP/s", "floor", "compute", "limit", "Xt ms",
           "block", "Xt/ms", "effic.", "result", "goal");
    for (int n = 0; n < count * 2; n++) {
        job j = first_job((tmm_type)(n / count), sizes[n % count]);
        if (!o.types[n / count]) continue;
        new_inputs(&j);
        run_point(j, several, !several, both);
        j.count = device_count;
        if (several) run_point(j, 1, 1, both);
    }
    if (!o.shapes.count && !o.quick && o.types[TMM_DOUBLE]) run_course();
    cudaFreeHost(A), cudaFreeHost(B), cudaFreeHost(C);
    free(pageable_A), free(pageable_B), free(pageable_C);
}

int main(int count, char **words)
{
    const double start = now();
    if (!parse_options(count, words)) return 2;
    must(cudaGetDeviceCount(&device_count), "no usable CUDA device");
    if (o.devices.count) device_count = o.devices.count;
    if (device_count > (int)MOST_DEVICES) device_count = MOST_DEVICES;
    for (int n = 0; n < device_count; n++) devices[n] = o.devices.count ? (int)o.devices.at[n] : n;
    must(cudaSetDevice(devices[0]), "the first device");
    open_device(&d);
    csv = open_csv(o.csv);
    if (csv)
        fprintf(csv, "what,type,N,devices,memory,ms,gflops,floor_ms,compute_ms,compute_kernel,"
                     "times_limit,cublasxt_ms,cublasxt_block,cublasxt_over_ours,efficiency,gbytes,"
                     "result,goal,met\n");
    on_h200 = strstr(d.name, "H200") != NULL && o.kernel == TMM_AUTO;
    printf("%d x %s, driver %s, CUDA %s, %ld threads on the host%s\n", device_count, d.name,
           d.v.driver, d.v.toolkit, sysconf(_SC_NPROCESSORS_ONLN),
           ON_CPU ? "; all times are CPU times" : "");
    run_all();
    if (on_h200) printf("%d goals missed\n", missed);
    close_device(&d);
    if (!close_csv(csv, o.csv)) return 2;
    printf("\n%.0f s; %s\n", now() - start,
           failures ? "some results were WRONG" : "all results are right");
    return failures != 0;
}
