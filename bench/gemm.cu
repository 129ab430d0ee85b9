/* bench/gemm.cu - the products of tiledmm.cuh by kernels that are named, beside all that cuBLAS
   offers. Beside both stands what the device's units and memory give, measured in the same run. How
   well TMM_AUTO does at shapes from people's work or at random ones is for bench/shapes.cu.

   Build   nvcc -O3 -arch=native bench/gemm.cu -lcublas -lcublasLt -o gemm
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native;
           cpu/cucc bench/gemm.cu for the CPU: checks, beside the runner's cuBLAS without cublasLt)
   Run     ./gemm --shapes bench/gemm.csv      float, double, int; some ten minutes
           ./gemm --type float --shape 4096 --kernel auto --kernel register_128
           ./gemm --help

   A row is one kernel of ours at one shape:
   - Inputs, checks and times are those of bench/shapes.cu (check.h, race.h): 16 slices of 3 ms of
     each contender in turn, of 20 ms from 200 us a call on; the mean of their middle half, per call
     on a stream.
     All contenders of a shape take turns. Below 100 us per call also the time in a CUDA graph.
   - With --phi P elements are (u - 0.5) exp(P z), u uniform in (0, 1) and z normal: the wider, the
     more a product of bytes needs. Then the bound (K + 2) u alone is asked, which cuBLAS keeps, too.
   - Theirs are cublas?gemm with a default handle (strict: no TF32, no emulation); of the first
     eight algorithms that cublasLt proposes the fastest that is strict; for one row or column also
     cublas?gemv. "ratio" is the time of cublas?gemm over ours: above 1, ours is faster.
   - The limit is whatever takes longest: 2 M N K operations by the fastest arithmetic loop of that
     type (tensor cores included where they are exact: double), A, B and C once through memory at
     the rate of a reading kernel, or an empty launch. For products of halves it is a third of what
     cuBLAS reaches with halves; for products of bytes none was measured. For int, which cuBLAS does
     not have, the arithmetic loop takes its turn beside ours, so that both share the clock. */
#define TMM_FLOAT_TENSOR  0 /* compiled, but taken only where they are asked for */
#define TMM_DOUBLE_TENSOR 0
#include "../tiledmm.cuh"
#ifndef __CUCC__ /* the CPU runner has no cublasLt */
#include <cublasLt.h>
#endif
#include <cublas_v2.h>
#define BENCH "gemm"
#include "data.h"
#include "loops.h"
#include "lt.h"

static const char type_letters[3] = {'S', 'D', 'I'};

/* ---------------------------------- what is asked for ----------------------------------------- */
enum { MOST_KERNELS = 16, MOST_PHI = 8 };
static const double GRAPHS_BELOW = 100; /* microseconds */

typedef struct options {
    int types[3]; /* which */
    shape shapes[MOST_SHAPES];
    int count;
    tmm_kernel kernels[MOST_KERNELS];
    int kernel_count;
    double phi[MOST_PHI]; /* of the data; 0: uniform */
    int phi_count, no_lt;
    const char *csv, *list, *use;
    u64 seed;
} options;

static void print_help(void)
{
    printf(
        "usage: gemm [options]\n"
        "Times kernels of tiledmm.cuh beside cuBLAS, with checks, and measures the limits of the\n"
        "device. Without shapes: squares of 256, 1024, 4096 and 8192.\n\n"
        "  --type float|double|int  only this type (repeatable)\n"
        "  --shape M,N,K            this shape (repeatable; N alone: a square)\n"
        "  --shapes FILE            those of a CSV file with the columns\n"
        "                           " SHAPE_COLUMNS "\n"
        "  --use WORD               of these, the ones with that word in the column \"use\"\n"
        "  --phi P                  data (u - 0.5) exp(P z), P from 0 to 8, 0: uniform "
        "(repeatable)\n"
        "  --kernel NAME            this kernel of ours (repeatable; default auto, auto_tensor):\n"
        "                          ");
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const char *name = tmm_kernel_string((tmm_kernel)k);
        printf("%s %s", k && k % 6 == 0 ? "\n                          " : "", name ? name : "");
    }
    printf("\n"
           "  --no-lt                  without the algorithms of cublasLt\n"
           "  --csv FILE               writes the rows to FILE as well\n"
           "  --seed S                 repeats the inputs of another run\n"
           "  --help                   this text\n");
}

static void add_shape(options *o, long long M, long long N, long long K)
{
    const shape s = {'N', 'N', M, N, K, K, N, N, 1, 0};
    o->shapes[o->count++] = s;
}

/* "M,N,K", or "N" for a square. */
static int parse_one(const option *known, const char *value)
{
    options *o = (options *)known->to;
    long long s[3];
    if (o->count == (int)MOST_SHAPES) return 0;
    const char *rest = parse_number(value, ',', 1, 1 << 30, &s[0]);
    if (!rest) return 0;
    if (rest[-1] != ',') {
        s[1] = s[2] = s[0];
    } else {
        rest = parse_number(rest, ',', 1, 1 << 30, &s[1]);
        if (!rest || rest[-1] != ',' || !parse_number(rest, 0, 1, 1 << 30, &s[2])) return 0;
    }
    add_shape(o, s[0], s[1], s[2]);
    return 1;
}

static int parse_phi(const option *known, const char *value)
{
    options *o = (options *)known->to;
    return o->phi_count < (int)MOST_PHI && parse_decimal(value, 8, &o->phi[o->phi_count++]);
}
static int parse_kernel(const option *known, const char *value)
{
    options *o = (options *)known->to;
    const int found = find_kernel(value);
    if (found < 0 || o->kernel_count == (int)MOST_KERNELS) return 0;
    o->kernels[o->kernel_count++] = (tmm_kernel)found;
    return 1;
}

static int parse_options(int count, char **words, options *o)
{
    static const long long squares[] = {256, 1024, 4096, 8192};
    const option known[] = {
        {"--type", parse_type, o->types, "--type is float, double or int, not '%s'", 0, 3},
        {"--shape", parse_one, o, "--shape is M,N,K or N, each from 1 to 2^30, not '%s'", 0, 0},
        {"--shapes", parse_path, &o->list, "--shapes needs the name of a file", 0, 0},
        {"--use", parse_path, &o->use, "--use needs a word", 0, 0},
        {"--phi", parse_phi, o, "--phi is a number from 0 to 8, 8 times at most, not '%s'", 0, 0},
        {"--kernel", parse_kernel, o, "--kernel: no kernel is called '%s', or too many", 0, 0},
        {"--no-lt", NULL, &o->no_lt, NULL, 0, 0},
        {"--csv", parse_path, &o->csv, NEEDS_FILE, 0, 0},
        {"--seed", parse_whole, &o->seed, NEEDS_SEED, 0, LLONG_MAX},
    };
    memset(o, 0, sizeof *o);
    o->seed = (u64)time(NULL);
    if (!parse_words(count, words, known, sizeof known / sizeof *known, print_help)) return 0;
    if (o->use && !o->list) return refuse("%s needs --shapes", "--use");
    if (o->list && o->count) return refuse("%s: either --shape or --shapes", o->list);
    const int shapes = o->list || o->count;
    if (o->list && !(o->count = read_shapes(o->list, o->use, o->shapes))) return 0;
    for (size_t n = 0; n < sizeof squares / sizeof *squares && !shapes; n++)
        add_shape(o, squares[n], squares[n], squares[n]);
    if (!o->types[0] && !o->types[1] && !o->types[2]) o->types[0] = o->types[1] = o->types[2] = 1;
    if (o->phi_count == 0) o->phi_count = 1;
    if (o->kernel_count == 0) {
        o->kernels[o->kernel_count++] = TMM_AUTO;
        o->kernels[o->kernel_count++] = TMM_AUTO_TENSOR;
    }
    return 1;
}

/* ---------------------------------- the contenders -------------------------------------------- */
typedef struct bench {
    options o;
    limits l;
    device d;
    problem q;
    double phi; /* of q's data */
    device_race race;
    FILE *csv;
    int failures;
} bench;
static bench state;

static int call_ours(const device_race *r, const contender *c, int number)
{
    (void)number;
    return multiply(r->q, c->kernel, 0, c->theirs ? &r->q->D : &r->q->C, r->d->stream) == TMM_OK;
}
static int call_cublas(const device_race *r, const contender *c, int number)
{
    (void)c, (void)number;
    return multiply_theirs(r->d, r->q, 0, 0);
}

/* One row or one column: the other operand, as stored by rows, is the transposed matrix. */
#define DEFINE_GEMV(letter, L, T)                                                                  \
    static cublasStatus_t letter##_gemv(const device *d, const problem *q)                         \
    {                                                                                              \
        static const T one = 1, zero = 0;                                                          \
        const int row = q->s.M == 1;                                                               \
        const matrix *m = row ? &q->B : &q->A, *v = row ? &q->A : &q->B;                           \
        const int turned = row ? q->opB == TMM_OP_T : q->opA == TMM_OP_N;                          \
        const int vector_turned = row ? q->opA == TMM_OP_T : q->opB == TMM_OP_N;                   \
        return cublas##L##gemv(d->cublas, turned ? CUBLAS_OP_T : CUBLAS_OP_N, (int)m->cols,        \
                               (int)m->rows, &one, (const T *)data_of(q, m, 0), (int)m->ld,        \
                               (const T *)data_of(q, v, 0), vector_turned ? (int)v->ld : 1, &zero, \
                               (T *)data_of(q, &q->D, 0), row ? 1 : (int)q->D.ld);                 \
    }
DEFINE_GEMV(s, S, float)
DEFINE_GEMV(d, D, double)

static int call_gemv(const device_race *r, const contender *c, int number)
{
    (void)c, (void)number;
    return (r->q->element == TMM_FLOAT ? s_gemv(r->d, r->q) : d_gemv(r->d, r->q)) ==
           CUBLAS_STATUS_SUCCESS;
}

/* ---------------------------------- limits ---------------------------------------------------- */
static void print_limits(const bench *w)
{
    const double *rate = w->l.rate;
    printf("limits measured: FFMA %.1f, DFMA %.1f, IMAD %.1f, ", rate[LOOP_FFMA] * 1e-12,
           rate[LOOP_DFMA] * 1e-12, rate[LOOP_IMAD] * 1e-12);
    if (rate[LOOP_DMMA] > 0)
        printf("DMMA (%s) %.1f TFLOP/s;\n", w->l.dmma_shape == 16 ? "m16n8k16" : "m8n8k4",
               rate[LOOP_DMMA] * 1e-12);
    else
        printf("no DMMA;\n");
    if (rate[LOOP_HALF] > 0)
        printf("cuBLAS with halves %.0f TFLOP/s, a third of it %.0f;\n", rate[LOOP_HALF] * 1e-12,
               rate[LOOP_HALF] / 3 * 1e-12);
    printf("memory: read %.0f, copy %.0f GB/s; an empty launch: %.2f us on a stream, %.2f us in a "
           "graph\n",
           rate[LOOP_READ] * 1e-9, rate[LOOP_COPY] * 1e-9, w->l.launch[0], w->l.launch[1]);
}

static void csv_number(FILE *f, double x, const char *format)
{
    fputc(',', f);
    if (x > 0) fprintf(f, format, x);
}
static void csv_machine(const bench *w, const char *phi)
{
    fprintf(w->csv, ",\"%s\",%s,%s,%s,%d,%llu,%s\n", w->d.name, w->d.v.driver, w->d.v.toolkit,
            w->d.cublas_version, w->d.compiled_for, w->o.seed, phi);
}

/* A limit in the columns that it fits: rate in TFLOP/s or GB/s, time in us. */
static void limit_row(const bench *w, const char *name, const char *type, const double *launch,
                      double tflops, double gbytes)
{
    if (!launch && !(tflops > 0) && !(gbytes > 0)) return; /* not measured */
    fprintf(w->csv, "limit_%s,,%s,,,,,,,,,", name, type);
    csv_number(w->csv, launch ? launch[0] : 0, "%.6g");
    fprintf(w->csv, ",,,");
    csv_number(w->csv, launch ? launch[1] : 0, "%.6g");
    fprintf(w->csv, ",");
    csv_number(w->csv, tflops * 1e-12, "%.6g");
    csv_number(w->csv, gbytes * 1e-9, "%.6g");
    fprintf(w->csv, ",,,,,,,,");
    csv_machine(w, "");
}
static void csv_limits(const bench *w)
{
    const double *rate = w->l.rate;
    fprintf(w->csv, "name,choice,type,op,M,N,K,batch,lda,ldb,ldc,offset,real_time_us,cublas_us,"
                    "cublaslt_us,cublas_gemv_us,graph_us,cublas_graph_us,tflops,gbytes_per_s,ratio,"
                    "ratio_cublaslt,percent_of_limit,limit,error,cublas_error,bound,result,device,"
                    "driver,toolkit,cublas,compiled_for,seed,phi\n");
    limit_row(w, "ffma", "float", NULL, rate[LOOP_FFMA], 0);
    limit_row(w, "dfma", "double", NULL, rate[LOOP_DFMA], 0);
    limit_row(w, "imad", "int", NULL, rate[LOOP_IMAD], 0);
    limit_row(w, w->l.dmma_shape == 16 ? "dmma_m16n8k16" : "dmma_m8n8k4", "double", NULL,
              rate[LOOP_DMMA], 0);
    limit_row(w, "cublas_half", "float", NULL, rate[LOOP_HALF], 0);
    limit_row(w, "read", "", NULL, 0, rate[LOOP_READ]);
    limit_row(w, "copy", "", NULL, 0, rate[LOOP_COPY]);
    limit_row(w, "launch", "", w->l.launch, 0, 0);
}

/* ---------------------------------- rows ------------------------------------------------------ */
/* Microseconds; 0: not measured, and -1: it does not let itself be captured. */
typedef struct row {
    const contender *c;
    tmm_kernel chosen;
    double us, graph, cublas, cublas_graph, cublas_error, lt, gemv;
    double tflops, gbytes, percent;
    const char *limit;
} row;

/* What bounds it, and how near it comes. */
static void set_limit(const bench *w, row *r)
{
    const problem *q = &w->q;
    const double *rate = w->l.rate, bytes = (double)type_size(q->element) * elements_of(&q->s);
    double fastest = rate[LOOP_FFMA];
    if (q->element == TMM_DOUBLE) fastest = fmax(rate[LOOP_DMMA], rate[LOOP_DFMA]);
    if (q->element == TMM_INT) fastest = rate[LOOP_IMAD];
    if (q->element == TMM_FLOAT && r->chosen == TMM_TENSOR) fastest = rate[LOOP_HALF] / 3;
    r->limit = "";
    if (!(r->us > 0)) return;
    const double arithmetic = fastest > 0 ? 2e6 * work_of(&q->s) / fastest : 0;
    const double memory = rate[LOOP_READ] > 0 ? 1e6 * bytes / rate[LOOP_READ] : 0;
    double least = fmax(arithmetic, memory);
    r->limit = arithmetic > memory ? "arithmetic" : "memory";
    if (w->l.launch[0] > least) least = w->l.launch[0], r->limit = "launch";
    r->percent = 100 * least / r->us;
    if (r->chosen == TMM_TENSOR_INT8) r->limit = "bytes", r->percent = 0;
    r->tflops = 2e-6 * work_of(&q->s) / r->us;
    r->gbytes = 1e-3 * bytes / r->us;
}

static void heading(void)
{
    printf("\n%-6s %-2s %-22s %-26s %10s %10s %10s %8s %6s %6s %5s %-10s %-13s %8s  %s\n", "type",
           "op", "shape", "kernel", "us", "cuBLAS", "Lt best", "TFLOP/s", "ratio", "to Lt", "%",
           "of", "graph us", "error", "result");
}

static void print_row(const bench *w, const row *r)
{
    const shape *s = &w->q.s;
    char sizes[96], shown[80], graphs[32] = "-";
    int n = s->M == s->N && s->N == s->K
                ? snprintf(sizes, sizeof sizes, "%lld", s->M)
                : snprintf(sizes, sizeof sizes, "%lld,%lld,%lld", s->M, s->N, s->K);
    if (s->batch > 1) n += snprintf(sizes + n, sizeof sizes - (size_t)n, " x %lld", s->batch);
    if (s->ldc > s->N) n += snprintf(sizes + n, sizeof sizes - (size_t)n, " ld %lld", s->ldc);
    if (s->offset) n += snprintf(sizes + n, sizeof sizes - (size_t)n, " at+%lld", s->offset);
    if (w->phi > 0) snprintf(sizes + n, sizeof sizes - (size_t)n, " phi %g", w->phi);
    const char *name = tmm_kernel_string(r->c->kernel);
    if (r->chosen == r->c->kernel)
        snprintf(shown, sizeof shown, "%s", name);
    else
        snprintf(shown, sizeof shown, "%s = %s", name, tmm_kernel_string(r->chosen));
    printf("%-6s %c%c %-22s %-26s", type_names[w->q.element], s->opA, s->opB, sizes, shown);
    print_number(r->us, 10, r->us < 1e3 ? 2 : 0);
    print_number(r->cublas, 10, r->cublas < 1e3 ? 2 : 0);
    print_number(r->lt, 10, r->lt < 1e3 ? 2 : 0);
    print_number(r->tflops, 8, r->tflops < 10 ? 3 : 1);
    print_number(r->us > 0 ? r->cublas / r->us : 0, 6, 3);
    print_number(r->us > 0 ? r->lt / r->us : 0, 6, 3);
    print_number(r->percent, 5, 1);
    if (r->graph > 0 && r->cublas_graph > 0)
        snprintf(graphs, sizeof graphs, "%.2f / %.2f", r->graph, r->cublas_graph);
    else if (r->graph != 0)
        snprintf(graphs, sizeof graphs, r->graph > 0 ? "%.2f" : "no capture", r->graph);
    printf(" %-10s %-13s %8.1e  %s\n", r->limit, graphs, r->c->error,
           r->c->result ? r->c->result : "ok");
    if (r->gemv > 0)
        printf("%-9s cublas%cgemv takes %.2f us, %.0f GB/s; ours %.0f GB/s\n", "",
               type_letters[w->q.element], r->gemv, r->gbytes * r->us / r->gemv, r->gbytes);
    fflush(stdout);
}

static void write_row(const bench *w, const row *r)
{
    const shape *s = &w->q.s;
    FILE *csv = w->csv;
    char phi[32];
    if (!csv) return;
    fprintf(csv, "%s,%s,%s,%c%c,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld",
            tmm_kernel_string(r->c->kernel),
            r->chosen == r->c->kernel ? "" : tmm_kernel_string(r->chosen), type_names[w->q.element],
            s->opA + 'a' - 'A', s->opB + 'a' - 'A', s->M, s->N, s->K, s->batch, s->lda, s->ldb,
            s->ldc, s->offset);
    csv_number(csv, r->us, "%.6g");
    csv_number(csv, r->cublas, "%.6g");
    csv_number(csv, r->lt, "%.6g");
    csv_number(csv, r->gemv, "%.6g");
    csv_number(csv, r->graph, "%.6g");
    csv_number(csv, r->cublas_graph, "%.6g");
    csv_number(csv, r->tflops, "%.6g");
    csv_number(csv, r->gbytes, "%.6g");
    csv_number(csv, r->us > 0 ? r->cublas / r->us : 0, "%.4f");
    csv_number(csv, r->us > 0 ? r->lt / r->us : 0, "%.4f");
    csv_number(csv, r->percent, "%.4g");
    fprintf(csv, ",%s", r->limit);
    csv_number(csv, r->c->error, "%.3e");
    csv_number(csv, r->cublas_error, "%.3e");
    csv_number(csv, ((double)s->K + 2) * type_unit[w->q.element], "%.3e");
    fprintf(csv, ",%s", r->c->result ? r->c->result : "ok");
    snprintf(phi, sizeof phi, "%g", w->phi);
    csv_machine(w, phi);
}

/* ---------------------------------- one shape ------------------------------------------------- */
static void set_problem(bench *w, const shape *s, tmm_type type, double phi)
{
    const double unit = type_unit[type];
    problem *q = &w->q;
    (void)lay_out(q, s, type, w->d.pool);
    w->phi = phi;
    w->race.bound = ((double)s->K + 2) * unit, w->race.strict = phi > 0 ? w->race.bound : 32 * unit;
    fill(&w->d, q);
    for (int n = 0; n < 2 && phi > 0 && type != TMM_INT; n++) {
        const matrix m = n ? q->B : q->A;
        const long long cells = matrix_cells(&m);
        fill_form<<<blocks_for(cells), 256, 0, w->d.stream>>>(type, PHI, phi, n, m, cells, s->K,
                                                              mix(q->seed));
    }
    must(cudaGetLastError(), "filling the matrices");
}

/* Is TMM_AUTO_TENSOR another than TMM_AUTO? */
static int differs(const problem *q, tmm_kernel kernel)
{
    return kernel != TMM_AUTO_TENSOR || q->element == TMM_FLOAT ||
           chosen_for(q, kernel) == TMM_TENSOR_INT8;
}

/* Where the others stand among the contenders, -1 if they do not: the loop of IMAD or those of
   cuBLAS. The last to write D, which all of ours are compared with, comes last. */
typedef struct others {
    int loop, gemv, lt, cublas, peer; /* peer: D holds a product */
} others;
static others add_others(bench *w, contender *c, int *count)
{
    const problem *q = &w->q;
    others at = {-1, -1, -1, -1, 0};
    if (q->element == TMM_INT) {
        contender other;
        memset(&other, 0, sizeof other);
        other.call = call_ours, other.theirs = 1, other.kernel = TMM_SHARED_32;
        at.peer = check(&w->race, &other, 0) && !other.result;
        at.loop = (*count)++, c[at.loop] = loop_contender(LOOP_IMAD);
        return at;
    }
    if ((q->s.M == 1 || q->s.N == 1) && q->s.batch == 1) {
        contender *v = &c[*count];
        v->call = call_gemv, v->theirs = 1;
        if (check(&w->race, v, 0) && !v->result) at.gemv = (*count)++;
    }
    if (!w->o.no_lt && choose_lt(&w->race, &c[*count])) at.lt = (*count)++;
    contender *v = &c[*count];
    v->call = call_cublas, v->theirs = 1;
    if (check(&w->race, v, 0)) {
        at.cublas = (*count)++, at.peer = w->phi == 0;
        w->failures += v->result != NULL;
    } else {
        fprintf(stderr, BENCH ": cuBLAS does not do this shape\n");
        memset(v, 0, sizeof *v);
    }
    return at;
}

/* In graphs: ours and cublas?gemm, where they are short; leaves those times in `us`. */
static void race_graphs(const bench *w, contender *c, int count, const others *at, double *us)
{
    static contender able[MOST_KERNELS + 4];
    int who[MOST_KERNELS + 4], graphed = 0;
    for (int n = 0; n < count; n++) {
        us[n] = 0;
        if (n == at->loop || n == at->gemv || n == at->lt) continue;
        if (!c[n].result && c[n].us > 0 && c[n].us < GRAPHS_BELOW)
            able[graphed] = c[n], who[graphed++] = n;
    }
    (void)race(&w->race, able, graphed, IN_GRAPHS);
    for (int n = 0; n < graphed; n++) us[who[n]] = able[n].us > 0 ? able[n].us : -1;
}

static void run_shape(bench *w)
{
    static contender c[MOST_KERNELS + 4];
    const problem *q = &w->q;
    double graph[MOST_KERNELS + 4];
    int count = 0;
    memset(c, 0, sizeof c);
    for (int n = 0; n < w->o.kernel_count; n++) {
        if (n > 0 && !differs(q, w->o.kernels[n])) continue;
        c[count].call = call_ours, c[count++].kernel = w->o.kernels[n];
    }
    const int ours = count;
    const others at = add_others(w, c, &count);
    for (int n = 0; n < ours; n++)
        if (!check(&w->race, &c[n], at.peer))
            fprintf(stderr, BENCH ": %s: %s\n", tmm_kernel_string(c[n].kernel), tmm_last_error());
    (void)race(&w->race, c, count, ON_STREAM);
    race_graphs(w, c, count, &at, graph);
    if (at.loop >= 0 && c[at.loop].us > 0)
        w->l.rate[LOOP_IMAD] = amount_of(&w->d, &w->l, LOOP_IMAD) / (c[at.loop].us * 1e-6);
    for (int n = 0; n < ours; n++) {
        row r;
        memset(&r, 0, sizeof r);
        const u64 checksum = c[n].checksum;
        if (!c[n].result && check(&w->race, &c[n], 0) && !c[n].result && c[n].checksum != checksum)
            c[n].result = "VARIES";
        r.c = &c[n], r.graph = graph[n];
        r.chosen = c[n].kernel;
        if (r.chosen == TMM_AUTO || r.chosen == TMM_AUTO_TENSOR) r.chosen = chosen_for(q, r.chosen);
        r.us = c[n].done ? middle(c[n].times, c[n].done) : 0;
        if (at.cublas >= 0)
            r.cublas = c[at.cublas].us, r.cublas_graph = graph[at.cublas],
            r.cublas_error = c[at.cublas].error;
        if (at.lt >= 0) r.lt = c[at.lt].us;
        if (at.gemv >= 0) r.gemv = c[at.gemv].us;
        set_limit(w, &r);
        print_row(w, &r);
        write_row(w, &r);
        w->failures += c[n].result && (strcmp(c[n].result, "refused") != 0 || n == 0);
    }
}

/* ---------------------------------- the job --------------------------------------------------- */
/* Memory for the largest of the shapes and for the measuring of bandwidth. */
static void get_memory(bench *w)
{
    const size_t most = most_memory(), unit = 65536;
    size_t bytes = LEAST_POOL < most ? LEAST_POOL : most;
    for (int t = 0; t < 3; t++)
        for (int n = 0; n < w->o.count && w->o.types[t]; n++) {
            const size_t needed = lay_out(&w->q, &w->o.shapes[n], (tmm_type)t, NULL);
            if (needed <= most && needed > bytes) bytes = needed;
        }
    get_pool(&w->d, (bytes + unit - 1) / unit * unit);
}

static void set_up(bench *w)
{
    int halves = 0;
    open_device(&w->d);
    w->race.d = &w->d, w->race.q = &w->q;
    open_lt();
    w->csv = open_csv(w->o.csv);
    get_memory(w);
    printf("%s, compute capability %d.%d, built for %d; driver %s, CUDA %s, cuBLAS %s; seed %llu\n",
           w->d.name, w->d.major, w->d.minor, w->d.compiled_for, w->d.v.driver, w->d.v.toolkit,
           w->d.cublas_version, w->o.seed);
    const long long cells = (long long)(w->d.pool_bytes / sizeof(int));
    const matrix all = {w->d.pool, 0, 1, cells, cells, 1};
    fill_random<<<2048, 256, 0, w->d.stream>>>(TMM_INT, all, cells, w->o.seed);
    must(cudaStreamSynchronize(w->d.stream), "random numbers");
    for (int n = 0; n < w->o.kernel_count && w->o.types[TMM_FLOAT]; n++)
        halves |= w->o.kernels[n] == TMM_AUTO_TENSOR || w->o.kernels[n] == TMM_TENSOR;
    measure_limits(&w->race, &w->l, halves);
    print_limits(w);
    heading();
    if (w->csv) csv_limits(w);
}

int main(int count, char **words)
{
    bench *w = &state;
    int left_out = 0, done = 0;
    if (!parse_options(count, words, &w->o)) return 2;
    set_up(w);
    for (int t = 0; t < 3; t++)
        for (int f = 0; f < w->o.phi_count; f++)
            for (int n = 0; n < w->o.count && w->o.types[t]; n++) {
                w->q.seed = mix(w->o.seed + mix((u64)++done));
                if (lay_out(&w->q, &w->o.shapes[n], (tmm_type)t, w->d.pool) > w->d.pool_bytes) {
                    left_out++;
                    continue;
                }
                set_problem(w, &w->o.shapes[n], (tmm_type)t, w->o.phi[f]);
                run_shape(w);
            }
    if (left_out) printf("\n%d shapes left out: this device has too little memory\n", left_out);
    printf("\n%s\n", w->failures ? "some results were WRONG" : "all results are right");
    close_lt();
    close_device(&w->d);
    if (!close_csv(w->csv, w->o.csv)) return 2;
    return w->failures != 0;
}
