/* bench/shapes.cu - the products of tiledmm.cuh beside cuBLAS, or beside an older tiledmm.cuh: at
   shapes drawn at random from a seed, or at those of a list, such as bench/work.csv.

   Build   nvcc -O3 -arch=native bench/shapes.cu -lcublas -o shapes
           (on an H100 or H200: -gencode arch=compute_90a,code=sm_90a instead of -arch=native;
           cpu/cucc bench/shapes.cu for the CPU: checks alone, no cuBLAS)
   Run     ./shapes                      200 shapes of today's seed, all types; ten minutes
           ./shapes --shapes bench/work.csv --use figure
           ./shapes --seed 7 --count 50 --kind 17-64 --type double --csv rows.csv
           ./shapes --shapes rows.csv    the same shapes again; a batch and an offset may be listed
           ./shapes --plans plans.csv --ms 20      every kernel and plan at each shape: a file of
                                         times, and how good the choice is (bench/fit)
           ./shapes --list               only prints the shapes; needs no device
   Beside an older header: bench/peer.cu. All that is said of cuBLAS below then holds for it.

   - M, N and K are log-uniform from 1 to 16384; in a tenth of the shapes one of them is from 16385 to
     200000. A, B and C have 4 GB at most (in double), and there are 2^42 multiply-adds at most.
     A quarter of the shapes has sizes rounded to multiples of 16, a quarter odd ones. Leading
     dimensions are equal to the columns in half of them, else multiples of 8, of 16, or odd pads.
   - Every other shape is as it comes; the rest is drawn kind by kind, so that each has its shapes:
       1-16      min(M, N) <= 16
       17-64     min(M, N) <= 64 beside more than 512: a batch of requests times weights
       65-256    min(M, N) <= 256 beside more than 512
       small     max(M, N) <= 512, K < 4096
       mid       all others of M N K <= 2048^3
       large     all others
       long_k    few tiles: max(M, N) <= 512 and K >= 4096; or M N <= 2^20 and K >= 8192
       short_k   min(M, N) > 256, K <= 256
   - Types: float and double by TMM_AUTO; tensor is float by TMM_AUTO_TENSOR, where min(M, N) >= 17 and
     max(M, N) and K are at least 256; int8 is double by TMM_AUTO_TENSOR, where M, N and K are at
     least 256: what TMM_AUTO does in a program that defines TMM_DOUBLE_TENSOR. Of a list, tensor
     has all shapes but vectors. int is measured beside another header, or where it is asked for.
     cublas?gemm is in its default mode, without TF32, with a workspace of 32 MiB, as on sm_90.
   - Inputs are uniform in (-1, 1); all that lies between and around matrices is NaN. C is poisoned
     with NaN before the call that is checked. All of it must be written, and nothing else. At least
     512 elements (all of a small C) are compared with sums in twice the precision of double. They
     must keep (K + 2) u |A||B|, and 32 u |A||B|, which TF32 does not. All are compared with those of
     cuBLAS. No product underflows.
   - Ours and theirs in turn, forth and back: 16 slices of 3 ms each, of which the mean of the middle
     half counts. Where a call takes 200 us or more they have 20 ms, each after 40 ms that are not
     timed: power then sets the clock, as in a program that goes on. With --ms there are fewer, or
     shorter ones, so ours and theirs share a clock. The column `ms` says for how long ours was measured. Where one of
     them takes less than 50 us, both are timed in CUDA graphs of 20 to 250 calls, else on a stream.
   - Operands that do not fit L2 twice take turns with copies of them, twice as large as L2 together:
     "cold" in the column `cache`. Smaller ones may stay there, as in a program that has just made
     them: "warm". --cold has all of them cold.
   - --least RATIO fails where ours is slower than that. One measurement varies by some 2%, so a shape
     that is below is measured once more, and the better of both counts.
   - The summary has kinds first, then the sum of all times of cuBLAS over the sum of ours. Last come
     the means of all shapes, which tiny ones make.
   - The limit is whatever takes longest: A, B and C once through memory, 2 M N K operations, or an
     empty kernel with a block for each multiprocessor. That kernel is measured in this run, in a graph
     or on a stream as they are. Rates come from a table. Warm operands may be faster than memory.
   - A plan is an instance of a kernel, how k is cut, and slices: "2 reduce 5". Instances are
     numbered in the order of their list; of skinny it is the width, of pipelined 3, and of double
     tensor the numbers of a second round, are with packed operands. After "whole" stand the warps
     of a block (outer) or of a tile (small). tensor_int8 has no plans: the device chooses. --plans
     forces each plan that the launcher compares, one by one; of numbers of slices that are less
     than a quarter apart, one. Plans that are 15% behind the fastest after two slices are timed no
     further. Nor are those that take half as long again when first called, and those that are 40%
     behind before slices of 20 ms. bench/times.h says what is in the file. */
#include "plans.h"
#define TMM_FLOAT_TENSOR  0 /* compiled, but taken only where they are asked for */
#define TMM_DOUBLE_TENSOR 0
#include "../tiledmm.cuh"
#if !defined(__CUCC__) && !defined(PEER) /* on the CPU only what is ours runs */
#include <cublas_v2.h>
#endif
#define BENCH "shapes"
#include "race.h"
#include "rates.h"
#include "shapes_options.h"
#include "times.h"

static const double STRICT = 32;      /* units that every strict order of sums keeps, TF32 not */
static const double SHORT_WORK = 1e8; /* multiply-adds up to which SHARED_16 may be the fastest */

typedef struct bench {
    options o;
    report out;
    FILE *plans; /* --plans, or NULL */
    rates r;
    double launch[2]; /* microseconds of an empty kernel: on a stream, in a graph */
    device d;
    problem q;
    measured_type type; /* of q */
    device_race race;
    int failures, count;
    shape shapes[MOST_SHAPES];
    row *rows;
    int row_count;
} bench;
static bench state;

/* ---------------------------------- limits ---------------------------------------------------- */
/* Is this shape measured with this type? Of drawn ones, TENSOR has only those that it is made
   for. */
static int is_for(const bench *w, const shape *s, measured_type type)
{
    const long long narrow = least_of(s->M, s->N), wide = most_of(s->M, s->N);
    if (!w->o.types[type]) return 0;
    if (type == TYPE_INT8) return narrow >= 256 && s->K >= 256;
    if (type != TYPE_TENSOR) return 1;
    return w->o.shapes ? narrow >= 2 : narrow >= 17 && wide >= 256 && s->K >= 256;
}

static void set_limit(const bench *w, row *r)
{
    double us[LIMIT_KINDS];
    us[BY_MEMORY] = 1e6 * (double)type_size(element_of(r->type)) * elements_of(&r->s) / w->r.read;
    us[BY_ARITHMETIC] = 1e6 * 2 * work_of(&r->s) / w->r.flops[r->type];
    us[BY_LAUNCH] = w->launch[r->graph];
    r->bound = BY_MEMORY;
    for (int n = 0; n < LIMIT_KINDS; n++)
        if (us[n] > us[r->bound]) r->bound = (limit_kind)n;
    r->limit = us[r->bound];
}

/* ---------------------------------- the contenders -------------------------------------------- */
static tmm_kernel auto_of(measured_type type)
{
    return type == TYPE_TENSOR || type == TYPE_INT8 ? TMM_AUTO_TENSOR : TMM_AUTO;
}

static int call_ours(const device_race *r, const contender *c, int number)
{
    force_plan((const plan *)c->how);
    const tmm_status status =
        multiply(r->q, c->kernel, number % r->q->sets, &r->q->C, r->d->stream);
    force_plan(NULL);
    return status == TMM_OK;
}
static int call_theirs(const device_race *r, const contender *c, int number)
{
    return multiply_theirs(r->d, r->q, number % r->q->sets, c->kernel == TMM_AUTO_TENSOR);
}

/* The product, and what is asked of its results. The bytes of all its operands. */
static size_t set_problem(bench *w, const shape *s, measured_type type)
{
    const double unit = type_unit[element_of(type)];
    w->type = type;
    w->race.d = &w->d, w->race.q = &w->q, w->race.drop = w->plans != NULL;
    w->race.most = 1e3 * w->o.ms;
    w->race.bound = ((double)s->K + 2) * unit, w->race.strict = STRICT * unit;
    (void)lay_out(&w->q, s, element_of(type), w->d.pool);
    return make_cold(&w->q, w->d.l2, w->o.cold);
}

/* ---------------------------------- a shape --------------------------------------------------- */
/* Does TMM_AUTO look at the kernels for every device here? */
static int is_simple(const problem *q)
{
#ifdef TMM_SIMPLE
    (void)q;
    return 1;
#else
    return tmm__current_device()->capability < 80 ||
           (q->element == TMM_DOUBLE && !tmm_dgemm__tensor_pays());
#endif
}

/* Can a kernel do this product, and might it be the fastest? */
static int is_candidate(const bench *w, tmm_kernel kernel)
{
    const problem *q = &w->q;
    switch (kernel) {
    /* where TMM_AUTO looks at them; double and int have one tile of each */
    case TMM_SHARED_16:
        return is_simple(q) && q->element == TMM_FLOAT && work_of(&q->s) <= SHORT_WORK;
    case TMM_SHARED: return is_simple(q) && q->element != TMM_FLOAT && work_of(&q->s) <= SHORT_WORK;
    case TMM_REGISTER_64: return is_simple(q) && q->element == TMM_FLOAT;
    case TMM_REGISTER_128: return is_simple(q);
    case TMM_DIRECT: return work_of(&q->s) <= tmm__direct_most(q->s.M, q->s.N);
    case TMM_SKINNY: return least_of(q->s.M, q->s.N) <= 16;
    case TMM_OUTER: return q->s.K <= 256; /* for a short K alone */
    case TMM_NARROW: return q->element == TMM_FLOAT && most_of(q->s.M, q->s.N) >= 256;
    case TMM_PIPELINED: return q->element != TMM_DOUBLE; /* another in its place */
    case TMM_TENSOR: /* not strict, or none; of float it can be a name for what TMM_AUTO takes */
        return w->type != TYPE_FLOAT && w->type != TYPE_INT && chosen_for(q, kernel) == kernel;
    case TMM_TENSOR_INT8: return w->type == TYPE_INT8;
    default: return 1;
    }
}

/* The plan that TMM_AUTO's kernel takes: the one that is predicted to take what the kernel does.
   NULL: it has no plans. */
static const plan *chosen_plan(const problem *q, tmm_kernel kernel, plan_list *list)
{
    const double time = predicted_for(q, kernel);
    const plan *found = NULL;
    list_plans(list);
    (void)predicted_for(q, kernel);
    list_plans(NULL);
    for (int n = 0; n < list->count && !found; n++) {
        force_plan(&list->plans[n]);
        if (predicted_for(q, kernel) == time) found = &list->plans[n];
        force_plan(NULL);
    }
    return found;
}

/* What --plans runs beside the choice, whose own time is that of TMM_AUTO: all kernels by all
   plans. */
static int add_candidates(const bench *w, tmm_kernel chosen, contender *c, plan_list *lists)
{
    const problem *q = &w->q;
    int count = 0;
    for (int k = 0; k < CANDIDATES; k++) {
        const tmm_kernel kernel = candidates[k];
        if (kernel != chosen && !is_candidate(w, kernel)) continue;
        const plan *own = chosen_plan(q, kernel, &lists[k]);
        const plan *last = NULL;
        for (int n = 0; n < lists[k].count && count < MOST_CONTENDERS - 2; n++) {
            const plan *one = &lists[k].plans[n];
            if (one != own && is_close(one, last)) continue;
            last = one;
            if (kernel == chosen && one == own) continue;
            c[count].kernel = kernel, c[count++].how = one;
        }
        if (lists[k].count == 0 && kernel != chosen && count < MOST_CONTENDERS - 2)
            c[count++].kernel = kernel;
    }
    return count;
}

/* The best of all candidates. */
static void set_best(row *r, const contender *c, int count)
{
    r->best = tmm_kernel_string(r->kernel), r->best_us = r->ours;
    memcpy(r->best_plan, r->plan, sizeof r->best_plan);
    for (int n = 0; n < count; n++) {
        if (c[n].result && strcmp(c[n].result, "refused") != 0) r->result = c[n].result;
        if (c[n].us <= 0 || (r->best_us > 0 && c[n].us >= r->best_us)) continue;
        r->best = tmm_kernel_string(c[n].kernel), r->best_us = c[n].us;
        name_plan((const plan *)c[n].how, r->best_plan);
    }
}

/* Was it timed in turn with the others, or is it the fastest of its kernel? The rest says little: it
   was called a few times, and is far behind. */
static int is_worth_a_line(const contender *c, int count, int number)
{
    if (c[number].us <= 0 || c[number].done > 0) return c[number].us > 0;
    for (int n = 1; n < count; n++)
        if (c[n].kernel == c[number].kernel && c[n].us > 0 && c[n].us < c[number].us) return 0;
    return 1;
}

/* Lines of the file of times: for the choice, which has the kernel and the plan that are given, and
   for candidates. */
static void write_plans(const bench *w, const row *r, const plan *own, const contender *c,
                        int count)
{
    write_times_shape(w->plans, r);
    for (int n = 0; n < count; n++) {
        const tmm_kernel kernel = n ? c[n].kernel : r->kernel;
        const plan *how = n ? (const plan *)c[n].how : own;
        if (!is_worth_a_line(c, count, n)) continue;
        force_plan(how);
        write_times(w->plans, kernel, how, 1e3 * c[n].us, predicted_for(&w->q, kernel));
        force_plan(NULL);
    }
}

/* The time by TMM_AUTO at the same shape, if it is among the rows before. */
static double strict_time(const bench *w, const shape *s, measured_type strict)
{
    for (int n = w->row_count - 2; n >= 0 && n > w->row_count - 2 - TYPES; n--)
        if (w->rows[n].type == strict && same_shape(&w->rows[n].s, s)) return w->rows[n].ours;
    return 0;
}

/* Is ours slower than is asked for? */
static int is_below(const bench *w, const contender *c, int theirs)
{
    return theirs && c[0].us > 0 && c[theirs].us > 0 && c[theirs].us < w->o.least * c[0].us;
}

/* Checks all contenders, theirs first, and times them. What is below --least once may be a moment's
   noise, so it is timed once more, and the better of both counts. */
static void contest(bench *w, row *r, contender *c, int count, int theirs)
{
    if (theirs) (void)check(&w->race, &c[theirs], 0);
    const int peer = theirs && !c[theirs].result;
    for (int n = 0; n < count; n++) {
        if (n > 0 && n == theirs) continue;
        if (!check(&w->race, &c[n], peer) && n == 0)
            fprintf(stderr, BENCH ": %s\n", tmm_last_error());
        /* other kernels may refuse a shape, ours and theirs not */
        w->failures += c[n].result && (n == 0 || strcmp(c[n].result, "refused") != 0);
    }
    r->graph = race(&w->race, c, count, AS_FITS);
    if (is_below(w, c, theirs)) {
        const contender first = c[0];
        const double first_theirs = c[theirs].us;
        r->graph = race(&w->race, c, count, AS_FITS);
        if (first_theirs * c[0].us > c[theirs].us * first.us)
            c[0] = first, c[theirs].us = first_theirs;
    }
    if (!w->plans && !c[0].result && !same_bits(&w->race, &c[0])) {
        c[0].result = "VARIES";
        w->failures++;
    }
    if (!theirs || !c[theirs].result) return;
    w->failures++;
    fprintf(stderr, BENCH ": " THEM_LONG ": %s\n", c[theirs].result);
}

/* Ours and theirs, or the choice and all other kernels and plans. */
static void run_shape(bench *w, const shape *s, measured_type type)
{
    static plan_list lists[CANDIDATES + 1];
    static contender c[MOST_CONTENDERS];
    row *r = &w->rows[w->row_count++];
    int count = 1, theirs = 0, others = 0;
    memset(c, 0, sizeof c);
    memset(r, 0, sizeof *r);
    (void)set_problem(w, s, type);
    w->q.seed = mix(w->o.seed + (u64)w->row_count);
    r->s = *s, r->type = type, r->kernel = chosen_for(&w->q, auto_of(type));
    const plan *own = chosen_plan(&w->q, r->kernel, &lists[CANDIDATES]);
    name_plan(own, r->plan);
    r->cold = w->q.cold;
    fill(&w->d, &w->q);
    if (w->plans) count += others = add_candidates(w, r->kernel, c + 1, lists);
    if (!w->plans && HAS_THEIRS && (type != TYPE_INT || HAS_PEER)) theirs = count++;
    for (int n = 0; n < count; n++) c[n].call = call_ours;
    c[0].kernel = auto_of(type);
    if (theirs) c[theirs].call = call_theirs, c[theirs].theirs = 1, c[theirs].kernel = c[0].kernel;
    contest(w, r, c, count, theirs);
    r->ours = c[0].us > 0 ? c[0].us : 0;
    r->ms = r->ours * c[0].calls * c[0].done * (r->graph ? c[0].per_graph : 1) * 1e-3;
    r->error = w->race.bound > 0 ? c[0].error / w->race.bound : 0;
    r->result = c[0].result ? c[0].result : "ok";
    if (theirs && c[theirs].us > 0) r->cublas = c[theirs].us;
    if (type == TYPE_TENSOR || type == TYPE_INT8)
        r->strict = strict_time(w, s, type == TYPE_TENSOR ? TYPE_FLOAT : TYPE_DOUBLE);
    if (w->plans) {
        set_best(r, c + 1, others);
        write_plans(w, r, own, c, count);
    }
    set_limit(w, r);
    write_row(&w->out, r);
    print_row(r);
}

/* ---------------------------------- the job --------------------------------------------------- */
/* Memory for the largest of the shapes that has room, and for a row of each. */
static void get_memory(bench *w)
{
    const size_t most = most_memory();
    size_t largest = 0;
    for (int n = 0; n < w->count; n++)
        for (int t = 0; t < TYPES; t++) {
            if (!is_for(w, &w->shapes[n], (measured_type)t)) continue;
            const size_t bytes = set_problem(w, &w->shapes[n], (measured_type)t);
            if (bytes <= most && bytes > largest) largest = bytes;
        }
    get_pool(&w->d, largest);
    w->rows = (row *)malloc((size_t)w->count * TYPES * sizeof *w->rows);
    if (!w->rows) {
        fprintf(stderr, BENCH ": not enough memory\n");
        exit(2);
    }
}

/* On what the times of --plans are measured. Predictions depend on how many clusters of blocks that
   have a multiprocessor each fit on the device, which differs from one H100 to the next. */
static void write_times_head(const bench *w)
{
    const tmm__device *device = tmm__current_device();
    const int *clusters = tmm__clusters((const void *)empty, device->shared / 2, 8, 32);
    fprintf(w->plans, "# %s, driver %s, CUDA %s, seed %llu", w->d.name, w->d.v.driver,
            w->d.v.toolkit, w->o.seed);
    if (w->o.ms > 0) fprintf(w->plans, ", %g ms a plan", w->o.ms);
    fprintf(w->plans, "\n# clusters of 2 to %d blocks:", TMM__MOST_CLUSTER);
    for (int n = 2; n <= TMM__MOST_CLUSTER; n++) fprintf(w->plans, " %d", clusters[n]);
    fprintf(w->plans, "\n" TIMES_COLUMNS "\n");
}

static void set_up(bench *w)
{
    open_device(&w->d);
    w->out.csv = open_csv(w->o.csv), w->plans = open_csv(w->o.plans);
    w->out.seed = w->o.seed;
    memcpy(w->out.device, w->d.name, sizeof w->out.device);
    snprintf(w->out.cublas, sizeof w->out.cublas, "%s", HAS_PEER ? THEM_LONG : w->d.cublas_version);
    w->out.v = w->d.v;
    w->r = get_rates(w->d.name, w->d.major, w->d.minor);
    get_memory(w);
    if (SLICE > 0) measure_launch(w->d.stream, w->d.processors, w->launch);
    printf("%s, driver %s, CUDA %s, beside %s; seed %llu, %d shapes\n", w->d.name, w->d.v.driver,
           w->d.v.toolkit, w->out.cublas[0] ? w->out.cublas : "none", w->o.seed, w->count);
    printf("limits: %.2f TB/s; float %.1f, double %.1f, tensor %.1f, int8 %.1f TFLOP/s; an empty "
           "kernel %.2f us on a stream, %.2f us in a graph\n",
           w->r.read * 1e-12, w->r.flops[0] * 1e-12, w->r.flops[1] * 1e-12, w->r.flops[2] * 1e-12,
           w->r.flops[3] * 1e-12, w->launch[0], w->launch[1]);
    printf("type   op M,N,K                kind    kernel             ours us %s\n",
           w->plans ? "   best us  slower  best" : " theirs us   ratio  part of limit");
    write_head(&w->out);
    if (w->plans) write_times_head(w);
}

/* All shapes by all types, or as many as there is time for; how many shapes by all of theirs. */
static int run_all(bench *w, int *left_out)
{
    const time_t start = time(NULL);
    for (int n = 0; n < w->count; n++) {
        for (int t = 0; t < TYPES; t++) {
            if (!is_for(w, &w->shapes[n], (measured_type)t)) continue;
            if (w->o.seconds > 0 && difftime(time(NULL), start) >= w->o.seconds) return n;
            if (set_problem(w, &w->shapes[n], (measured_type)t) <= w->d.pool_bytes)
                run_shape(w, &w->shapes[n], (measured_type)t);
            else
                ++*left_out;
        }
    }
    return w->count;
}

int main(int count, char **words)
{
    bench *w = &state;
    int left_out = 0, below = 0;
    if (!parse_options(count, words, &w->o)) return 2;
    w->count = get_shapes(&w->o, w->shapes);
    if (w->count == 0) return 2;
    if (w->o.list) return list_shapes(w->shapes, w->count);
    set_up(w);
    const int measured = run_all(w, &left_out);
    print_summary(w->rows, w->row_count, w->plans != NULL);
    if (w->o.least > 0) below = print_below(w->rows, w->row_count, w->o.least);
    if (left_out) printf("\n%d rows left out: this device has too little memory\n", left_out);
    if (measured < w->count)
        printf("\nended after %.0f s with %d of %d shapes\n", w->o.seconds, measured, w->count);
    printf("\n%s\n", w->failures ? "some results were WRONG" : "all results are right");
    close_device(&w->d);
    free(w->rows);
    int kept = close_csv(w->out.csv, w->o.csv);
    kept = close_csv(w->plans, w->o.plans) && kept;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, BENCH ": cannot write to the standard output\n");
        kept = 0;
    }
    return w->failures || below ? 1 : kept ? 0 : 2;
}
