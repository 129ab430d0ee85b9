/* What bench/shapes.cu is asked for, and its shapes. Included after tiledmm.cuh and summary.h. */
#ifndef BENCH_SHAPES_OPTIONS_H
#define BENCH_SHAPES_OPTIONS_H
#include "summary.h"
#include <time.h>

typedef struct options {
    int types[TYPES], kind, count, list, cold;
    u64 seed;
    double seconds, least, ms; /* 0: no end; nothing is asked for; as long as it takes */
    const char *csv, *shapes, *use, *plans;
} options;

static inline void print_help(void)
{
    printf("usage: shapes [options]\n"
           "Times the products of tiledmm.cuh beside cuBLAS at shapes drawn at random, and checks "
           "them.\n\n"
           "  --seed N           another draw (default: today's date, yyyymmdd)\n"
           "  --count N          that many shapes (default 200)\n"
           "  --type NAME        float, double, tensor and int8 (float and double by\n"
           "                     TMM_AUTO_TENSOR), int, which cuBLAS has not, or all (default)\n"
           "  --kind NAME        shapes of this kind alone:");
    for (int k = 0; k < KINDS; k++) printf(" %s", kind_names[k]);
    printf("\n"
           "  --shapes FILE      instead of drawing, the shapes of a CSV file with the columns\n"
           "                     " SHAPE_COLUMNS "\n"
           "                     (the last two may be missing)\n"
           "  --use WORD         of these, the ones with that word in the column \"use\"\n"
           "  --list             prints the shapes, as such a file, and ends\n"
           "  --plans FILE       every kernel and plan at each shape, instead of cuBLAS: a line\n"
           "                     for each\n"
           "  --ms N             times each of them for that many milliseconds, or one call\n"
           "  --cold             no operands are in L2 when a call begins, small ones neither\n"
           "  --least RATIO      the exit status is 1 if ours is slower than that times " THEM_LONG
           "\n"
           "                     anywhere, and once more when it is measured again\n"
           "  --seconds S        ends after what is measured then\n"
           "  --csv FILE         a row for each shape and type\n"
           "  --help             this text\n");
}

static inline u64 today(void)
{
    time_t now = time(NULL);
    const struct tm *date = localtime(&now);
    return date ? (u64)(date->tm_year + 1900) * 10000 + (u64)(date->tm_mon + 1) * 100 +
                      (u64)date->tm_mday
                : (u64)now;
}

static inline int parse_type(const char *value, options *o)
{
    int any = 0;
    for (int t = 0; t < TYPES; t++) {
        int all = value && strcmp(value, "all") == 0 && (t != TYPE_INT || HAS_PEER);
        if (all || (value && strcmp(value, measured_names[t]) == 0)) o->types[t] = any = 1;
    }
    return any;
}

static inline int parse_options(int count, char **words, options *o)
{
    long long number;
    int any_type = 0;
    memset(o, 0, sizeof *o);
    o->seed = today(), o->count = 200, o->kind = -1;
    for (int n = 1; n < count; n++) {
        const char *word = words[n], *value = n + 1 < count ? words[n + 1] : NULL;
        const char *shown = value ? value : "nothing";
        if (strcmp(word, "--help") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--list") == 0 || strcmp(word, "--cold") == 0) {
            *(word[2] == 'l' ? &o->list : &o->cold) = 1;
            continue;
        } else if (strcmp(word, "--seed") == 0) {
            if (!parse_number(value, 0, 0, LLONG_MAX, &number))
                return refuse("--seed is a whole number, not '%s'", shown);
            o->seed = (u64)number;
        } else if (strcmp(word, "--count") == 0) {
            if (!parse_number(value, 0, 1, MOST_SHAPES, &number))
                return refuse("--count is a whole number from 1 to 4096, not '%s'", shown);
            o->count = (int)number;
        } else if (strcmp(word, "--seconds") == 0) {
            if (!parse_number(value, 0, 1, 1000000, &number))
                return refuse("--seconds is a whole number from 1 to 1000000, not '%s'", shown);
            o->seconds = (double)number;
        } else if (strcmp(word, "--ms") == 0) {
            if (!parse_number(value, 0, 1, 1000000, &number))
                return refuse("--ms is a whole number from 1 to 1000000, not '%s'", shown);
            o->ms = (double)number;
        } else if (strcmp(word, "--type") == 0) {
            if (!parse_type(value, o))
                return refuse("--type is float, double, tensor, int8, int or all, not '%s'", shown);
            any_type = 1;
        } else if (strcmp(word, "--kind") == 0) {
            o->kind = find_kind(value);
            if (o->kind < 0) return refuse("--kind: no kind is called '%s'", shown);
        } else if (strcmp(word, "--csv") == 0 || strcmp(word, "--shapes") == 0 ||
                   strcmp(word, "--plans") == 0) {
            if (!value || value[0] == '-') return refuse("%s needs the name of a file", word);
            *(word[2] == 'c' ? &o->csv : word[2] == 's' ? &o->shapes : &o->plans) = value;
        } else if (strcmp(word, "--use") == 0) {
            if (!value || value[0] == '-') return refuse("%s needs a word", word);
            o->use = value;
        } else if (strcmp(word, "--least") == 0) {
            if (!parse_decimal(value, 100, &o->least))
                return refuse("--least is a number from 0 to 100, not '%s'", shown);
        } else {
            return refuse("'%s' is not understood", word);
        }
        n++;
    }
    if (!any_type) (void)parse_type("all", o);
#ifdef PEER
    if (o->plans) return refuse("%s is not for a build with a peer", "--plans");
#endif
    if (o->use && !o->shapes) return refuse("%s needs --shapes", "--use");
    return 1;
}

/* The shapes that are asked for; how many, 0 after a sentence. */
static inline int get_shapes(const options *o, shape *shapes)
{
    int count = o->count;
    if (!o->shapes) {
        for (int n = 0; n < count; n++) shapes[n] = draw_shape(o->seed, n, o->kind);
        return count;
    }
    int kept = 0;
    count = read_shapes(o->shapes, o->use, shapes);
    for (int n = 0; n < count; n++)
        if (o->kind < 0 || (int)kind_of(&shapes[n]) == o->kind) shapes[kept++] = shapes[n];
    if (count > 0 && kept == 0)
        fprintf(stderr, BENCH ": %s has no shapes of kind %s\n", o->shapes, kind_names[o->kind]);
    return kept;
}

/* Exit status. */
static inline int list_shapes(const shape *shapes, int count)
{
    printf(SHAPE_COLUMNS ",kind\n");
    for (int n = 0; n < count; n++) {
        write_shape(stdout, &shapes[n]);
        printf(",%s\n", kind_names[kind_of(&shapes[n])]);
    }
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, BENCH ": cannot write the list\n");
    return 1;
}
#endif
