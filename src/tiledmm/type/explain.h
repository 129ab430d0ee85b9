/* src/tiledmm/type/explain.h. What TMM_AUTO compares, in words.
   Uses: kernels/common/finish.cuh, launch/, once/, choose.h, dispatch.h. Used by: callers. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* What a launch by a plan has to do, for its bound: see there. */
static inline tmm__load tmm__xplanned(const tmm__xproduct *p, const tmm__plan *plan)
{
    const int simple = plan->value <= TMM_REGISTER_128 || plan->value == TMM_DIRECT;
    tmm__load load = tmm__xload(p,
                                simple                     ? TMM__COST_SIMPLE
                                : plan->value == TMM_OUTER ? TMM__COST_OUTER
                                                           : TMM__COST_TENSOR,
                                plan->tile_m, plan->tile_n);
    if (plan->value == TMM_DIRECT) load.copied = 0; /* neighbours find most of it in L1 */
#if TMM__CONVERTS
    /* Tensor cores multiply 2048 pairs of FP16 in a clock (1024 before sm_90), of which a
       product of floats takes three. Bytes are in tuning.h; a product of doubles takes 14. */
    const int capability = tmm__current_device()->capability;
    const double rate = TMM__IS_DOUBLE     ? tmm__tuned()->int8.rate / 14.125
                        : capability >= 90 ? 2048 / 3.0
                                           : 1024 / 3.0;
    if (plan->value == TMM__CONVERTING)
        load.area *= tmm__rate(capability, load.family, load.type) / rate;
#endif
    return load;
}

static inline void tmm__xwrite_plan(tmm__text *t, const tmm__xproduct *p, const tmm__plan *plan,
                                    int chosen)
{
    const tmm__load load = tmm__xplanned(p, plan);
    const tmm__xkernel *row = tmm__xrow(plan->value);
    tmm__write(t, "%c %-13s", chosen ? '*' : ' ', tmm_kernel_string(plan->value));
    if (plan->time < HUGE_VAL)
        tmm__write(t, "%10.2f us", 1e-3 * plan->time);
    else
        tmm__write(t, "  no estimate");
    tmm__write(t, "  tile %d x %d, instance %d", plan->tile_m, plan->tile_n, plan->instance);
    tmm__write_cut(t, plan);
    tmm__write(t, "; bound by %s", tmm__bound(&load));
    if (row->competes == NULL || !tmm__xeligible(row, p)) tmm__write(t, "; only by name");
    tmm__write(t, "\n");
}

/* A line for each kernel: the chosen one, others by predicted time, then those that refuse. */
static inline void tmm__xwrite_kernels(tmm__text *t, const tmm__xproduct *p, tmm_kernel chosen)
{
    tmm__plan plans[TMM_KERNEL_COUNT];
    int count = 0;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        if (tmm__xrow((tmm_kernel)k) == NULL || tmm__xtakes((tmm_kernel)k, p) != TMM_OK ||
            tmm__xstands_for((tmm_kernel)k, p, p->batch) != (tmm_kernel)k)
            continue;
        tmm__plan plan;
        tmm__xplan_by((tmm_kernel)k, p, &plan);
        int at = count++;
        for (; at > 0 && plans[at - 1].value != chosen &&
               (plan.value == chosen || plan.time < plans[at - 1].time);
             at--)
            plans[at] = plans[at - 1];
        plans[at] = plan;
    }
    for (int n = 0; n < count; n++) tmm__xwrite_plan(t, p, &plans[n], n == 0);
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm_kernel kernel = (tmm_kernel)k, other = tmm__xstands_for(kernel, p, p->batch);
        if (tmm__xrow(kernel) == NULL) continue;
        if (other != kernel)
            tmm__write(t, "  %-13s  no: it stands for %s here\n", tmm_kernel_string(kernel),
                       tmm_kernel_string(other));
        else if (tmm__xtakes(kernel, p) != TMM_OK)
            tmm__write(t, "  %-13s  no: %s\n", tmm_kernel_string(kernel), tmm__message());
    }
}

TMM_API tmm_status tmm__xgemm_explain(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M,
                                      long long N, long long K, long long batch, const char *gpu,
                                      char *text, size_t bytes)
{
    const int tensor = kernel == TMM_AUTO_TENSOR || TMM__ASKED_TENSOR;
    const long long lda = opA == TMM_OP_N ? K : M, ldb = opB == TMM_OP_N ? N : K;
    tmm__text t = {text, bytes, 0};
    tmm__device device;
    tmm__kernel_facts kernels[TMM__KNOWN_KERNELS];
    char message[256];
    if (text == NULL) return tmm__fail(TMM_ERROR_ARGUMENT, "text is NULL");
    if (kernel != TMM_AUTO && kernel != TMM_AUTO_TENSOR)
        return tmm__fail(TMM_ERROR_ARGUMENT, "kernel is %d, neither TMM_AUTO nor TMM_AUTO_TENSOR",
                         (int)kernel);
    if (M < 1 || N < 1 || K < 1 || batch < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is less than 1",
                         M < 1   ? "M"
                         : N < 1 ? "N"
                         : K < 1 ? "K"
                                 : "batch");
    const tmm__operands sizes = {opA, opB, M, N, K, text, lda, text, ldb, text, N, 1, 1, 0};
    const tmm_status status = tmm__check_sizes(&sizes);
    if (status != TMM_OK) return status;
    if (!tmm__pretend(gpu, &device, kernels))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "gpu is '%s': no GPU that this header has measured has that in its name",
                         gpu);
    memcpy(message, tmm__message(), sizeof message);
    tmm__xproduct p = tmm__xmake_product(opA, opB, M, N, K, lda, ldb);
    tmm__plan best;
    TMM__FACTOR(p.alpha) = 1, p.ldc = N;
    if (batch > 1) p.strideA = M * K, p.strideB = K * N, p.strideC = M * N;
    *tmm__device_of_product() = &device;
    tmm__xchoose(&p, batch, tensor, &best);
    p = tmm__xcompared(&p, batch, tensor);
    tmm__write(&t, "%lld x %lld x %lld, batch %lld, on %s%s, sm_%d with %d multiprocessors: %s\n",
               M, N, K, batch, strncmp(device.gpu.device, "by ", 3) == 0 ? "a GPU " : "",
               device.gpu.device, device.capability, device.processors,
               tmm_kernel_string(best.value));
    tmm__xwrite_kernels(&t, &p, best.value);
    if (device.capability >= 90 && !TMM__CLUSTER_LAUNCH)
        tmm__write(&t, "Without clusters, which this program was not compiled for.\n");
    *tmm__device_of_product() = NULL;
    memcpy(tmm__message(), message, sizeof message);
    if (t.length < bytes) return TMM_OK;
    return tmm__fail(TMM_ERROR_MEMORY, "text has room for %zu bytes: %zu are needed", bytes,
                     t.length + 1);
}
#endif
