/* The choice of TMM_AUTO on GPUs that no one has measured: pretended ones, described by data
   sheets. No device computes anything. Included after tap.h and tiledmm.cuh. */
#ifndef TESTS_CHOICE_H
#define TESTS_CHOICE_H

/* clock in GHz, memory in bytes a nanosecond, by the data sheets; shared: bytes that a block may
   have. */
typedef struct pretended {
    const char *name;
    int capability, processors, shared;
    double clock, memory, l2_bytes;
} pretended;
static const pretended pretended_gpus[] = {
    {"sm_75, 40 multiprocessors", 75, 40, 65536, 1.59, 320, 4e6},
    {"sm_80, 16 multiprocessors, 256 KB of L2", 80, 16, 166912, 1.4, 200, 256e3},
    {"sm_86, 82 multiprocessors", 86, 82, 101376, 1.7, 936, 6e6},
    {"sm_89, 24 multiprocessors", 89, 24, 101376, 2.46, 272, 24e6},
    {"sm_89, 128 multiprocessors", 89, 128, 101376, 2.52, 1008, 72e6},
    {"sm_100, 148 multiprocessors", 100, 148, 232448, 1.96, 8000, 126e6},
    {"sm_120, 170 multiprocessors", 120, 170, 101376, 2.41, 1792, 96e6},
};
/* Kernels, a bit each. */
typedef unsigned long long kernel_set;
#define SET(kernel) ((kernel_set)1 << (kernel))
enum { PRETENDED_GPUS = sizeof pretended_gpus / sizeof *pretended_gpus };

/* Forgets what is known of kernels, too: how many clusters fit depends on the device. */
static inline void become(const tmm__device *other)
{
    tmm__device *device = tmm__current_device();
    tmm__kernel_facts *kernels = device->kernels;
    *device = *other;
    device->kernels = kernels;
    memset(kernels, 0, TMM__KNOWN_KERNELS * sizeof *kernels);
}

static inline void pretend(const pretended *as)
{
    tmm__device device = *tmm__current_device();
    const tmm__gpu gpu = {as->name, as->capability,   0,           as->processors, 0.96 * as->clock,
                          550,      0.9 * as->memory, as->l2_bytes};
    device.processors = as->processors, device.capability = as->capability;
    device.shared = as->shared, device.pools = 1, device.gpu = gpu;
    become(&device);
}

/* A shape with ops as bits: 2 is A transposed, 1 is B. Leading dimensions have room for twice as
   much. */
typedef struct asked {
    int ops;
    long long M, N, K;
} asked;

static inline long long draw_size(int aligned)
{
    const long long size = (long long)exp((tap_uniform() + 1) / 2 * log(8192));
    return aligned ? (size + 15) / 16 * 16 : size | 1;
}

/* The tests of one type, `letter`; `tensor`: as for TMM_AUTO_TENSOR. */
#define DEFINE_CHOICE_TESTS(letter, tensor)                                                         \
    static tmm_##letter##gemm__product letter##_asked(const asked *a, long long room)               \
    {                                                                                               \
        tmm_##letter##gemm__product p =                                                             \
            tmm_##letter##gemm__make_product(a->ops & 2 ? TMM_OP_T : TMM_OP_N,                      \
                                             a->ops & 1 ? TMM_OP_T : TMM_OP_N, a->M, a->N, a->K,    \
                                             room, room);                                           \
        p.alpha = 1, p.ldc = room, p.batch = 1, p.allowed = TMM__CUT_K | TMM__PACK;                 \
        return p;                                                                                   \
    }                                                                                               \
    static tmm_kernel letter##_choice_of(const asked *a, long long room)                            \
    {                                                                                               \
        const tmm_##letter##gemm__product p = letter##_asked(a, room);                              \
        return tmm_##letter##gemm__choice(&p, 1, tensor);                                           \
    }                                                                                               \
    /* Nanoseconds of the choice; negative if the device, perhaps before sm_80, cannot run it. */   \
    static double letter##_chosen_time(const asked *a, long long room)                              \
    {                                                                                               \
        const tmm_##letter##gemm__product p = letter##_asked(a, room);                              \
        tmm__plan plan;                                                                             \
        tmm_##letter##gemm__choose(&p, 1, tensor, &plan);                                           \
        if (tmm__current_device()->capability < 80 && plan.value > TMM_REGISTER_128 &&              \
            plan.value != TMM_DIRECT && plan.value != TMM_TENSOR_INT8)                              \
            return -1;                                                                              \
        return tmm_##letter##gemm__takes(plan.value, &p) == TMM_OK ? plan.time : -1;                \
    }                                                                                               \
    /* What TMM_AUTO remembers is what it would choose: of few sizes, so that most were asked for \
       before, with other strides, alignment, alpha and batches. */ \
    static void letter##_test_remembered(const pretended *gpu)                                      \
    {                                                                                               \
        static const long long sizes[] = {24, 500, 4096};                                           \
        int wrong = 0;                                                                              \
        for (int n = 0; n < 2000; n++) {                                                            \
            const asked a = {(int)(tap_bits() % 2), sizes[tap_bits() % 3], sizes[tap_bits() % 3],   \
                             sizes[tap_bits() % 3]};                                                \
            tmm_##letter##gemm__product p =                                                         \
                letter##_asked(&a, 4096 + (long long)(tap_bits() % 2));                             \
            const long long batch = tap_bits() % 4 == 0 ? 100 : 1;                                  \
            p.strideA = p.strideB = p.strideC = batch > 1 ? 1ll << 25 : 0;                          \
            memset(&p.A, tap_bits() % 2 ? 0x10 : 0x18, sizeof p.A);                                 \
            p.alpha = tap_bits() % 8 > 0;                                                           \
            const tmm__plan *known =                                                                \
                tmm_##letter##gemm__known_plan(tensor ? TMM_AUTO_TENSOR : TMM_AUTO, &p, batch);     \
            tmm__plan plan;                                                                         \
            tmm_##letter##gemm__choose(&p, batch, tensor, &plan);                                   \
            wrong += known->value != plan.value;                                                    \
            if (p.alpha == 0) continue; /* without steps along k, launched by another plan */       \
            wrong += known->kernel != plan.kernel || known->time != plan.time ||                    \
                     known->blocks != plan.blocks || known->cut != plan.cut ||                      \
                     known->slices != plan.slices ||                                                \
                     known->s.streamk_tiles != plan.s.streamk_tiles;                                \
        }                                                                                           \
        tap_ok(wrong == 0, #letter "gemm, %s: what is remembered is what is chosen", gpu->name);    \
    }                                                                                               \
    /* Times are finite; twice the work takes 0.9 of the time at least, 0.8 if it is little. */     \
    static void letter##_test_times(const pretended *gpu)                                           \
    {                                                                                               \
        enum { SHAPES = 150 };                                                                      \
        int impossible = 0, shrinking = 0;                                                          \
        for (int n = 0; n < SHAPES; n++) {                                                          \
            const int aligned = n % 3 != 0;                                                         \
            const asked a = {(int)(tap_bits() % 4), draw_size(aligned), draw_size(aligned),         \
                             draw_size(aligned)};                                                   \
            const double time = letter##_chosen_time(&a, 32768);                                    \
            const double part = (double)a.M * a.N * a.K < 1e6 ? 0.8 : 0.9;                          \
            impossible += !(time > 0 && time < 1e15);                                               \
            for (int twice = 0; twice < 3 && aligned; twice++) {                                    \
                asked b = a;                                                                        \
                *(twice == 0 ? &b.M : twice == 1 ? &b.N : &b.K) *= 2;                               \
                const double more = letter##_chosen_time(&b, 32768);                                \
                if (more >= part * time || time < 0) continue;                                      \
                shrinking++;                                                                        \
                tap_note("%d, (%lld, %lld, %lld): %.0f ns, (%lld, %lld, %lld): %.0f", a.ops, a.M,   \
                         a.N, a.K, time, b.M, b.N, b.K, more);                                      \
            }                                                                                       \
        }                                                                                           \
        tap_ok(impossible == 0, #letter "gemm, %s: a kernel that it has, in a finite time",         \
               gpu->name);                                                                          \
        tap_ok(shrinking == 0, #letter "gemm, %s: twice the work takes no less", gpu->name);        \
    }                                                                                               \
    /* Shapes of which it is clear what takes them; `large`: what may, with many large tiles. */    \
    static void letter##_test_clear(const pretended *gpu, kernel_set large)                         \
    {                                                                                               \
        const int fast = gpu->capability >= 80;                                                     \
        const kernel_set any = ~(kernel_set)0;                                                      \
        const struct {                                                                              \
            asked a;                                                                                \
            kernel_set wanted;                                                                      \
        } clear[] = {                                                                               \
            {{0, 4096, 4096, 4096}, large},                                                         \
            {{1, 4000, 3000, 2000}, large | SET(TMM_REGISTER_128)},                                 \
            {{0, 8192, 1, 8192}, SET(TMM_DIRECT) | (fast ? SET(TMM_SKINNY) | SET(TMM_SMALL) : 0)},  \
            {{3, 1, 8192, 4096}, SET(TMM_DIRECT) | (fast ? SET(TMM_SKINNY) | SET(TMM_SMALL) : 0)},  \
            {{0, 16, 16, 16}, SET(TMM_DIRECT) | SET(TMM_SHARED_16) | (fast ? SET(TMM_SMALL) : 0)},  \
            {{2, 30, 40, 50}, any & ~SET(TMM_REGISTER_128) & ~SET(TMM_PIPELINED)},                  \
        };                                                                                          \
        for (int n = 0; n < (int)(sizeof clear / sizeof *clear); n++) {                             \
            const tmm_kernel kernel = letter##_choice_of(&clear[n].a, 16384);                       \
            tap_ok((clear[n].wanted & SET(kernel)) != 0,                                            \
                   #letter "gemm, %s: (%lld, %lld, %lld) by %s", gpu->name, clear[n].a.M,           \
                   clear[n].a.N, clear[n].a.K, tmm_kernel_string(kernel));                          \
        }                                                                                           \
    }
#endif
