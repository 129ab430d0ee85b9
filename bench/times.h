/* A file of times of plans: bench/shapes --plans writes it, bench/fit/fit reads it. Included after
   plans.h, tiledmm.cuh and summary.h.
   Two lines say on what it was measured, the third names the columns. Then there is a line for each
   plan that was timed in turn with the others, and one for the fastest of each kernel. The choice
   of TMM_AUTO or TMM_AUTO_TENSOR is the first:
   - shape, on the first line of each shape and type alone: the type; ops; M N K lda ldb ldc batch
     offset, the last two where they are not 1 and 0; warm or cold operands; timed in a graph or on a
     stream;
   - kernel, and of its plan the number of the instance, how K is cut, slices (see shapes.cu);
   - ns, and predicted: nanoseconds, rounded to four digits; predicted is empty where TMM_AUTO never
     takes the kernel. */
#ifndef BENCH_TIMES_H
#define BENCH_TIMES_H
#include "summary.h"

#define TIMES_COLUMNS "shape,kernel,instance,cut,slices,ns,predicted"

/* Of `row` the shape and how it was timed. */
static inline void write_times_shape(FILE *file, const row *r)
{
    const shape *s = &r->s;
    fprintf(file, "%s %c%c %lld %lld %lld %lld %lld %lld", measured_names[r->type], s->opA, s->opB,
            s->M, s->N, s->K, s->lda, s->ldb, s->ldc);
    if (s->batch != 1 || s->offset != 0) fprintf(file, " %lld %lld", s->batch, s->offset);
    fprintf(file, " %s %s", r->cold ? "cold" : "warm", r->graph ? "graph" : "stream");
}

/* ",1234": no more digits than a second measurement would find again; nothing of what is never. */
static inline void write_time(FILE *file, double ns)
{
    double digit = 1; /* of the last one that is kept */
    while (!is_never(ns) && ns >= 1e4 * digit) digit *= 10;
    if (is_never(ns))
        fprintf(file, ",");
    else if (digit > 1)
        fprintf(file, ",%.0f", digit * floor(ns / digit + 0.5));
    else
        fprintf(file, ",%.4g", ns);
}

/* A plan, after the shape. `how`: NULL, if the kernel has one plan alone. */
static inline void write_times(FILE *file, tmm_kernel kernel, const plan *how, double ns,
                               double predicted)
{
    fprintf(file, ",%s", tmm_kernel_string(kernel));
    if (how)
        fprintf(file, ",%d,%s,%d", how->instance, plan_cuts[how->cut], how->slices);
    else
        fprintf(file, ",,,");
    write_time(file, ns);
    write_time(file, predicted);
    fprintf(file, "\n");
}

/* The shape in a first field, and how it was timed, into `r`; 0 if it is none. */
static inline int parse_times_shape(const char *field, row *r)
{
    shape *s = &r->s;
    char type[16], ops[3], rest[64], cache[16] = "", method[16] = "";
    long long number[2] = {1, 0};
    memset(r, 0, sizeof *r);
    if (sscanf(field, "%15s %2s %lld %lld %lld %lld %lld %lld %63[^,]", type, ops, &s->M, &s->N,
               &s->K, &s->lda, &s->ldb, &s->ldc, rest) != 9)
        return 0;
    if (sscanf(rest, "%lld %lld %15s %15s", &number[0], &number[1], cache, method) != 4 &&
        sscanf(rest, "%15s %15s", cache, method) != 2)
        return 0;
    s->opA = ops[0], s->opB = ops[1], s->batch = number[0], s->offset = number[1];
    r->cold = strcmp(cache, "cold") == 0, r->graph = strcmp(method, "graph") == 0;
    for (int n = 0; n < TYPES; n++)
        if (strcmp(type, measured_names[n]) == 0) r->type = (measured_type)n;
    return strcmp(type, measured_names[r->type]) == 0 && (r->cold || strcmp(cache, "warm") == 0) &&
           (s->opA == 'N' || s->opA == 'T') && (s->opB == 'N' || s->opB == 'T') && s->M > 0 &&
           s->N > 0 && s->K > 0 && s->batch > 0 && s->batch <= INT_MAX;
}

/* The kernel, plan and times of a line; 0 if it is none. how->slices is 0 if the kernel has one plan
   alone, *predicted if TMM_AUTO never takes it. */
static inline int parse_times(const char *line, tmm_kernel *kernel, plan *how, double *ns,
                              double *predicted)
{
    char field[6][64], *rest;
    for (int n = 0; n < 6; n++)
        if (!get_field(line, n + 1, field[n])) return 0;
    *kernel = TMM_AUTO;
    for (int k = 0; k < CANDIDATES; k++)
        if (strcmp(field[0], tmm_kernel_string(candidates[k])) == 0) *kernel = candidates[k];
    how->instance = atoi(field[1]), how->slices = atoi(field[3]), how->cut = PLAN_CUTS;
    for (int n = 0; n < PLAN_CUTS; n++)
        if (strcmp(field[2], plan_cuts[n]) == 0) how->cut = n;
    *ns = strtod(field[4], &rest), *predicted = strtod(field[5], NULL);
    return *kernel != TMM_AUTO && *rest == 0 && *ns > 0 &&
           (how->slices > 0) == (how->cut < PLAN_CUTS);
}
#endif
