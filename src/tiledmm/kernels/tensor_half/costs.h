/* src/tiledmm/kernels/tensor_half/costs.h. COSTS of elements of 16 bits: what operands are copied, and what plans
   have in common.
   Uses: align.cuh, launch/product.h, once/. Used by: kernels/tensor_half/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__HALF_TENSOR
/* The numbers half_thin of once/tuning.h, in nanoseconds if nothing else is said. KERNEL THIN HALF:
       tile[3]     the launch; a block; each thin line, by 128 large ones, that a block stores alone
       step[4]     64 k with 16, 64 and 128 thin lines, and with lines of odd elements
       latency[2]  from asking for a stage to having it: of L2, of memory
       cluster[2]  blocks of a cluster that share k; and each thin line that they add
       words[2]    each byte of a stage that comes 8 at a time, or 4
   Of it and of KERNEL TENSOR HALF by wgmma:
       memory[2]   operands from memory: by TENSOR HALF, by THIN HALF
       asked[3]    bytes under way at which memory takes twice as long: by TENSOR HALF, by THIN HALF; [2]: the part by
                   which it does where a block has more than its share
       l2[2]       bytes of L2 in a nanosecond, by THIN HALF; by TENSOR HALF, times `l2`
       apart[3]    part by which L2 takes longer for boxes that begin within lines of memory: along k, not along k;
                   and memory, by wgmma
   Of all plans:
       align[3]    KERNEL ALIGN: once, each byte that it reads or writes within L2, and beyond
       sum[2]      KERNEL SUM: once, each byte
       host        of the host, for memory and for each launch more
       late        times that mma.sync takes, since it does not begin early
       direct      times that KERNEL DIRECT takes longer than for float */

/* Lines and k of an operand as TMA takes them: 16 bytes from line to line, and where they begin. */
static inline int tmm__xhalf_boxed(const void *X, long long ld, long long stride, long long batch)
{
    return ((size_t)X | (size_t)ld * 2 | (batch > 1 ? (size_t)stride * 2 : 0)) % 16 == 0;
}

/* Elements from line to line of op(A) or op(B). A line that is alone may have a leading dimension below
   its length, as that of a column vector is 1: then what TMA and copies take. */
static inline long long tmm__xhalf_ld(const tmm__xproduct *p, int is_B)
{
    const long long lines = is_B ? p->N : p->M, ld = is_B ? tmm__xldb(p) : tmm__xlda(p);
    const int turned = (is_B ? p->rsB : p->csA) != 1;
    return (turned ? p->K : lines) > 1 ? ld : ((turned ? lines : p->K) + 7) / 8 * 8;
}

/* Bytes of the copies of an operand that TMA cannot take: all products of a batch, unless they share
   it. 0: it can. Then `to`, if not NULL, is what KERNEL ALIGN does at `memory`. */
static inline size_t tmm__xhalf_copied(const tmm__xproduct *p, int is_B, char *memory,
                                       tmm__half_operand *to)
{
    const int turned = (is_B ? p->rsB : p->csA) != 1;
    const long long lines = is_B ? p->N : p->M, ld = tmm__xhalf_ld(p, is_B);
    const long long rows = turned ? p->K : lines, cols = turned ? lines : p->K;
    /* Lines of memory begin a row, or boxes of TMA take two each: 4104 took 1.4 times as long as 4096. */
    const long long stride = is_B ? p->strideB : p->strideA, pitch = (cols + 63) / 64 * 64;
    const void *X = is_B ? p->B : p->A;
    const long long items = p->batch > 1 && stride > 0 ? p->batch : 1;
    if (tmm__xhalf_boxed(X, ld, stride, items)) return 0;
    if (to != NULL) {
        const tmm__half_operand copied = {X, memory, rows, cols, ld, stride, items, pitch};
        *to = copied;
    }
    return (size_t)(rows * items * pitch) * 2;
}

/* Of both operands; B of a triangle is A. */
static inline size_t tmm__xhalf_copies(const tmm__xproduct *p)
{
    return tmm__xhalf_copied(p, 0, NULL, NULL) +
           (TMM__TRIANGLE(p) ? 0 : tmm__xhalf_copied(p, 1, NULL, NULL));
}

/* May operands off 16 bytes be copied first? Of a batch all at once, so that all products have the same bits. */
static inline int tmm__xhalf_packs(const tmm__xproduct *p)
{
    return (p->allowed & (TMM__PACK | TMM__ALL_OF_BATCH)) && tmm__current_device()->pools;
}

/* Elements by which lines of an operand, copied or not, begin further and further within lines of memory, and
   64 where it does not lie along k. */
static inline int tmm__xhalf_apart(const tmm__xproduct *p, int is_B)
{
    const int turned = (is_B ? p->rsB : p->csA) != 1;
    const int copied = tmm__xhalf_copied(p, is_B, NULL, NULL) > 0;
    return (copied ? 0 : (int)(tmm__xhalf_ld(p, is_B) % 64)) + (turned ? 64 : 0);
}

/* 16 bytes align C and its rows. */
static inline int tmm__xhalf_boxed_C(const tmm__xproduct *p)
{
    const unsigned long long size = sizeof(TMM_OUT), ldc = (unsigned long long)p->ldc * size;
    const unsigned long long next = p->batch > 1 ? (unsigned long long)p->strideC * size : 0;
    return ((size_t)p->C | ldc | next) % 16 == 0 && (p->batch == 1 || next != 0);
}

/* Is more asked for than alpha A B? */
static inline int tmm__xhalf_more(const tmm__xproduct *p)
{
    int more = (double)p->beta != 0;
#ifdef TMM_WITH_EPILOGUE
    more = more || p->alpha.after.active;
#endif
#ifdef TMM_EPILOGUE
    more = 1;
#endif
    return more;
}

/* Can TMA store C, all of it, as tiles of 192 rows do, or 16 bytes of each column of C^T? C in float has not been
   measured. */
static inline int tmm__xhalf_plain(const tmm__xproduct *p)
{
    return !tmm__xhalf_more(p) && TMM__TRIANGLE(p) == 0 && tmm__xhalf_boxed_C(p) &&
           sizeof(TMM_OUT) == 2 && p->N % 8 == 0;
}

/* C^T = op(B)^T op(A)^T: what lies along the rows of tiles lies along their columns then. */
static inline tmm__xproduct tmm__xhalf_turned(const tmm__xproduct *p)
{
    tmm__xproduct q = *p;
    q.M = p->N, q.N = p->M;
    q.A = p->B, q.rsA = p->csB, q.csA = p->rsB, q.strideA = p->strideB;
    q.B = p->A, q.rsB = p->csA, q.csB = p->rsA, q.strideB = p->strideA;
    return q;
}

#ifndef TMM__HALF_ONCE
/* The part of its boxes of 128 bytes that are in two lines of memory each, of a tile that has so many lines. */
static inline double tmm__half_apart_part(int apart, int lines)
{
    const int off = (apart | (apart & 64 ? lines : 0)) % 64;
    return off == 0 ? 0 : 1 - (off & -off) / 64.0;
}

/* Times that L2 takes for them. */
static inline double tmm__half_apart_time(int apart, int lines)
{
    return 1 + tmm__tuned()->half_thin.apart[apart >= 64] * tmm__half_apart_part(apart, lines);
}

/* Nanoseconds of KERNEL ALIGN for copies of so many bytes. */
static inline double tmm__half_align_time(double bytes)
{
    const double *align = tmm__tuned()->half_thin.align;
    const double near = fmin(2 * bytes, tmm__current_device()->gpu.l2_bytes);
    return align[0] + align[1] * near + align[2] * (2 * bytes - near);
}

/* Of two that are at work together the longer one counts most. */
static inline double tmm__half_both(double a, double b)
{
    return sqrt(sqrt(a * a * a * a + b * b * b * b));
}

/* What a plan is worth that needs memory and more launches, so many: little below what the host takes for
   them. */
static inline double tmm__half_host_time(double time, int more)
{
    const double host = tmm__tuned()->half_thin.host * more;
    return time < host ? host - 0.1 * (host - time) : time;
}

/* Nanoseconds of memory for blocks that ask for so many bytes of it at once: the fewer, the longer. What
   the first ones wait for is not hidden: a number of half_thin.memory. */
static inline double tmm__half_memory_time(const tmm__load *load, double asked, int first,
                                           double *time)
{
    const tmm__costs *t = tmm__tuned();
    const double memory = tmm__memory_time(load);
    if (load->bytes + load->c_bytes < tmm__current_device()->gpu.l2_bytes) return memory;
    *time += t->half_thin.memory[first];
    return memory * (1 + t->half_thin.asked[0] / asked);
}
#endif

/* Nanoseconds of KERNEL SUM, which begins early, for so many parts. */
static inline double tmm__xhalf_sum_time(const tmm__xproduct *p, double parts)
{
    const double *sum = tmm__tuned()->half_thin.sum;
    return sum[0] + sum[1] * 4 * parts * p->M * p->N * p->batch;
}
#endif
