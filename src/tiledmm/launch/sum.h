/* src/tiledmm/launch/sum.h. LAUNCHER of KERNEL SUM.
   Uses: kernels/common/sum.cuh, product.h, once/. Used by: kernels/. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Nanoseconds of KERNEL SUM for `parts` parts of C. */
static inline double tmm__xsum_time(const tmm__xproduct *p, double parts)
{
    const tmm__costs *t = tmm__tuned();
    const double bytes = sizeof(TMM_SUM) * parts * p->M * p->N * p->batch;
    return tmm__in_nanoseconds(t->sum + t->sum_byte * bytes);
}

/* Memory for the sums of *parts parts of C. NULL if there is one, or no memory: then it is one. */
static inline void *tmm__xpartials(const tmm__xproduct *p, int *parts)
{
    const size_t elements = (size_t)(*parts * p->M * p->N * p->batch);
    void *sums = *parts > 1 ? tmm__workspace(elements * sizeof(TMM_SUM), p->stream) : NULL;
    if (sums == NULL) *parts = 1;
    return sums;
}

/* What follows a launch that went as `status` says: if there are parts, KERNEL SUM with `groups`
   threads to an element, and giving back the memory of their sums. */
static inline tmm_status tmm__xsum(tmm_status status, tmm__xproduct *p, int parts, void *partials,
                                   int groups)
{
    /* Where parts are few and blocks many, a thread adds all of an element: the same bits. A million
       elements by 8 threads took 30 us more. */
    const double blocks = (double)p->M * p->N * p->batch * groups / 256;
    if (parts <= groups && blocks > 8.0 * tmm__current_device()->processors) groups = 1;
    const int lanes = 256 / groups;
    void *arguments[] = {&p->M,     &p->N,     &parts,
                         &p->alpha, &partials, &p->beta,
                         &p->C,     &p->ldc,   &p->strideC TMM__TRIANGLE_ADDRESS(p)};
    if (partials == NULL) return status;
    if (status == TMM_OK)
        status = tmm__launch_clusters((const void *)tmm__xgemm_sum,
                                      dim3((unsigned)((p->M * p->N - 1) / lanes + 1), 1, p->batch),
                                      dim3((unsigned)lanes, (unsigned)groups), 1, 1, 0, arguments,
                                      p->stream);
    (void)cudaFreeAsync(partials, p->stream);
    return status;
}
#endif
