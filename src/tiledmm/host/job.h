/* src/tiledmm/host/job.h. HOST MACHINERY: how tmm_?gemm_host works; its structs.
   Uses: once/. Used by: host/, type/host_layer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
/* What tmm_?gemm_host does, for elements of any type. The calling thread makes all calls to CUDA.
   Helper threads only copy host memory.

   Each device computes some rows of C, in blocks. A block C(i, j) is the sum of A(i, k) B(k, j)
   over the parts k of K, in ascending order:

                     B(k, j)                 Where K is cut (tmm__k_begin) depends on K and the size
                    +--+--+--+  FIRST        of an element alone, never on memory. Every kernel used
                    |  |##|  |               sums in ascending k. So the bits of an element depend
              K     +--+--+--+               on its row of A, its column of B and K alone.
                    |  |  |  |  DEPTH
          K         +--+--+--+
         +--+--+    +--+--+--+
   A(i,k)|##|  |    |  |##|  | C(i, j)       task = (i, j, k); each device has a list of tasks
         +--+--+    +--+--+--+

   No kernel starts before a part of B has arrived. So the first part of K is short
   (TMM__HOST_FIRST); its arithmetic lasts until the second has arrived. The last part is deep: C
   leaves the device while that part is multiplied.

   Two cursors go along the list of tasks:
     request   finds slots for the operands of a task and starts the copies into them. A part that a
               slot holds already stays there; otherwise the slot whose last use is oldest is taken.
     launch    starts the kernels of tasks whose copies have been started.
   Nothing beyond the request cursor is on any stream, so that cancelling is quick. It is at most
   4 TMM__AHEAD tasks ahead of the launch cursor, and that TMM__AHEAD ahead of what is complete.
   Streams of a device:

     in        A(0,0) B(0,0) | B(0,1) | A(1,0) | ...    ready: an event for each slot
     compute 0                | C(0,0) |        | C(1,0) ...    used: one for each slot and stream
     compute 1                         | C(0,1) |       ...     (the next owner waits for it)
     out                               | C(0,0) | C(0,1) ...    drained: the slot of C is free

   Order of the tasks, if A and B fit on the device: growing squares. Each new row or column of
   blocks uses all that has arrived. If C fits as well, one part of K follows the other. Half of the
   arithmetic can then be done with half of A and B, by squares alone a quarter. If A and B do not
   fit, a group of block rows of A stays while B passes, to and fro: the last columns serve twice.

   If several devices hold all of B, each uploads a share of its parts, and the others copy these
   from there. Parts are uploaded in the order in which tasks need them, by the devices in turn.

   Pageable memory passes through a ring of pinned chunks. Helper threads copy between it and the
   chunks while other chunks are copied to and from devices. */

/* Tests make these smaller. */
#ifndef TMM__HOST_PITCH
#define TMM__HOST_PITCH INT_MAX /* bytes from line to line in one copy, at most: CUDA's limit */
#endif
#ifndef TMM__HOST_DEPTH
#define TMM__HOST_DEPTH 4096 /* of a part of K, at most; the bits depend on it */
#endif
#ifndef TMM__HOST_FIRST
#define TMM__HOST_FIRST 1536 /* depth of a short first part; the bits depend on it */
#endif
#ifndef TMM__HOST_CHUNK
#define TMM__HOST_CHUNK (4 << 20) /* bytes of a pinned chunk */
#endif
#ifndef TMM__MULTI_COLUMNS
#define TMM__MULTI_COLUMNS 512 /* of B that tmm_?gemm_multi gathers at a time, at least */
#endif
enum { TMM__MAX_STREAMS = 4, TMM__MAX_THREADS = 16, TMM__MAX_DEVICES = 64, TMM__AHEAD = 8 };
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

static inline tmm_status tmm__add_device(int device, tmm_status status)
{
    char text[256];
    if (status == TMM_OK) return status;
    memcpy(text, tmm__message(), sizeof text);
    return tmm__fail(status, "device %d: %s", device, text);
}

/* A CUDA error as a status that names the device; `what` is the call that returned it. */
static inline tmm_status tmm__device_error(int device, cudaError_t error, const char *what)
{
    if (tmm__succeeded(error)) return TMM_OK;
    if (error == cudaErrorInvalidDevice)
        return tmm__fail(TMM_ERROR_DEVICE, "device %d: %s: %s", device, what,
                         cudaGetErrorString(error));
    return tmm__add_device(device, tmm__cuda(error, what));
}

/* Words that have one meaning in host/:
     part       of K: A and B are cut along K in the same places; also A(i, k) or B(k, j) itself
     block      bm x bn elements of C
     slot       device memory for a part of A or B; a block slot is for a block of C
     worker     a device of the list, its rows of C and all that it works with
     group      block rows of A that stay on a device while B passes
     rank       number of a worker among those that share the upload of B
     transfer   a copy between host memory and a slot; staged: through chunks
     chunk      a piece of pinned memory in the ring
     helper     a thread that copies between pageable memory and chunks */

/* A product of device memory: C = alpha op(A) op(B) + (adds ? 1 : beta) C. */
typedef struct tmm__block_product {
    long long M, N, K;
    const void *A, *B;
    void *C;
    long long lda, ldb, ldc;
    int adds;
} tmm__block_product;

/* What the caller wants. */
typedef struct tmm__job {
    tmm_op opA, opB;
    long long M, N, K; /* K is 0 if A and B are not read */
    size_t size;       /* of an element of A and B */
    size_t size_C;
    long long depth; /* of a part of K, at most */
    const char *A, *B;
    char *C;
    long long lda, ldb, ldc;
    const void *alpha, *beta;
    int reads_C;
    tmm_kernel kernel;
    int allowed; /* TMM__PACK: kernels may take memory for packed operands */
    /* Enqueues a product with the job's type, ops, alpha, beta and kernel. */
    tmm_status (*launch)(const struct tmm__job *job, const tmm__block_product *block,
                         tmm_stream stream);
} tmm__job;

typedef struct tmm__transfer {
    struct tmm__transfer *next;
    char *device_memory, *host;
    size_t device_pitch, host_pitch, width, rows;
    size_t chunks;               /* that it takes; 0: not staged */
    size_t begun, started, done; /* chunks that have been assigned, are on a stream, are complete */
    cudaStream_t stream;
    cudaEvent_t event; /* recorded after the copy */
    int issued;        /* `event` has been recorded */
} tmm__transfer;

/* Device memory for a part of A or B. */
typedef struct tmm__slot {
    char *memory;
    long long holds;    /* number of the part, or -1 */
    long long last_use; /* the last task known to need it */
    tmm__transfer copy;
    cudaEvent_t used[TMM__MAX_STREAMS];
    int in_use; /* bit s: used[s] has been recorded */
} tmm__slot;

typedef enum tmm__block_state { TMM__FREE, TMM__FILLING, TMM__DRAINING } tmm__block_state;

/* Device memory for a block of C. */
typedef struct tmm__block_slot {
    char *memory;
    tmm__block_state state;
    long long i, j;
    tmm__transfer in, out;
    cudaEvent_t computed;
} tmm__block_slot;

typedef struct tmm__task {
    int i, j, k;
} tmm__task;

/* How a device works on its rows. */
typedef struct tmm__layout {
    long long rows;       /* of C */
    long long bm, bn;     /* rows and columns of a block */
    long long ni, nj, nk; /* block rows, block columns, parts of K */
    long long nA, nB, nC; /* slots */
    long long first_run;  /* parts of K in the first run over all of C; each other part has a run */
    long long group;      /* block rows; 0: all of A and B is resident, each part in its own slot */
    size_t bytesA, bytesB; /* of the largest part */
    size_t pitchC, bytesC; /* of a block */
    size_t bytes;          /* of all slots */
} tmm__layout;

typedef struct tmm__worker {
    int number;         /* in the list of devices */
    int device;         /* CUDA's number */
    int rank;           /* among the workers that share B */
    long long uploaded; /* parts of its share of B for which copies have been started */
    long long row;      /* the first of C */
    tmm__layout layout;
    char *memory;
    cudaMemPool_t pool; /* of the memory; NULL: it is from cudaMalloc */
    tmm__slot *A, *B;
    tmm__block_slot *C;
    long long *slot_of_A, *slot_of_B, *slot_of_C; /* of each part and block; -1: none */
    tmm__task *tasks;
    long long task_count, requested, launched, blocks_done;
    cudaStream_t in, peer, out, compute[TMM__MAX_STREAMS];
    cudaEvent_t start, launch_done[TMM__AHEAD]; /* a ring: of the last TMM__AHEAD tasks launched */
    int started;
    tmm__transfer *uploads, **uploads_end;     /* staged transfers that wait for chunks */
    tmm__transfer *downloads, **downloads_end; /* likewise; `end` is where the next is linked */
    long long issued[2], arrived[2];           /* chunks put on streams: down, up; complete */
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
    int copied;       /* set by the helper when it has finished */
    long long number; /* among the worker's chunks in this direction, which complete in order */
    tmm__worker *worker;
    tmm__transfer *transfer;
    char *host, *device_memory;
    size_t width, rows;
    cudaEvent_t *events; /* one for each device, made when first used */
} tmm__chunk;

/* The helper threads and their queue. */
typedef struct tmm__helpers {
    int threads, quit;
    int first, waiting; /* in the queue */
    tmm__chunk *queue[2 * TMM__MAX_THREADS];
#if TMM__THREADS
    pthread_t thread[TMM__MAX_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t wake;
#endif
} tmm__helpers;

typedef struct tmm__host {
    tmm__job job;
    const tmm_host_options *options;
    int count; /* devices of the list */
    int peers; /* workers that share the upload of B; 0: each uploads all of it */
    int active[TMM__MAX_DEVICES]; /* list numbers of those that have rows, by rank */
    unsigned char reach[TMM__MAX_DEVICES][TMM__MAX_DEVICES]; /* [to][from] by peer copies */
    int streams;
    tmm__worker *workers;
    long long needed; /* position of the last part of B that some task has needed */
    int staged_A, staged_B, staged_C;
    char *pinned;
    size_t pinned_bytes;
    int chunk_count;
    int next_worker; /* that may get a chunk */
    tmm__chunk chunks[2 * TMM__MAX_THREADS];
    tmm__helpers helpers;
    double done; /* elements of C */
} tmm__host;
#endif
