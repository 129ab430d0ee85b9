/* Shapes of products: drawn at random from a seed, or read from a file. No device is needed here. */
#ifndef BENCH_DRAW_H
#define BENCH_DRAW_H
#include "common.h"
#include <math.h>

/* Matrices are row-major: A is stored M x K, or K x M with opA = T, with lda; B and C likewise. Of a
   batch one lies after the other. The first begins `offset` elements after an aligned address. */
typedef struct shape {
    int opA, opB; /* 'N' or 'T' */
    long long M, N, K, lda, ldb, ldc, batch, offset;
} shape;

enum { MOST_SHAPES = 4096, LONG_EVERY = 10 };
static const long long LONGEST = 16384, LONGEST_OF_ALL = 200000; /* of a tenth, one direction */
static const double MOST_BYTES = 4e9;            /* drawn: of A, B and C, elements of 8 bytes */
static const double MOST_READ = 32e9;            /* read from a file: the same */
static const double MOST_WORK = 4398046511104.0; /* 2^42 multiply-adds */

/* The kinds exclude each other: kind_of takes the first that fits, in the order of this list. */
typedef enum kind {
    KIND_1_16,    /* min(M, N) <= 16 */
    KIND_SMALL,   /* max(M, N) <= 512, K < 4096 */
    KIND_LONG_K,  /* max(M, N) <= 512; or M N <= 2^20, min(M, N) > 256, K >= 8192: few tiles */
    KIND_17_64,   /* min(M, N) <= 64 beside more than 512 */
    KIND_65_256,  /* min(M, N) <= 256 beside more than 512 */
    KIND_SHORT_K, /* min(M, N) > 256, K <= 256 */
    KIND_MID,     /* M N K <= 2048^3 */
    KIND_LARGE,   /* all others */
    KINDS
} kind;
static const char *const kind_names[KINDS] = {"1-16",   "small",   "long_k", "17-64",
                                              "65-256", "short_k", "mid",    "large"};

static inline long long least_of(long long a, long long b)
{
    return a < b ? a : b;
}
static inline long long most_of(long long a, long long b)
{
    return a > b ? a : b;
}
static inline double work_of(const shape *s) /* multiply-adds */
{
    return (double)s->M * (double)s->N * (double)s->K * (double)s->batch;
}
/* Elements of A, B and C. */
static inline double elements_of(const shape *s)
{
    const double M = (double)s->M, N = (double)s->N, K = (double)s->K;
    return (M * K + K * N + M * N) * (double)s->batch;
}

static inline kind kind_of(const shape *s)
{
    long long narrow = least_of(s->M, s->N), wide = most_of(s->M, s->N);
    if (narrow <= 16) return KIND_1_16;
    if (wide <= 512) return s->K < 4096 ? KIND_SMALL : KIND_LONG_K;
    if (narrow > 256 && s->M * s->N <= 1 << 20 && s->K >= 8192) return KIND_LONG_K;
    if (narrow <= 64) return KIND_17_64;
    if (narrow <= 256) return KIND_65_256;
    if (s->K <= 256) return KIND_SHORT_K;
    return work_of(s) <= 2048.0 * 2048.0 * 2048.0 ? KIND_MID : KIND_LARGE;
}

/* The kind of that name, or -1. */
static inline int find_kind(const char *word)
{
    for (int k = 0; k < KINDS; k++)
        if (word && strcmp(word, kind_names[k]) == 0) return k;
    return -1;
}

/* As stored: rows, and columns, which are the least leading dimension. */
static inline long long rows_A(const shape *s)
{
    return s->opA == 'T' ? s->K : s->M;
}
static inline long long cols_A(const shape *s)
{
    return s->opA == 'T' ? s->M : s->K;
}
static inline long long rows_B(const shape *s)
{
    return s->opB == 'T' ? s->N : s->K;
}
static inline long long cols_B(const shape *s)
{
    return s->opB == 'T' ? s->K : s->N;
}

/* Elements that A, B and C take up, what lies between their rows included. */
static inline double cells_of(const shape *s)
{
    return ((double)rows_A(s) * (double)s->lda + (double)rows_B(s) * (double)s->ldb +
            (double)s->M * (double)s->ldc) *
           (double)s->batch;
}
static inline int within_limits(const shape *s, double bytes)
{
    return 8 * cells_of(s) <= bytes && work_of(s) <= MOST_WORK;
}

/* ---------------------------------- drawing --------------------------------------------------- */
/* Uniform in [0, 1). */
static inline double uniform(u64 *state)
{
    return (double)(mix((*state)++) >> 11) / 9007199254740992.0;
}
static inline int below(u64 *state, int bound)
{
    return (int)(uniform(state) * bound);
}
/* A whole number from low to high whose logarithm is uniform. */
static inline long long log_uniform(u64 *state, long long low, long long high)
{
    double x = (double)low * exp(uniform(state) * log((double)(high + 1) / (double)low));
    return most_of(low, least_of((long long)x, high));
}
static inline long long round_up(long long x, long long to)
{
    return (x + to - 1) / to * to;
}

/* A leading dimension for rows of `cols` elements: equal, a multiple of 8 or 16, or an odd pad. */
static inline long long draw_ld(u64 *state, int how, long long cols)
{
    if (how == 0) return round_up(cols, 8);
    if (how == 1) return round_up(cols, 16) + 16 * below(state, 4);
    if (how == 2) return cols + 1 + 2 * below(state, 32);
    return cols;
}

/* One shape: sizes as they come, or rounded to multiples of 16, or odd; dense in half of the
   cases. */
static inline shape draw_once(u64 *state, int longer)
{
    shape s;
    long long size[3];
    int along = longer ? below(state, 3) : -1, how = below(state, 4), pads = below(state, 6);
    for (int n = 0; n < 3; n++) {
        size[n] = n == along ? log_uniform(state, LONGEST + 1, LONGEST_OF_ALL)
                             : log_uniform(state, 1, LONGEST);
        if (how == 0 && size[n] > 16) size[n] = round_up(size[n], 16);
        if (how == 1) size[n] = (size[n] - 1) | 1;
    }
    s.M = size[0], s.N = size[1], s.K = size[2], s.batch = 1, s.offset = 0;
    s.opA = below(state, 2) ? 'T' : 'N', s.opB = below(state, 2) ? 'T' : 'N';
    s.lda = draw_ld(state, pads, cols_A(&s));
    s.ldb = draw_ld(state, pads, cols_B(&s));
    s.ldc = draw_ld(state, pads, s.N);
    return s;
}

/* Shape number `index` of a seed. A tenth is longer than 16384 in one direction. Every other shape
   is as it comes, and half of these have a row or a column of 16 or less. The rest is drawn until
   it is of a given kind: of each in turn, so that no kind is without shapes, or of `wanted` if that
   is not -1. A kind that cannot be so long is left with shorter ones. */
static inline shape draw_shape(u64 seed, int index, int wanted)
{
    u64 state = mix(mix(seed) + (u64)index);
    int longer = index % LONG_EVERY == LONG_EVERY - 2;
    if (wanted < 0 && index % 2) wanted = index / 2 % KINDS;
    for (int tries = 0;; tries++) {
        shape s = draw_once(&state, longer && tries < 10000);
        if (within_limits(&s, MOST_BYTES) && (wanted < 0 || (int)kind_of(&s) == wanted)) return s;
    }
}

/* ---------------------------------- files ----------------------------------------------------- */
#define SHAPE_COLUMNS "opA,opB,M,N,K,lda,ldb,ldc,batch,offset"
enum { SHAPE_FIELDS = 10, NEEDED_FIELDS = 8, LINE_LENGTH = 4096 };

static inline void write_shape(FILE *file, const shape *s)
{
    fprintf(file, "%c,%c,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld", s->opA, s->opB, s->M, s->N, s->K,
            s->lda, s->ldb, s->ldc, s->batch, s->offset);
}

/* Field `number` of a line of a CSV file that has no commas inside of fields up to there; NULL if
   there are fewer. Ends it with a 0 in `field`. */
static inline const char *get_field(const char *line, int number, char field[64])
{
    for (; number > 0; number--) {
        line = strchr(line, ',');
        if (!line) return NULL;
        line++;
    }
    size_t length = strcspn(line, ",\r\n");
    if (length >= 64) return NULL;
    memcpy(field, line, length);
    field[length] = 0;
    return field;
}

/* The column of that name in the first line of a CSV file, or -1. */
static inline int find_column(const char *line, const char *name)
{
    char field[64];
    for (int n = 0; get_field(line, n, field); n++)
        if (strcmp(field, name) == 0) return n;
    return -1;
}

/* The shape in a line whose column n is where[n], or that has its default if that is -1; 0 if it is
   none. */
static inline int parse_shape(const char *line, const int where[SHAPE_FIELDS], shape *s)
{
    char field[64];
    long long number[SHAPE_FIELDS];
    for (int n = 0; n < SHAPE_FIELDS; n++) {
        number[n] = n == 8; /* one product, aligned */
        if (where[n] < 0) continue;
        if (!get_field(line, where[n], field)) return 0;
        if (n < 2) {
            if (strcmp(field, "N") != 0 && strcmp(field, "T") != 0) return 0;
            number[n] = field[0];
        } else if (!parse_number(field, 0, n < 9, n < 9 ? 1ll << 31 : 512, &number[n])) {
            return 0;
        }
    }
    s->opA = (int)number[0], s->opB = (int)number[1];
    s->M = number[2], s->N = number[3], s->K = number[4];
    s->lda = number[5], s->ldb = number[6], s->ldc = number[7];
    s->batch = number[8], s->offset = number[9];
    return s->lda >= cols_A(s) && s->ldb >= cols_B(s) && s->ldc >= s->N && s->lda <= INT_MAX &&
           s->ldb <= INT_MAX && s->ldc <= INT_MAX && within_limits(s, MOST_READ);
}

static inline int same_shape(const shape *a, const shape *b)
{
    return a->opA == b->opA && a->opB == b->opB && a->M == b->M && a->N == b->N && a->K == b->K &&
           a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc && a->batch == b->batch &&
           a->offset == b->offset;
}

/* Where the columns of a list of shapes are, and the column "use" if `use` is not NULL; 0 after a
   sentence. batch and offset may be missing. */
static inline int find_columns(const char *path, const char *line, const char *use,
                               int where[SHAPE_FIELDS], int *use_at)
{
    static const char *const names[SHAPE_FIELDS] = {"opA", "opB", "M",   "N",     "K",
                                                    "lda", "ldb", "ldc", "batch", "offset"};
    for (int n = 0; n < SHAPE_FIELDS; n++) {
        where[n] = find_column(line, names[n]);
        if (where[n] >= 0 || n >= (int)NEEDED_FIELDS) continue;
        fprintf(stderr, BENCH ": %s has no column %s; needed are opA,opB,M,N,K,lda,ldb,ldc\n", path,
                names[n]);
        return 0;
    }
    *use_at = find_column(line, "use");
    if (!use || *use_at >= 0) return 1;
    fprintf(stderr, BENCH ": %s has no column use\n", path);
    return 0;
}

/* The shapes of a CSV file, each once: its first line names the columns, in any order and among
   others, so that a file that a bench wrote can be read. With `use` only those that have this word
   in the column of that name. How many; 0 after a sentence. */
static inline int read_shapes(const char *path, const char *use, shape *shapes)
{
    char line[LINE_LENGTH], field[64];
    int where[SHAPE_FIELDS], use_at = -1, count = 0, number = 1;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, BENCH ": cannot read %s: %s\n", path, strerror(errno));
        return 0;
    }
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    if (!find_columns(path, line, use, where, &use_at)) {
        fclose(file);
        return 0;
    }
    while (count >= 0 && fgets(line, sizeof line, file)) {
        shape s;
        int seen = 0;
        number++;
        if (!parse_shape(line, where, &s)) {
            fprintf(stderr, BENCH ": %s, line %d: no shape within 32 GB and 2^42 multiply-adds\n",
                    path, number);
            count = -1;
        }
        if (use && (!get_field(line, use_at, field) || strcmp(field, use) != 0)) continue;
        for (int n = 0; n < count && !seen; n++) seen = same_shape(&shapes[n], &s);
        if (count == MOST_SHAPES && !seen) {
            fprintf(stderr, BENCH ": %s has more than %d shapes\n", path, MOST_SHAPES);
            count = -1;
        }
        if (count >= 0 && !seen) shapes[count++] = s;
    }
    if (count == 0 && use) fprintf(stderr, BENCH ": %s has no shapes for '%s'\n", path, use);
    if (count == 0 && !use) fprintf(stderr, BENCH ": %s has no shapes\n", path);
    fclose(file);
    return count > 0 ? count : 0;
}
#endif
