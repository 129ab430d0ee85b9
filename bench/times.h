/* A file of times of plans: bench/shapes --plans writes it, bench/fit/fit reads it. Included behind
   plans.h, tiledmm.cuh and summary.h.
   Two lines say on what it was measured, the third names the columns. Then a line for each
   plan that was timed, the choice of TMM_AUTO or TMM_AUTO_TENSOR first:
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
    while (ns < NEVER && ns >= 1e4 * digit) digit *= 10;
    if (ns >= NEVER)
        fprintf(file, ",");
    else if (digit > 1)
        fprintf(file, ",%.0f", digit * floor(ns / digit + 0.5));
    else
        fprintf(file, ",%.4g", ns);
}

/* A plan, behind the shape. `how`: NULL, if the kernel has one plan alone. */
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
#endif
