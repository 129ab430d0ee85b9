/* multigpu.cu - one product shared out over several GPUs of equal or unequal speed.

   Each device computes some rows of C: it needs the same rows of A, and all of B. How many rows
   should each get? The table shows seven splits and the one that the library chooses after a short
   measurement: with rows in proportion to speed all devices finish together, and nobody waits.
   In these, A, B and C lie in host memory (tmm_?gemm_host). The last row shows the same product
   where each device already has its rows of A, B and C, and keeps them (tmm_?gemm_multi): devices
   gather the rest of B from each other, and nothing crosses the bus to the host.

        A            B            C
      +------+     +------+     +------+
      | dev 0|     |      |     | dev 0|    rows 0 .. r0 - 1
      |------|  x  | all  |  =  |------|
      | dev 1|     |      |     | dev 1|    the rest
      +------+     +------+     +------+

   Build   nvcc -O3 -arch=native demos/multigpu.cu -o multigpu
   Run     ./multigpu                              all devices; a single one acts as two
           ./multigpu 8192 --type double --devices 0,1 --rows 6144,2048
           ./multigpu --help                                                                     */
#include "../tiledmm.cuh"
#include <errno.h>
#include <signal.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, DEFAULT_SIZE = 192 };
#else
enum { ON_CPU = 0, DEFAULT_SIZE = 8192 };
#endif
enum { MOST = 16, SPLITS = 7, MOST_REPS = 100 };

typedef struct options {
    long long N;
    tmm_type type;
    int devices[MOST], device_count;
    long long rows[MOST];
    double weights[MOST];
    int row_count, weight_count, reps;
    const char *csv;
} options;

static void print_help(void)
{
    printf("usage: multigpu [N] [options]\n"
           "Multiplies two N x N matrices in pinned host memory on several GPUs and prints what\n"
           "each split of the rows gives. Default: N = %d.\n\n"
           "  --type float|double    element type (default float)\n"
           "  --devices 0,1,...      devices to use; one named twice acts as two (default: all,\n"
           "                         or 0,0 if there is one)\n"
           "  --rows R0,R1,...       only this split, in rows that add up to N\n"
           "  --weights W0,W1,...    only this split, in proportion to these numbers\n"
           "  --reps R               runs of each split, of which the fastest is shown (default "
           "3)\n"
           "  --csv FILE             write the table to FILE as well\n"
           "  -h, --help             this text\n",
           DEFAULT_SIZE);
}

static int refuse(const char *format, const char *argument)
{
    fprintf(stderr, "multigpu: ");
    fprintf(stderr, format, argument);
    fprintf(stderr, "\nmultigpu: --help lists what can be asked\n");
    return 0;
}

/* A whole number in [low, high], or 0 with a sentence. */
static int parse_number(const char *name, const char *text, long long low, long long high,
                        long long *number)
{
    char *end, message[160];
    *number = text ? strtoll(text, &end, 10) : 0;
    if (text && *text && !*end && *number >= low && *number <= high) return 1;
    snprintf(message, sizeof message, "%s must be a whole number from %lld to %lld, not '%%s'",
             name, low, high);
    return refuse(message, text ? text : "nothing");
}

/* Numbers with commas between them, whole ones or any; returns how many, 0 with a sentence. */
static int parse_list(const char *name, const char *text, int whole, double *numbers)
{
    int count = 0;
    const char *at = text ? text : "";
    for (;;) {
        char *end;
        double number = strtod(at, &end);
        if (end == at || !(number >= 0 && number <= 1e9) || count == MOST ||
            (whole && number != floor(number)) || (*end && *end != ','))
            break;
        numbers[count++] = number;
        if (!*end) return count;
        at = end + 1;
    }
    char message[120];
    snprintf(message, sizeof message, "%s takes at most %d %snumbers such as 2,1, not '%%s'", name,
             (int)MOST, whole ? "whole " : "");
    return refuse(message, text ? text : "");
}

static int parse_options(int count, char **words, options *o)
{
    int given = 0;
    long long number;
    double numbers[MOST];
    memset(o, 0, sizeof *o);
    o->N = DEFAULT_SIZE, o->reps = 3;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        int takes_value = 1;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--type") == 0) {
            if (!value || (strcmp(value, "float") != 0 && strcmp(value, "double") != 0))
                return refuse("--type is float or double, not '%s'", value ? value : "");
            o->type = value[0] == 'f' ? TMM_FLOAT : TMM_DOUBLE;
        } else if (strcmp(word, "--devices") == 0) {
            if (!(o->device_count = parse_list(word, value, 1, numbers))) return 0;
            for (int n = 0; n < o->device_count; n++) o->devices[n] = (int)numbers[n];
        } else if (strcmp(word, "--rows") == 0) {
            if (!(o->row_count = parse_list(word, value, 1, numbers))) return 0;
            for (int n = 0; n < o->row_count; n++) o->rows[n] = (long long)numbers[n];
        } else if (strcmp(word, "--weights") == 0) {
            if (!(o->weight_count = parse_list(word, value, 0, o->weights))) return 0;
        } else if (strcmp(word, "--reps") == 0) {
            if (!parse_number(word, value, 1, MOST_REPS, &number)) return 0;
            o->reps = (int)number;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || !*value || *value == '-')
                return refuse("%s needs the name of a file", word);
            o->csv = value;
        } else if (word[0] == '-' && !(word[1] >= '0' && word[1] <= '9')) {
            return refuse("unknown option '%s'", word);
        } else {
            if (given++) return refuse("one size only; '%s' is too many", word);
            if (!parse_number("a size", word, 1, 1 << 20, &o->N)) return 0;
            takes_value = 0;
        }
        i += takes_value;
    }
    if (o->row_count && o->weight_count)
        return refuse("--rows and --weights exclude each other%s", "");
    return 1;
}

static unsigned long long random_state = 1;

static unsigned long long random_bits(void) /* splitmix64 */
{
    unsigned long long z = (random_state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Uniform in (-1, 1). */
static void fill_random(tmm_type type, void *X, long long count)
{
    for (long long i = 0; i < count; i++) {
        double value = ((double)(random_bits() >> 11) + 0.5) / 4503599627370496.0 - 1;
        if (type == TMM_FLOAT)
            ((float *)X)[i] = (float)value;
        else
            ((double *)X)[i] = value;
    }
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Fails with a sentence if a CUDA call did. */
static int succeeded(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        fprintf(stderr, "multigpu: %s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

/* The CSV file appears whole or not at all: it is written beside its place, renamed at the end, and
   removed if the program is interrupted. A link is followed; what is no ordinary file, such as a
   pipe, is written to directly. */
static FILE *csv;
static const char *csv_name;                  /* as it was given */
static char csv_path[4096], csv_beside[4100]; /* the latter: empty if there is nothing to rename */

static void interrupted(int number)
{
    if (csv_beside[0]) remove(csv_beside);
    signal(number, SIG_DFL);
    raise(number);
}

static int open_csv(const char *path)
{
    csv_name = path;
    int direct = 0;
#ifdef _WIN32
    static const int ends[] = {SIGINT, SIGTERM};
    snprintf(csv_path, sizeof csv_path, "%s", path);
#else
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct stat there;
    int is_there = lstat(path, &there) == 0;
    direct = is_there && !(stat(path, &there) == 0 && S_ISREG(there.st_mode));
    if (!is_there || direct || !realpath(path, csv_path))
        snprintf(csv_path, sizeof csv_path, "%s", path);
#endif
    for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) /* what is ignored stays so */
        if (signal(ends[n], interrupted) == SIG_IGN) signal(ends[n], SIG_IGN);
    if (!direct) snprintf(csv_beside, sizeof csv_beside, "%s.tmp", csv_path);
    csv = fopen(direct ? csv_path : csv_beside, "w");
    if (!csv) fprintf(stderr, "multigpu: cannot write '%s'\n", path);
    return csv != NULL;
}

static int close_csv(int keep)
{
    int good = !ferror(csv);
    good &= fclose(csv) == 0;
#ifdef _WIN32
    if (good && keep) remove(csv_path); /* Windows does not rename onto a file */
#endif
    if (csv_beside[0] && !(good && keep && rename(csv_beside, csv_path) == 0)) {
        remove(csv_beside);
        good &= !keep;
    }
    csv_beside[0] = 0;
    if (!good) fprintf(stderr, "multigpu: cannot write '%s'\n", csv_name);
    return good;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "multigpu: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

typedef struct problem {
    options o;
    size_t bytes;
    void *A, *B, *C, *one; /* the last: the product by one device */
    tmm_part parts[MOST];  /* the operands on the devices, for the last row of the table */
} problem;

static tmm_status multiply(const problem *p, const void *B, void *C, const tmm_host_options *how)
{
    long long N = p->o.N;
    if (p->o.type == TMM_FLOAT)
        return tmm_sgemm_host(TMM_OP_N, TMM_OP_N, N, N, N, 1, (const float *)p->A, N,
                              (const float *)B, N, 0, (float *)C, N, how);
    return tmm_dgemm_host(TMM_OP_N, TMM_OP_N, N, N, N, 1, (const double *)p->A, N,
                          (const double *)B, N, 0, (double *)C, N, how);
}

/* The same where the operands lie on the devices; C is copied from there afterwards. */
static tmm_status multiply_parts(problem *p)
{
    long long N = p->o.N;
    int count = p->o.device_count;
    if (p->o.type == TMM_FLOAT)
        return tmm_sgemm_multi(TMM_OP_N, TMM_OP_N, N, N, N, 1, 0, p->parts, count, TMM_AUTO);
    return tmm_dgemm_multi(TMM_OP_N, TMM_OP_N, N, N, N, 1, 0, p->parts, count, TMM_AUTO);
}

typedef struct spread {
    double median, mean, most;
} spread;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between host memory and the parts of a matrix on the devices; NaN goes to C if there is no host
   memory. */
enum matrix { MATRIX_A, MATRIX_B, MATRIX_C };
static int copy_parts(const problem *p, enum matrix which, void *host, cudaMemcpyKind kind)
{
    size_t row = p->bytes / (size_t)p->o.N;
    for (const tmm_part *part = p->parts; part < p->parts + p->o.device_count; part++) {
        void *X = which == MATRIX_C ? part->C : (void *)(which == MATRIX_A ? part->A : part->B);
        size_t bytes = row * (size_t)part->rows;
        if (bytes == 0) continue;
        if (!succeeded(cudaSetDevice(part->device), "cudaSetDevice") ||
            !succeeded(host ? kind == cudaMemcpyHostToDevice ? cudaMemcpy(X, host, bytes, kind)
                                                             : cudaMemcpy(host, X, bytes, kind)
                            : cudaMemset(X, 0xff, bytes),
                       "copy of a part"))
            return 0;
        if (host) host = (char *)host + bytes;
    }
    return 1;
}

/* The fastest of some runs: wall time, and what each device reported in that run. `around`: of the
   wall times of all of them. `how`: NULL for the parts on the devices. */
static int time_runs(problem *p, tmm_host_options *how, void *C, tmm_host_report *report,
                     double *seconds, spread *around)
{
    int reps = p->o.reps, good = 1;
    double times[MOST_REPS];
    tmm_host_report reported[MOST];
    memset(reported, 0, sizeof reported);
    *seconds = HUGE_VAL;
    for (int n = -1; n < reps; n++) { /* the first loads the kernels and counts for nothing */
        memset(C, 0xff, p->bytes);
        if (how) how->report = reported;
        if (!how && !copy_parts(p, MATRIX_C, NULL, cudaMemcpyDefault)) return 0;
        double start = now();
        if ((how ? multiply(p, p->B, C, how) : multiply_parts(p)) != TMM_OK) {
            fprintf(stderr, "multigpu: %s\n", tmm_last_error());
            return 0;
        }
        double took = now() - start;
        for (int d = 0; d < p->o.device_count && !how; d++)
            reported[d].device = p->parts[d].device, reported[d].rows = p->parts[d].rows,
            reported[d].seconds = p->parts[d].seconds;
        if (n >= 0) times[n] = took;
        if (n < 0 || took >= *seconds) continue;
        *seconds = took;
        memcpy(report, reported,
               (size_t)(how ? how->device_count : p->o.device_count) * sizeof *report);
    }
    if (!how) good = copy_parts(p, MATRIX_C, C, cudaMemcpyDeviceToHost);
    qsort(times, (size_t)reps, sizeof *times, by_value);
    around->median = 0.5 * (times[(reps - 1) / 2] + times[reps / 2]);
    around->most = times[reps - 1], around->mean = 0;
    for (int n = 0; n < reps; n++) around->mean += times[n] / reps;
    return good;
}

/* One split: its line of the table. Keeps its rows in `parts`. `how`: see time_runs. */
static int add_split(problem *p, const char *name, tmm_host_options *how, double alone)
{
    const options *o = &p->o;
    tmm_host_report report[MOST];
    double seconds, fastest = HUGE_VAL, slowest = 0;
    spread around;
    if (!time_runs(p, how, p->C, report, &seconds, &around)) return 0;
    for (int n = 0; n < o->device_count; n++)
        p->parts[n].device = o->devices[n], p->parts[n].rows = report[n].rows;
    int same = memcmp(p->C, p->one, p->bytes) == 0;
    printf("%-10s", name);
    for (int n = 0; n < o->device_count; n++)
        printf(" %6lld %4.0f%% %8.2f ", report[n].rows,
               100.0 * (double)report[n].rows / (double)o->N, 1e3 * report[n].seconds);
    for (int n = 0; n < o->device_count; n++) {
        if (report[n].rows == 0) continue;
        if (report[n].seconds < fastest) fastest = report[n].seconds;
        if (report[n].seconds > slowest) slowest = report[n].seconds;
    }
    printf(" %6.2f %9.2f %8.2f  %s\n", fastest > 0 ? slowest / fastest : 1, 1e3 * seconds,
           alone / seconds, same ? "same bits" : "WRONG");
    for (int n = 0; n < o->device_count && csv; n++)
        fprintf(csv, "%s,%s,%lld,%d,%d,%lld,%.6g,%.6g,%.6g,%s,%.6g,%.6g,%.6g\n", name,
                o->type == TMM_FLOAT ? "float" : "double", o->N, n, report[n].device,
                report[n].rows, 1e3 * report[n].seconds, 1e3 * seconds, alone / seconds,
                same ? "ok" : "wrong", 1e3 * around.median, 1e3 * around.mean, 1e3 * around.most);
    return same;
}

/* The row of the table for operands on the devices. Each has as many rows of A, B and C as in the
   split before. */
static int add_resident(problem *p, double alone)
{
    const options *o = &p->o;
    size_t row = p->bytes / (size_t)o->N;
    int good = 1;
    for (int n = 0; n < o->device_count && good; n++) {
        tmm_part *part = &p->parts[n];
        void *A = NULL, *B = NULL;
        size_t bytes = row * (size_t)part->rows;
        part->rows_B = part->rows, part->lda = part->ldb = part->ldc = o->N;
        good = succeeded(cudaSetDevice(part->device), "cudaSetDevice") &&
               (bytes == 0 || (succeeded(cudaMalloc(&A, bytes), "device memory for rows of A") &&
                               succeeded(cudaMalloc(&B, bytes), "device memory for rows of B") &&
                               succeeded(cudaMalloc(&part->C, bytes), "device memory for C")));
        part->A = A, part->B = B;
    }
    good = good && copy_parts(p, MATRIX_A, p->A, cudaMemcpyHostToDevice) &&
           copy_parts(p, MATRIX_B, p->B, cudaMemcpyHostToDevice) &&
           add_split(p, "resident", NULL, alone);
    for (int n = 0; n < o->device_count; n++) {
        cudaSetDevice(p->parts[n].device);
        cudaFree((void *)p->parts[n].A), cudaFree((void *)p->parts[n].B), cudaFree(p->parts[n].C);
    }
    return good;
}

static int add_splits(problem *p, double alone)
{
    const options *o = &p->o;
    tmm_host_options how;
    int good = 1;
    memset(&how, 0, sizeof how);
    how.device_count = o->device_count, how.devices = o->devices;
    printf("%-10s", "split");
    for (int n = 0; n < o->device_count; n++) printf(" | device %-2d: rows, ms ", o->devices[n]);
    printf(" ratio  total ms speed-up\n");
    if (o->row_count || o->weight_count) {
        how.rows = o->row_count ? o->rows : NULL;
        how.weights = o->weight_count ? o->weights : NULL;
        good = add_split(p, "as asked", &how, alone);
        how.rows = NULL, how.weights = NULL;
    } else {
        for (int split = 1; split <= SPLITS && good && o->device_count > 1; split++) {
            char name[16];
            double weights[MOST];
            snprintf(name, sizeof name, "%d/%d first", split, SPLITS + 1);
            weights[0] = split;
            for (int n = 1; n < o->device_count; n++)
                weights[n] = (double)(SPLITS + 1 - split) / (o->device_count - 1);
            how.weights = weights;
            good = add_split(p, name, &how, alone);
            how.weights = NULL;
        }
    }
    return good && add_split(p, "automatic", &how, alone) && add_resident(p, alone);
}

/* A x I = A, to the bit, and A x B by random projections. Leaves the product in p->one. */
static int check_one(problem *p, double *alone)
{
    const options *o = &p->o;
    tmm_host_options how;
    tmm_host_report report[MOST];
    spread around;
    double excess = HUGE_VAL;
    memset(&how, 0, sizeof how);
    how.device_count = o->device_count, how.devices = o->devices;
    memset(p->one, 0, p->bytes); /* the identity, for now */
    for (long long i = 0; i < o->N; i++) {
        if (o->type == TMM_FLOAT)
            ((float *)p->one)[i * o->N + i] = 1;
        else
            ((double *)p->one)[i * o->N + i] = 1;
    }
    memset(p->C, 0xff, p->bytes);
    if (multiply(p, p->one, p->C, &how) != TMM_OK) {
        fprintf(stderr, "multigpu: %s\n", tmm_last_error());
        return 0;
    }
    int identity = memcmp(p->C, p->A, p->bytes) == 0;
    how.device_count = 1;
    if (!time_runs(p, &how, p->one, report, alone, &around)) return 0;
    tmm_status status = tmm_freivalds(o->type, o->N, o->N, o->N, p->A, o->N, p->B, o->N, p->one,
                                      o->N, 5, 1, &excess);
    int product = status == TMM_OK && excess <= 1;
    printf("checks: A times the identity is A %s; A B times random vectors (Freivalds) is %s\n",
           identity ? "to the bit" : "WRONG", product ? "right" : "WRONG");
    printf("device %d alone: %.2f ms, %.1f GFLOP/s, copies included\n\n", o->devices[0],
           1e3 * *alone, 2e-9 * (double)o->N * (double)o->N * (double)o->N / *alone);
    return identity && product;
}

int main(int count, char **words)
{
    static problem p;
    int devices = 0;
    long long rows = 0;
    double alone = 0;
    check_output();
    atexit(check_output);
    if (!parse_options(count, words, &p.o)) return 2;
    options *o = &p.o;
    cudaError_t none = cudaGetDeviceCount(&devices);
    if (none != cudaSuccess) {
        fprintf(stderr,
                "multigpu: no usable CUDA device: %s; on the CPU: ./build.sh run multigpu\n",
                cudaGetErrorString(none));
        return 2;
    }
    if (o->device_count == 0) {
        o->device_count = devices < 2 ? 2 : devices < MOST ? devices : (int)MOST;
        for (int n = 0; n < o->device_count; n++) o->devices[n] = n % devices;
    }
    for (int n = 0; n < o->device_count; n++)
        if (o->devices[n] >= devices) {
            fprintf(stderr, "multigpu: --devices: there is no device %d, they end at %d\n",
                    o->devices[n], devices - 1);
            return 2;
        }
    if ((o->row_count && o->row_count != o->device_count) ||
        (o->weight_count && o->weight_count != o->device_count)) {
        refuse("%s needs a number for each device", o->row_count ? "--rows" : "--weights");
        return 2;
    }
    for (int n = 0; n < o->row_count; n++) rows += o->rows[n];
    if (o->row_count && rows != o->N) {
        fprintf(stderr, "multigpu: --rows adds up to %lld, not to %lld\n", rows, o->N);
        return 2;
    }
    if (o->csv && !open_csv(o->csv)) return 2; /* before the work, not after it */
    printf("C = A B, %lld x %lld, %s, from pinned host memory to pinned host memory\n", o->N, o->N,
           o->type == TMM_FLOAT ? "float" : "double");
    int good = 1;
    for (int n = 0; n < o->device_count && good; n++) {
        struct cudaDeviceProp device;
        good = succeeded(cudaGetDeviceProperties(&device, o->devices[n]), "a device of the list");
        if (good)
            printf("%d: device %d, %s, %d multiprocessors\n", n, o->devices[n], device.name,
                   device.multiProcessorCount);
    }
    if (good && devices == 1)
        printf(
            "There is one device: it acts as several, which shows the split but gains nothing.\n");
    if (ON_CPU) printf("All times are CPU times of the real kernels.\n");
    p.bytes = (size_t)(o->N * o->N) * (o->type == TMM_FLOAT ? sizeof(float) : sizeof(double));
    good = good && succeeded(cudaMallocHost(&p.A, p.bytes), "host memory") &&
           succeeded(cudaMallocHost(&p.B, p.bytes), "host memory") &&
           succeeded(cudaMallocHost(&p.C, p.bytes), "host memory") &&
           succeeded(cudaMallocHost(&p.one, p.bytes), "host memory");
    if (good) {
        fill_random(o->type, p.A, o->N * o->N);
        fill_random(o->type, p.B, o->N * o->N);
        if (o->csv)
            fprintf(csv, "name,type,N,place,device,rows,device_ms,real_time_ms,speed_up,"
                         "verdict,median_ms,mean_ms,max_ms\n");
        good = check_one(&p, &alone) && add_splits(&p, alone);
        if (good)
            printf(
                "\nOf each device: its rows, their share, its time. ratio: time of the slowest\n"
                "device over that of the fastest; 1 means that nobody waits. total: wall time of\n"
                "the call. speed-up: over device %d alone; its bits are those that count.\n"
                "resident: A, B and C lie on the devices, by rows as in the split before it;\n"
                "without copies from and to the host.\n",
                o->devices[0]);
    }
    if (o->csv) good &= close_csv(good);
    cudaFreeHost(p.A);
    cudaFreeHost(p.B);
    cudaFreeHost(p.C);
    cudaFreeHost(p.one);
    printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}
