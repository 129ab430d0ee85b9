/* Many host threads at once: random products of all kernels, types, operations and batches. Each
   thread has a stream of its own; a quarter of the products is captured and launched as graphs. Each
   is first made alone and compared with a sum in double precision; under stress it must have the
   same bits. A thread ends after a while and another begins, since what a thread remembers of a
   device must hold whatever other threads do.

     nvcc -O3 -gencode arch=compute_90a,code=sm_90a bench/stress.cu -o stress && ./stress
     ./stress --seconds 60 --threads 16 --products 400 --seed 1   over all devices that are visible
     cpu/cucc bench/stress.cu -o stress && CUCC_DEVICES=2 ./stress --seconds 5 --work 50000 --graphs 0 */
#define TMM_FLOAT_TENSOR
#define TMM_DOUBLE_TENSOR
#define BENCH "stress"
#include "../tiledmm.cuh"
#include "common.h"
#include "check.h"
#include "draw.h"
#include <pthread.h>
#include <unistd.h>

enum {
    MOST_THREADS = 256,
    MOST_PRODUCTS = 4096,
    MOST_DEVICES = 16,
    GENERATIONS = 6,
    SHOWN = 20,
    TYPES = 3
};
static const long long CELLS = 8 << 20; /* of an operand, or of C */

/* A product. Operands begin at any element of what a device has, so that every alignment occurs. */
typedef struct product {
    tmm_kernel kernel;
    tmm_op opA, opB;
    tmm_type type;
    long long M, N, K, batch, firstA, firstB;
    matrix A, B, C;             /* without addresses, which are the device's and the thread's */
    u64 checksum[MOST_DEVICES]; /* of C, made alone */
} product;

static struct {
    long long seconds, threads, products, work, graphs;
    u64 seed;
} options = {60, 16, 400, 200 << 20, 25, 0};
static product products[MOST_PRODUCTS];
static void *operand[MOST_DEVICES][TYPES]; /* random numbers, which all threads read */
static int devices;

/* What a thread has: its stream, C and findings. */
typedef struct worker {
    int device;
    u64 state;
    double until;
    cudaStream_t stream;
    void *C;
    findings *found;
    tmm_status status; /* of the last product */
    long long made, graphs, failures;
} worker;

/* ---------------------------------- products -------------------------------------------------- */
#define DEFINE_CALL(letter, T)                                                                  \
    static tmm_status call_##letter(const product *p, const void *A, const void *B, void *C,    \
                                    cudaStream_t stream)                                        \
    {                                                                                           \
        return tmm_##letter##gemm_batched_with(p->kernel, p->opA, p->opB, p->M, p->N, p->K, 1,  \
                                               (const T *)A, p->A.ld, (const T *)B, p->B.ld, 0, \
                                               (T *)C, p->C.ld, p->A.rows * p->A.ld,            \
                                               p->B.rows * p->B.ld, p->M * p->C.ld, p->batch,   \
                                               stream);                                         \
    }
DEFINE_CALL(s, float)
DEFINE_CALL(d, double)
DEFINE_CALL(i, int)

static const void *operand_data(const product *p, int device, int is_B)
{
    const char *all = (const char *)operand[device][p->type];
    return all + (size_t)(is_B ? p->firstB : p->firstA) * type_size(p->type);
}

static tmm_status call(const product *p, const worker *w)
{
    matrix C = p->C;
    C.start = w->C;
    const void *A = operand_data(p, w->device, 0), *B = operand_data(p, w->device, 1);
    void *to = matrix_data(&C, p->type);
    switch (p->type) {
    case TMM_DOUBLE: return call_d(p, A, B, to, w->stream);
    case TMM_INT: return call_i(p, A, B, to, w->stream);
    default: return call_s(p, A, B, to, w->stream);
    }
}

/* A product whose kernel may not take it. A third are tiny, some have one long side. */
static product draw(u64 *state)
{
    product p;
    memset(&p, 0, sizeof p);
    p.type = (tmm_type)below(state, TYPES);
    p.kernel = below(state, 3) == 0 ? TMM_AUTO : (tmm_kernel)below(state, TMM_KERNEL_COUNT);
    p.opA = below(state, 2) ? TMM_OP_T : TMM_OP_N, p.opB = below(state, 2) ? TMM_OP_T : TMM_OP_N;
    for (;;) {
        const long long most = below(state, 3) == 0 ? 130 : 2000, far = 60000;
        const int along = below(state, 6); /* which side is long, if any */
        p.M = log_uniform(state, 1, along == 0 ? far : most);
        p.N = log_uniform(state, 1, along == 1 ? far : most);
        p.K = log_uniform(state, 1, along == 2 ? far : most);
        p.batch = below(state, 4) == 0 ? log_uniform(state, 2, 300) : 1;
        const int turnA = p.opA == TMM_OP_T, turnB = p.opB == TMM_OP_T;
        p.A.rows = turnA ? p.K : p.M, p.A.cols = turnA ? p.M : p.K;
        p.B.rows = turnB ? p.N : p.K, p.B.cols = turnB ? p.K : p.N;
        p.C.rows = p.M, p.C.cols = p.N;
        p.A.ld = draw_ld(state, below(state, 4), p.A.cols);
        p.B.ld = draw_ld(state, below(state, 4), p.B.cols);
        p.C.ld = draw_ld(state, below(state, 4), p.C.cols);
        p.A.batch = p.B.batch = p.C.batch = p.batch;
        p.firstA = below(state, 64), p.firstB = below(state, 64);
        p.C.first = GUARD + below(state, 16);
        if ((double)p.M * p.N * p.K * p.batch <= options.work &&
            p.batch * p.A.rows * p.A.ld + 64 <= CELLS &&
            p.batch * p.B.rows * p.B.ld + 64 <= CELLS && matrix_cells(&p.C) <= CELLS)
            return p;
    }
}

/* Poisons C; the product, as a graph or not; the sum of C's bits. What went wrong, or NULL. */
static const char *make(product *p, worker *w, int as_graph, int samples, findings *f)
{
    matrix C = p->C, A = p->A, B = p->B;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    const long long cells = matrix_cells(&C);
    C.start = w->C;
    must(cudaMemsetAsync(w->C, 0xff, matrix_bytes(&C, p->type), w->stream), "poison");
    must(cudaMemsetAsync(w->found, 0, sizeof *w->found, w->stream), "findings");
    if (as_graph)
        must(cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal), "capture");
    const tmm_status status = w->status = call(p, w);
    if (as_graph) {
        const cudaError_t ended = cudaStreamEndCapture(w->stream, &graph);
        if (status == TMM_OK && ended != cudaSuccess) return "the capture ended with an error";
        if (status == TMM_OK) {
            must(cudaGraphInstantiateWithFlags(&ready, graph, 0), "cudaGraphInstantiate");
            must(cudaGraphLaunch(ready, w->stream), "cudaGraphLaunch");
        }
    }
    if (status == TMM_OK) {
        check_cells<<<64, 256, 0, w->stream>>>(p->type, C, cells, w->found);
        if (samples) {
            A.start = (void *)operand_data(p, w->device, 0), A.first = 0;
            B.start = (void *)operand_data(p, w->device, 1), B.first = 0;
            const operands q = {p->type, p->opA, p->opB, A, B, w->state};
            const int edge = p->K > 4096 ? 16 : 2;
            const long long all = ((p->batch * p->M - 1) / edge + 1) * ((p->N - 1) / edge + 1);
            check_samples<<<(unsigned)((all - 1) / 8 + 1), 256, 0, w->stream>>>(q, C, edge, all, 0,
                                                                                w->found);
        }
        must(cudaMemcpyAsync(f, w->found, sizeof *f, cudaMemcpyDeviceToHost, w->stream), "copy");
        must(cudaStreamSynchronize(w->stream), "the products");
    }
    if (ready != NULL) must(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
    if (graph != NULL) must(cudaGraphDestroy(graph), "cudaGraphDestroy");
    if (status != TMM_OK) return tmm_last_error();
    /* Any int is a number, so that none can be told from poison: the sum of bits tells. */
    if (p->type != TMM_INT && f->unwritten) return "elements of C were not written";
    if (f->outside) return "elements beside C were written";
    return f->infinite ? "an element is not finite" : NULL;
}

static void fault(const product *p, const worker *w, int as_graph, const char *what)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int shown;
    pthread_mutex_lock(&lock);
    if (shown++ < SHOWN)
        printf("stress: %s by %s, %c%c %lld x %lld x %lld, batch %lld, device %d%s: %s\n",
               p->type == TMM_DOUBLE ? "double"
               : p->type == TMM_INT  ? "int"
                                     : "float",
               tmm_kernel_string(p->kernel), "NT"[p->opA == TMM_OP_T], "NT"[p->opB == TMM_OP_T],
               p -> M, p -> N, p -> K, p -> batch, w -> device, as_graph ? ", as a graph" : "",
               what);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------- threads --------------------------------------------------- */
static void open_worker(worker *w)
{
    must(cudaSetDevice(w->device), "cudaSetDevice");
    must(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), "stream");
    must(cudaMalloc(&w->C, (size_t)CELLS * sizeof(double) + 512), "memory for C");
    must(cudaMalloc((void **)&w->found, sizeof *w->found), "memory for findings");
}

static void close_worker(worker *w)
{
    must(cudaFree(w->C), "cudaFree");
    must(cudaFree(w->found), "cudaFree");
    must(cudaStreamDestroy(w->stream), "stream");
}

static void *work(void *argument)
{
    worker *w = (worker *)argument;
    must(cudaSetDevice(w->device), "cudaSetDevice");
    while (now() < w->until) {
        findings f;
        product *p = &products[below(&w->state, (int)options.products)];
        const int as_graph = below(&w->state, 100) < (int)options.graphs;
        const char *what = make(p, w, as_graph, 0, &f);
        if (what == NULL && f.checksum != p->checksum[w->device]) what = "other bits than alone";
        if (what != NULL) fault(p, w, as_graph, what), w->failures++;
        w->made++, w->graphs += as_graph;
    }
    return NULL;
}

/* Draws the products and makes each alone, on every device. */
static int alone(void)
{
    int wrong = 0;
    u64 state = mix(options.seed);
    worker w[MOST_DEVICES];
    memset(w, 0, sizeof w);
    for (int d = 0; d < devices; d++) {
        w[d].device = d, w[d].state = state;
        open_worker(&w[d]);
        for (int type = 0; type < TYPES; type++) {
            const matrix all = {NULL, 0, 1, CELLS, CELLS, 1};
            matrix m = all;
            must(cudaMalloc(&operand[d][type], (size_t)CELLS * type_size((tmm_type)type)),
                 "memory for operands");
            m.start = operand[d][type];
            fill_random<<<256, 256>>>((tmm_type)type, m, CELLS, options.seed + (u64)type);
        }
        must(cudaDeviceSynchronize(), "random numbers");
    }
    for (int n = 0; n < options.products;) {
        product p = draw(&state);
        int taken = 1;
        for (int d = 0; d < devices && taken; d++) {
            findings f;
            must(cudaSetDevice(d), "cudaSetDevice");
            const char *what = make(&p, &w[d], 0, 1, &f);
            if (w[d].status == TMM_ERROR_UNSUPPORTED) { /* the kernel does not take this one */
                taken = 0;
                continue;
            }
            double error;
            memcpy(&error, &f.error, sizeof error);
            if (what == NULL && (f.wrong || error > (p.K + 2) * type_unit[p.type]))
                what = "not the sum in double precision";
            if (what != NULL) fault(&p, &w[d], 0, what), wrong++;
            p.checksum[d] = f.checksum;
        }
        if (taken) products[n++] = p;
    }
    for (int d = 0; d < devices; d++) {
        must(cudaSetDevice(d), "cudaSetDevice");
        close_worker(&w[d]);
    }
    return wrong;
}

/* How many failed. */
static long long stress(long long *made, long long *graphs)
{
    static worker workers[MOST_THREADS];
    static pthread_t threads[MOST_THREADS];
    const double begin = now();
    long long failures = 0;
    for (int n = 0; n < options.threads; n++) {
        workers[n].device = n % devices;
        workers[n].state = mix(options.seed ^ (u64)(n + 1) << 32);
        open_worker(&workers[n]);
    }
    for (int g = 1; g <= (int)GENERATIONS; g++) {
        for (int n = 0; n < options.threads; n++) {
            workers[n].until = begin + (double)options.seconds * g / (int)GENERATIONS;
            if (pthread_create(&threads[n], NULL, work, &workers[n]) != 0) {
                fprintf(stderr, BENCH ": no thread\n");
                exit(2);
            }
        }
        for (int n = 0; n < options.threads; n++) pthread_join(threads[n], NULL);
        if (isatty(1)) printf("\r%3.0f of %lld s", now() - begin, options.seconds), fflush(stdout);
    }
    if (isatty(1)) printf("\r");
    *made = *graphs = 0;
    for (int n = 0; n < options.threads; n++) {
        must(cudaSetDevice(workers[n].device), "cudaSetDevice");
        close_worker(&workers[n]);
        *made += workers[n].made, *graphs += workers[n].graphs, failures += workers[n].failures;
    }
    return failures;
}

static void usage(void)
{
    printf("stress: random products by all kernels from many threads at once, over all devices\n"
           "  --seconds N    how long (default 60)\n"
           "  --threads N    host threads, 1 to 256 (default 16)\n"
           "  --products N   different products, 1 to 4096 (default 400)\n"
           "  --graphs N     of a hundred launches, how many as graphs (default 25)\n"
           "  --work N       multiply-adds of a product at most (default 209715200)\n"
           "  --seed N       draws the same products again (default: by the time)\n");
}

static int parse(int count, char **words)
{
    options.seed = (u64)time(NULL);
    for (int n = 1; n < count; n += 2) {
        long long number;
        const char *word = words[n], *value = n + 1 < count ? words[n + 1] : NULL;
        const long long least = !strcmp(word, "--seed") || !strcmp(word, "--graphs") ? 0 : 1;
        if (strcmp(word, "--help") == 0) {
            usage();
            exit(0);
        }
        long long most = LLONG_MAX, *to = NULL;
        if (strcmp(word, "--seconds") == 0) to = &options.seconds, most = 86400;
        if (strcmp(word, "--threads") == 0) to = &options.threads, most = MOST_THREADS;
        if (strcmp(word, "--products") == 0) to = &options.products, most = MOST_PRODUCTS;
        if (strcmp(word, "--graphs") == 0) to = &options.graphs, most = 100;
        if (strcmp(word, "--work") == 0) to = &options.work;
        if (to == NULL && strcmp(word, "--seed") != 0) return refuse("unknown option %s", word);
        if (!parse_number(value, 0, least, most, &number))
            return refuse("%s takes a whole number in its range", word);
        if (to != NULL) *to = number;
        if (to == NULL) options.seed = (u64)number;
    }
    return 1;
}

int main(int count, char **words)
{
    long long made, graphs;
    if (!parse(count, words)) return 2;
    must(cudaGetDeviceCount(&devices), "devices");
    if (devices > (int)MOST_DEVICES) devices = MOST_DEVICES;
    printf("stress: %lld products, %lld threads, %d device%s, seed %llu\n", options.products,
           options.threads, devices, devices == 1 ? "" : "s", options.seed);
    fflush(stdout);
    const long long failed = alone() + stress(&made, &graphs);
    printf("stress: %lld products made, %lld of them as graphs: ", made, graphs);
    printf(failed ? "%lld FAILED\n" : "all right, to the bit\n", failed);
    return failed > 0;
}
