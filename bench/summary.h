/* What bench/shapes.cu has measured: a row for each shape and type, and what is said of all of
   them. Included after plans.h, tiledmm.cuh and draw.h. */
#ifndef BENCH_SUMMARY_H
#define BENCH_SUMMARY_H
#include "draw.h"

/* Float by multiply-adds, double, float by TMM_AUTO_TENSOR, double by it, int. */
typedef enum measured_type {
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_TENSOR,
    TYPE_INT8,
    TYPE_INT,
    TYPES
} measured_type;
static const char *const measured_names[TYPES] = {"float", "double", "tensor", "int8", "int"};
/* Whom ours is compared with, as columns and tables call them. */
#ifdef PEER
#define THEM      "peer"
#define THEM_LONG PEER
#else
#define THEM      "cublas"
#define THEM_LONG "cuBLAS"
#endif
static inline tmm_type element_of(measured_type type)
{
    if (type == TYPE_INT) return TMM_INT;
    return type == TYPE_DOUBLE || type == TYPE_INT8 ? TMM_DOUBLE : TMM_FLOAT;
}

/* What bounds a product. */
typedef enum limit_kind { BY_MEMORY, BY_ARITHMETIC, BY_LAUNCH, LIMIT_KINDS } limit_kind;
static const char *const limit_names[LIMIT_KINDS] = {"memory", "arithmetic", "launch"};

/* What TMM_AUTO chooses among: --plans times all that can do a shape, by all of their plans. */
static const tmm_kernel candidates[] = {
    TMM_SHARED, TMM_SHARED_16, TMM_REGISTER_64, TMM_REGISTER_128, TMM_PIPELINED, TMM_SMALL,
    TMM_SKINNY, TMM_OUTER,     TMM_NARROW,      TMM_DIRECT,       TMM_TENSOR,    TMM_TENSOR_INT8,
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

/* Times are microseconds for one product; 0: not measured. */
typedef struct row {
    shape s;
    measured_type type;
    tmm_kernel kernel; /* that the choice has taken */
    char plan[PLAN_NAME], best_plan[PLAN_NAME];
    const char *result;
    double ours, cublas, limit, error; /* error: the largest over the bound */
    limit_kind bound;
    int graph, cold;
    double ms;     /* that ours was timed for */
    double strict; /* for TYPE_TENSOR and TYPE_INT8: ours, of TYPE_FLOAT and TYPE_DOUBLE */
    /* --plans: the fastest of all, and its time. */
    const char *best;
    double best_us;
} row;

/* ---------------------------------- statistics ------------------------------------------------ */
/* Of values in ascending order, between neighbours in proportion. */
static inline double percentile(const double *x, int count, double part)
{
    double at = part * (count - 1);
    int n = (int)at;
    return n + 1 < count ? x[n] + (at - n) * (x[n + 1] - x[n]) : x[count - 1];
}
static inline double geometric_mean(const double *x, int count)
{
    double logs = 0;
    for (int n = 0; n < count; n++) logs += log(x[n]);
    return exp(logs / count);
}
static inline double arithmetic_mean(const double *x, int count)
{
    double sum = 0;
    for (int n = 0; n < count; n++) sum += x[n];
    return sum / count;
}

/* cuBLAS's time, or a peer's, over ours; -1 if one was not measured. */
static inline double ratio_of(const row *r)
{
    return r->ours > 0 && r->cublas > 0 ? r->cublas / r->ours : -1;
}
static inline double gain_of(const row *r)
{
    return r->ours > 0 && r->strict > 0 ? r->strict / r->ours : -1;
}
/* How much slower the choice is than the best: 0 if it is the best. */
static inline double regret_of(const row *r)
{
    return r->ours > 0 && r->best_us > 0 ? r->ours / r->best_us - 1 : -1;
}

/* ---------------------------------- groups ---------------------------------------------------- */
/* After the kinds come groups that the goals name. */
enum {
    GROUP_ALL = KINDS,
    GROUP_17_128,        /* min(M, N) from 17 to 128 beside more than 512 */
    GROUP_17_128_MEMORY, /* those that memory bounds */
    GROUP_FROM_256,      /* M, N and K from 256 on */
    GROUPS
};
static inline const char *group_name(int group)
{
    static const char *const names[GROUPS - KINDS] = {"all", "17-128", "17-128, memory",
                                                      "256 and more"};
    return group < KINDS ? kind_names[group] : names[group - KINDS];
}

static inline int in_group(const row *r, int group)
{
    long long narrow = least_of(r->s.M, r->s.N), wide = most_of(r->s.M, r->s.N);
    int is_narrow = narrow >= 17 && narrow <= 128 && wide > 512;
    switch (group) {
    case GROUP_ALL: return 1;
    case GROUP_17_128: return is_narrow;
    case GROUP_17_128_MEMORY: return is_narrow && r->bound == BY_MEMORY;
    case GROUP_FROM_256: return narrow >= 256 && r->s.K >= 256;
    default: return (int)kind_of(&r->s) == group;
    }
}

/* ---------------------------------- the CSV file ---------------------------------------------- */
/* Where rows go, and what all of them say. */
typedef struct report {
    FILE *csv; /* or NULL */
    char device[256], cublas[32];
    cuda_versions v;
    u64 seed;
} report;

static inline void write_head(const report *out)
{
    if (!out->csv) return;
    fprintf(out->csv, "type," SHAPE_COLUMNS ",kind,kernel,plan,ours_us," THEM "_us,ratio,"
                      "limit_us,bound,part," THEM "_part,method,cache,ms,error,result,device,"
                      "driver,toolkit,cublas,seed\n");
}
static inline void write_number(FILE *file, double x)
{
    if (x > 0)
        fprintf(file, "%.6g,", x);
    else
        fprintf(file, ",");
}

static inline void write_row(const report *out, const row *r)
{
    FILE *file = out->csv;
    if (!file) return;
    fprintf(file, "%s,", measured_names[r->type]);
    write_shape(file, &r->s);
    fprintf(file, ",%s,%s,%s,", kind_names[kind_of(&r->s)], tmm_kernel_string(r->kernel), r->plan);
    write_number(file, r->ours);
    write_number(file, r->cublas);
    write_number(file, ratio_of(r));
    write_number(file, r->limit);
    fprintf(file, "%s,", limit_names[r->bound]);
    write_number(file, r->ours > 0 ? r->limit / r->ours : 0);
    write_number(file, r->cublas > 0 ? r->limit / r->cublas : 0);
    fprintf(file, "%s,%s,%.0f,%.3g,%s,\"%s\",%s,%s,%s,%llu\n", r->graph ? "graph" : "stream",
            r->cold ? "cold" : "warm", r->ms, r->error, r->result, out->device, out->v.driver,
            out->v.toolkit, out->cublas, out->seed);
}

/* ---------------------------------- printing -------------------------------------------------- */
static inline void print_row(const row *r)
{
    const shape *s = &r->s;
    char sizes[64];
    int used = snprintf(sizes, sizeof sizes, "%lld,%lld,%lld", s->M, s->N, s->K);
    if (s->batch > 1) snprintf(sizes + used, sizeof sizes - (size_t)used, " x %lld", s->batch);
    printf("%-6s %c%c %-20s %-7s %-12s %10.2f", measured_names[r->type], s->opA, s->opB, sizes,
           kind_names[kind_of(s)], tmm_kernel_string(r->kernel), r->ours);
    if (r->cublas > 0)
        printf(" %10.2f %7.3f  %4.2f %4.2f", r->cublas, ratio_of(r), r->limit / r->ours,
               r->limit / r->cublas);
    else if (r->best_us > 0)
        printf(" %10.2f %6.1f%%  %s %s for %s", r->best_us, 100 * regret_of(r), r->best,
               r->best_plan, r->plan);
    printf(" %s %s%s\n", limit_names[r->bound], r->graph ? "graph" : "stream",
           strcmp(r->result, "ok") == 0 ? "" : r->result);
}

static const row *sorted_rows; /* what by_value compares */
static double (*sorted_by)(const row *);
static inline int by_value(const void *a, const void *b)
{
    double x = sorted_by(&sorted_rows[*(const int *)a]);
    double y = sorted_by(&sorted_rows[*(const int *)b]);
    return (x > y) - (x < y);
}

/* The rows of a group that have a value, in ascending order of it; how many. */
static inline int select_rows(const row *rows, int count, measured_type type, int group,
                              double (*value)(const row *), int *chosen)
{
    int found = 0;
    for (int n = 0; n < count; n++)
        if (rows[n].type == type && in_group(&rows[n], group) && value(&rows[n]) >= 0)
            chosen[found++] = n;
    sorted_rows = rows, sorted_by = value;
    qsort(chosen, (size_t)found, sizeof *chosen, by_value);
    return found;
}

/* The worst ten of all of a type: the least values, or the greatest. */
static inline void print_worst(const row *rows, int count, measured_type type,
                               double (*value)(const row *), int greatest)
{
    static int chosen[TYPES * MOST_SHAPES];
    int found = select_rows(rows, count, type, GROUP_ALL, value, chosen);
    printf("worst ten\n");
    for (int n = 0; n < found && n < 10; n++)
        print_row(&rows[chosen[greatest ? found - 1 - n : n]]);
}

/* In which order tables have their groups: all of them come last. */
static inline int group_at(int line)
{
    return line < GROUP_ALL ? line : line + 1 < GROUPS ? line + 1 : (int)GROUP_ALL;
}

/* The sum of what each was compared with over the sum of ours: long products count as they last. */
static inline double weighted_by_time(const row *rows, const int *chosen, int found,
                                      double (*value)(const row *))
{
    double theirs = 0, ours = 0;
    for (int n = 0; n < found; n++) {
        const row *r = &rows[chosen[n]];
        theirs += value == regret_of ? r->best_us : value(r) * r->ours;
        ours += r->ours;
    }
    return theirs / ours;
}

/* Ratios to cuBLAS, or to TMM_AUTO: of each kind the geometric mean, the 5th percentile, the worst
   and the largest error over the promise; then by time, then of all shapes. */
static inline void print_ratios(const row *rows, int count, measured_type type,
                                double (*value)(const row *), const char *beside)
{
    static int chosen[TYPES * MOST_SHAPES];
    static double ratio[MOST_SHAPES], ours[MOST_SHAPES], theirs[MOST_SHAPES];
    int parts = value == ratio_of;
    if (!select_rows(rows, count, type, GROUP_ALL, value, chosen)) return;
    printf("\n%s, times %s\n%-16s %6s %8s %8s %8s%s%s%s\n", measured_names[type], beside, "kind",
           "shapes", "mean", "5th pc", "worst", parts ? "   part of the limit: ours " : "",
           parts ? THEM_LONG : "", parts ? "   error / promise" : "");
    for (int line = 0; line < (int)GROUPS; line++) {
        const int group = group_at(line);
        int found = select_rows(rows, count, type, group, value, chosen);
        double error = 0;
        for (int n = 0; n < found; n++) {
            const row *r = &rows[chosen[n]];
            ratio[n] = value(r), ours[n] = r->limit / r->ours, theirs[n] = r->limit / r->cublas;
            error = r->error > error ? r->error : error;
        }
        if (found == 0) continue;
        if (group == GROUP_ALL)
            printf("%-16s %6d %8.3f\n", "weighted by time", found,
                   weighted_by_time(rows, chosen, found, value));
        printf("%-16s %6d %8.3f %8.3f %8.3f", group_name(group), found,
               geometric_mean(ratio, found), percentile(ratio, found, 0.05), ratio[0]);
        if (parts)
            printf(" %25.2f %6.2f %17.3f", geometric_mean(ours, found),
                   geometric_mean(theirs, found), error);
        printf("\n");
    }
    print_worst(rows, count, type, value, 0);
}

static inline void print_regrets(const row *rows, int count, measured_type type)
{
    static int chosen[TYPES * MOST_SHAPES];
    static double regret[MOST_SHAPES];
    if (!select_rows(rows, count, type, GROUP_ALL, regret_of, chosen)) return;
    printf("\n%s, slower than the best plan by\n%-16s %6s %8s %8s %8s\n", measured_names[type],
           "kind", "shapes", "mean", "95th pc", "worst");
    for (int line = 0; line < (int)GROUPS; line++) {
        const int group = group_at(line);
        int found = select_rows(rows, count, type, group, regret_of, chosen);
        for (int n = 0; n < found; n++) regret[n] = 100 * regret_of(&rows[chosen[n]]);
        if (found == 0) continue;
        if (group == GROUP_ALL)
            printf("%-16s %6d %7.1f%%\n", "weighted by time", found,
                   100 / weighted_by_time(rows, chosen, found, regret_of) - 100);
        printf("%-16s %6d %7.1f%% %7.1f%% %7.1f%%\n", group_name(group), found,
               arithmetic_mean(regret, found), percentile(regret, found, 0.95), regret[found - 1]);
    }
    print_worst(rows, count, type, regret_of, 1);
}

/* The rows below a ratio that all have to reach; how many. */
static inline int print_below(const row *rows, int count, double least)
{
    int below = 0, compared = 0;
    for (int n = 0; n < count; n++) {
        const double ratio = ratio_of(&rows[n]);
        compared += ratio > 0;
        if (ratio > 0 && ratio < least && below++ == 0)
            printf("\nbelow %g times " THEM_LONG " when measured, and when measured again\n",
                   least);
        if (ratio > 0 && ratio < least) print_row(&rows[n]);
    }
    printf("\n%d of %d rows below %g times " THEM_LONG "\n", below, compared, least);
    return below;
}

/* All tables of what was measured. */
static inline void print_summary(const row *rows, int count, int regret)
{
    for (int t = 0; t < TYPES; t++) {
        measured_type type = (measured_type)t;
        if (regret) {
            print_regrets(rows, count, type);
        } else {
            print_ratios(rows, count, type, ratio_of, THEM_LONG);
            print_ratios(rows, count, type, gain_of,
                         type == TYPE_TENSOR ? "strict float" : "TMM_AUTO, double");
        }
    }
}
#endif
