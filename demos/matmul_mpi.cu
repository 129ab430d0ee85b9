/* matmul_mpi.cu - one product over any number of MPI ranks, each on its GPU: SUMMA, with broadcasts
   that run while the previous product does. It is timed from one rank to all, next to a model that
   says what more nodes would give and where it stops.

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

   Each rank makes its own share of the inputs, and checks its share of C. It takes the device of
   its number among the ranks of its node, round robin.

   Build   nvcc -ccbin mpicxx -O3 -arch=native demos/matmul_mpi.cu -o matmul_mpi
   or      CXX=mpicxx cpu/cucc demos/matmul_mpi.cu -o matmul_mpi      (the CPU runner, no GPU)
   Run     mpirun -n 4 ./matmul_mpi
           mpirun -n 6 ./matmul_mpi 20000 --type double --grid 2x3 --panel 768 --csv scaling.csv
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
enum { MOST = 1 << 20, MOST_REPS = 100, MOST_COUNTS = 34, SLOTS = 2 };

static int world_rank, world_size;
static int direct, staged; /* MPI takes device pointers; is to take pointers of the host */
static int on_cores;       /* --cpu: no kernels; device memory of the CPU runner is host memory */
static int rows, cols;     /* of the grid of all ranks; 0: chosen */
static double network[2];  /* microseconds and GB/s that the model is about; 0: measured */
static long long asked_N = DEFAULT_SIZE, asked_panel = DEFAULT_PANEL, reps = 3;
static tmm_type type;
static size_t size; /* of an element */
static const char *csv_name;

/* ---------------------------------- words to the user ----------------------------------------- */
/* Ends all ranks. */
static void stop(const char *what, const char *why)
{
    fprintf(stderr, "matmul_mpi: rank %d: %s: %s\n", world_rank, what, why);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) stop(what, cudaGetErrorString(error));
}

#define CHECK(call) must(call, #call)

static void print_help(void)
{
    printf("usage: mpirun -n RANKS matmul_mpi [N] [options]     (default: N = %d)\n"
           "Times C = A B with 1, 2, 4, ... ranks up to all; a model predicts more nodes.\n\n"
           "  --type float|double  element type (default float)\n"
           "  --panel P            so many columns of A and rows of B at a time (default %d)\n"
           "  --grid RxC           R C ranks (default: nearest to square); measures 1 and all\n"
           "  --reps R             runs of each, of which the median is shown (default 3)\n"
           "  --network US,GBS     microseconds and GB/s of messages of the model (else measured)\n"
           "  --cpu                products by tmm_?gemm_cpu, no kernels (built by cpu/cucc only)\n"
           "  --staged             by way of the host even if MPI takes device pointers\n"
           "  --csv FILE           write the table to FILE as well\n"
           "  -h, --help           this text\n",
           DEFAULT_SIZE, DEFAULT_PANEL);
}

/* NULL, or what is wanted instead. */
static const char *parse_number(const char *text, long long most, long long *number)
{
    static char wanted[48];
    char *end;
    *number = strtoll(text, &end, 10);
    if (*text && !*end && *number >= 1 && *number <= most) return NULL;
    snprintf(wanted, sizeof wanted, "must be a whole number from 1 to %lld", most);
    return wanted;
}

/* Returns 1, 0 with a sentence, or -1 if only help was asked for. All ranks read the same words and
   come to the same verdict; rank 0 says it. */
static int parse_options(int count, char **words)
{
    const char *word = "", *value = "", *wrong = NULL;
    int sizes = 0;
    for (int i = 1; i < count && !wrong; i += 2) { /* most have a value */
        char rest;
        word = words[i], value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return -1;
        if (strcmp(word, "--panel") == 0) {
            wrong = parse_number(value, MOST, &asked_panel);
        } else if (strcmp(word, "--reps") == 0) {
            wrong = parse_number(value, MOST_REPS, &reps);
        } else if (strcmp(word, "--type") == 0) {
            type = strcmp(value, "double") == 0 ? TMM_DOUBLE : TMM_FLOAT;
            if (type == TMM_FLOAT && strcmp(value, "float") != 0) wrong = "must be float or double";
        } else if (strcmp(word, "--grid") == 0) {
            if (sscanf(value, "%dx%d%c", &rows, &cols, &rest) != 2 || rows < 1 || cols < 1 ||
                (long long)rows * cols != world_size)
                wrong = "must be such as 2x3, for as many ranks as there are";
        } else if (strcmp(word, "--network") == 0) {
            if (sscanf(value, "%lf,%lf%c", &network[0], &network[1], &rest) != 2 ||
                !(network[0] >= 0 && network[0] < 1e9 && network[1] > 0 && network[1] < 1e9))
                wrong = "must be microseconds and GB/s, such as 2,25";
        } else if (strcmp(word, "--csv") == 0) {
            csv_name = value;
            if (!*value || *value == '-') wrong = "needs the name of a file";
        } else {
            i--, value = "";
            if (strcmp(word, "--staged") == 0)
                staged = 1;
            else if (strcmp(word, "--cpu") == 0)
                on_cores = 1, wrong = ON_CPU ? NULL : "needs a program built by cpu/cucc";
            else if (word[0] == '-' && !(word[1] >= '0' && word[1] <= '9'))
                wrong = "is an unknown option";
            else
                wrong = sizes++ ? "is one size too many" : parse_number(word, MOST, &asked_N);
        }
    }
    size = type == TMM_FLOAT ? sizeof(float) : sizeof(double);
    if (asked_panel > asked_N) asked_panel = asked_N;
    if (!wrong && asked_N * asked_panel > INT_MAX) /* MPI counts in int */
        word = "--panel", value = "", wrong = "must be smaller: N times it is 2^31 or more";
    if (wrong && world_rank == 0)
        fprintf(stderr, "matmul_mpi: '%s%s%s' %s; --help lists what can be asked\n", word,
                *value ? " " : "", value, wrong);
    return !wrong;
}

/* Ends the program if what it has printed cannot be written. A closed pipe needs no words. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE) perror("matmul_mpi: standard output");
    _Exit(1);
}

/* ---------------------------------- who owns what --------------------------------------------- */
/* A's panels go along the rows of the grid, B's along its columns. */
typedef struct operand {
    MPI_Comm comm;              /* the ranks that one panel is broadcast to */
    int ranks, me;              /* of comm */
    size_t bytes;               /* of a panel */
    char *own, *device, *stage; /* this rank's block; slots on the device, in pinned memory */
    int owner, elements;        /* of the step at hand: a panel to be sent, or 0 elements */
    char *source, *buffer;      /* what is multiplied; what MPI sends or fills */
    long long ld;
    MPI_Request request;
} operand;

/* All blocks are `high` x `wide`, but for those at the edges; this rank's are m x n, at (row, col).
   k is cut as the columns for A and as the rows for B. */
typedef struct grid {
    MPI_Comm comm;
    int ranks, rank, rows, cols, steps;
    long long N, panel, high, wide, row, col, m, n;
    operand A, B;
    char *C;
    double idle, since; /* seconds without a product; when it was last looked at */
} grid;

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define FLOPS(N)    (2.0 * (double)(N) * (double)(N) * (double)(N))

static double combine(double x, MPI_Op how, MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, how, comm);
    return x;
}

static void near_square(int ranks, int *rows, int *cols)
{
    for (*rows = (int)sqrt((double)ranks); ranks % *rows != 0;) --*rows;
    *cols = ranks / *rows;
}

/* A number in (-1, 1) of so many bits that belongs to n: splitmix64. */
static inline double random_number(long long n, int bits)
{
    unsigned long long z = (unsigned long long)n * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return ((double)((z ^ (z >> 31)) >> (64 - bits)) + 0.5) / (double)(1ull << (bits - 1)) - 1;
}

/* A is random. B(k, j) = u(k) v(j), exactly: that way C(i, j) = v(j) sum A(i, k) u(k) is known. */
#define U(k) random_number(-1 - (k), 12)
#define V(j) random_number(-1 - MOST - (j), 12)
static double A_at(const grid *g, long long i, long long k)
{
    double a = random_number(i * g->N + k + 1, 52);
    return type == TMM_FLOAT ? (double)(float)a : a;
}

/* The ranks of one `color` send each other panels of so many `lines`. */
static void make_operand(grid *g, operand *o, int color, long long lines)
{
    size_t block = (size_t)(g->m * g->n) * size;
    void *X = malloc(block + 1);
    if (!X) stop("malloc", "no memory for a block");
    for (long long at = 0; at < g->m * g->n; at++) {
        long long i = g->row + at / g->n, j = g->col + at % g->n;
        double x = o == &g->A ? A_at(g, i, j) : U(i) * V(j);
        type == TMM_FLOAT ? ((float *)X)[at] = (float)x : ((double *)X)[at] = x;
    }
    MPI_Comm_split(g->comm, color, g->rank, &o->comm);
    MPI_Comm_size(o->comm, &o->ranks), MPI_Comm_rank(o->comm, &o->me);
    o->bytes = g->ranks == 1 ? 0 : (size_t)(lines * g->panel) * size;
    must(cudaMalloc((void **)&o->own, block + 1), "device memory for a block");
    must(cudaMalloc((void **)&o->device, SLOTS * o->bytes + 1), "device memory for panels");
    must(cudaMallocHost((void **)&o->stage, SLOTS * o->bytes + 1), "pinned memory for panels");
    CHECK(cudaMemcpy(o->own, X, block, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(o->device, 0, SLOTS * o->bytes + 1));
    free(X);
}

static void make_grid(grid *g, MPI_Comm comm, long long N)
{
    memset(g, 0, sizeof *g), g->comm = comm, g->N = N;
    MPI_Comm_size(comm, &g->ranks), MPI_Comm_rank(comm, &g->rank);
    near_square(g->ranks, &g->rows, &g->cols);
    if (rows && g->ranks == world_size) g->rows = rows, g->cols = cols;
    int row = g->rank / g->cols, col = g->rank % g->cols;
    g->panel = g->ranks == 1 ? N : LEAST(N, asked_panel); /* alone: nothing to cut up for */
    g->high = (N + g->rows - 1) / g->rows, g->wide = (N + g->cols - 1) / g->cols;
    g->row = LEAST(N, row * g->high), g->m = LEAST(g->high, N - g->row);
    g->col = LEAST(N, col * g->wide), g->n = LEAST(g->wide, N - g->col);
    make_operand(g, &g->A, row, g->m);
    make_operand(g, &g->B, col, g->n);
    must(cudaMalloc((void **)&g->C, (size_t)(g->m * g->n) * size + 1), "device memory for a block");
}

/* ---------------------------------- the algorithm --------------------------------------------- */
enum { MULTIPLIES = 1, BROADCASTS = 2, OF_ONE_ELEMENT = 4 }; /* what is to be timed */
static cudaStream_t computing, copying;
static cudaEvent_t copied, multiplied[SLOTS];

/* Has all that was put into a stream before the event come to its end? */
static int reached(cudaEvent_t event)
{
    cudaError_t error = cudaEventQuery(event);
    if (error != cudaErrorNotReady) must(error, "a copy or a product");
    return error == cudaSuccess;
}

/* While waiting in step s: time in which the product of step s - 1 is over counts as idle. */
static void wait_a_moment(grid *g, int s)
{
    double now = MPI_Wtime();
    if (reached(multiplied[(s + 1) % SLOTS])) g->idle += now - g->since;
    g->since = now;
    sched_yield(); /* for ranks that share a core */
}

/* Step s begins for one operand: its panel is height x width elements, in its owner's block from
   element `at` on. The owner packs it; the others will find it in the slot. */
static void pack(operand *o, int s, int what, int owner, long long at, long long ld,
                 long long height, long long width)
{
    size_t slot = (size_t)(s % SLOTS) * o->bytes;
    o->owner = owner, o->ld = owner == o->me ? ld : width;
    o->source = owner == o->me ? o->own + (size_t)at * size : o->device + slot;
    o->buffer = (direct ? o->device : o->stage) + slot;
    if (what & OF_ONE_ELEMENT) height = width = height * width > 0;
    o->elements = o->ranks > 1 && (what & BROADCASTS) ? (int)(height * width) : 0;
    if (owner == o->me && o->elements > 0)
        CHECK(cudaMemcpy2DAsync(o->buffer, (size_t)width * size, o->source, (size_t)ld * size,
                                (size_t)width * size, (size_t)height, cudaMemcpyDefault, copying));
}

static void broadcast(operand *o)
{
    o->request = MPI_REQUEST_NULL;
    if (o->elements > 0)
        MPI_Ibcast(o->buffer, o->elements, type == TMM_FLOAT ? MPI_FLOAT : MPI_DOUBLE, o->owner,
                   o->comm, &o->request);
}

/* Waits until the panel has come; MPI works only while it is called. Copies it to the device. */
static void receive(grid *g, operand *o, int s)
{
    int there = 0;
    while (MPI_Test(&o->request, &there, MPI_STATUS_IGNORE), !there) wait_a_moment(g, s);
    if (o->elements > 0 && o->owner != o->me && !direct)
        CHECK(cudaMemcpyAsync(o->source, o->buffer, (size_t)o->elements * size,
                              cudaMemcpyHostToDevice, copying));
}

/* C += a panel of A times a panel of B, `k` wide; the first one, of step 0, sets C. */
#define PRODUCT(T, g, s, k)                                                        \
    TMM_OP_N, TMM_OP_N, (g)->m, (g)->n, k, 1, (const T *)(g)->A.source, (g)->A.ld, \
        (const T *)(g)->B.source, (g)->B.ld, (s) > 0, (T *)(g)->C, (g)->n

static void multiply(const grid *g, int s, long long k)
{
    tmm_status status;
    if (g->m == 0 || g->n == 0) return;
    if (on_cores) CHECK(cudaStreamSynchronize(computing)); /* panels have come */
    if (type == TMM_FLOAT)
        status = on_cores ? tmm_sgemm_cpu(PRODUCT(float, g, s, k))
                          : tmm_sgemm(PRODUCT(float, g, s, k), computing);
    else
        status = on_cores ? tmm_dgemm_cpu(PRODUCT(double, g, s, k))
                          : tmm_dgemm(PRODUCT(double, g, s, k), computing);
    if (status != TMM_OK) stop("the product of two panels", tmm_last_error());
}

/* All steps: while the device multiplies one, the panels of the next are packed, sent and copied to
   the devices. Returns the seconds until the last rank is ready. */
static double summa(grid *g, int what)
{
    MPI_Barrier(g->comm);
    double start = g->since = MPI_Wtime();
    g->idle = 0, g->steps = 0;
    for (long long k = 0, width; k < g->N; k += width) {
        int s = g->steps++, ownerA = (int)(k / g->wide), ownerB = (int)(k / g->high);
        width = LEAST(g->panel, LEAST((ownerA + 1) * g->wide, (ownerB + 1) * g->high) - k);
        width = LEAST(width, g->N - k);
        while (!reached(multiplied[s % SLOTS])) wait_a_moment(g, s); /* then the slot is free */
        pack(&g->A, s, what, ownerA, k - g->col, g->n, g->m, width);
        pack(&g->B, s, what, ownerB, (k - g->row) * g->n, g->n, width, g->n);
        CHECK(cudaEventRecord(copied, copying));
        while (!reached(copied)) wait_a_moment(g, s);
        broadcast(&g->A), broadcast(&g->B);
        receive(g, &g->A, s), receive(g, &g->B, s);
        CHECK(cudaEventRecord(copied, copying));
        CHECK(cudaStreamWaitEvent(computing, copied, 0));
        wait_a_moment(g, s);
        if (what & MULTIPLIES) multiply(g, s, width);
        CHECK(cudaEventRecord(multiplied[s % SLOTS], computing));
        if (ON_CPU) g->since = MPI_Wtime(); /* launches there return when all is done */
    }
    CHECK(cudaStreamSynchronize(computing));
    return combine(MPI_Wtime() - start, MPI_MAX, g->comm);
}

/* ---------------------------------- measurements ---------------------------------------------- */
/* The largest error in this rank's block of C, |C - Cref| / ((K + 2) u |A||B|). It is 1 at most. */
static double check(const grid *g)
{
    size_t bytes = (size_t)(g->m * g->n) * size;
    double unit = type == TMM_FLOAT ? 5.9604644775390625e-8 : 1.1102230246251565e-16, largest = 0;
    void *C = malloc(bytes + 1);
    if (!C) stop("malloc", "no memory for a block");
    CHECK(cudaMemcpy(C, g->C, bytes, cudaMemcpyDeviceToHost));
    for (long long i = 0; i < g->m; i++) {
        long double sum = 0, absolute = 0; /* of A(i, k) u(k) */
        for (long long k = 0; k < g->N; k++) {
            double term = A_at(g, g->row + i, k) * U(k);
            sum += term, absolute += fabs(term);
        }
        for (long long j = 0, at = i * g->n; j < g->n; j++, at++) {
            double c = type == TMM_FLOAT ? (double)((float *)C)[at] : ((double *)C)[at];
            double v = V(g->col + j), bound = (g->N + 2) * unit * fabs(v) * (double)absolute;
            double e = (double)fabsl(c - v * sum) / bound;
            if (!(e <= largest)) largest = e == e ? e : HUGE_VAL;
        }
    }
    free(C);
    return largest;
}

/* A line of the table. */
typedef struct figures {
    const char *source, *scaling, *verdict;
    long long N, panel;
    int ranks, rows, cols;
    double seconds, least, mean, most; /* the median run, from start to the last rank's end; all */
    double not_hidden; /* part of it without a product; of a forecast, of broadcasts in all work */
    double gain, rate; /* flop/s: over those of one rank; of a rank's products, no broadcasts */
    double latency, bandwidth;          /* of a message */
    double products, broadcasts, model; /* by the model: seconds of both, and of all */
} figures;

/* The median of so many runs in seconds; f gets the others, and what was waited. */
static double time_runs(grid *g, int what, figures *f)
{
    double times[MOST_REPS];
    f->mean = f->not_hidden = 0;
    for (int n = -1; n < reps; n++) { /* the first loads kernels and counts for nothing */
        CHECK(cudaMemset(g->C, 0xff, (size_t)(g->m * g->n) * size)); /* NaN */
        CHECK(cudaDeviceSynchronize());
        double took = summa(g, what), part = combine(g->idle, MPI_SUM, g->comm) / g->ranks / took;
        int at = n;
        if (n < 0) continue;
        for (; at > 0 && times[at - 1] > took; at--) times[at] = times[at - 1]; /* in order */
        times[at] = took, f->mean += took / (double)reps;
        if (g->ranks > 1) f->not_hidden += part / (double)reps;
    }
    f->least = times[0], f->most = times[reps - 1];
    return f->seconds = 0.5 * (times[(reps - 1) / 2] + times[reps / 2]);
}

/* Times the product of `N` over the ranks of `comm` and its parts, and checks it. */
static void measure(MPI_Comm comm, long long N, figures *f)
{
    grid g;
    make_grid(&g, comm, N);
    f->source = "measured", f->N = N, f->panel = g.panel;
    f->ranks = g.ranks, f->rows = g.rows, f->cols = g.cols;
    double levels = 0, bytes = 0; /* of the trees of messages, see below */
    for (int p = 1; p < g.cols; p *= 2) levels++, bytes += (double)(N * N) * size / g.rows;
    for (int p = 1; p < g.rows; p *= 2) levels++, bytes += (double)(N * N) * size / g.cols;
    f->rate = FLOPS(N) / g.ranks / time_runs(&g, MULTIPLIES, f);
    if (g.ranks > 1) {
        double shortest = time_runs(&g, BROADCASTS | OF_ONE_ELEMENT, f);
        double whole = time_runs(&g, BROADCASTS, f);
        f->latency = shortest / g.steps / levels;
        f->bandwidth = bytes / (whole > 1.001 * shortest ? whole - shortest : whole);
    }
    time_runs(&g, MULTIPLIES | BROADCASTS, f);
    double error = combine(check(&g), MPI_MAX, comm);
    f->verdict = error <= 1 ? "ok" : "WRONG";
    if (!(error <= 1) && g.rank == 0) printf("largest error: %.3g of its bound\n", error);
    cudaFree(g.A.own), cudaFree(g.A.device), cudaFreeHost(g.A.stage), MPI_Comm_free(&g.A.comm);
    cudaFree(g.B.own), cudaFree(g.B.device), cudaFreeHost(g.B.stage), MPI_Comm_free(&g.B.comm);
    cudaFree(g.C), MPI_Comm_free(&comm);
}

/* ---------------------------------- model ----------------------------------------------------- */
/* p = R C ranks multiply N x N matrices in S = N / b steps. In each, a rank
     multiplies           t  = (2 N^2 b / p) / rate
     takes part in two    c  = ceil(log2 C) (latency + (N b / R) size / bandwidth)      A's panel
     broadcasts             + ceil(log2 R) (latency + (N b / C) size / bandwidth)       B's panel
   by trees of messages. The first panel and the last product have nothing to hide behind:
     T = c + (S - 1) max(c, t) + t         if products and broadcasts overlap
     T = S (c + t)                         if not, as on the CPU runner
   With R = C = sqrt(p), t / c is about N / sqrt(p) 2 bandwidth / (size rate log2(p)): for a fixed N
   (strong scaling) it falls; for fixed memory to a rank (weak scaling) only the logarithm grows. */
static void predict(figures *f)
{
    double N = (double)f->N, steps = f->panel < f->N ? N / (double)f->panel : 1;
    double bytes = N * N * (double)size, t = FLOPS(f->N) / f->ranks / f->rate, c = 0;
    for (int p = 1; p < f->cols; p *= 2) c += f->latency * steps + bytes / f->rows / f->bandwidth;
    for (int p = 1; p < f->rows; p *= 2) c += f->latency * steps + bytes / f->cols / f->bandwidth;
    f->products = t, f->broadcasts = c;
    f->model = ON_CPU ? t + c : (t + c + (steps - 1) * (t > c ? t : c)) / steps;
}

/* The forecast for `nodes` with a device each, as fast as `one`. */
static figures forecast(const figures *one, int nodes, int weak)
{
    figures f = *one;
    f.source = "model", f.scaling = weak ? "weak" : "strong", f.verdict = "predicted", f.least = 0;
    f.N = (long long)((double)f.N * (weak ? sqrt((double)nodes) : 1) + 0.5), f.ranks = nodes;
    near_square(nodes, &f.rows, &f.cols);
    predict(&f);
    f.seconds = f.model, f.not_hidden = f.broadcasts / (f.broadcasts + f.products);
    f.gain = FLOPS(f.N) / f.seconds / one->rate;
    return f;
}

/* ---------------------------------- the table ------------------------------------------------- */
static figures lines[2 * MOST_COUNTS + 6]; /* those of the CSV file */
static int line_count;

static void put(FILE *out, const char *format, const figures *f)
{
    fprintf(out, format, f->source, f->scaling, type == TMM_FLOAT ? "float" : "double", f->N,
            f->panel, f->ranks, f->rows, f->cols, 1e3 * f->seconds, 1e-9 * FLOPS(f->N) / f->seconds,
            f->gain, f->gain / f->ranks, f->not_hidden, 1e3 * f->model, f->verdict);
}

static void print_row(const figures *f)
{
    put(stdout, "%-9s%-8s%-7s%7lld%8lld%6d%5d%5d%12.3f%12.1f%9.3f%11.3f%8.3f%12.3f  %s\n", f);
    fflush(stdout);
}

/* The CSV file appears whole or not at all: written beside its place at the end, then renamed. A
   link is followed, a pipe is written to directly. Tried before the work: can it be written? */
static int write_csv(const char *name, int try_only)
{
    static char path[4096], beside[4100];
    struct stat there;
    int special = !lstat(name, &there) && !(!stat(name, &there) && S_ISREG(there.st_mode));
    if (special && try_only && !S_ISDIR(there.st_mode)) return 1;
    if (special || !realpath(name, path)) snprintf(path, sizeof path, "%s", name);
    snprintf(beside, sizeof beside, special ? "%s" : "%s.tmp", path);
    FILE *csv = fopen(beside, "w");
    if (csv)
        fprintf(csv, "source,scaling,type,N,panel,ranks,rows,cols,real_time_ms,gflops,speed_up,"
                     "efficiency,not_hidden,model_ms,verdict,min_ms,mean_ms,max_ms\n");
    for (const figures *f = lines; csv && f < lines + line_count; f++) {
        put(csv, "%s,%s,%s,%lld,%lld,%d,%d,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s,", f);
        fprintf(csv, f->least > 0 ? "%.9g,%.9g,%.9g\n" : ",,\n", 1e3 * f->least, 1e3 * f->mean,
                1e3 * f->most);
    }
    int bad = !csv || ferror(csv), good = csv && fclose(csv) == 0 && !bad;
    if (good && !try_only && !special) good = rename(beside, path) == 0;
    if (csv && !special && (try_only || !good)) remove(beside);
    if (!good) fprintf(stderr, "matmul_mpi: cannot write '%s'\n", name);
    return good;
}

/* What the model says about nodes with a device each; and the first power of two of them where
   communication takes longer than the products, up to 2^20. */
static void print_model(const figures *one)
{
    figures f;
    for (int n = 0; n < 6; n++) { /* 2, 16 and 128 nodes */
        lines[line_count] = forecast(one, 2 << 3 * (n % 3), n / 3);
        print_row(&lines[line_count++]);
    }
    printf("\nModel: nodes of %.1f GFLOP/s, messages of %.4g us + bytes / (%.4g GB/s), %s\n",
           1e-9 * one->rate, 1e6 * one->latency, 1e-9 * one->bandwidth,
           network[1] > 0 ? "as given" : "as measured between two ranks");
    for (int weak = 0; weak < 2; weak++) {
        for (f.ranks = 1; f.ranks == 1 || (f.broadcasts <= f.products && f.ranks < MOST);)
            f = forecast(one, 2 * f.ranks, weak);
        printf(weak ? "Weak scaling (N = %lld on one)" : "Strong scaling of N = %lld", one->N);
        if (f.broadcasts <= f.products)
            printf(": no end before 2^20 nodes.\n");
        else
            printf(" stops at %d nodes: from there on communication takes longer than the\n"
                   "products (%.4g ms against %.4g ms); efficiency there %.3f.\n",
                   f.ranks, 1e3 * f.broadcasts, 1e3 * f.products, f.gain / f.ranks);
    }
}

/* ---------------------------------- main ------------------------------------------------------ */
/* Strong scaling, then weak, then the model. Ends at a wrong product. */
static int measure_all(void)
{
    struct timespec nap = {0, 300000};
    int counts[MOST_COUNTS], count = 0, good = 1, there;
    MPI_Comm comm;
    MPI_Request request;
    for (int p = 1; p < world_size && !(rows && p > 1); p *= 2) counts[count++] = p;
    counts[count++] = world_size;
    for (int n = 0; n < (count > 1 ? 2 * count : 1) && good; n++) {
        figures *f = &lines[line_count++], *one = n < count ? &lines[0] : &lines[count];
        int ranks = counts[n % count], is_known = n > 1 && n + 1 == 2 * count;
        double N = (double)asked_N * (n < count ? 1 : sqrt((double)ranks / world_size));
        if (is_known) *f = lines[count - 1]; /* the same product */
        MPI_Comm_split(MPI_COMM_WORLD, !is_known && world_rank < ranks ? 0 : MPI_UNDEFINED, 0,
                       &comm);
        if (comm != MPI_COMM_NULL) measure(comm, N > 1 ? (long long)(N + 0.5) : 1, f);
        if (world_rank == 0) {
            f->scaling = n < count ? "strong" : "weak";
            f->gain = FLOPS(f->N) / f->seconds / (FLOPS(one->N) / one->seconds);
            predict(f);
            print_row(f);
            good = *f->verdict == 'o';
        }
        MPI_Ibcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        while (MPI_Test(&request, &there, MPI_STATUS_IGNORE), !there)
            nanosleep(&nap, NULL); /* a core may be needed by the ranks that multiply */
    }
    if (world_rank != 0 || !good) return good;
    figures node = lines[count > 1]; /* messages between two ranks, the speed of one alone */
    node.rate = lines[0].rate, node.panel = asked_panel;
    if (network[1] > 0) node.latency = network[0] * 1e-6, node.bandwidth = network[1] * 1e9;
    if (node.bandwidth > 0)
        print_model(&node);
    else
        printf("\nModel: it needs two ranks to measure messages between, or --network.\n");
    printf("\nstrong: one product over more ranks; weak: as much memory to each, N grows;\n"
           "efficiency: speed-up / ranks; waits: part of the time without a product, of the\n"
           "model the part of broadcasts in all work; model ms: with the rates measured at that\n"
           "many ranks.\n");
    return good;
}

/* Who runs where, and what is shared: what speed-ups can mean here. Takes this rank's device. */
static void find_place(int devices)
{
    MPI_Comm node;
    int rank, ranks, nodes, share = ON_CPU ? (int)sysconf(_SC_NPROCESSORS_ONLN) : devices;
    struct cudaDeviceProp device;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank), MPI_Comm_size(node, &ranks), MPI_Comm_free(&node);
    nodes = (int)combine(rank == 0, MPI_SUM, MPI_COMM_WORLD);
    CHECK(cudaSetDevice(rank % devices)), CHECK(cudaGetDeviceProperties(&device, rank % devices));
    CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
    for (int n = 0; n < SLOTS; n++)
        CHECK(cudaEventCreateWithFlags(&multiplied[n], cudaEventDisableTiming));
    if (world_rank != 0) return;
    printf("C = A B, %lld x %lld, ranks: %d, nodes: %d; rank 0 on %s\nPanels go %s.\n", asked_N,
           asked_N, world_size, nodes, device.name,
           direct ? "from device to device" : "through pinned host memory");
    if (ON_CPU)
        printf("Times are CPU times. A product keeps its rank busy: no broadcast is hidden.\n");
    if (ON_CPU || ranks > share)
        printf("The %d ranks of a node share %s: %d.%s\n", ranks, ON_CPU ? "cores" : "devices",
               share, ranks > share ? " They take turns: speed-ups say little." : "");
    printf("\n%-9s%-8s%-7s%7s%8s%6s%5s%5s%12s%12s%9s%11s%8s%12s  check\n", "source", "scaling",
           "type", "N", "panel", "ranks", "rows", "cols", "ms", "GFLOP/s", "speed-up", "efficiency",
           "waits", "model ms");
}

static int run(int count, char **words)
{
    int devices = 0, parsed = parse_options(count, words), good = 1;
    if (parsed < 0 && world_rank == 0) print_help();
    if (parsed <= 0) return parsed < 0 ? 0 : 2;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
    if (combine(devices, MPI_MIN, MPI_COMM_WORLD) < 1) {
        if (world_rank == 0)
            fputs("matmul_mpi: no usable CUDA device; on the CPU: ./build.sh run matmul_mpi\n",
                  stderr);
        return 2;
    }
    if (csv_name && world_rank == 0) good = write_csv(csv_name, 1);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!good) return 2;
#ifdef MPIX_CUDA_AWARE_SUPPORT
    direct = !staged && MPIX_Query_cuda_support() == 1;
#endif
    find_place(devices);
    good = measure_all();
    if (csv_name && world_rank == 0 && good) good = write_csv(csv_name, 0);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (world_rank == 0) printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}

int main(int count, char **words)
{
    check_output(); /* before MPI opens files */
    atexit(check_output);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int status = run(count, words);
    MPI_Finalize();
    cudaDeviceReset(); /* streams and events */
    return status;
}
