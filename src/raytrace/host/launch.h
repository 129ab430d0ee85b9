/* src/raytrace/host/launch.h. Launches of one band of rows.
   Uses: config.h, intersection.cuh, types.h, scratch.h, status.h, kernels/.
   Used by: render.h, trace/host/. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_LAUNCH)
#define RAYT__PART_LAUNCH
/* ============================== LAUNCHERS ===================================================== */
/* A band that one launch can do: at most rayt__max_rows(width) rows. */
typedef struct rayt__job {
    const rayt_sphere *spheres;
    int count;
    uchar4 *band;
    int width, height, first_row, rows; /* of the image, and of the band in it */
    cudaStream_t stream;
} rayt__job;

/* The lists that BINNING makes, as KERNEL TILE takes them. */
typedef struct rayt__bins {
    const int *starts, *counts, *lists;
} rayt__bins;

/* From this many spheres on, binning takes less time than it saves. */
enum { RAYT__MIN_BINNED = 12288 };

/* Kernels are launched by cudaLaunchKernelEx, because <<<>>> has no status of its own. After <<<>>>
   only cudaGetLastError remains, which may give an older error of the caller, and clears it. */
static inline cudaLaunchConfig_t rayt__config(dim3 grid, dim3 block, cudaStream_t stream)
{
    cudaLaunchConfig_t config = cudaLaunchConfig_t();
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    return config;
}

static inline cudaLaunchConfig_t rayt__thread_per_pixel(const rayt__job *job)
{
    enum { EDGE = 16 };
    dim3 grid((job->width - 1) / EDGE + 1, (job->rows - 1) / EDGE + 1);
    return rayt__config(grid, dim3(EDGE, EDGE), job->stream);
}

static inline cudaLaunchConfig_t rayt__thread_per_item(int count, cudaStream_t stream)
{
    return rayt__config((count - 1) / RAYT__THREADS + 1, RAYT__THREADS, stream);
}

/* There is one table. The kernels that fill it and those that read it go into streams by one thread at
   a time, or two threads with the same stream would draw each other's spheres. */
static volatile long rayt__table_taken;
#ifdef _MSC_VER /* which <intrin.h> declares, and much else */
extern "C" long _InterlockedExchange(long volatile *, long);
#pragma intrinsic(_InterlockedExchange)
#endif

static inline void rayt__take_table(void)
{
#ifdef _MSC_VER
    while (_InterlockedExchange(&rayt__table_taken, 1)) {
    }
#else
    while (__atomic_exchange_n(&rayt__table_taken, 1, __ATOMIC_ACQUIRE)) {
    }
#endif
}

static inline void rayt__leave_table(void)
{
#ifdef _MSC_VER
    _InterlockedExchange(&rayt__table_taken, 0);
#else
    __atomic_store_n(&rayt__table_taken, 0, __ATOMIC_RELEASE);
#endif
}

static inline rayt_status rayt__launch_constant(const rayt__job *job)
{
    const int capacity = RAYT_MAX_CONST / 64 * 2; /* spheres in the table */
    cudaLaunchConfig_t per_pixel = rayt__thread_per_pixel(job);
    rayt__scratch scratch;
    /* The table is device memory like any other. A kernel may write it by its address while none
       reads it as constants, and the next kernel finds it so (N. Wilt, "The CUDA Handbook", 2013,
       section 5.3). That saves a copy, 3 us. Code for which NVIDIA's guidelines for safety-critical
       CUDA C++ are binding (rule 1.12: no device code changes constants) copies instead, by
       cudaMemcpyToSymbolAsync from memory that rayt_split has filled. */
    float4 *table = NULL;
    rayt_status status = rayt__cuda(cudaGetSymbolAddress((void **)&table, rayt_table),
                                    "address of the constant memory");
    scratch.memory = NULL;
    if (status == RAYT_OK && job->count > capacity)
        status = rayt__scratch_alloc(&scratch, (size_t)job->width * job->rows * sizeof(float),
                                     job->stream);
    if (status != RAYT_OK) return status;
    float *depths = (float *)scratch.memory;
    int first = 0, pass = 0;
    rayt__take_table();
    do { /* once also for no spheres: the image must become black */
        int part = job->count - first < capacity ? job->count - first : capacity;
        if (part > 0) {
            cudaLaunchConfig_t per_sphere = rayt__thread_per_item(part + part % 2, job->stream);
            status = rayt__launched(
                cudaLaunchKernelEx(&per_sphere, rayt_split, job->spheres + first, part, table));
        }
        if (status == RAYT_OK)
            status = rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_constant, part, pass,
                                                       depths, job->band, job->width, job->height,
                                                       job->first_row, job->rows));
        first += part;
        pass++;
    } while (status == RAYT_OK && first < job->count);
    rayt__leave_table();
    return scratch.memory ? rayt__scratch_free(&scratch, job->stream, status) : status;
}

static inline rayt__grid rayt__make_grid(const rayt__job *job, int edge)
{
    rayt__grid grid = {job->width,
                       job->height,
                       job->first_row,
                       edge,
                       (job->width - 1) / edge + 1,
                       (job->rows - 1) / edge + 1};
    return grid;
}

/* KERNEL TILE; every tile tries all spheres if the lists are NULL. */
static inline rayt_status rayt__launch_tiles(const rayt__job *job, rayt__grid grid, rayt__bins bins)
{
    cudaLaunchConfig_t per_tile = rayt__config(grid.across * grid.down, RAYT__THREADS, job->stream);
    if (grid.edge == 64)
        return rayt__launched(cudaLaunchKernelEx(&per_tile, rayt_render_tile_64, job->spheres,
                                                 job->count, bins.starts, bins.counts, bins.lists,
                                                 job->band, job->width, job->height, job->first_row,
                                                 job->rows));
    return rayt__launched(cudaLaunchKernelEx(&per_tile, rayt_render_tile_32, job->spheres,
                                             job->count, bins.starts, bins.counts, bins.lists,
                                             job->band, job->width, job->height, job->first_row,
                                             job->rows));
}

static inline rayt_status rayt__launch_unbinned(const rayt__job *job, rayt__grid grid)
{
    rayt__bins none = {NULL, NULL, NULL};
    return rayt__launch_tiles(job, grid, none);
}

/* The kernels of BINNING, then KERNEL TILE. */
static inline rayt_status rayt__launch_binned(const rayt__job *job, rayt__grid grid)
{
    /* Room for 8 tiles a sphere and, for scenes of huge spheres, 64 spheres a tile. */
    size_t tiles = (size_t)grid.across * grid.down, capacity = 8 * (size_t)job->count + 64 * tiles;
    if (capacity > INT_MAX) capacity = INT_MAX;
    size_t total_bytes = 16, table_bytes = (tiles * 4 + 15) / 16 * 16;
    rayt__scratch scratch;
    rayt_status status =
        rayt__scratch_alloc(&scratch, total_bytes + 3 * table_bytes + capacity * sizeof(int),
                            job->stream);
    if (status != RAYT_OK) return status;
    unsigned long long *total = (unsigned long long *)scratch.memory;
    unsigned *covers = (unsigned *)(scratch.memory + total_bytes);
    int *counts = (int *)(scratch.memory + total_bytes + table_bytes);
    int *starts = (int *)(scratch.memory + total_bytes + 2 * table_bytes);
    int *lists = (int *)(scratch.memory + total_bytes + 3 * table_bytes);
    rayt__bins bins = {starts, counts, lists};
    const int *no_starts = NULL;
    int *no_lists = NULL;
    cudaLaunchConfig_t per_sphere = rayt__thread_per_item(job->count, job->stream);
    cudaLaunchConfig_t per_tile = rayt__thread_per_item((int)tiles, job->stream);
    status =
        rayt__cuda(cudaMemsetAsync(scratch.memory, 0, total_bytes + 2 * table_bytes, job->stream),
                   "cudaMemset");
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&per_sphere, rayt_bin_cover, job->spheres,
                                                   job->count, grid, covers));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&per_sphere, rayt_bin_spheres, job->spheres,
                                                   job->count, grid, covers, no_starts, counts,
                                                   no_lists));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&per_tile, rayt_bin_place, (int)tiles,
                                                   (int)capacity, total, starts, counts));
    if (status == RAYT_OK)
        status =
            rayt__launched(cudaLaunchKernelEx(&per_sphere, rayt_bin_spheres, job->spheres,
                                              job->count, grid, covers, starts, counts, lists));
    if (status == RAYT_OK) status = rayt__launch_tiles(job, grid, bins);
    return rayt__scratch_free(&scratch, job->stream, status);
}

/* Multiprocessors of the current device; 1 if there is none, for the launch to report that. */
static inline int rayt__processors(void)
{
    int device = 0, count = 0;
    if (cudaGetDevice(&device) == cudaSuccess)
        (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count > 0 ? count : 1;
}

/* Tiles of 64, unless that leaves multiprocessors without one. With bins, tiles of 32 also where
   spheres are so numerous that those which can be seen must be small. */
static inline rayt__grid rayt__choose_grid(const rayt__job *job)
{
    rayt__grid grid = rayt__make_grid(job, 64);
    if (grid.across * grid.down < rayt__processors() ||
        (job->count >= RAYT__MIN_BINNED && (double)job->width * job->rows < 16.0 * job->count))
        grid = rayt__make_grid(job, 32);
    return grid;
}

static inline rayt_status rayt__launch(rayt_where where, const rayt__job *job)
{
    cudaLaunchConfig_t per_pixel = rayt__thread_per_pixel(job);
    switch (where) {
    case RAYT_CONSTANT: return rayt__launch_constant(job);
    case RAYT_CULLED:
        return job->count >= RAYT__MIN_BINNED ? rayt__launch_binned(job, rayt__choose_grid(job))
                                              : rayt__launch_unbinned(job, rayt__choose_grid(job));
    case RAYT_GLOBAL:
        return rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_global, job->spheres,
                                                 job->count, job->band, job->width, job->height,
                                                 job->first_row, job->rows));
    case RAYT_READONLY:
        return rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_readonly, job->spheres,
                                                 job->count, job->band, job->width, job->height,
                                                 job->first_row, job->rows));
    default:
        return rayt__launched(cudaLaunchKernelEx(&per_pixel, rayt_render_shared, job->spheres,
                                                 job->count, job->band, job->width, job->height,
                                                 job->first_row, job->rows));
    }
}
#endif
