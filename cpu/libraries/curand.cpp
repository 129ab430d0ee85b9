/* cuRAND: leaps of XORWOW, and generators that fill arrays in the order of their stream. */
#include "../include/curand.h"
#include "../include/curand_kernel.h"
#include "../runtime/runtime.h"
#include <functional>
#include <mutex>
#include <set>
#include <vector>

namespace
{
/* ---- leaps: a step of XORWOW is linear over the 160 bits of its words -------------------------- */

enum { words = 5, bits = 160, most_powers = 67 + 64 };

/* A state, and another word, so that it is three numbers of 64 bits. */
struct sum {
    uint64_t part[3];
};

/* Where each value of four bits leads; a state leads to the sum of what its bits lead to. */
struct leap {
    sum of[bits / 4][16];
};

void take(const leap &m, const unsigned int *from, unsigned int *to)
{
    sum all = {};
    for (int i = 0; i < bits / 4; i++) {
        const sum &s = m.of[i][from[i / 8] >> i % 8 * 4 & 15];
        for (int p = 0; p < 3; p++) all.part[p] ^= s.part[p];
    }
    memcpy(to, &all, words * sizeof *to);
}

/* From where each single bit leads. */
void make_leap(leap &m, const unsigned int (*column)[words])
{
    memset(&m, 0, sizeof m);
    for (int bit = 0; bit < bits; bit++) {
        sum one = {};
        memcpy(&one, column[bit], words * sizeof **column);
        for (int value = 0; value < 16; value++)
            for (int p = 0; p < 3 && value >> bit % 4 & 1; p++)
                m.of[bit / 4][value].part[p] ^= one.part[p];
    }
}

/* Leaps of 2^i steps. */
const std::vector<leap> &powers()
{
    static const std::vector<leap> made = [] {
        std::vector<leap> list(most_powers);
        unsigned int column[bits][words];
        for (int bit = 0; bit < bits; bit++) {
            curandStateXORWOW_t s = {};
            s.v[bit / 32] = 1u << bit % 32;
            curand(&s);
            memcpy(column[bit], s.v, sizeof s.v);
        }
        for (int i = 0; i < most_powers; i++) {
            make_leap(list[i], column);
            for (int bit = 0; bit < bits; bit++) take(list[i], column[bit], column[bit]);
        }
        return list;
    }();
    return made;
}
} // namespace

void cucc::skip_xorwow(unsigned int *v, unsigned long long steps, int shift)
{
    for (int i = 0; steps >> i; i++) {
        if (steps >> i & 1) take(powers()[(size_t)(i + shift)], v, v);
        if (i == 63) break;
    }
}

/* ---- generators ------------------------------------------------------------------------------ */

/* Results are taken from many subsequences in turn: one of each of XORWOW's 4096, and four of each of
 * Philox's 65536. */
struct curandGenerator_st {
    curandRngType_t type;
    bool on_host;
    cudaStream_t stream = nullptr;
    unsigned long long seed = 0, offset = 0;
    bool begun = false;
    std::vector<curandStateXORWOW_t> xorwow;
    size_t turn = 0;               /* XORWOW's subsequence */
    unsigned long long result = 0; /* number of Philox' next one */
    curandStatePhilox4_32_10_t philox;
};

namespace
{
enum { subsequences = 4096, philox_subsequences = 65536 };

/* A handle that nobody set must not be followed. */
std::set<curandGenerator_t> generators;
std::mutex generators_lock;

bool is_generator(curandGenerator_t g)
{
    std::lock_guard<std::mutex> lock(generators_lock);
    return generators.count(g) > 0;
}

bool is_philox(curandGenerator_t g)
{
    return g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
}

void begin(curandGenerator_t g)
{
    if (g->begun) return;
    g->begun = true;
    g->result = g->offset;
    g->turn = g->offset % subsequences;
    if (is_philox(g)) return;
    g->xorwow.resize(subsequences);
    curand_init(g->seed, 0, g->offset / subsequences, &g->xorwow[0]);
    for (size_t i = 1; i < subsequences; i++) {
        g->xorwow[i] = g->xorwow[i - 1];
        skipahead_sequence(1, &g->xorwow[i]);
    }
    for (size_t i = 0; i < g->turn; i++) curand(&g->xorwow[i]);
}

/* RESULTS results of one subsequence, a number each, or two for a double. */
void draw(curandGenerator_t g, int results, int numbers, unsigned int *to)
{
    if (!is_philox(g)) {
        for (int i = 0; i < results * numbers; i++) to[i] = curand(&g->xorwow[g->turn]);
        g->turn = (g->turn + 1) % subsequences;
        return;
    }
    for (int i = 0; i < results; i++, g->result++) {
        unsigned long long four = g->result / 4;
        unsigned long long place =
            (four / philox_subsequences * 4 + g->result % 4) * (unsigned long long)numbers;
        curand_init(g->seed, four % philox_subsequences, place, &g->philox);
        for (int k = 0; k < numbers; k++) *to++ = curand(&g->philox);
    }
}

template <class T>
curandStatus_t fill(curandGenerator_t g, T *to, size_t n, std::function<void(T *to, size_t n)> work)
{
    if (!is_generator(g)) return CURAND_STATUS_NOT_INITIALIZED;
    cudaPointerAttributes found;
    if (cudaPointerGetAttributes(&found, to)) return CURAND_STATUS_PREEXISTING_FAILURE;
    if (g->on_host) {
        begin(g);
        work(to, n);
        return CURAND_STATUS_SUCCESS;
    }
    if (found.type == cudaMemoryTypeUnregistered) {
        fprintf(stderr, "cucc: curandGenerate: %p is not in device memory\n", (void *)to);
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    cucc::given_to_library(to);
    cudaError_t error = cucc::put_into_stream(g->stream, [=] {
        begin(g);
        work(to, n);
    });
    return error ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (type == CURAND_RNG_PSEUDO_DEFAULT) type = CURAND_RNG_PSEUDO_XORWOW;
    if (type != CURAND_RNG_PSEUDO_XORWOW && type != CURAND_RNG_PSEUDO_PHILOX4_32_10) {
        fprintf(stderr, "cucc: curandCreateGenerator: only XORWOW and Philox4_32_10 are there\n");
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{type, on_host};
    std::lock_guard<std::mutex> lock(generators_lock);
    generators.insert(*generator);
    return CURAND_STATUS_SUCCESS;
}
} // namespace

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    std::lock_guard<std::mutex> lock(generators_lock);
    if (!generators.erase(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    delete generator;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed = seed;
    generator->begun = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    generator->begun = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    return order == CURAND_ORDERING_PSEUDO_SEEDED ? CURAND_STATUS_TYPE_ERROR
                                                  : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t g, unsigned int *to, size_t n)
{
    return fill<unsigned int>(g, to, n, [=](unsigned int *out, size_t count) {
        for (size_t i = 0; i < count; i++) draw(g, 1, 1, out + i);
    });
}

curandStatus_t curandGenerateUniform(curandGenerator_t g, float *to, size_t n)
{
    return fill<float>(g, to, n, [=](float *out, size_t count) {
        for (size_t i = 0; i < count; i++) {
            unsigned int x;
            draw(g, 1, 1, &x);
            out[i] = cucc::uniform(x);
        }
    });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double *to, size_t n)
{
    return fill<double>(g, to, n, [=](double *out, size_t count) {
        for (size_t i = 0; i < count; i++) {
            unsigned int x[2];
            draw(g, 1, 2, x);
            out[i] = cucc::uniform_double(x[0], x[1]);
        }
    });
}

static curandStatus_t normal(curandGenerator_t g, float *to, size_t n, float mean, float deviation,
                             bool of_logarithm)
{
    if (n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return fill<float>(g, to, n, [=](float *out, size_t count) {
        for (size_t i = 0; i < count; i += 2) {
            unsigned int x[2];
            draw(g, 2, 1, x);
            float2 pair = cucc::normal_pair(x[0], x[1]);
            out[i] = mean + deviation * pair.x;
            out[i + 1] = mean + deviation * pair.y;
            for (size_t j = i; of_logarithm && j < i + 2; j++) out[j] = expf(out[j]);
        }
    });
}

curandStatus_t curandGenerateNormal(curandGenerator_t g, float *to, size_t n, float mean,
                                    float deviation)
{
    return normal(g, to, n, mean, deviation, false);
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float *to, size_t n, float mean,
                                       float deviation)
{
    return normal(g, to, n, mean, deviation, true);
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double *to, size_t n, double mean,
                                          double deviation)
{
    if (n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return fill<double>(g, to, n, [=](double *out, size_t count) {
        for (size_t i = 0; i < count; i += 2) {
            unsigned int x[4];
            draw(g, 2, 2, x);
            double2 pair = cucc::normal_pair_double(x[0], x[1], x[2], x[3]);
            out[i] = mean + deviation * pair.x;
            out[i + 1] = mean + deviation * pair.y;
        }
    });
}
