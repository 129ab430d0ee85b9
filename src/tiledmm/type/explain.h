/* src/tiledmm/type/explain.h. What TMM_AUTO compares, in words.
   Uses: launch/plan.h, launch/product.h, once/, type/choose.h, type/dispatch.h.
   Used by: callers. */
#if TMM__HOST && !defined(TMM__PART_EXPLAIN)
#define TMM__PART_EXPLAIN
/* A text is written as far as there is room; `length` counts all of it. */
typedef struct tmm__text {
    char *text;
    size_t bytes, length;
} tmm__text;

static inline void tmm__write(tmm__text *t, const char *format, ...)
{
    const size_t room = t->length < t->bytes ? t->bytes - t->length : 0;
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(room > 0 ? t->text + t->length : NULL, room, format, arguments);
    va_end(arguments);
    if (written > 0) t->length += (size_t)written;
}

/* Which of the times that no kernel can do without is the longest: of the launch, of memory or L2 for
   all operands, of L2 for what tiles copy, of the units that multiply. */
static inline const char *tmm__bound(const tmm__load *load)
{
    const tmm__device *device = tmm__current_device();
    const double processors = device->processors, steps = load->blocks * load->k;
    const double rate = tmm__rate(device->capability, load->family, load->type);
    const int cached = load->bytes + load->c_bytes < device->gpu.l2_bytes;
    const double operands = tmm__memory_time(load);
    const double copies =
        tmm__in_nanoseconds(load->copied * steps / (tmm__tuned()->l2 * processors));
    const double units = tmm__in_nanoseconds(load->area * steps / (rate * processors));
    const double most = fmax(fmax(device->gpu.launch, operands), fmax(copies, units));
    if (most == units) return "arithmetic";
    if (most == copies || (most == operands && cached)) return "L2";
    return most == operands ? "memory" : "launch";
}

/* How k is divided, by plan->cut. */
static inline void tmm__write_cut(tmm__text *t, const tmm__plan *plan)
{
    static const char *const cuts[] = {"threads",
                                       "slices, which a block adds",
                                       "slices, which a second launch adds",
                                       "slices of a cluster",
                                       "slices of the last tiles",
                                       "even shares for all blocks"};
    if (plan->cut == TMM__PLAN_EVEN)
        tmm__write(t, ", k in %s", cuts[plan->cut]);
    else if (plan->slices > 1)
        tmm__write(t, ", k in %d %s", plan->slices, cuts[plan->cut]);
    if (plan->pitchA + plan->pitchB > 0)
        tmm__write(t, ", %s packed", plan->pitchB == 0 ? "A" : plan->pitchA == 0 ? "B" : "A and B");
}

/* The current device as it is, or the one of once/tuning.h whose name has the word `gpu` in it. 0 if
   there is none. */
static inline int tmm__pretend(const char *gpu, tmm__device *device, tmm__kernel_facts *kernels)
{
    const int count = (int)(sizeof tmm__gpus / sizeof *tmm__gpus);
    *device = *tmm__current_device();
    if (gpu == NULL) return 1;
    memset(kernels, 0, TMM__KNOWN_KERNELS * sizeof *kernels);
    device->kernels = kernels;
    for (int n = 0; n < count; n++) {
        if (strstr(tmm__gpus[n].device, gpu) == NULL) continue;
        device->gpu = tmm__gpus[n];
        device->processors = tmm__gpus[n].processors, device->capability = tmm__gpus[n].capability;
        /* Shared memory of a block, by the CUDA C++ Programming Guide. */
        device->shared = (device->capability >= 90 && device->capability < 120 ? 227
                          : device->capability == 80                           ? 163
                                                                               : 99) *
                         1024;
        device->pools = 1;
        return 1;
    }
    return 0;
}
#endif

#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* What a launch by a plan has to do, for its bound: see there. */
static inline tmm__load tmm__xgemm__planned(const tmm__xgemm__product *p, const tmm__plan *plan)
{
    const int simple = plan->value <= TMM_REGISTER_128 || plan->value == TMM_DIRECT;
    tmm__load load = tmm__xgemm__load(p,
                                      simple                     ? TMM__COST_SIMPLE
                                      : plan->value == TMM_OUTER ? TMM__COST_OUTER
                                                                 : TMM__COST_TENSOR,
                                      plan->tile_m, plan->tile_n);
    if (plan->value == TMM_DIRECT) load.copied = 0; /* neighbours find most of it in L1 */
#if TMM__CONVERTS
    /* Tensor cores multiply 2048 pairs of FP16 in a clock (1024 before sm_90), of which a product of
       floats takes three, and so many bytes as tuning.h says, of which one of doubles takes 14. */
    const int capability = tmm__current_device()->capability;
    const double rate = TMM__IS_DOUBLE     ? tmm__tuned()->int8.rate / 14.125
                        : capability >= 90 ? 2048 / 3.0
                                           : 1024 / 3.0;
    if (plan->value == TMM__CONVERTING)
        load.area *= tmm__rate(capability, load.family, load.type) / rate;
#endif
    return load;
}

static inline void tmm__xgemm__write_plan(tmm__text *t, const tmm__xgemm__product *p,
                                          const tmm__plan *plan, int chosen)
{
    const tmm__load load = tmm__xgemm__planned(p, plan);
    const tmm__xgemm__kernel *row = tmm__xgemm__row(plan->value);
    tmm__write(t, "%c %-13s", chosen ? '*' : ' ', tmm_kernel_string(plan->value));
    if (plan->time < HUGE_VAL)
        tmm__write(t, "%10.2f us", 1e-3 * plan->time);
    else
        tmm__write(t, "  no estimate");
    tmm__write(t, "  tile %d x %d, instance %d", plan->tile_m, plan->tile_n, plan->instance);
    tmm__write_cut(t, plan);
    tmm__write(t, "; bound by %s", tmm__bound(&load));
    if (row->competes == NULL || !tmm__xgemm__eligible(row, p)) tmm__write(t, "; only by name");
    tmm__write(t, "\n");
}

/* A line for each kernel: the chosen one, others by the time that they should take, then those that
   do not take the product. */
static inline void tmm__xgemm__write_kernels(tmm__text *t, const tmm__xgemm__product *p,
                                             tmm_kernel chosen)
{
    tmm__plan plans[TMM_KERNEL_COUNT];
    int count = 0;
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        if (tmm__xgemm__row((tmm_kernel)k) == NULL ||
            tmm__xgemm__takes((tmm_kernel)k, p) != TMM_OK ||
            tmm__xgemm__stands_for((tmm_kernel)k, p, p->batch) != (tmm_kernel)k)
            continue;
        tmm__plan plan;
        tmm__xgemm__plan_by((tmm_kernel)k, p, &plan);
        int at = count++;
        for (; at > 0 && plans[at - 1].value != chosen &&
               (plan.value == chosen || plan.time < plans[at - 1].time);
             at--)
            plans[at] = plans[at - 1];
        plans[at] = plan;
    }
    for (int n = 0; n < count; n++) tmm__xgemm__write_plan(t, p, &plans[n], n == 0);
    for (int k = 0; k < TMM_KERNEL_COUNT; k++) {
        const tmm_kernel kernel = (tmm_kernel)k,
                         other = tmm__xgemm__stands_for(kernel, p, p->batch);
        if (tmm__xgemm__row(kernel) == NULL) continue;
        if (other != kernel)
            tmm__write(t, "  %-13s  no: it stands for %s here\n", tmm_kernel_string(kernel),
                       tmm_kernel_string(other));
        else if (tmm__xgemm__takes(kernel, p) != TMM_OK)
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
    if ((opA != TMM_OP_N && opA != TMM_OP_T) || (opB != TMM_OP_N && opB != TMM_OP_T))
        return tmm__fail(TMM_ERROR_ARGUMENT, "op%c is %d, which is no tmm_op",
                         opA == TMM_OP_N || opA == TMM_OP_T ? 'B' : 'A',
                         opA == TMM_OP_N || opA == TMM_OP_T ? (int)opB : (int)opA);
    if (M < 1 || N < 1 || K < 1 || batch < 1)
        return tmm__fail(TMM_ERROR_ARGUMENT, "%s is less than 1",
                         M < 1   ? "M"
                         : N < 1 ? "N"
                         : K < 1 ? "K"
                                 : "batch");
    if (!tmm__pretend(gpu, &device, kernels))
        return tmm__fail(TMM_ERROR_ARGUMENT,
                         "gpu is '%s': no GPU that this header has measured has that in its name",
                         gpu);
    memcpy(message, tmm__message(), sizeof message);
    tmm__xgemm__product p = tmm__xgemm__make_product(opA, opB, M, N, K, lda, ldb);
    tmm__plan best;
    p.alpha = 1, p.ldc = N;
    if (batch > 1) p.strideA = M * K, p.strideB = K * N, p.strideC = M * N;
    *tmm__device_of_product() = &device;
    tmm__xgemm__choose(&p, batch, tensor, &best);
    p = tmm__xgemm__compared(&p, batch, tensor);
    tmm__write(&t, "%lld x %lld x %lld, batch %lld, on %s%s, sm_%d with %d multiprocessors: %s\n",
               M, N, K, batch, strncmp(device.gpu.device, "by ", 3) == 0 ? "a GPU " : "",
               device.gpu.device, device.capability, device.processors,
               tmm_kernel_string(best.value));
    tmm__xgemm__write_kernels(&t, &p, best.value);
    if (device.capability >= 90 && !TMM__CLUSTER_LAUNCH)
        tmm__write(&t, "Without clusters, which this program was not compiled for.\n");
    *tmm__device_of_product() = NULL;
    memcpy(tmm__message(), message, sizeof message);
    if (t.length < bytes) return TMM_OK;
    return tmm__fail(TMM_ERROR_MEMORY, "text has room for %zu bytes: %zu are needed", bytes,
                     t.length + 1);
}
#endif
