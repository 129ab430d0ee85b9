/* src/tiledmm/kernels/tensor_int8/tables.h. What KERNEL TENSOR INT8 must know of its moduli; its
   workspace.
   Uses: types.cuh, launch/hooks.h, once/. Used by: launch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST && TMM__DOUBLE_TENSOR && \
    !defined(TMM__DOUBLE_ONCE)
/* Pairwise coprime, the largest there are. The product of the first 13 has 102.5 bits, of 14 110.2,
   of 15 117.8, of 16 125.4. */
static const int tmm__int8_moduli[TMM__INT8_MOST] = {256, 255, 253, 251, 247, 241, 239, 233,
                                                     229, 227, 223, 217, 211, 199, 197, 193};
/* The group of each: see tmm__int8_sums. */
static const int tmm__int8_group[TMM__INT8_MOST] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 3, 4, 5};

static inline int tmm__int8_inverse(int a, int p)
{
    for (int i = 1; i < p; i++)
        if (a * i % p == 1) return i;
    return 0;
}

/* What remains of a, in [-p / 2, p / 2). */
static inline int tmm__int8_centred(long long a, int p)
{
    int r = (int)((a % p + p) % p);
    return r >= (p + 1) / 2 ? r - p : r;
}

/* How an element times `factor` is taken modulo p. */
static inline tmm__int8_modulus tmm__int8_make_modulus(int p, int factor)
{
    tmm__int8_modulus m = {{0, 0}, 0};
    long long power = factor;
    for (int i = 0; i < 8; i++) {
        m.weights[i / 4] |= (unsigned)(tmm__int8_centred(power, p) & 255) << i % 4 * 8;
        if (i == 7) /* minus 2^63 */
            m.first = 0x4b400000u + (unsigned)tmm__int8_centred(-power * 128, p);
        power = power * 256 % p;
    }
    return m;
}

/* A number of four words, low word first, times a small one. */
static inline void tmm__int8_multiply(unsigned *words, unsigned factor)
{
    unsigned long long carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (unsigned long long)words[i] * factor;
        words[i] = (unsigned)carry;
        carry >>= 32;
    }
}

/* The tables for sums of K products. */
static inline void tmm__int8_make_tables(tmm__int8_residues *r, tmm__int8_sums *s, long long K)
{
    const int *p = tmm__int8_moduli;
    memset(r, 0, sizeof *r);
    memset(s, 0, sizeof *s);
    for (int l = 0; l < TMM__INT8_MOST; l++) {
        r->b[l] = tmm__int8_make_modulus(p[l], 1);
        r->reciprocal[l] = 1.0f / (float)p[l];
        r->minus_p[l] = -(float)p[l];
        r->half[l] = 12582912.0f + (float)((p[l] - 1) / 2);
    }
    for (int c = 0; c < TMM__INT8_CHOICES; c++) {
        const int count = TMM__INT8_LEAST + c;
        unsigned Q[TMM__INT8_GROUPS] = {1, 1, 1, 1, 1, 1}, P[4] = {1, 0, 0, 0};
        int place[TMM__INT8_GROUPS] = {0, 0, 0, 0, 0, 0};
        double bits = 0;
        for (int g = 0; g < TMM__INT8_GROUPS; g++) s->weight[c][g][0] = 1;
        for (int l = 0; l < count; l++) {
            Q[tmm__int8_group[l]] *= (unsigned)p[l];
            bits += log2(p[l]);
            tmm__int8_multiply(P, (unsigned)p[l]);
            for (int g = 0; g < TMM__INT8_GROUPS; g++)
                if (g != tmm__int8_group[l]) tmm__int8_multiply(s->weight[c][g], (unsigned)p[l]);
        }
        for (int l = 0; l < count; l++) {
            int rest = 1;
            for (int j = 0; j < count; j++)
                if (j != l) rest = rest * p[j] % p[l];
            r->a[c][l] = tmm__int8_make_modulus(p[l], tmm__int8_inverse(rest, p[l]));
            const int g = tmm__int8_group[l];
            const unsigned factor = Q[g] / (unsigned)p[l];
            s->low[c][g] |= (factor & 255) << 8 * place[g];
            s->high[c][g] |= factor >> 8 << 8 * place[g]++;
        }
        for (int g = 0; g < TMM__INT8_GROUPS; g++) {
            unsigned long long one = 1ull << (g == TMM__INT8_GROUPS - 1 ? 24 : 44);
            s->quotient[c][g] = Q[g] == 1 ? 0 : (unsigned)((one + Q[g] / 2) / Q[g]);
        }
        unsigned long long carry = 1; /* of the complement */
        for (int i = 0; i < 4; i++) {
            carry += ~P[i];
            s->minus_P[c][i] = (unsigned)carry;
            carry >>= 32;
        }
        double norm = sqrt(0.49) * exp2(bits / 2) - sqrt((double)K) / 2;
        r->limit[c] = s->limit[c] = (int)floor(256 * log2(norm) - 0.01);
    }
    s->kappa = (float)((1 + 1e-5) * 4503599627370496.0 / ((double)K - 2)); /* 2^52 */
    s->half_K = (float)K / 2;
}

/* How K is cut: blocks, and of those every how many has units. */
typedef struct tmm__int8_depth {
    int k_blocks, unit_blocks, every;
    int chunks; /* of KERNEL NORMS */
} tmm__int8_depth;

static inline tmm__int8_depth tmm__int8_cut(long long K)
{
    tmm__int8_depth d;
    d.k_blocks = (int)((K - 1) / TMM__INT8_K + 1);
    d.every = d.k_blocks >= 16 ? 8 : d.k_blocks >= 8 ? 4 : d.k_blocks >= 4 ? 2 : 1;
    d.unit_blocks = (d.k_blocks - 1) / d.every + 1;
    d.chunks = (int)((K - 1) / TMM__INT8_NORM_K + 1);
    return d;
}

/* An operand: its lines, units and planes lie one after the other, from memory + *at to the new
   *at. */
static inline tmm__int8_operand tmm__int8_operand_at(char *memory, size_t *at, long long lines,
                                                     const tmm__int8_depth *depth)
{
    tmm__int8_operand o;
    o.pitch = (int)((lines - 1) / 64 + 1);
    const size_t padded = 64 * (size_t)o.pitch, to = *at + padded * sizeof(tmm__int8_line);
    const size_t units = padded * (size_t)depth->unit_blocks * TMM__INT8_K;
    o.lines = (tmm__int8_line *)(memory + *at);
    o.units = (unsigned char *)memory + to;
    o.planes = o.units + units;
    *at = to + units + padded * (size_t)depth->k_blocks * TMM__INT8_K * TMM__INT8_MOST;
    return o;
}

enum {
    TMM__INT8_A = 1, /* operands that are prepared */
    TMM__INT8_B = 2,
    TMM__INT8_STATE_BYTES = 256
};
static_assert(sizeof(tmm__int8_state) <= TMM__INT8_STATE_BYTES, "it has room");

/* Offsets in the workspace of a product of M x K and K x N. What is `ready` lies elsewhere. */
typedef struct tmm__int8_layout {
    size_t operands[2], C, open, norms, bytes; /* the state is at 0 */
    int line_blocks[2], pieces_down, pieces_across, ready;
    tmm__int8_depth depth;
} tmm__int8_layout;

static inline tmm__int8_layout tmm__int8_plan(long long M, long long N, long long K, int ready)
{
    tmm__int8_layout l;
    memset(&l, 0, sizeof l);
    l.line_blocks[0] = (int)((M - 1) / 64 + 1), l.line_blocks[1] = (int)((N - 1) / 64 + 1);
    l.pieces_down = l.line_blocks[0], l.pieces_across = (int)((N - 1) / 32 + 1);
    l.depth = tmm__int8_cut(K), l.ready = ready;
    size_t at = TMM__INT8_STATE_BYTES, pieces = (size_t)l.pieces_down * l.pieces_across, norms = 0;
    for (int i = 0; i < 2; i++) {
        l.operands[i] = at;
        if (ready >> i & 1) continue;
        (void)tmm__int8_operand_at(NULL, &at, i == 0 ? M : N, &l.depth);
        norms += 64 * (size_t)l.line_blocks[i] * l.depth.chunks * sizeof(tmm__int8_norm);
    }
    l.C = at, at += pieces * TMM__INT8_PLANES * TMM__INT8_PIECE;
    l.open = at, at += pieces * 128 * sizeof(unsigned short);
    l.norms = at, at += norms;
    l.bytes = at;
    return l;
}

/* A quarter of the device's memory: larger products are done in parts of M, N or K. */
static inline size_t tmm__int8_budget(void)
{
    static thread_local size_t known[TMM__KNOWN];
    static thread_local int numbers[TMM__KNOWN];
    int number = tmm__current_device()->number, place = number > 0 ? number % TMM__KNOWN : 0;
    if (known[place] == 0 || numbers[place] != number) {
        size_t left = 0, all = 0;
        if (!tmm__succeeded(cudaMemGetInfo(&left, &all))) all = 0;
        known[place] = all / 4, numbers[place] = number;
    }
    return known[place];
}

/* The k of a launch at most, the same for all but the last. */
static inline long long tmm__int8_part_of_k(long long K)
{
    long long parts = (K - 1) / TMM__INT8_DEPTH(TMM__INT8_K_MOST) + 1;
    return ((K - 1) / parts / TMM__INT8_K + 1) * TMM__INT8_K;
}

/* What is kept of a prepared operand: a state, then an operand for each part of k. Returns that
   of the part from k0 on; *bytes is where it ends. */
static inline tmm__int8_operand tmm__int8_prepared(char *memory, size_t *bytes, long long lines,
                                                   long long K, long long k0)
{
    const long long k = tmm__int8_part_of_k(K);
    tmm__int8_operand o;
    memset((void *)&o, 0, sizeof o);
    *bytes = TMM__INT8_STATE_BYTES;
    for (long long from = 0; from <= k0; from += k) {
        const tmm__int8_depth depth = tmm__int8_cut(tmm__min(k, K - from));
        o = tmm__int8_operand_at(memory, bytes, lines, &depth);
    }
    return o;
}

/* The largest parts of a product that stay within so many bytes. */
static inline void tmm__int8_parts(long long *M, long long *N, long long *K, int cut_k, int ready,
                                   size_t budget)
{
    *K = tmm__int8_part_of_k(*K);
    while (tmm__int8_plan(*M, *N, *K, ready).bytes > budget) {
        if (*M > 512 && *M >= *N)
            *M = ((*M - 1) / 2 / 512 + 1) * 512;
        else if (*N > 384)
            *N = ((*N - 1) / 2 / 384 + 1) * 384;
        else if (*M > 512)
            *M = ((*M - 1) / 2 / 512 + 1) * 512;
        else if (*K > 1024 && cut_k)
            *K = ((*K - 1) / 2 / TMM__INT8_K + 1) * TMM__INT8_K;
        else
            break;
    }
}
#endif
