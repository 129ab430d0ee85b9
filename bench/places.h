/* Products over several devices, and copies to and from them, as bench/host.cu times them: by the
   clock of the host. Included after tiledmm.cuh. */
#ifndef BENCH_PLACES_H
#define BENCH_PLACES_H
#include "product.h"

enum { MOST_DEVICES = 16, REPS = 3 };

static inline void must_tmm(tmm_status status, const char *what)
{
    if (status == TMM_OK) return;
    fprintf(stderr, BENCH ": %s: %s\n", what, tmm_last_error());
    exit(2);
}

/* A product that is timed, or copies of it. */
typedef struct job {
    const int *devices;
    int count, ways; /* of devices; COPY_IN and the like, or whether by cuBLAS */
    tmm_type type;
    long long N;
    const char *a, *b; /* in host memory */
    char *c;
    tmm_kernel kernel;
    void *handle; /* of cublasXt */
} job;

static inline size_t bytes_of(const job *j, long long matrix_rows)
{
    return (size_t)(matrix_rows * j->N) * type_size(j->type);
}

/* Milliseconds: the median of three after one that does not count. `before` is called ahead of
   each; `last` tells it of the one whose result is checked. */
static inline double time_of(void (*run)(const job *), void (*before)(job *, int last), job *j)
{
    double times[REPS];
    for (int rep = -1; rep < (int)REPS; rep++) {
        if (before) before(j, rep == (int)REPS - 1);
        const double start = now();
        run(j);
        if (rep >= 0) times[rep] = 1e3 * (now() - start);
    }
    return median(times, REPS);
}

/* A device's rows of A and C, and all of B. */
typedef struct place {
    int device;
    long long row, rows;
    problem q;
    void *pool;
    char *A, *B, *C;
    cudaStream_t in, out;
} place;
static place places[MOST_DEVICES];

static inline void wait_for_devices(const job *j)
{
    for (int n = 0; n < j->count; n++) {
        must(cudaSetDevice(places[n].device), "cudaSetDevice");
        must(cudaDeviceSynchronize(), "a device");
    }
}

/* What is copied at once: rows of A and B from pinned memory, those of C to it. */
enum { COPY_IN = 1, COPY_OUT = 2 };
static inline void run_copies(const job *j)
{
    for (int n = 0; n < j->count; n++) {
        const place *p = &places[n];
        const size_t first = bytes_of(j, p->row), bytes = bytes_of(j, p->rows);
        const cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
        must(cudaSetDevice(p->device), "cudaSetDevice");
        if (j->ways & COPY_IN) {
            must(cudaMemcpyAsync(p->A, j->a + first, bytes, in, p->in), "copy of A");
            must(cudaMemcpyAsync(p->B + first, j->b + first, bytes, in, p->in), "copy of B");
        }
        if (j->ways & COPY_OUT)
            must(cudaMemcpyAsync(j->c + first, p->C, bytes, out, p->out), "copy of C");
    }
    wait_for_devices(j);
}
static inline double time_copies(job j, int ways)
{
    j.ways = ways;
    return time_of(run_copies, NULL, &j);
}

static inline void poison_places(job *j, int last)
{
    for (int n = 0; n < j->count && last; n++) {
        must(cudaSetDevice(places[n].device), "cudaSetDevice");
        must(cudaMemset(places[n].C, 0xff, bytes_of(j, places[n].rows)), "poison");
    }
    wait_for_devices(j);
}

static inline void take_places(const job *j)
{
    for (int n = 0; n < j->count; n++) {
        place *p = &places[n];
        p->device = j->devices[n];
        p->row = j->N * n / j->count, p->rows = j->N * (n + 1) / j->count - p->row;
        const shape s = {'N', 'N', p->rows, j->N, j->N, j->N, j->N, j->N, 1, 0};
        const size_t bytes = lay_out(&p->q, &s, j->type, NULL);
        must(cudaSetDevice(p->device), "cudaSetDevice");
        must(cudaMalloc(&p->pool, bytes), "device memory");
        must(cudaMemset(p->pool, 0xff, bytes), "poison");
        (void)lay_out(&p->q, &s, j->type, p->pool);
        p->A = (char *)data_of(&p->q, &p->q.A, 0), p->B = (char *)data_of(&p->q, &p->q.B, 0);
        p->C = (char *)data_of(&p->q, &p->q.C, 0);
        must(cudaMemcpy(p->A, j->a + bytes_of(j, p->row), bytes_of(j, p->rows), cudaMemcpyDefault),
             "copy of A");
        must(cudaMemcpy(p->B, j->b, bytes_of(j, j->N), cudaMemcpyDefault), "copy of B");
        must(cudaStreamCreateWithFlags(&p->in, cudaStreamNonBlocking), "stream");
        must(cudaStreamCreateWithFlags(&p->out, cudaStreamNonBlocking), "stream");
    }
}

static inline void leave_places(const job *j)
{
    for (int n = 0; n < j->count; n++) {
        must(cudaSetDevice(places[n].device), "cudaSetDevice");
        must(cudaFree(places[n].pool), "device memory");
        must(cudaStreamDestroy(places[n].in), "stream");
        must(cudaStreamDestroy(places[n].out), "stream");
    }
    must(cudaSetDevice(j->devices[0]), "cudaSetDevice");
}

/* What lies there, or the part of it that N says. */
static inline void run_places(const job *j)
{
    for (int n = 0; n < j->count; n++) {
        problem q = places[n].q;
        q.s.N = q.s.K = j->N;
        must(cudaSetDevice(places[n].device), "cudaSetDevice");
        must_tmm(multiply(&q, j->kernel, 0, &q.C, 0), "a product on a device");
    }
    wait_for_devices(j);
}
#endif
