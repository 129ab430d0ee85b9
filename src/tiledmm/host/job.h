/* src/tiledmm/host/job.h. HOST MACHINERY: what tmm_?gemm_host does for elements of any type, and its structs.
   Uses: once/. Used by: host/. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_JOB)
#define TMM__PART_HOST_JOB
/* What tmm_?gemm_host does, for elements of any type. One thread, the caller's, makes all calls to
   CUDA; helper threads only copy host memory.

   The rows of C are shared out over the devices. Each device has its rows as blocks, and for each
   block C(i, j) adds up A(i, k) B(k, j) over the parts k of K, in ascending order:

                     B(k, j)                 Where K is cut (tmm__cut) depends on K and the size
                    +--+--+--+  FIRST        of an element alone, never on what memory there is,
                    |  |##|  |               and every kernel used sums in ascending k: the bits
              K     +--+--+--+               of an element depend on its row of A, its column of
                    |  |  |  |  DEPTH        B and K, on nothing else.
          K         +--+--+--+
         +--+--+    +--+--+--+
   A(i,k)|##|  |    |  |##|  | C(i, j)       task = (i, j, k); a device has a list of them
         +--+--+    +--+--+--+

   No kernel starts before a part of B has arrived, which for float 8192 takes 2.4 ms if it is 4096
   deep: so the first part of K is short (TMM__HOST_FIRST), and its arithmetic lasts until the
   second has come. The last is deep, because C can leave only while that is multiplied.

   Device memory holds slots for parts of A, of B and blocks of C. Two cursors go along the list:
     request   finds slots for what the task needs and starts the copies into them; a part that is
               there already stays where it is, otherwise the slot whose last use is oldest is taken
     launch    starts the kernels of tasks whose copies have been started
   Ahead of the request cursor nothing is on any stream, so that cancelling is quick; it is at most
   4 TMM__AHEAD tasks ahead of the launch cursor, and that TMM__AHEAD ahead of what is complete.
   Streams of a device:

     in        A(0,0) B(0,0) | B(0,1) | A(1,0) | ...    ready: an event for each slot
     compute 0                | C(0,0) |        | C(1,0) ...    used: one for each slot and stream
     compute 1                         | C(0,1) |       ...     (the next owner waits for it)
     out                               | C(0,0) | C(0,1) ...    drained: the slot of C is free

   Order of the tasks: if A and B fit on the device, squares that grow (each new row or column of
   blocks uses all that has arrived), and if C fits, too, for one part of K after the other: half of
   the arithmetic is then at hand when half of A and B has arrived, by squares alone a quarter.
   Otherwise a group of rows of A stays while B passes by, to and fro, so that the last columns of B
   serve twice.

   With several devices that hold all of B, each uploads its share of the parts, in turn, in the
   order in which they are needed, and the others copy them from there.

   Pageable memory passes through a ring of pinned chunks: helper threads copy between it and the
   chunks, while the copies between chunks and device go on. */
/* Tests make these smaller. */
#ifndef TMM__HOST_PITCH
#define TMM__HOST_PITCH INT_MAX /* bytes from line to line, at most, in one copy: CUDA's limit */
#endif
#ifndef TMM__HOST_DEPTH
#define TMM__HOST_DEPTH 4096 /* part of what defines the bits */
#endif
#ifndef TMM__HOST_FIRST
#define TMM__HOST_FIRST 1536 /* so is this */
#endif
#ifndef TMM__HOST_CHUNK
#define TMM__HOST_CHUNK (4 << 20) /* bytes of a pinned chunk */
#endif
#ifndef TMM__MULTI_COLUMNS
#define TMM__MULTI_COLUMNS 512 /* of B that tmm_?gemm_multi gathers at a time, at least */
#endif
enum { TMM__MOST_STREAMS = 4, TMM__MOST_THREADS = 16, TMM__MOST_DEVICES = 64, TMM__AHEAD = 8 };
enum { TMM__HOST_LINE = 65536 }; /* bytes of a line of a block of B and C, where N allows */

#ifdef _WIN32
#define TMM__THREADS      0 /* the calling thread copies */
#define TMM__YIELD()      ((void)0)
#define TMM__LOCK(lock)   ((void)0)
#define TMM__UNLOCK(lock) ((void)0)
#else
#define TMM__THREADS      1
#define TMM__YIELD()      ((void)sched_yield())
#define TMM__LOCK(lock)   ((void)pthread_mutex_lock(lock))
#define TMM__UNLOCK(lock) ((void)pthread_mutex_unlock(lock))
#endif

/* A status with the device's number in front of its sentence. */
static inline tmm_status tmm__named(int device, tmm_status status)
{
    char text[256];
    if (status == TMM_OK) return status;
    memcpy(text, tmm__message(), sizeof text);
    return tmm__fail(status, "device %d: %s", device, text);
}

static inline tmm_status tmm__on(int device, cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return TMM_OK;
    if (error == cudaErrorInvalidDevice) {
        (void)cudaGetLastError();
        return tmm__fail(TMM_ERROR_DEVICE, "device %d: %s: %s", device, what,
                         cudaGetErrorString(error));
    }
    return tmm__named(device, tmm__cuda(error, what));
}

/* What is asked for. */
typedef struct tmm__job {
    tmm_op opA, opB;
    long long M, N, K; /* K is 0 if A and B are not read */
    size_t size;       /* of an element */
    const char *A, *B;
    char *C;
    long long lda, ldb, ldc;
    const void *alpha, *beta;
    int reads_C;
    tmm_kernel kernel;
    int may; /* TMM__PACK */
    /* Enqueues C = alpha op(A) op(B) + (more ? 1 : beta) C on device memory. */
    tmm_status (*launch)(const struct tmm__job *job, long long M, long long N, long long K,
                         const void *A, long long lda, const void *B, long long ldb, int more,
                         void *C, long long ldc, tmm_stream stream);
} tmm__job;

/* One copy between host and device: `rows` lines of `width` bytes. */
typedef struct tmm__transfer {
    struct tmm__transfer *next;
    char *device_memory, *host;
    size_t device_pitch, host_pitch, width, rows;
    size_t begun, started, done, chunks; /* staged: begun in turn, on a stream, complete */
    cudaStream_t stream;
    cudaEvent_t event; /* recorded behind it */
    int issued;        /* so `event` has been recorded */
} tmm__transfer;

/* Device memory for a part of A or B. */
typedef struct tmm__slot {
    char *memory;
    long long holds; /* number of the part, or -1 */
    long long last;  /* the last task known to need it */
    tmm__transfer copy;
    cudaEvent_t used[TMM__MOST_STREAMS];
    int in_use; /* bit s: used[s] has been recorded */
} tmm__slot;

typedef enum tmm__place_state { TMM__FREE, TMM__FILLING, TMM__DRAINING } tmm__place_state;

/* Device memory for a block of C. */
typedef struct tmm__place {
    char *memory;
    tmm__place_state state;
    long long i, j;
    tmm__transfer in, out;
    cudaEvent_t computed;
} tmm__place;

typedef struct tmm__task {
    int i, j, k;
} tmm__task;

/* How a device works on its rows. */
typedef struct tmm__layout {
    long long rows, bm, bn; /* of C, a block */
    long long ni, nj, nk;   /* how many of these, and parts of K */
    long long nA, nB, nC;   /* slots */
    long long first;        /* parts of K in the first run over all of C; then each has a run */
    /* Rows of blocks that stay while B passes; 0: all is resident, each part of A and B in a slot of
       its own, which has its size. */
    long long group;
    size_t bytesA, bytesB; /* of a slot for any part */
    size_t pitchC, bytesC, bytes;
} tmm__layout;

typedef struct tmm__worker {
    int number, device; /* in the list; CUDA's */
    int rank;           /* among those that share B */
    long long shared;   /* parts of its share of B that it has uploaded */
    long long row;      /* the first of C */
    tmm__layout layout;
    char *memory;
    int owns_memory;
    cudaMemPool_t pool; /* that the memory is from; NULL: cudaMalloc, or the caller's */
    tmm__slot *A, *B;
    tmm__place *C;
    long long *whereA, *whereB, *whereC; /* the slot of each part, or -1 */
    tmm__task *tasks;
    long long task_count, requested, launched, blocks_done;
    cudaStream_t in, peer, out, compute[TMM__MOST_STREAMS];
    cudaEvent_t start, last[TMM__AHEAD]; /* of tasks launched last */
    int started;
    tmm__transfer *up, **up_end, *down, **down_end; /* staged transfers that wait for chunks */
    long long issued[2], arrived[2];                /* chunks put on streams, down and up */
    double seconds, bytes_in, bytes_peer, bytes_out;
} tmm__worker;

typedef enum tmm__chunk_state {
    TMM__IDLE,
    TMM__COPYING_IN, /* host memory to chunk, by a helper */
    TMM__GOING_UP,   /* chunk to device */
    TMM__GOING_DOWN, /* device to chunk */
    TMM__COPYING_OUT /* chunk to host memory, by a helper */
} tmm__chunk_state;

typedef struct tmm__chunk {
    char *memory;
    tmm__chunk_state state;
    int copied;       /* by the helper, which says so last */
    long long number; /* of the worker's chunks in this direction, which complete in this order */
    tmm__worker *worker;
    tmm__transfer *transfer;
    char *host, *device_memory;
    size_t width, rows;
    cudaEvent_t *events; /* one for each device, made when first used */
} tmm__chunk;

/* The helper threads and what they are to copy. */
typedef struct tmm__crew {
    int threads, quit, waiting; /* `waiting` chunks are in the queue */
    int first;
    tmm__chunk *queue[2 * TMM__MOST_THREADS];
#if TMM__THREADS
    pthread_t thread[TMM__MOST_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t wake;
#endif
} tmm__crew;

typedef struct tmm__host {
    tmm__job job;
    const tmm_host_options *options;
    int count;                     /* devices of the list */
    int peers;                     /* those that have rows, if they share B; else 0 */
    int active[TMM__MOST_DEVICES]; /* numbers of those that have rows */
    unsigned char reach[TMM__MOST_DEVICES][TMM__MOST_DEVICES]; /* [to][from] by peer copies */
    int streams;
    tmm__worker *workers;
    long long asked; /* the last turn of a part of B that some device has come to */
    int staged_A, staged_B, staged_C;
    char *pinned;
    size_t pinned_bytes;
    int owns_pinned, chunk_count;
    int turn; /* of the devices, to get a chunk */
    tmm__chunk chunks[2 * TMM__MOST_THREADS];
    tmm__crew crew;
    double done; /* elements of C */
} tmm__host;
#endif
