/* bench/fit/fit.cu - the row of src/tiledmm/once/tuning.h by which TMM_AUTO predicts times, made again
   from times of plans. README.md beside it says what is minimised.

   Build   cpu/cucc bench/fit/fit.cu -o fit        no GPU is needed, nor a toolkit
   Run     ./fit bench/fit/plans_h100.csv          from the repository: a minute, then the new row
           ./fit --check bench/fit/plans_h100.csv  how good the present row is, and what each
                                                   kernel, instance and way to cut K is worth
           ./fit --only direct plans.csv           fits the numbers of one kernel
           ./fit --only "pipelined,small_c, of each float" --regret 2 --most 1.6 plans.csv
   The files are those of bench/shapes --plans. */
#if defined(__CUCC__) && !defined(__CUDACC_VER_MAJOR__)
#define __CUDACC_VER_MAJOR__ 13 /* predictions are those of a program that has clusters */
#define __CUDACC_VER_MINOR__ 0
#endif
#include "../plans.h"
static const void *costs_tried; /* what predicts, in place of tmm__measured */
#define TMM__COSTS        ((const tmm__costs *)costs_tried)
#define TMM_FLOAT_TENSOR  0 /* compiled, but taken only where they are asked for */
#define TMM_DOUBLE_TENSOR 0
#include "../../tiledmm.cuh"
#define BENCH "fit"
#include "../product.h"
#include "../times.h"
#include <ctype.h>
#include <time.h>

enum { MOST_FILES = 8, MOST_LINES = 40000, MOST_CONSTANTS = 2000, NAME = 48, CLASSES = 64 };
enum { PASSES = 40, TEXT = 1 << 20 };
static double regret = 0.1;         /* weight of what the choice loses beside squared errors */
static const double TOSS_UP = 0.02; /* logarithms of predictions that are so close share a choice */
static const double MOST_ERROR = 1; /* in logarithms: what is further off counts no more */
static const double PRIOR = 5e-5;   /* what it costs to move a constant by a factor of e */
static const double ZERO = 0.2;     /* a constant that is 0 moves as if it were this */
static const double FIRST_STEP = 0.15, LAST_STEP = 0.006; /* as a part of a constant */

/* ---------------------------------- data ------------------------------------------------------ */
typedef struct source {
    const char *path;
    tmm__device device; /* that was measured */
    tmm__kernel_facts kernels[TMM__KNOWN_KERNELS];
    int clusters[TMM__MOST_CLUSTER + 1];
} source;

typedef struct timed {
    int group, kind; /* kind: kernel and type of element, one of CLASSES */
    tmm_kernel kernel;
    plan how; /* slices is 0: the kernel has one plan alone */
    double ns, logarithm, stated, predicted;
} timed;

/* The plans of a shape and type, the lines from `first` on. */
typedef struct group {
    row r;
    problem q;
    const source *from;
    int first, count, held_out;
    double best; /* nanoseconds */
} group;

typedef struct constant {
    char name[NAME];
    int at, length, line; /* of its text in the file */
    size_t offset;        /* in tmm__costs */
    int whole;            /* an int, which is not fitted */
    double start, step;
    unsigned long long kinds; /* that depend on it */
} constant;

typedef struct fit {
    source sources[MOST_FILES];
    timed lines[MOST_LINES];
    group groups[MOST_SHAPES];
    constant constants[MOST_CONSTANTS];
    int source_count, line_count, group_count, constant_count;
    char *text; /* of tuning.h */
    int text_from, text_to;
    const char *row, *only;
    int check;
    double seconds, most; /* most: a constant moves by this factor at most, 0: by any */
} fit;
static fit state;
static tmm__costs tried;
static row rows[MOST_SHAPES];

static void fail(const char *format, const char *what, int line)
{
    fprintf(stderr, BENCH ": ");
    fprintf(stderr, format, what, line);
    fprintf(stderr, "\n");
    exit(2);
}

/* The device of a file: its row of tmm__gpus, which bench/tune.sh prints of a GPU that has none. */
static void describe(source *from, char *name, char *clusters)
{
    char *at = strchr(clusters, ':');
    char *end = strstr(name, ", driver");
    if (strncmp(name, "# ", 2) != 0 || !end || strncmp(clusters, "# clusters", 10) != 0 || !at)
        fail("%s does not begin as bench/shapes --plans writes it", from->path, 0);
    *end = 0;
    for (int n = 0; n < (int)(sizeof tmm__gpus / sizeof *tmm__gpus); n++)
        if (strncmp(name + 2, tmm__gpus[n].device, strlen(tmm__gpus[n].device)) == 0)
            from->device.gpu = tmm__gpus[n];
    const int capability = from->device.gpu.capability;
    if (!capability) fail("no row of tmm__gpus in tuning.h is called '%s'", name + 2, 0);
    from->device.capability = capability;
    from->device.processors = from->device.gpu.processors;
    from->device.pools = 1;
    from->device.shared = capability == 90 || capability == 100 ? 232448
                          : capability == 80                    ? 166912
                                                                : 101376;
    from->device.kernels = from->kernels;
    at++;
    for (int n = 2; n <= TMM__MOST_CLUSTER; n++) from->clusters[n] = (int)strtol(at, &at, 10);
}

static void read_file(fit *f, const char *path)
{
    char line[LINE_LENGTH], clusters[LINE_LENGTH];
    source *from = &f->sources[f->source_count++];
    FILE *file = fopen(path, "r");
    from->path = path;
    if (!file) fail("cannot read %s", path, 0);
    if (!fgets(line, sizeof line, file) || !fgets(clusters, sizeof clusters, file)) line[0] = 0;
    describe(from, line, clusters);
    group *g = NULL;
    for (int number = 3; fgets(line, sizeof line, file); number++) {
        timed *l = &f->lines[f->line_count];
        if (number == 3 && strncmp(line, TIMES_COLUMNS, strlen(TIMES_COLUMNS)) == 0) continue;
        if (line[0] != ',') {
            if (f->group_count == MOST_SHAPES) fail("%s has too many shapes", path, 0);
            g = &f->groups[f->group_count++];
            if (!parse_times_shape(line, &g->r)) fail("%s, line %d: no shape", path, number);
            g->from = from, g->first = f->line_count;
            g->held_out = f->group_count % 3 == 0;
            (void)lay_out(&g->q, &g->r.s, element_of(g->r.type), (void *)(size_t)(1 << 20));
        }
        if (!g || !parse_times(line, &l->kernel, &l->how, &l->ns, &l->stated))
            fail("%s, line %d: no kernel, plan and time", path, number);
        if (l->stated <= 0) continue; /* never taken */
        if (++f->line_count == MOST_LINES) fail("%s has too many lines", path, 0);
        l->group = (int)(g - f->groups), l->logarithm = log(l->ns);
        l->kind = (int)l->kernel * 2 + (g->q.element == TMM_DOUBLE);
        if (g->count++ == 0 || l->ns < g->best) g->best = l->ns;
    }
    fclose(file);
    if (f->line_count == 0) fail("%s has no times", path, 0);
}

/* ---------------------------------- predictions ----------------------------------------------- */
static void predict(fit *f, unsigned long long kinds)
{
    for (int n = 0; n < f->line_count; n++) {
        timed *l = &f->lines[n];
        const group *g = &f->groups[l->group];
        if (!(kinds >> l->kind & 1)) continue;
        *tmm__device_of_product() = (tmm__device *)&g->from->device;
        force_plan(l->how.slices > 0 ? &l->how : NULL);
        l->predicted = predicted_for(&g->q, l->kernel);
    }
    force_plan(NULL);
}

/* What a device would tell of kernels: they were compiled for it; and how many clusters fit. That
   number is of a kernel that has a multiprocessor for each block; of PIPELINED more fit. It only
   serves to leave out plans, and those that were measured fit. */
static void know_kernels(source *from, int is_double)
{
    for (int n = 0; n < TMM__KNOWN_KERNELS; n++) {
        tmm__kernel_facts *k = &from->kernels[n];
        if (!k->kernel || k->has_attributes == 2) continue;
        k->has_attributes = 2, k->ptx_version = from->device.capability, k->static_shared = 16;
        k->has_clusters = 1;
        for (int c = 0; c <= TMM__MOST_CLUSTER; c++)
            k->clusters[c] = is_double ? from->clusters[c] : 1 << 20;
    }
}

/* Predictions of the present row; lines that have none, since the header does not make that plan any
   more, are left out. */
static void predict_first(fit *f)
{
    unsigned long long of_type[2] = {0x5555555555555555ull, 0xAAAAAAAAAAAAAAAAull};
    int kept = 0, differing = 0;
    for (int is_double = 0; is_double < 2; is_double++)
        for (int tries = 0; tries < 3; tries++) { /* a kernel is known once it was asked for */
            predict(f, of_type[is_double]);
            for (int n = 0; n < f->source_count; n++) know_kernels(&f->sources[n], is_double);
        }
    for (int n = 0; n < f->group_count; n++) f->groups[n].count = 0;
    for (int n = 0; n < f->line_count; n++) {
        timed *l = &f->lines[n];
        group *g = &f->groups[l->group];
        if (is_never(l->predicted)) continue;
        if (g->count++ == 0 || l->ns < g->best) g->best = l->ns;
        if (g->count == 1) g->first = kept;
        differing += fabs(log(l->predicted / l->stated)) > 0.01;
        f->lines[kept++] = *l;
    }
    if (kept < f->line_count)
        printf("%d of %d plans are not made any more\n", f->line_count - kept, f->line_count);
    f->line_count = kept;
    printf("%d of %d predictions are more than 1%% off those in the file\n", differing, kept);
}

/* ---------------------------------- the loss -------------------------------------------------- */
typedef struct loss {
    double error, regret; /* squared, weighted; part of the best time */
    int shapes, plans;
} loss;

/* Of a shape: the error of predictions, plans near the best one above all; and what the choice
   loses, in which predictions that are close share. */
static void add_group(const fit *f, const group *g, loss *sum)
{
    double weights = 0, errors = 0, chances = 0, lost = 0, least = HUGE_VAL;
    for (int n = g->first; n < g->first + g->count; n++) least = fmin(least, f->lines[n].predicted);
    for (int n = g->first; n < g->first + g->count; n++) {
        const timed *l = &f->lines[n];
        const double logarithm = log(l->predicted);
        const double off = fmin(fabs(logarithm - l->logarithm), MOST_ERROR);
        const double near = g->best / l->ns, chance = exp((log(least) - logarithm) / TOSS_UP);
        weights += near * near, errors += near * near * off * off;
        chances += chance, lost += chance * (1 / near - 1);
    }
    if (g->count == 0) return;
    sum->error += errors / weights, sum->regret += lost / chances;
    sum->shapes++, sum->plans += g->count;
}

static loss loss_of(const fit *f, int held_out)
{
    loss sum = {0, 0, 0, 0};
    for (int n = 0; n < f->group_count; n++)
        if (f->groups[n].held_out == held_out) add_group(f, &f->groups[n], &sum);
    if (sum.shapes > 0) sum.error /= sum.shapes, sum.regret /= sum.shapes;
    return sum;
}

static double *value_of(const constant *c)
{
    return (double *)((char *)&tried + c->offset);
}

static double sum_of(const loss *l)
{
    return l->error + regret * l->regret;
}

/* What is minimised. */
static double total(const fit *f)
{
    const loss l = loss_of(f, 0);
    double moved = 0;
    for (int n = 0; n < f->constant_count; n++) {
        const constant *c = &f->constants[n];
        if (c->whole || *value_of(c) == c->start) continue;
        const double x = fmax(*value_of(c), 1e-3 * ZERO), from = fmax(c->start, 1e-3 * ZERO);
        const double by = c->start > 0 ? log(x / from) : *value_of(c) / ZERO;
        moved += by * by;
    }
    return sum_of(&l) + PRIOR * moved;
}

/* ---------------------------------- the text of the row --------------------------------------- */
static void read_text(fit *f)
{
    static const char begin[] = "tmm__costs tmm__measured = {";
    FILE *file = fopen(f->row, "r");
    if (!file) fail("cannot read %s: run it from the repository's root", f->row, 0);
    f->text = (char *)calloc(1, TEXT);
    if (!f->text || fread(f->text, 1, TEXT - 1, file) == 0) fail("%s is empty", f->row, 0);
    fclose(file);
    const char *from = strstr(f->text, begin), *to = from ? strstr(from, "\n};\n") : NULL;
    if (!to) fail("%s has no tmm__measured", f->row, 0);
    f->text_from = (int)(from - f->text) + (int)strlen(begin), f->text_to = (int)(to - f->text) + 1;
}

/* Puts the next number of the text where it is in tmm__costs: the next double, if that has its
   value, else the next int. Two ints of 0 look like a double: a 0 after an int is one, too. */
static void place(fit *f, constant *c, size_t *offset)
{
    const char *table = (const char *)&tmm__measured;
    const size_t aligned = (*offset + 7) / 8 * 8;
    const double x = strtod(f->text + c->at, NULL);
    double number;
    int whole;
    const int follows = x == 0 && c > f->constants && c[-1].whole;
    if (!follows && aligned + sizeof number <= sizeof tmm__measured) {
        memcpy(&number, table + aligned, sizeof number);
        if (number == x) {
            c->offset = aligned, c->start = x, *offset = aligned + sizeof number;
            return;
        }
    }
    memcpy(&whole, table + (*offset < sizeof tmm__measured ? *offset : 0), sizeof whole);
    if (whole != x)
        fail("%s, line %d: not what this program was built with, build it again", f->row, c->line);
    c->whole = 1, c->offset = *offset, *offset += sizeof whole;
}

/* The word or words of a comment up to a colon or its end. */
static void get_label(const char *comment, char *label)
{
    int length = (int)strcspn(comment, ":*");
    while (length > 0 && comment[length - 1] == ' ') length--;
    snprintf(label, NAME / 2, "%.*s", length, comment);
}

/* All numbers of the row, with names: that of the braces around them, then that of their line. */
static void find_constants(fit *f)
{
    char label[16][NAME / 2], name[NAME / 2];
    int depth = 0, line = 1, unnamed = 0;
    size_t offset = 0;
    memset(label, 0, sizeof label);
    for (int n = 0; n < f->text_from; n++) line += f->text[n] == '\n';
    for (int n = f->text_from; n < f->text_to; n++) {
        const char *at = f->text + n;
        char *rest;
        if (*at == '\n') line++;
        if (*at == '{' && depth < 15) label[++depth][0] = 0;
        if (*at == '}' && depth > 0) depth--;
        if (strncmp(at, "/*", 2) == 0) {
            get_label(at + 3, name);
            if (unnamed == f->constant_count) snprintf(label[depth], NAME / 2, "%s", name);
            for (; unnamed < f->constant_count; unnamed++) {
                char *to = f->constants[unnamed].name;
                snprintf(to + strlen(to), NAME - strlen(to), "%s", name);
            }
            n = (int)(strstr(at, "*/") - f->text) + 1;
        } else if (isdigit((unsigned char)*at)) {
            if (f->constant_count == MOST_CONSTANTS) fail("%s has too many numbers", f->row, 0);
            constant *c = &f->constants[f->constant_count++];
            (void)strtod(at, &rest);
            c->at = n, c->length = (int)(rest - at), c->line = line;
            for (int d = 0; d <= depth; d++)
                if (label[d][0])
                    snprintf(c->name + strlen(c->name), NAME - strlen(c->name), "%s ", label[d]);
            place(f, c, &offset);
            n += c->length - 1;
        }
    }
    if ((offset + 7) / 8 * 8 != sizeof tmm__measured)
        fail("%s is not what this program was built with, build it again", f->row, 0);
}

/* The row, with the numbers that were found. */
static void print_row_text(const fit *f)
{
    int at = f->text_from;
    printf("static const tmm__costs tmm__measured = {");
    for (int n = 0; n < f->constant_count; n++) {
        const constant *c = &f->constants[n];
        printf("%.*s", c->at - at, f->text + at);
        if (c->whole || *value_of(c) == c->start)
            printf("%.*s", c->length, f->text + c->at);
        else
            printf("%.6g", *value_of(c));
        at = c->at + c->length;
    }
    printf("%.*s};\n", f->text_to - at, f->text + at);
}

/* ---------------------------------- the descent ----------------------------------------------- */
static double seconds_used(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* To three digits. */
static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

/* Is one of the words in the name? They end where a comma is not followed by a blank. */
static int is_among(const char *name, const char *words)
{
    char word[NAME];
    while (words && *words) {
        int length = 0;
        while (words[length] && (words[length] != ',' || words[length + 1] == ' ')) length++;
        snprintf(word, sizeof word, "%.*s", length, words);
        if (strstr(name, word)) return 1;
        words += length + (words[length] == ',');
    }
    return 0;
}

/* The kernels whose predictions depend on each constant: those that change with it. */
static void find_kinds(fit *f)
{
    static double before[MOST_LINES];
    for (int n = 0; n < f->line_count; n++) before[n] = f->lines[n].predicted;
    for (int n = 0; n < f->constant_count; n++) {
        constant *c = &f->constants[n];
        c->step = FIRST_STEP;
        if (c->whole || (f->only && !is_among(c->name, f->only))) continue;
        for (int up = 0; up < 2; up++) {
            *value_of(c) = up ? 1.6 * c->start + ZERO : 0.5 * c->start;
            predict(f, ~0ull);
            for (int k = 0; k < f->line_count; k++)
                if (f->lines[k].predicted != before[k]) c->kinds |= 1ull << f->lines[k].kind;
        }
        *value_of(c) = c->start;
    }
    predict(f, ~0ull);
}

/* Moves a constant up or down by its step, if that makes the loss less. */
static void move(fit *f, constant *c, double *least)
{
    static double before[MOST_LINES];
    const double was = *value_of(c);
    int better = 0;
    for (int n = 0; n < f->line_count; n++) before[n] = f->lines[n].predicted;
    for (int up = 0; up < 2 && !better; up++) {
        const double by = c->step * fmax(was, was < 1 ? ZERO : 0);
        const double to = rounded(fmax(0, up ? was + by : was - by));
        if (to == was ||
            (f->most > 0 && c->start > 0 && (to > f->most * c->start || to < c->start / f->most)))
            continue;
        *value_of(c) = to;
        predict(f, c->kinds);
        const double now = total(f);
        better = now < *least - 1e-9;
        if (better) *least = now;
    }
    c->step *= better ? 1.3 : 0.6;
    if (better) return;
    *value_of(c) = was;
    for (int n = 0; n < f->line_count; n++) f->lines[n].predicted = before[n];
}

static void descend(fit *f)
{
    double least = total(f);
    find_kinds(f);
    for (int pass = 0; pass < PASSES; pass++) {
        int moving = 0;
        for (int n = 0; n < f->constant_count; n++) {
            constant *c = &f->constants[n];
            if (!c->kinds || c->step < LAST_STEP || seconds_used() > f->seconds) continue;
            move(f, c, &least);
            moving++;
        }
        fprintf(stderr, "pass %d: %d constants, loss %.5f\n", pass + 1, moving, least);
        if (!moving) break;
    }
}

/* ---------------------------------- what is said ---------------------------------------------- */
/* Predicted over measured, by kernel and type of element. */
static void print_errors(const fit *f)
{
    static double ratio[MOST_LINES];
    printf("\npredicted over measured\n%-14s %-7s %6s %8s %8s %8s\n", "kernel", "type", "plans",
           "5th pc", "median", "95th pc");
    for (int kind = 0; kind < CLASSES; kind++) {
        int count = 0;
        for (int n = 0; n < f->line_count; n++)
            if (f->lines[n].kind == kind) ratio[count++] = f->lines[n].predicted / f->lines[n].ns;
        if (count == 0) continue;
        qsort(ratio, (size_t)count, sizeof *ratio, ascending);
        printf("%-14s %-7s %6d %8.2f %8.2f %8.2f\n", tmm_kernel_string((tmm_kernel)(kind / 2)),
               kind % 2 ? "double" : "float", count, percentile(ratio, count, 0.05),
               percentile(ratio, count, 0.5), percentile(ratio, count, 0.95));
    }
}

/* By kinds of shapes, how much slower the choice is than the best plan. */
static void print_choices(const fit *f)
{
    int count = 0;
    for (int n = 0; n < f->group_count; n++) {
        const group *g = &f->groups[n];
        const timed *chosen = &f->lines[g->first], *best = chosen;
        if (g->count == 0) continue;
        for (const timed *l = chosen; l < &f->lines[g->first + g->count]; l++) {
            if (l->predicted < chosen->predicted) chosen = l;
            if (l->ns < best->ns) best = l;
        }
        row *r = &rows[count++];
        *r = g->r;
        r->kernel = chosen->kernel, r->best = tmm_kernel_string(best->kernel);
        name_plan(chosen->how.slices > 0 ? &chosen->how : NULL, r->plan);
        name_plan(best->how.slices > 0 ? &best->how : NULL, r->best_plan);
        r->ours = 1e-3 * chosen->ns, r->best_us = 1e-3 * best->ns;
        r->result = "ok";
    }
    print_summary(rows, count, 1);
}

/* A part of TMM_AUTO that could be left out: a kernel, one of its instances, or a way to cut K. */
static int part_of(const timed *l, int what)
{
    if (what > 0 && l->how.slices == 0) return -1;
    return what == 0   ? (int)l->kernel
           : what == 1 ? (int)l->kernel * 256 + l->how.instance
                       : l->how.cut;
}

/* How much longer the fastest plans take without a part, in the geometric mean, weighted by time and at worst:
   what it is worth, beside its text and time to compile. A shape that has no other plan is only counted. */
static void print_worth(const fit *f)
{
    printf("\nwithout it, times as long\n%-16s %-7s %6s %6s %8s %8s %8s %6s\n", "", "type",
           "shapes", "by 2%", "mean", "by time", "worst", "alone");
    for (int what = 0; what < 3; what++)
        for (int n = 0; n < f->line_count; n++) {
            const timed *part = &f->lines[n];
            const int is_double = part->kind % 2, id = part_of(part, what);
            double sum = 0, before = 0, after = 0, worst = 1;
            int first = n, shapes = 0, slower = 0, alone = 0;
            for (int k = 0; k < n && first == n; k++)
                if (f->lines[k].kind % 2 == is_double && part_of(&f->lines[k], what) == id)
                    first = k;
            if (id < 0 || first < n) continue;
            for (const group *g = f->groups; g < &f->groups[f->group_count]; g++) {
                double others = HUGE_VAL;
                if (g->count == 0 || (g->q.element == TMM_DOUBLE) != is_double) continue;
                for (const timed *l = &f->lines[g->first]; l < &f->lines[g->first + g->count]; l++)
                    if (part_of(l, what) != id) others = fmin(others, l->ns);
                alone += others == HUGE_VAL;
                if (others == HUGE_VAL) continue;
                shapes++, sum += log(others / g->best), before += g->best, after += others;
                slower += others > 1.02 * g->best, worst = fmax(worst, others / g->best);
            }
            char name[NAME];
            const char *kernel =
                what < 2 ? tmm_kernel_string(part->kernel) : plan_cuts[part->how.cut];
            snprintf(name, sizeof name, what == 1 ? "%s %d" : "%s", kernel, part->how.instance);
            printf("%-16s %-7s %6d %6d", name, is_double ? "double" : "float", shapes, slower);
            if (shapes > 0) printf(" %8.3f %8.3f %8.2f", exp(sum / shapes), after / before, worst);
            printf(shapes > 0 ? " %6d\n" : " %33d\n", alone);
        }
}

static void print_loss(const char *what, const loss *a, const loss *b)
{
    if (a->shapes == 0) return;
    printf("%s: %d shapes with %d plans, error %.1f%%, regret %.2f%%", what, a->shapes, a->plans,
           100 * sqrt(a->error), 100 * a->regret);
    if (b) printf("; before %.1f%%, %.2f%%", 100 * sqrt(b->error), 100 * b->regret);
    printf("\n");
}

static int parse_fit(int count, char **words, fit *f)
{
    long long number;
    int files = 0;
    f->row = "src/tiledmm/once/tuning.h", f->seconds = 100;
    for (int n = 1; n < count; n++) {
        const char *word = words[n], *value = n + 1 < count ? words[n + 1] : NULL;
        if (strcmp(word, "--help") == 0) {
            printf(
                "usage: fit [options] FILE...\n"
                "Fits the numbers of TMM_AUTO to times that bench/shapes --plans wrote.\n\n"
                "  --check          only says how good the present ones are, and what kernels "
                "are worth\n"
                "  --only WORDS     of these, the ones with one of these in their names; a comma\n"
                "                   without a blank behind it ends one\n"
                "  --regret N       what the choice loses counts as N squared errors (0.1)\n"
                "  --most N         none moves by more than the factor N\n"
                "  --row FILE       where they are (src/tiledmm/once/tuning.h)\n"
                "  --seconds N      of CPU time at most (100)\n");
            exit(0);
        } else if (strcmp(word, "--check") == 0) {
            f->check = 1;
        } else if (strcmp(word, "--only") == 0 || strcmp(word, "--row") == 0) {
            if (!value) return refuse("%s needs a word", word);
            *(word[2] == 'o' ? &f->only : &f->row) = value, n++;
        } else if (strcmp(word, "--seconds") == 0) {
            if (!parse_number(value, 0, 1, 100000, &number))
                return refuse("--seconds is a whole number from 1 to 100000, not '%s'",
                              value ? value : "nothing");
            f->seconds = (double)number, n++;
        } else if (strcmp(word, "--regret") == 0 || strcmp(word, "--most") == 0) {
            if (!parse_decimal(value, 100, word[2] == 'r' ? &regret : &f->most))
                return refuse("%s is a number from 0 to 100", word);
            n++;
        } else if (word[0] == '-') {
            return refuse("'%s' is not understood", word);
        } else {
            if (files++ == MOST_FILES) return refuse("%s is one file too many", word);
            read_file(f, word);
        }
    }
    return files > 0 ? 1 : refuse("%s needs a file of times", BENCH);
}

int main(int count, char **words)
{
    fit *f = &state;
    int changed = 0;
    memcpy(&tried, &tmm__measured, sizeof tried);
    costs_tried = &tried;
    if (!parse_fit(count, words, f)) return 2;
    predict_first(f);
    const loss fitted = loss_of(f, 0), others = loss_of(f, 1);
    if (f->check) {
        print_errors(f);
        print_choices(f);
        print_worth(f);
        printf("\n");
        print_loss("to fit", &fitted, NULL);
        print_loss("others", &others, NULL);
        printf("nothing was changed\n");
        return 0;
    }
    read_text(f);
    find_constants(f);
    descend(f);
    for (int n = 0; n < f->constant_count; n++) {
        const constant *c = &f->constants[n];
        if (c->whole || *value_of(c) == c->start) continue;
        printf("%s:%d %s: %g, was %g\n", f->row, c->line, c->name, *value_of(c), c->start);
        changed++;
    }
    printf("\n");
    print_row_text(f);
    const loss fitted_now = loss_of(f, 0), others_now = loss_of(f, 1);
    printf("\n");
    print_loss("fitted", &fitted_now, &fitted);
    print_loss("others, which took no part", &others_now, &others);
    printf("%d of %d numbers changed in %.0f s: ", changed, f->constant_count, seconds_used());
    if (others.shapes == 0 || sum_of(&others_now) < sum_of(&others))
        printf("the row above goes into %s, then ./build.sh join\n", f->row);
    else
        printf("no better for shapes that took no part, so the present row should stay\n");
    return 0;
}
