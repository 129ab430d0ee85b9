/* matmul_mpi.cu - one product over any number of MPI ranks, each on its GPU: SUMMA, with broadcasts
   that run while the previous product does, timed from one rank to all, beside a model that says
   what more nodes would give and where it stops.

   The ranks form a grid of R x C, as near to a square as their number allows. Each owns a block of
   A, B and C, of about N/R x N/C; nobody ever has a whole matrix. C grows panel by panel along k:

              k                                          6 ranks, grid 2 x 3:
       +----|##|------+        +-----+----+-----+        +-----+----+-----+
       |    |##|      |        |     |    |     |        |  0  | 1  |  2  |   A's panel is sent along
       +----|##|------+   k    |-----+----+-----|        +-----+----+-----+   each row of the grid,
       |    |##|      |        |################|        |  3  | 4  |  5  |   B's along each column,
       +----|##|------+        +-----+----+-----+        +-----+----+-----+   by the ranks that own
              A                        B                   C += A's x B's     them
   (R. van de Geijn, J. Watts, "SUMMA: scalable universal matrix multiplication algorithm", 1997.)
   Two panels are under way at any time: while the device multiplies one, the next is copied to the
   host, broadcast (MPI_Ibcast) and copied to the devices; with an MPI that takes device pointers,
   it goes from device to device.

   The inputs are a hash of (seed, i, j): each rank makes its own share, and checks its share of C.
   A rank takes the device of its number among the ranks of its node, round robin.

   Build   nvcc -ccbin mpicxx -O3 -arch=native demos/matmul_mpi.cu -o matmul_mpi
   or      CXX=mpicxx cpu/cucc demos/matmul_mpi.cu -o matmul_mpi      (the CPU runner, no GPU)
   Run     mpirun -n 4 ./matmul_mpi
           mpirun -n 6 ./matmul_mpi 20000 --type double --grid 2x3 --panel 768 --csv scaling.csv
           mpirun -n 2 -x CUCC_THREADS=1 ./matmul_mpi    (CPU runner: a core to each rank)
           ./matmul_mpi --help                                                                  */
#define OMPI_SKIP_MPICXX 1 /* not MPI's C++ face */
#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif
#include "../tiledmm.cuh"
#include <errno.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __CUCC__ /* compiled for the CPU runner: a product keeps its rank busy, nothing is hidden */
enum { ON_CPU = 1, DEFAULT_SIZE = 256, DEFAULT_PANEL = 32 };
#else
enum { ON_CPU = 0, DEFAULT_SIZE = 8192, DEFAULT_PANEL = 512 };
#endif
enum { MOST_REPS = 100, MOST_COUNTS = 34, TRIALS = 4, SAMPLES = 64, SLOTS = 2 };

typedef unsigned long long u64;
static const u64 SEED = 20260901;

static int world_rank, world_size;
static cudaStream_t computing, copying;
static int direct;   /* MPI takes device pointers */
static int on_cores; /* --cpu: no kernels; device memory of the CPU runner is host memory */

/* ---------------------------------- words to the user ----------------------------------------- */
/* Ends all ranks. */
static void stop(const char *what, const char *why)
{
    fprintf(stderr, "matmul_mpi: rank %d: %s: %s\n", world_rank, what, why);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) stop(what, cudaGetErrorString(error));
}

typedef struct options {
    long long N, panel;
    tmm_type type;
    int rows, cols; /* of the grid; 0: chosen */
    int reps, staged;
    double latency, bandwidth; /* of the network that the model is about; 0: measured */
    const char *csv;
} options;

static void print_help(void)
{
    printf(
        "usage: mpirun -n RANKS matmul_mpi [N] [options]\n"
        "Multiplies two N x N matrices with 1, 2, 4, ... ranks up to all, and prints times,\n"
        "speed-ups and what a model predicts for more nodes. Default: N = %d.\n\n"
        "  --type float|double  element type (default float)\n"
        "  --panel P            so many columns of A and rows of B at a time (default %d)\n"
        "  --grid RxC           grid for all ranks, R C of them (default: nearest to square);\n"
        "                       measures 1 rank and all\n"
        "  --reps R             runs of each, of which the median is shown (default 3)\n"
        "  --network US,GBS     latency in microseconds and GB/s of the network that the model\n"
        "                       is about (default: as measured between these ranks)\n"
        "  --cpu                each rank multiplies with the CPU's own product on one core, the\n"
        "                       blocked one of tmm_sgemm_cpu (built by cpu/cucc only)\n"
        "  --staged             by way of the host even if MPI takes device pointers\n"
        "  --csv FILE           write the table to FILE as well\n"
        "  --help               this text\n",
        DEFAULT_SIZE, DEFAULT_PANEL);
}

/* All ranks read the same words and come to the same verdict; rank 0 says it. */
static int refuse(const char *format, const char *argument)
{
    if (world_rank == 0) {
        fprintf(stderr, "matmul_mpi: ");
        fprintf(stderr, format, argument);
        fprintf(stderr, "\nmatmul_mpi: --help lists what can be asked\n");
    }
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

/* Returns 1, 0 with a sentence, or -1 if only help was asked for. */
static int parse_options(int count, char **words, options *o)
{
    int given = 0;
    long long number;
    memset(o, 0, sizeof *o);
    o->N = DEFAULT_SIZE, o->panel = DEFAULT_PANEL, o->reps = 3;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        const char *shown = value ? value : "nothing";
        int takes_value = 1;
        char rest;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            if (world_rank == 0) print_help();
            return -1;
        } else if (strcmp(word, "--type") == 0) {
            if (!value || (strcmp(value, "float") != 0 && strcmp(value, "double") != 0))
                return refuse("--type is float or double, not '%s'", shown);
            o->type = value[0] == 'f' ? TMM_FLOAT : TMM_DOUBLE;
        } else if (strcmp(word, "--panel") == 0) {
            if (!parse_number(word, value, 1, 1 << 20, &o->panel)) return 0;
        } else if (strcmp(word, "--grid") == 0) {
            if (!value || sscanf(value, "%dx%d%c", &o->rows, &o->cols, &rest) != 2 || o->rows < 1 ||
                o->cols < 1 || o->rows > world_size || o->cols > world_size ||
                o->rows * o->cols != world_size)
                return refuse("--grid must be such as 2x3, for as many ranks as there are, not "
                              "'%s'",
                              shown);
        } else if (strcmp(word, "--reps") == 0) {
            if (!parse_number(word, value, 1, MOST_REPS, &number)) return 0;
            o->reps = (int)number;
        } else if (strcmp(word, "--network") == 0) {
            if (!value || sscanf(value, "%lf,%lf%c", &o->latency, &o->bandwidth, &rest) != 2 ||
                !(o->latency >= 0 && o->latency < 1e9) || !(o->bandwidth > 0 && o->bandwidth < 1e9))
                return refuse("--network is microseconds and GB/s, such as 2,25, not '%s'", shown);
            o->latency *= 1e-6, o->bandwidth *= 1e9;
        } else if (strcmp(word, "--staged") == 0) {
            o->staged = 1;
            takes_value = 0;
        } else if (strcmp(word, "--cpu") == 0) {
            if (!ON_CPU) return refuse("%s needs a program built by cpu/cucc", word);
            on_cores = 1;
            takes_value = 0;
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
    if (o->panel > o->N) o->panel = o->N;
    if (o->N * o->panel > INT_MAX) /* MPI counts in int */
        return refuse("N times --panel must be below 2^31%s", "");
    return 1;
}

/* The CSV file appears whole or not at all, although any rank may end this one at any time: its text
   is kept in memory, and at the end written beside its place and renamed. A link is followed; what
   is no ordinary file, such as a pipe, is written to directly. */
static FILE *csv;
static const char *csv_name; /* as it was given */
static char csv_path[4096], csv_beside[4100], *csv_text;
static size_t csv_bytes;

static int open_csv(const char *path)
{
    csv_name = path;
    struct stat there;
    int is_there = lstat(path, &there) == 0, direct;
    direct = is_there && !(stat(path, &there) == 0 && S_ISREG(there.st_mode));
    if (!is_there || direct || !realpath(path, csv_path))
        snprintf(csv_path, sizeof csv_path, "%s", path);
    snprintf(csv_beside, sizeof csv_beside, direct ? "%s" : "%s.tmp", csv_path);
    FILE *trial = fopen(csv_beside, "w"); /* can it be written? */
    if (trial) csv = direct ? trial : open_memstream(&csv_text, &csv_bytes);
    if (trial && !direct) {
        fclose(trial);
        remove(csv_beside);
    }
    if (!csv) fprintf(stderr, "matmul_mpi: cannot write '%s'\n", path);
    return csv != NULL;
}

static int close_csv(int keep)
{
    int good = !ferror(csv);
    good &= fclose(csv) == 0;
    if (csv_text && good && keep) {
        FILE *whole = fopen(csv_beside, "w");
        good = whole && fwrite(csv_text, 1, csv_bytes, whole) == csv_bytes;
        if (whole) good &= fclose(whole) == 0;
        if (good) good = rename(csv_beside, csv_path) == 0;
        if (!good) remove(csv_beside);
    }
    free(csv_text);
    if (!good) fprintf(stderr, "matmul_mpi: cannot write '%s'\n", csv_name);
    return good;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "matmul_mpi: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

/* ---------------------------------- inputs ---------------------------------------------------- */
enum { MATRIX_A = 1, MATRIX_B, RANDOM_SIGNS };

static __host__ __device__ u64 mix(u64 z) /* splitmix64 */
{
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Element (i, j) of the N x N matrix that begins with `base`, uniform in (-1, 1). */
static __host__ __device__ double element(tmm_type type, u64 base, long long N, long long i,
                                          long long j)
{
    u64 bits = mix(base + (u64)(i * N + j)) >> 11;
    double value = ((double)bits + 0.5) / 4503599627370496.0 - 1;
    return type == TMM_FLOAT ? (double)(float)value : value;
}

static u64 base_of(int matrix)
{
    return mix(SEED + (u64)matrix);
}

/* A rank's block of a matrix, rows x cols elements that begin at (row, col). */
static __global__ void fill(tmm_type type, void *X, long long rows, long long cols, long long row,
                            long long col, long long N, u64 base)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < rows * cols;
         at += step) {
        double value = element(type, base, N, row + at / cols, col + at % cols);
        if (type == TMM_FLOAT)
            ((float *)X)[at] = (float)value;
        else
            ((double *)X)[at] = value;
    }
}

/* ---------------------------------- who owns what --------------------------------------------- */
/* Of n lines shared out over `parts`, where part number `part` begins. */
static long long begin_of(long long n, long long parts, long long part)
{
    return n * part / parts;
}

/* Whose line k is: the largest part that begins at k or before. */
static int owner_of(long long n, long long parts, long long k)
{
    return (int)(((k + 1) * parts - 1) / n);
}

static void near_square(int ranks, int *rows, int *cols)
{
    for (*rows = (int)sqrt((double)ranks); ranks % *rows != 0;) --*rows;
    *cols = ranks / *rows;
}

/* One operand's panel on its way through a slot. */
enum { FREE, PACKING, TO_SEND, SENDING, READY };
typedef struct panel {
    int state, step, owner;
    int elements;
    char *stage, *device; /* pinned host memory, and where it is multiplied from on others */
    const char *source;   /* what the product reads: device, or the owner's own matrix */
    long long ld;
    MPI_Request request;
    cudaEvent_t copied;
} panel;

typedef struct operand {
    MPI_Comm comm;       /* the ranks that one panel is broadcast to */
    int ranks, me, next; /* next: the step whose broadcast is to begin next */
    panel slot[SLOTS];
} operand;

typedef struct grid {
    MPI_Comm comm;
    int ranks, rank, rows, cols, row, col;
    long long N, panel;
    tmm_type type;
    size_t size; /* of an element */
    MPI_Datatype mpi_type;
    long long m, n, kA, kB;         /* local: A is m x kA, B is kB x n, C is m x n */
    long long row0, col0, kA0, kB0; /* where they begin in the whole matrices */
    char *A, *B, *C;
    long long *cuts; /* step s is k from cuts[s] to cuts[s + 1], of one owner of A and of B */
    int steps;
    operand along_row, along_col; /* A and B */
    cudaEvent_t multiplied[SLOTS];
} grid;

static void make_operand(grid *g, operand *o, int color, int key, long long lines)
{
    size_t bytes = (size_t)(lines * g->panel) * g->size + 1;
    memset(o, 0, sizeof *o);
    MPI_Comm_split(g->comm, color, key, &o->comm);
    MPI_Comm_size(o->comm, &o->ranks);
    MPI_Comm_rank(o->comm, &o->me);
    for (int n = 0; n < SLOTS; n++) {
        panel *p = &o->slot[n];
        p->request = MPI_REQUEST_NULL;
        must(cudaMallocHost((void **)&p->stage, direct ? 1 : bytes), "pinned memory for a panel");
        must(cudaMalloc((void **)&p->device, bytes), "device memory for a panel");
        must(cudaMemset(p->device, 0, bytes), "cudaMemset");
        must(cudaEventCreateWithFlags(&p->copied, cudaEventDisableTiming), "cudaEventCreate");
    }
}

static void free_operand(operand *o)
{
    for (int n = 0; n < SLOTS; n++) {
        cudaFreeHost(o->slot[n].stage);
        cudaFree(o->slot[n].device);
        cudaEventDestroy(o->slot[n].copied);
    }
    MPI_Comm_free(&o->comm);
}

static void fill_block(const grid *g, int matrix, char **X, long long rows, long long cols,
                       long long row, long long col)
{
    long long blocks = (rows * cols + 255) / 256;
    must(cudaMalloc((void **)X, (size_t)(rows * cols) * g->size + 1), "device memory for a block");
    if (matrix && rows * cols > 0) {
        fill<<<(unsigned)(blocks < 4096 ? blocks : 4096), 256, 0, computing>>>(g->type, *X, rows,
                                                                               cols, row, col, g->N,
                                                                               base_of(matrix));
        must(cudaGetLastError(), "filling a matrix");
    }
    must(cudaStreamSynchronize(computing), "filling a matrix");
}

static void make_grid(grid *g, MPI_Comm comm, const options *o, long long N)
{
    memset(g, 0, sizeof *g);
    g->comm = comm;
    MPI_Comm_size(comm, &g->ranks);
    MPI_Comm_rank(comm, &g->rank);
    near_square(g->ranks, &g->rows, &g->cols);
    if (o->rows && g->ranks == world_size) g->rows = o->rows, g->cols = o->cols;
    g->row = g->rank / g->cols, g->col = g->rank % g->cols;
    g->N = N, g->type = o->type;
    g->panel = g->ranks == 1 ? N : o->panel < N ? o->panel : N; /* alone: nothing to cut up for */
    g->size = g->type == TMM_FLOAT ? sizeof(float) : sizeof(double);
    g->mpi_type = g->type == TMM_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
    g->row0 = begin_of(N, g->rows, g->row), g->m = begin_of(N, g->rows, g->row + 1) - g->row0;
    g->col0 = begin_of(N, g->cols, g->col), g->n = begin_of(N, g->cols, g->col + 1) - g->col0;
    g->kA0 = g->col0, g->kA = g->n; /* k is cut as the columns for A, as the rows for B */
    g->kB0 = g->row0, g->kB = g->m;
    fill_block(g, MATRIX_A, &g->A, g->m, g->kA, g->row0, g->kA0);
    fill_block(g, MATRIX_B, &g->B, g->kB, g->n, g->kB0, g->col0);
    fill_block(g, 0, &g->C, g->m, g->n, 0, 0);
    make_operand(g, &g->along_row, g->row, g->col, g->ranks == 1 ? 0 : g->m);
    make_operand(g, &g->along_col, g->col, g->row, g->ranks == 1 ? 0 : g->n);
    for (int n = 0; n < SLOTS; n++)
        must(cudaEventCreateWithFlags(&g->multiplied[n], cudaEventDisableTiming),
             "cudaEventCreate");
    g->cuts =
        (long long *)malloc((size_t)(N / g->panel + g->rows + g->cols + 2) * sizeof(*g->cuts));
    if (!g->cuts) stop("malloc", "no memory");
    for (long long k = g->cuts[0] = 0; k < N; g->cuts[++g->steps] = k) {
        long long endA = begin_of(N, g->cols, owner_of(N, g->cols, k) + 1);
        long long endB = begin_of(N, g->rows, owner_of(N, g->rows, k) + 1);
        k += g->panel;
        if (k > endA) k = endA;
        if (k > endB) k = endB;
    }
}

static void free_grid(grid *g)
{
    free_operand(&g->along_row);
    free_operand(&g->along_col);
    for (int n = 0; n < SLOTS; n++) cudaEventDestroy(g->multiplied[n]);
    cudaFree(g->A);
    cudaFree(g->B);
    cudaFree(g->C);
    free(g->cuts);
}

/* ---------------------------------- the algorithm --------------------------------------------- */
/* Has all that was put into a stream before the event come to its end? */
static int reached(cudaEvent_t event)
{
    cudaError_t error = cudaEventQuery(event);
    if (error == cudaErrorNotReady) {
        cudaGetLastError(); /* no error: forget it */
        return 0;
    }
    must(error, "a copy or a product");
    return 1;
}

/* Step s begins for one operand: the owner's part of it is rows x cols elements at X. */
static void start_panel(const grid *g, operand *o, int s, int owner, const char *X, long long ld,
                        long long rows, long long cols)
{
    panel *p = &o->slot[s % SLOTS];
    int mine = owner == o->me;
    p->step = s, p->owner = owner;
    p->elements = (int)(rows * cols);
    p->source = mine ? X : p->device; /* the owner has no need of a copy */
    p->ld = mine ? ld : cols;
    p->state = o->ranks == 1 || p->elements == 0 ? READY : mine ? PACKING : TO_SEND;
    if (p->state == READY) o->next = s + 1;
    if (p->state == PACKING) {
        must(cudaMemcpy2DAsync(direct ? p->device : p->stage, (size_t)cols * g->size, X,
                               (size_t)ld * g->size, (size_t)cols * g->size, (size_t)rows,
                               direct ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost, copying),
             "copy of a panel to be sent");
        must(cudaEventRecord(p->copied, copying), "cudaEventRecord");
    }
}

static void start_step(grid *g, int s)
{
    long long k = g->cuts[s], width = g->cuts[s + 1] - k;
    int ownerA = owner_of(g->N, g->cols, k), ownerB = owner_of(g->N, g->rows, k);
    start_panel(g, &g->along_row, s, ownerA, g->A + (size_t)(k - g->kA0) * g->size, g->kA, g->m,
                width);
    start_panel(g, &g->along_col, s, ownerB, g->B + (size_t)((k - g->kB0) * g->n) * g->size, g->n,
                width, g->n);
}

/* Moves a panel on as far as it goes without waiting; MPI works only while it is called. Returns
   whether it got anywhere. */
static int advance(const grid *g, operand *o, panel *p)
{
    int before = p->state, arrived = 0;
    if (p->state == PACKING && reached(p->copied)) p->state = TO_SEND;
    if (p->state == TO_SEND && o->next == p->step) { /* all ranks broadcast in the same order */
        MPI_Ibcast(direct ? p->device : p->stage, p->elements, g->mpi_type, p->owner, o->comm,
                   &p->request);
        o->next++;
        p->state = SENDING;
    }
    if (p->state == SENDING) MPI_Test(&p->request, &arrived, MPI_STATUS_IGNORE);
    if (arrived) {
        if (!direct && p->owner != o->me) {
            must(cudaMemcpyAsync(p->device, p->stage, (size_t)p->elements * g->size,
                                 cudaMemcpyHostToDevice, copying),
                 "copy of a panel that came");
            must(cudaEventRecord(p->copied, copying), "cudaEventRecord");
            must(cudaStreamWaitEvent(computing, p->copied, 0), "cudaStreamWaitEvent");
        }
        p->state = READY;
    }
    return p->state != before;
}

/* C += the panel of A times the panel of B; the first one sets C. */
static void multiply(const grid *g, int s, const char *A, long long lda, const char *B,
                     long long ldb)
{
    long long width = g->cuts[s + 1] - g->cuts[s];
    tmm_status status = TMM_OK;
    if (g->m == 0 || g->n == 0) return;
    if (on_cores) must(cudaStreamSynchronize(computing), "copies of panels");
    if (on_cores && g->type == TMM_FLOAT)
        status = tmm_sgemm_cpu(TMM_OP_N, TMM_OP_N, g->m, g->n, width, 1, (const float *)A, lda,
                               (const float *)B, ldb, s > 0, (float *)g->C, g->n);
    else if (on_cores)
        status = tmm_dgemm_cpu(TMM_OP_N, TMM_OP_N, g->m, g->n, width, 1, (const double *)A, lda,
                               (const double *)B, ldb, s > 0, (double *)g->C, g->n);
    else if (g->type == TMM_FLOAT)
        status = tmm_sgemm(TMM_OP_N, TMM_OP_N, g->m, g->n, width, 1, (const float *)A, lda,
                           (const float *)B, ldb, s > 0, (float *)g->C, g->n, computing);
    else
        status = tmm_dgemm(TMM_OP_N, TMM_OP_N, g->m, g->n, width, 1, (const double *)A, lda,
                           (const double *)B, ldb, s > 0, (double *)g->C, g->n, computing);
    if (status != TMM_OK) stop("the product of two panels", tmm_last_error());
}

/* The whole product. Returns the seconds in which this rank's device had nothing to multiply. */
static double summa(grid *g)
{
    int started = 0, launched = 0, finished = 0;
    double idle = 0, since = MPI_Wtime();
    g->along_row.next = g->along_col.next = 0;
    while (started < SLOTS && started < g->steps) start_step(g, started++);
    while (finished < g->steps) {
        int moved = 0, waiting = launched == finished, s = launched;
        for (int n = finished; n < started; n++) {
            moved |= advance(g, &g->along_row, &g->along_row.slot[n % SLOTS]);
            moved |= advance(g, &g->along_col, &g->along_col.slot[n % SLOTS]);
        }
        panel *a = &g->along_row.slot[s % SLOTS], *b = &g->along_col.slot[s % SLOTS];
        double now = MPI_Wtime();
        if (waiting) idle += now - since;
        since = now;
        /* owners could begin earlier, but others wait for what they still have to send */
        if (s < started && a->state == READY && b->state == READY) {
            multiply(g, s, a->source, a->ld, b->source, b->ld);
            must(cudaEventRecord(g->multiplied[s % SLOTS], computing), "cudaEventRecord");
            launched++;
            moved = 1;
            if (ON_CPU) since = MPI_Wtime(); /* launches there return when all is done */
        }
        if (finished < launched && reached(g->multiplied[finished % SLOTS])) {
            finished++; /* and the slot is free again */
            if (started < g->steps) start_step(g, started++);
            moved = 1;
        }
        if (!moved) sched_yield(); /* for ranks that share a core */
    }
    must(cudaStreamSynchronize(copying), "copies");
    return idle;
}

/* The products of all steps without communication: on columns of the rank's own A and rows of its
   own B, whichever they are (or, if it has too few, on what its slots hold). */
static void products_alone(grid *g)
{
    for (int s = 0; s < g->steps; s++) {
        long long width = g->cuts[s + 1] - g->cuts[s];
        int ownA = g->kA >= width, ownB = g->kB >= width;
        multiply(g, s, ownA ? g->A : g->along_row.slot[s % SLOTS].device, ownA ? g->kA : width,
                 ownB ? g->B : g->along_col.slot[s % SLOTS].device, g->n);
    }
    must(cudaStreamSynchronize(computing), "products");
}

/* ---------------------------------- checks ---------------------------------------------------- */
/* Some of this rank's elements against sums in long double: |C - Cref| / ((K + 2) u |A||B|), the
   largest. Above 1, C is wrong. */
static double check_samples(const grid *g)
{
    double unit = g->type == TMM_FLOAT ? 5.9604644775390625e-8 : 1.1102230246251565e-16, worst = 0;
    u64 A = base_of(MATRIX_A), B = base_of(MATRIX_B), state = SEED + (u64)g->rank;
    for (int n = 0; n < SAMPLES && g->m > 0 && g->n > 0; n++) {
        long long i = (long long)((state = mix(state)) % (u64)g->m);
        long long j = (long long)((state = mix(state)) % (u64)g->n);
        if (n == 0) i = g->m - 1, j = g->n - 1; /* the corner, where edges of tiles meet */
        long double sum = 0, absolute = 0;
        for (long long k = 0; k < g->N; k++) {
            long double term = (long double)element(g->type, A, g->N, g->row0 + i, k) *
                               element(g->type, B, g->N, k, g->col0 + j);
            sum += term;
            absolute += term < 0 ? -term : term;
        }
        union {
            float f;
            double d;
        } c;
        must(cudaMemcpy(&c, g->C + (size_t)(i * g->n + j) * g->size, g->size,
                        cudaMemcpyDeviceToHost),
             "copy of an element of C");
        double error = fabs((double)((g->type == TMM_FLOAT ? c.f : c.d) - sum)) /
                       ((double)(g->N + 2) * unit * (double)absolute);
        if (!(error <= worst)) worst = error == error ? error : HUGE_VAL;
    }
    return worst;
}

static double *doubles(long long count)
{
    double *x = (double *)calloc((size_t)count + 1, sizeof *x);
    if (!x) stop("calloc", "no memory for the check");
    return x;
}

/* Freivalds' check over all ranks: is C r = A (B r) for random vectors r of +1 and -1? Returns the
   largest |C r - A B r|_i over 8 sqrt(N + 2) u |a_i|_2 |B|_F, a bound of rounding errors that are
   independent (as in tmm_freivalds). Each trial finds a wrong C with probability 1/2 at least.
   A and B are made anew from the hash, C is read from the device. */
static double check_freivalds(const grid *g)
{
    enum { T = TRIALS, ROWS = 64 };
    long long N = g->N;
    double unit = g->type == TMM_FLOAT ? 5.9604644775390625e-8 : 1.1102230246251565e-16, worst = 0;
    double norm = 0, *r = doubles(N * T), *Br = doubles(N * T);
    double *row = doubles(g->m * (T + 1)), *mine = doubles(g->kB * T);
    int *counts = (int *)calloc((size_t)g->rows * 2, sizeof *counts);
    char *C = (char *)malloc((size_t)(ROWS * g->n) * g->size + 1);
    if (!counts || !C) stop("malloc", "no memory for the check");
    for (long long j = 0; j < N * T; j++) r[j] = mix(base_of(RANDOM_SIGNS) + (u64)j) >> 63 ? 1 : -1;
    /* B r: sums over my columns, then over the grid's row; then all of it, from the grid's column */
    for (long long k = 0; k < g->kB; k++)
        for (long long j = 0; j < g->n; j++) {
            double b = element(g->type, base_of(MATRIX_B), N, g->kB0 + k, g->col0 + j);
            norm += b * b;
            for (int t = 0; t < T; t++) mine[k * T + t] += b * r[(g->col0 + j) * T + t];
        }
    MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_SUM, g->comm);
    MPI_Allreduce(MPI_IN_PLACE, mine, (int)(g->kB * T), MPI_DOUBLE, MPI_SUM, g->along_row.comm);
    for (int n = 0; n < g->rows; n++) {
        counts[g->rows + n] = (int)begin_of(N, g->rows, n) * T;
        counts[n] = (int)begin_of(N, g->rows, n + 1) * T - counts[g->rows + n];
    }
    MPI_Allgatherv(mine, (int)(g->kB * T), MPI_DOUBLE, Br, counts, counts + g->rows, MPI_DOUBLE,
                   g->along_col.comm);
    /* C r - A B r and the square of |a_i|: sums over my columns, then over the grid's row */
    for (long long i = 0; i < g->m; i++) {
        double *at = row + i * (T + 1);
        for (long long k = 0; k < g->kA; k++) {
            double a = element(g->type, base_of(MATRIX_A), N, g->row0 + i, g->kA0 + k);
            at[T] += a * a;
            for (int t = 0; t < T; t++) at[t] -= a * Br[(g->kA0 + k) * T + t];
        }
        if (i % ROWS == 0 && g->n > 0)
            must(cudaMemcpy(C, g->C + (size_t)(i * g->n) * g->size,
                            (size_t)((g->m - i < ROWS ? g->m - i : (long long)ROWS) * g->n) *
                                g->size,
                            cudaMemcpyDeviceToHost),
                 "copy of C");
        for (long long j = 0; j < g->n; j++) {
            long long from = i % ROWS * g->n + j;
            double c = g->type == TMM_FLOAT ? ((float *)C)[from] : ((double *)C)[from];
            for (int t = 0; t < T; t++) at[t] += c * r[(g->col0 + j) * T + t];
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, row, (int)(g->m * (T + 1)), MPI_DOUBLE, MPI_SUM, g->along_row.comm);
    for (long long i = 0; i < g->m; i++)
        for (int t = 0; t < T; t++) {
            double e = fabs(row[i * (T + 1) + t]) /
                       (8 * sqrt((double)N + 2) * unit * sqrt(row[i * (T + 1) + T] * norm));
            if (!(e <= worst)) worst = e == e ? e : HUGE_VAL;
        }
    free(r), free(Br), free(row), free(mine), free(counts), free(C);
    return worst;
}

/* ---------------------------------- measurements ---------------------------------------------- */
typedef struct figures {
    long long N, panel;
    int ranks, rows, cols;
    double seconds; /* the median run, from the first rank's start to the last one's end */
    double least, mean, most; /* of the same runs */
    double not_hidden; /* part of it in which a device had nothing to multiply, mean over ranks */
    double rate;       /* flop/s of each rank's products, all at once, without communication */
    double latency, bandwidth; /* of messages between pairs of ranks, all at once */
    double error, excess;      /* checks: above 1 is wrong */
    int good;
} figures;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, compare_doubles);
    return count % 2 ? x[count / 2] : 0.5 * (x[count / 2 - 1] + x[count / 2]);
}

static double largest(double x, MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, comm);
    return x;
}

/* A message from device memory to the other rank's, the way that panels take. */
static void send_or_receive(char *device, char *stage, size_t bytes, int other, int sends,
                            MPI_Comm comm)
{
    char *at = direct ? device : stage;
    if (sends) {
        if (!direct)
            must(cudaMemcpy(stage, device, bytes, cudaMemcpyDeviceToHost), "copy of a message");
        MPI_Send(at, (int)bytes, MPI_BYTE, other, 0, comm);
    } else {
        MPI_Recv(at, (int)bytes, MPI_BYTE, other, 0, comm, MPI_STATUS_IGNORE);
        if (!direct)
            must(cudaMemcpy(device, stage, bytes, cudaMemcpyHostToDevice), "copy of a message");
    }
}

/* Latency and bandwidth from the times of a short and a long message, there and back, between
   ranks i and i + half, all pairs at once. */
static void measure_messages(MPI_Comm comm, size_t bytes, double *latency, double *bandwidth)
{
    enum { ROUNDS = 9 };
    int ranks, rank;
    double time[2], times[ROUNDS];
    char *device, *stage;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    if (bytes < 65536) bytes = 65536;
    if (bytes > 1 << 28) bytes = 1 << 28;
    must(cudaMalloc((void **)&device, bytes), "device memory for messages");
    must(cudaMallocHost((void **)&stage, bytes), "pinned memory for messages");
    must(cudaMemset(device, 1, bytes), "cudaMemset");
    for (int n = 0; n < 2; n++) {
        size_t length = n == 0 ? 8 : bytes;
        int half = ranks / 2, first = rank < half, other = first ? rank + half : rank - half;
        for (int round = -1; round < ROUNDS; round++) { /* one to begin with does not count */
            MPI_Barrier(comm);
            double start = MPI_Wtime();
            if (rank < 2 * half) {
                send_or_receive(device, stage, length, other, first, comm);
                send_or_receive(device, stage, length, other, !first, comm);
            }
            if (round >= 0) times[round] = 0.5 * (MPI_Wtime() - start);
        }
        time[n] = largest(rank < 2 * half ? median(times, ROUNDS) : 0, comm);
    }
    cudaFree(device);
    cudaFreeHost(stage);
    *latency = time[0];
    *bandwidth = (double)(bytes - 8) / (time[1] > 1.001 * time[0] ? time[1] - time[0] : time[1]);
}

static double flops(double N)
{
    return 2 * N * N * N;
}

/* Times the product of `N` over the ranks of `comm` and checks it. */
static void measure(MPI_Comm comm, const options *o, long long N, figures *f)
{
    grid g;
    double times[MOST_REPS], idle[MOST_REPS];
    make_grid(&g, comm, o, N);
    memset(f, 0, sizeof *f);
    f->N = N, f->panel = g.panel, f->ranks = g.ranks, f->rows = g.rows, f->cols = g.cols;
    for (int n = -1; n < o->reps; n++) { /* the first loads kernels and counts for nothing */
        must(cudaMemset(g.C, 0xff, (size_t)(g.m * g.n) * g.size), "poisoning C"); /* with NaN */
        must(cudaDeviceSynchronize(), "poisoning C");
        MPI_Barrier(comm);
        double start = MPI_Wtime(), waited = summa(&g), took = largest(MPI_Wtime() - start, comm);
        MPI_Allreduce(MPI_IN_PLACE, &waited, 1, MPI_DOUBLE, MPI_SUM, comm);
        if (n < 0) continue;
        times[n] = took;
        idle[n] = waited / g.ranks / took;
    }
    f->seconds = median(times, o->reps); /* and they are in order now */
    f->least = times[0], f->most = times[o->reps - 1];
    for (int n = 0; n < o->reps; n++) f->mean += times[n] / o->reps;
    f->not_hidden = g.ranks == 1 ? 0 : median(idle, o->reps);
    f->error = largest(check_samples(&g), comm);
    f->excess = largest(check_freivalds(&g), comm);
    f->good = f->error <= 1 && f->excess <= 1;
    for (int n = 0; n < 2; n++) { /* the second counts */
        MPI_Barrier(comm);
        double start = MPI_Wtime();
        products_alone(&g);
        f->rate = flops((double)N) / g.ranks / largest(MPI_Wtime() - start, comm);
    }
    if (g.ranks > 1)
        measure_messages(comm, (size_t)(N / g.rows + 1) * (size_t)g.panel * g.size, &f->latency,
                         &f->bandwidth);
    free_grid(&g);
}

/* ---------------------------------- model ----------------------------------------------------- */
/* p = R C ranks multiply N x N matrices in S = N / b steps. In each, a rank
     multiplies           t  = (2 N^2 b / p) / rate
     takes part in two    c  = ceil(log2 C) (latency + (N b / R) size / bandwidth)      A's panel
     broadcasts             + ceil(log2 R) (latency + (N b / C) size / bandwidth)       B's panel
   by trees of messages. The first panel and the last product have nothing to hide behind:
     T = c + (S - 1) max(c, t) + t         if products and broadcasts overlap
     T = S (c + t)                         if not, as on the CPU runner
   With R = C = sqrt(p): t / c grows with N / sqrt(p), so a fixed N (strong scaling) stops where
   N / sqrt(p) falls below size * rate * log2(p) / (2 bandwidth) or so, while with fixed memory to
   a rank (weak scaling: N grows with sqrt(p)) only the logarithm grows. */
typedef struct forecast {
    double seconds, product, communication; /* the latter two: sums over the steps */
} forecast;

static double tree(int ranks)
{
    double levels = 0;
    while ((1ll << (int)levels) < ranks) levels++;
    return levels;
}

static forecast predict(const figures *f, size_t size, double N, int rows, int cols)
{
    forecast t;
    double panel = f->panel < N ? (double)f->panel : N, steps = N / panel;
    t.product = flops(N) / ((double)rows * cols * f->rate);
    t.communication = 0;
    if (cols > 1)
        t.communication +=
            tree(cols) * (f->latency * steps + N / rows * N * (double)size / f->bandwidth);
    if (rows > 1)
        t.communication +=
            tree(rows) * (f->latency * steps + N / cols * N * (double)size / f->bandwidth);
    double longer = t.product > t.communication ? t.product : t.communication;
    if (ON_CPU)
        t.seconds = t.product + t.communication;
    else
        t.seconds = (t.product + t.communication + (steps - 1) * longer) / steps;
    return t;
}

/* The first power of two of nodes at which communication takes longer than the products, 0 if not
   before 2^20. */
static int where_it_stops(const figures *node, size_t size, int weak, forecast *there)
{
    for (int p = 2; p <= 1 << 20; p *= 2) {
        int rows, cols;
        near_square(p, &rows, &cols);
        double N = (double)node->N * (weak ? sqrt((double)p) : 1);
        *there = predict(node, size, N, rows, cols);
        if (there->communication > there->product) return p;
    }
    return 0;
}

/* ---------------------------------- tables ---------------------------------------------------- */
static void csv_row(const char *source, const char *scaling, const options *o, double N,
                    long long panel, int ranks, int rows, int cols, double seconds, double one,
                    double hidden, double model, const char *verdict, const figures *spread)
{
    double rate = flops(N) / seconds;
    if (csv)
        fprintf(csv, "%s,%s,%s,%.0f,%lld,%d,%d,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s,", source,
                scaling, o->type == TMM_FLOAT ? "float" : "double", N, panel, ranks, rows, cols,
                1e3 * seconds, 1e-9 * rate, rate / one, rate / one / ranks, hidden, 1e3 * model,
                verdict);
    if (csv && spread)
        fprintf(csv, "%.9g,%.9g,%.9g\n", 1e3 * spread->least, 1e3 * spread->mean,
                1e3 * spread->most);
    else if (csv)
        fprintf(csv, ",,\n");
}

static void print_head(const char *title)
{
    printf("\n%s\n%6s %9s %8s %6s %10s %10s %9s %11s %11s %10s  %s\n", title, "ranks", "grid", "N",
           "panel", "ms", "GFLOP/s", "speed-up", "efficiency", "not hidden", "model ms", "check");
}

/* A line of the table; `one` is the rate of one rank. The model gets this count's own rates. */
static void print_row(const figures *f, const options *o, const char *scaling, double one)
{
    size_t size = o->type == TMM_FLOAT ? sizeof(float) : sizeof(double);
    double rate = flops((double)f->N) / f->seconds;
    forecast model = predict(f, size, (double)f->N, f->rows, f->cols);
    char shape[24];
    snprintf(shape, sizeof shape, "%d x %d", f->rows, f->cols);
    printf("%6d %9s %8lld %6lld %10.3f %10.1f %9.3f %10.1f%% %10.1f%% %10.3f  %s\n", f->ranks,
           shape, f->N, f->panel, 1e3 * f->seconds, 1e-9 * rate, rate / one,
           100 * rate / one / f->ranks, 100 * f->not_hidden, 1e3 * model.seconds,
           f->good ? "ok" : "WRONG");
    if (!f->good)
        printf("       largest error %.3g of the bound, Freivalds' residual %.3g of it\n", f->error,
               f->excess);
    fflush(stdout);
    csv_row("measured", scaling, o, (double)f->N, f->panel, f->ranks, f->rows, f->cols, f->seconds,
            one, f->not_hidden, model.seconds, f->good ? "ok" : "wrong", f);
}

/* What the model says about nodes with a device each, as fast as one rank alone. */
static void print_model(const figures *node, const options *o)
{
    static const int nodes[3] = {2, 16, 128};
    size_t size = o->type == TMM_FLOAT ? sizeof(float) : sizeof(double);
    double one = node->rate;
    printf("\nModel: nodes of %.1f GFLOP/s, messages of %.4g us + bytes / (%.4g GB/s), %s\n",
           1e-9 * one, 1e6 * node->latency, 1e-9 * node->bandwidth,
           o->latency > 0 || o->bandwidth > 0 ? "as given" : "as measured between two ranks");
    printf("%6s %9s %-7s %8s %10s %10s %9s %11s %14s\n", "nodes", "grid", "scaling", "N", "ms",
           "GFLOP/s", "speed-up", "efficiency", "communication");
    for (int weak = 0; weak < 2; weak++)
        for (int n = 0; n < 3; n++) {
            int rows, cols;
            char shape[24];
            near_square(nodes[n], &rows, &cols);
            snprintf(shape, sizeof shape, "%d x %d", rows, cols);
            double N = floor((double)node->N * (weak ? sqrt((double)nodes[n]) : 1) + 0.5);
            forecast t = predict(node, size, N, rows, cols);
            double rate = flops(N) / t.seconds, share = t.communication + t.product;
            share = t.communication / share;
            printf("%6d %9s %-7s %8.0f %10.3f %10.1f %9.3f %10.1f%% %13.1f%%\n", nodes[n], shape,
                   weak ? "weak" : "strong", N, 1e3 * t.seconds, 1e-9 * rate, rate / one,
                   100 * rate / one / nodes[n], 100 * share);
            csv_row("model", weak ? "weak" : "strong", o, N, node->panel, nodes[n], rows, cols,
                    t.seconds, one, share, t.seconds, "predicted", NULL);
        }
    for (int weak = 0; weak < 2; weak++) {
        forecast t;
        int p = where_it_stops(node, size, weak, &t);
        char what[64];
        snprintf(what, sizeof what,
                 weak ? "Weak scaling (N = %lld on one)" : "Strong scaling of N = %lld", node->N);
        if (p == 0) {
            printf("%s: no end before 2^20 nodes.\n", what);
        } else {
            double N = (double)node->N * (weak ? sqrt((double)p) : 1);
            printf("%s stops at %d nodes: from there on communication takes longer than the\n"
                   "products (%.4g ms against %.4g ms); efficiency there %.0f%%.\n",
                   what, p, 1e3 * t.communication, 1e3 * t.product,
                   100 * flops(N) / t.seconds / one / p);
        }
    }
}

/* ---------------------------------- main ------------------------------------------------------ */
/* Waits for all ranks without keeping a core busy that another rank may be computing on. */
static void wait_for_all(void)
{
    MPI_Request request;
    struct timespec nap = {0, 300000};
    int there = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &there, MPI_STATUS_IGNORE), !there) nanosleep(&nap, NULL);
}

/* The ranks before `ranks` multiply, the others wait. Returns whether the result was right. */
static int measure_ranks(int ranks, const options *o, long long N, figures *f)
{
    MPI_Comm comm;
    int good = 1;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
    if (comm != MPI_COMM_NULL) {
        measure(comm, o, N, f);
        good = f->good;
        MPI_Comm_free(&comm);
    }
    wait_for_all();
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return good;
}

static int measure_all(const options *o)
{
    int counts[MOST_COUNTS], count = 0, good = 1;
    static figures strong[MOST_COUNTS], weak[MOST_COUNTS];
    figures node;
    for (int p = 1; p < world_size && !(o->rows && p > 1); p *= 2) counts[count++] = p;
    counts[count++] = world_size;
    for (int n = 0; n < count && good; n++) {
        good = measure_ranks(counts[n], o, o->N, &strong[n]);
        if (world_rank != 0) continue;
        if (n == 0) print_head("Strong scaling: the same product over more ranks");
        print_row(&strong[n], o, "strong", flops((double)o->N) / strong[0].seconds);
    }
    for (int n = 0; n < count && good && count > 1; n++) {
        double share = sqrt((double)counts[n] / world_size);
        long long N = (long long)((double)o->N * share + 0.5);
        if (N < 1) N = 1;
        if (n + 1 < count)
            good = measure_ranks(counts[n], o, N, &weak[n]);
        else
            weak[n] = strong[n]; /* the same product */
        if (world_rank != 0) continue;
        if (n == 0) print_head("Weak scaling: as much memory to each rank, N grows with the root");
        print_row(&weak[n], o, "weak", flops((double)weak[0].N) / weak[0].seconds);
    }
    if (world_rank != 0 || !good) return good;
    printf(
        "\nspeed-up: flop/s over those of one rank (strong: T1 / Tp); efficiency: speed-up / "
        "ranks;\n"
        "not hidden: time in which a device waited for panels; model ms: by the model below, with\n"
        "the rates of products and messages measured at that many ranks.\n");
    node = strong[count > 1 ? 1 : 0]; /* messages between two ranks, the speed of one alone */
    node.rate = strong[0].rate, node.panel = o->panel;
    if (o->bandwidth > 0) node.latency = o->latency, node.bandwidth = o->bandwidth;
    if (node.bandwidth > 0)
        print_model(&node, o);
    else
        printf("\nModel: it needs two ranks to measure messages between, or --network.\n");
    return good;
}

/* Who runs where, and what is shared: what speed-ups can mean here. Returns the device. */
static int find_place(const options *o, int devices)
{
    MPI_Comm node;
    int rank, ranks, leader, nodes, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    struct cudaDeviceProp device;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    leader = rank == 0;
    MPI_Allreduce(&leader, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    must(cudaGetDeviceProperties(&device, rank % devices), "cudaGetDeviceProperties");
    if (world_rank == 0) {
        printf("C = A B, %lld x %lld, %s, %d rank%s on %d node%s; rank 0 on %s\n", o->N, o->N,
               o->type == TMM_FLOAT ? "float" : "double", world_size, world_size > 1 ? "s" : "",
               nodes, nodes > 1 ? "s" : "", device.name);
        printf("Panels go %s.\n", direct ? "from device to device: MPI takes device pointers"
                                         : "through pinned host memory");
        if (on_cores)
            printf("Each rank multiplies on the CPU, by blocks that its caches hold, no kernel.\n");
        else if (ON_CPU)
            printf("All times are CPU times of the real kernels; a product there keeps its rank\n"
                   "busy, so that no broadcast is hidden behind it.\n");
        if (ON_CPU ? ranks > cores : ranks > devices)
            printf("The %d ranks of a node share %d %s: they take turns, so that speed-ups say\n"
                   "little about as many nodes.\n",
                   ranks, ON_CPU ? cores : devices,
                   ON_CPU        ? cores > 1 ? "cores" : "core"
                   : devices > 1 ? "devices"
                                 : "device");
        else if (ON_CPU && ranks > 1)
            printf("Ranks of a node share its %d cores; CUCC_THREADS=1 gives each rank one.\n",
                   cores);
        fflush(stdout);
    }
    return rank % devices;
}

static int takes_device_pointers(void)
{
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return 0;
#endif
}

static int run(int count, char **words)
{
    options o;
    int devices = 0, fewest, parsed = parse_options(count, words, &o), opened = 1;
    if (parsed <= 0) return parsed < 0 ? 0 : 2;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
    MPI_Allreduce(&devices, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (fewest < 1) {
        if (world_rank == 0)
            fprintf(stderr, "matmul_mpi: a rank has no usable CUDA device; on the CPU: ./build.sh "
                            "run matmul_mpi\n");
        return 2;
    }
    if (o.csv && world_rank == 0) opened = open_csv(o.csv); /* before the work */
    MPI_Bcast(&opened, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!opened) return 2;
    direct = !o.staged && takes_device_pointers();
    must(cudaSetDevice(find_place(&o, devices)), "cudaSetDevice");
    must(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking), "cudaStreamCreate");
    must(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking), "cudaStreamCreate");
    if (csv)
        fprintf(csv, "source,scaling,type,N,panel,ranks,rows,cols,real_time_ms,gflops,"
                     "speed_up,efficiency,not_hidden,model_ms,verdict,"
                     "min_ms,mean_ms,max_ms\n");
    int good = measure_all(&o);
    if (csv) good &= close_csv(good);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    cudaStreamDestroy(computing);
    cudaStreamDestroy(copying);
    if (world_rank == 0) printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}

int main(int count, char **words)
{
    check_output(); /* before MPI opens files */
    atexit(check_output);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int status = run(count, words);
    MPI_Finalize();
    return status;
}
