/* Contenders for a product: their checks, and their times in turn. Included after tiledmm.cuh and,
   where it is there, cublas_v2.h. A bench that is run by a clock of its own (tests/shapes/clock.h)
   defines KNOWN_CLOCK. */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H
#include "product.h"

/* Even numbers of rounds, forth and back: of two contenders none is later than the other in the mean. */
enum { ROUNDS = 16, ROUNDS_LONG = 8, LEAST_ROUNDS = 8, MOST_CONTENDERS = 256, DROP_AFTER = 2 };
enum { LEAST_CALLS = 20, MOST_CALLS = 250 }; /* of a graph */
#if defined(__CUCC__) && !defined(KNOWN_CLOCK)
static const double SLICE = 0; /* microseconds: one call is enough where times mean nothing */
#else
static const double SLICE = 3e3;
#endif
static const double SUSTAINED = 20e3;     /* microseconds of a slice, of calls from this on: */
static const double SUSTAINED_FROM = 200; /* clocks fall to what power allows after some 50 ms, */
static const double LEAD = 2;           /* so for so many times a slice they are not timed before */
static const double GRAPH_BELOW = 50;   /* microseconds */
static const double GRAPH_LENGTH = 1e3; /* microseconds, by the time on a stream */
static const double HOPELESS = 1.5;     /* times the fastest: not timed any further, unless */
static const double HOST_BOUND = 20;    /* microseconds on a stream may be the host's */
static const double FAR = 1.15;         /* times the fastest, in the same way as it */
static const double FAR_BEFORE_LOAD = 1.4; /* the same in slices too short for power to count */

/* One of those that are timed. A bench knows it by `call`, and sets what that reads. */
typedef struct device_race device_race;
typedef struct contender contender;
struct contender {
    int (*call)(const device_race *r, const contender *c, int number); /* 0: does not do this */
    int theirs;                                                        /* writes D, not C */
    tmm_kernel kernel;
    int number;      /* of a loop */
    const void *how; /* a plan, an algorithm */
    cudaGraphExec_t graph;
    int per_graph, calls, rounds, done; /* calls: of a slice, graphs or products */
    int lead;                           /* calls before them that do not count, on a stream */
    double times[ROUNDS];
    double us,
        error; /* us: of a call, 0 or less if there is none; error: the largest over |A||B| */
    u64 checksum;
    const char *result; /* what is wrong, or NULL */
};

struct device_race {
    device *d;
    problem *q;
    double bound, strict; /* that errors must keep */
    double most;          /* microseconds that one is timed for, but once it is; 0: as it takes */
    int drop;             /* contenders that are far behind, but the first */
};

typedef enum race_way {
    ON_STREAM,
    IN_GRAPHS,
    AS_FITS
} race_way; /* AS_FITS: graphs if one is short */

/* ---------------------------------- timing ---------------------------------------------------- */
/* Microseconds for each product of `calls` calls, or launches of a graph, back to back; negative if
   one was refused. On a stream calls that do not count come before: what the first does after a
   synchronisation, above all getting memory, is done then. Where power sets the clock they last until
   it is that of this contender, not of the one before. */
static inline double time_calls(const device_race *r, const contender *c, int calls)
{
    const device *d = r->d;
    float ms = 0;
    int good = 1;
    spin<<<1, 1, 0, d->stream>>>(HOLD);
    for (int n = 0; n < c->lead && good && !c->graph; n++) good = c->call(r, c, calls + n);
    must(cudaEventRecord(d->from, d->stream), "event");
    for (int n = 0; n < calls && good; n++)
        if (c->graph)
            must(cudaGraphLaunch(c->graph, d->stream), "launch of a graph");
        else
            good = c->call(r, c, n);
    must(cudaEventRecord(d->to, d->stream), "event");
    must(cudaEventSynchronize(d->to), "the kernels that were timed");
    must(cudaGetLastError(), "launch");
    must(cudaEventElapsedTime(&ms, d->from, d->to), "event");
    return good ? ms * 1e3 / calls / (c->graph ? c->per_graph : 1) : -1;
}

static inline void drop_graph(contender *c)
{
    if (c->graph) must(cudaGraphExecDestroy(c->graph), "end of a graph");
    c->graph = NULL;
}

/* A graph of `calls` calls; NULL if one of them does not let itself be captured. */
static inline cudaGraphExec_t capture(const device_race *r, const contender *c, int calls)
{
    cudaGraphExec_t ready = NULL;
    cudaGraph_t graph = NULL;
    int good = 1;
    must(cudaStreamBeginCapture(r->d->stream, cudaStreamCaptureModeRelaxed), "begin of capture");
    for (int n = 0; n < calls && good; n++) good = c->call(r, c, n);
    if (cudaStreamEndCapture(r->d->stream, &graph) != cudaSuccess) good = 0;
    if (good && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = NULL;
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError(); /* a failed capture is no failure of what follows */
    return ready;
}

/* Leaves about how long a call takes on a stream, and returns the least of that. Those that are
   wrong or far behind take no part in what follows. */
static inline double look_over(const device_race *r, contender *c, int count)
{
    double fastest = HUGE_VAL;
    for (int n = 0; n < count; n++) {
        c[n].done = c[n].rounds = 0, c[n].us = -1, c[n].lead = SLICE > 0;
        if (c[n].result) continue;
        double us = time_calls(r, &c[n], 1);
        for (int calls = 4; us > 0 && us * calls < SLICE / 2 && calls <= 256; calls *= 4)
            us = time_calls(r, &c[n], calls);
        c[n].us = us;
        if (us <= 0) c[n].result = "refused";
        if (us > 0) fastest = fmin(fastest, us);
    }
    for (int n = 0; n < count; n++) {
        const int hopeless =
            r->drop && n > 0 && c[n].us > HOPELESS * fastest && c[n].us > HOST_BOUND;
        if (c[n].us > 0 && !hopeless) c[n].rounds = c[n].us > SUSTAINED ? ROUNDS_LONG : ROUNDS;
    }
    return fastest;
}

/* Puts the contenders into graphs; if it is as fits, all or none. Returns whether there are some. */
static inline int make_graphs(const device_race *r, contender *c, int count, race_way way)
{
    int made = 0, failed = 0;
    for (int n = 0; n < count; n++) {
        if (c[n].rounds == 0) continue;
        const double calls = GRAPH_LENGTH / c[n].us;
        c[n].per_graph = calls < LEAST_CALLS  ? LEAST_CALLS
                         : calls > MOST_CALLS ? MOST_CALLS
                                              : (int)calls;
        c[n].graph = capture(r, &c[n], c[n].per_graph);
        *(c[n].graph ? &made : &failed) += 1;
        if (!c[n].graph && way == IN_GRAPHS) c[n].rounds = 0;
    }
    for (int n = 0; n < count && failed && way == AS_FITS; n++) drop_graph(&c[n]);
    return made > 0 && (!failed || way == IN_GRAPHS);
}

/* So many slices of each, of about so many microseconds, in turn: forth and back, so that none is
   always first. Before them the first is called for `before` microseconds, which do not count: so of
   two each comes after itself as often as after the other. */
static inline void take_turns(const device_race *r, contender *c, int count, double slice,
                              double before)
{
    int first = 0;
    for (int n = 0; n < count; n++) {
        if (c[n].rounds == 0) continue;
        if (c[n].graph)
            (void)time_calls(r, &c[n], 1); /* the first launch of a graph takes longer */
        const double us = c[n].graph ? time_calls(r, &c[n], 1) * c[n].per_graph : c[n].us;
        c[n].calls = us < slice ? (int)(slice / us + 0.5) : 1;
        if (n == 0) first = (int)(before / us);
    }
    if (count > 1 && first > 0) (void)time_calls(r, &c[0], first);
    for (int round = 0; round < (int)ROUNDS; round++) {
        double least[MOST_CONTENDERS], fastest = HUGE_VAL;
        for (int n = 0; n < count; n++) {
            contender *x = &c[round % 2 ? count - 1 - n : n];
            if (x->done < x->rounds) x->times[x->done++] = time_calls(r, x, x->calls);
        }
        if (!r->drop || round != (int)DROP_AFTER - 1) continue;
        /* after so many rounds that a hiccup does not decide */
        for (int n = 0; n < count; n++) {
            least[n] = HUGE_VAL;
            for (int t = 0; t < c[n].done; t++) least[n] = fmin(least[n], c[n].times[t]);
            fastest = fmin(fastest, least[n]);
        }
        for (int n = 1; n < count; n++)
            if (least[n] > FAR * fastest) c[n].rounds = c[n].done;
    }
}

/* So many rounds, of slices so short, that none is timed for more than r->most, but once. The slice. */
static inline double limit_rounds(const device_race *r, contender *c, int count, double slice)
{
    if (r->most <= 0) return slice;
    const int fit = (int)fmin(r->most / slice, ROUNDS) / 2 * 2;
    const int rounds = fit < LEAST_ROUNDS ? LEAST_ROUNDS : fit;
    for (int n = 0; n < count; n++) {
        if (c[n].rounds > rounds) c[n].rounds = rounds;
        if (c[n].rounds * c[n].us > r->most)
            c[n].rounds = c[n].us < r->most ? (int)(r->most / c[n].us) : 1;
    }
    return fmin(slice, r->most / rounds);
}

/* Times the contenders in turn, slice by slice, and leaves the mean of each one's middle half in us.
   Where a call takes long enough for power to set the clock, slices are so long that it does. Returns
   whether they were in graphs. */
static inline int race(const device_race *r, contender *c, int count, race_way way)
{
    const double fastest = look_over(r, c, count);
    const int sustained = SLICE > 0 && fastest >= SUSTAINED_FROM;
    int graphs = 0;
    if (way == IN_GRAPHS || (way == AS_FITS && fastest < GRAPH_BELOW))
        graphs = make_graphs(r, c, count, way);
    for (int n = 1; n < count && sustained && r->drop; n++) /* many plans: most fall out at once */
        if (c[n].rounds && c[n].us > FAR_BEFORE_LOAD * fastest &&
            time_calls(r, &c[n], 1) > FAR_BEFORE_LOAD * fastest)
            c[n].rounds = 0;
    const double slice = limit_rounds(r, c, count, sustained ? SUSTAINED : SLICE);
    for (int n = 0; n < count && sustained; n++)
        if (c[n].rounds > 1) c[n].lead = (int)ceil(LEAD * slice / c[n].us);
    take_turns(r, c, count, slice, sustained ? LEAD * SUSTAINED : SLICE);
    for (int n = 0; n < count; n++) {
        if (c[n].done) c[n].us = middle(c[n].times, c[n].done);
        if (way == IN_GRAPHS && !c[n].done) c[n].us = 0;
        drop_graph(&c[n]);
    }
    return graphs;
}

/* ---------------------------------- checks ---------------------------------------------------- */
static inline findings get_findings(const device *d)
{
    findings f;
    must(cudaMemcpyAsync(&f, d->found, sizeof f, cudaMemcpyDeviceToHost, d->stream), "findings");
    must(cudaStreamSynchronize(d->stream), "the kernels that were checked");
    return f;
}

static inline const matrix *result_of(const device_race *r, const contender *c)
{
    return c->theirs ? &r->q->D : &r->q->C;
}

/* Looks at all cells of what a contender wrote last. */
static inline void look_at_cells(const device_race *r, const contender *c)
{
    const device *d = r->d;
    const matrix *m = result_of(r, c);
    const long long cells = matrix_cells(m);
    must(cudaMemsetAsync(d->found, 0, sizeof *d->found, d->stream), "findings");
    check_cells<<<blocks_for(cells), 256, 0, d->stream>>>(r->q->element, *m, cells, d->found);
}

/* Did the calls that were timed, the last that wrote to C, leave the same bits as the one
   checked? */
static inline int same_bits(const device_race *r, const contender *c)
{
    look_at_cells(r, c);
    return get_findings(r->d).checksum == c->checksum;
}

/* The elements that are compared with exact sums: squares of such an edge that these fill C take
   some 2^26 products; 512 to 65536 of them. */
static inline void check_elements(const device_race *r, const matrix *m)
{
    const problem *q = r->q;
    const device *d = r->d;
    const double rows = (double)(m->batch * m->rows), cols = (double)m->cols;
    const double most = fmin(fmax(67108864.0 / (double)q->s.K, 512), 65536);
    const int edge = (int)fmax(ceil(sqrt(rows * cols / most)), 1);
    const long long samples = (long long)(ceil(rows / edge) * ceil(cols / edge));
    const operands given = {q->element, q->opA, q->opB, q->A, q->B, q->seed};
    check_samples<<<(unsigned)((samples + 7) / 8), 256, 0, d->stream>>>(given, *m, edge, samples, 0,
                                                                        d->found);
    if (q->element != TMM_INT) return;
    findings f = get_findings(d); /* one in 2^32 ints equals the poison by right */
    if (f.unwritten == 0 || f.unwritten > LISTED) return;
    findings right = f;
    right.wrong = 0;
    must(cudaMemcpyAsync(d->found, &right, sizeof f, cudaMemcpyHostToDevice, d->stream), "copy");
    check_samples<<<(unsigned)((f.unwritten + 7) / 8), 256, 0, d->stream>>>(given, *m, edge,
                                                                            (long long)f.unwritten,
                                                                            f.unwritten, d->found);
    f.unwritten = get_findings(d).wrong;
    must(cudaMemcpyAsync(d->found, &f, sizeof f, cudaMemcpyHostToDevice, d->stream), "copy");
    must(cudaStreamSynchronize(d->stream), "copy");
}

/* Poisons its C, runs it once and leaves error, checksum and, if something is wrong, result. With
   `peer` all elements are compared with D: a sum of K products in (-1, 1) never strays as far as
   one that lacks an element. Returns whether it did the product. */
static inline int check(const device_race *r, contender *c, int peer)
{
    const problem *q = r->q;
    const device *d = r->d;
    const matrix *m = result_of(r, c);
    const double apart = 64 * type_unit[q->element] * (double)q->s.K;
    const long long cells = matrix_cells(m);
    c->us = c->error = 0, c->result = NULL;
    must(cudaMemsetAsync(m->start, 0xff, matrix_bytes(m, q->element), d->stream), "poison");
    if (!c->call(r, c, 0)) {
        c->result = "refused";
        (void)cudaGetLastError();
        return 0;
    }
    look_at_cells(r, c);
    check_elements(r, m);
    if (peer)
        check_peer<<<blocks_for(cells), 256, 0, d->stream>>>(q->element, *m, q->D, cells, apart,
                                                             d->found);
    must(cudaGetLastError(), "launch of the checks");
    const findings f = get_findings(d);
    c->checksum = f.checksum;
    memcpy(&c->error, &f.error, sizeof c->error);
    if (c->error > r->strict) c->result = "IMPRECISE";
    if (!(c->error <= r->bound) || f.differing || f.wrong) c->result = "WRONG";
    if (f.infinite) c->result = "NOT FINITE";
    if (f.unwritten) c->result = "UNWRITTEN";
    if (f.outside) c->result = "OUTSIDE C";
    return 1;
}
#endif
