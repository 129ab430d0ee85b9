/* src/raytrace/host/launch.h. Launches of one band of rows.
   Uses: kernels/, host/scratch.h. Used by: host/render.h. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_LAUNCH)
#define RAYT__PART_LAUNCH
/* ============================== LAUNCHERS ===================================================== */
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

static inline rayt_status rayt__launch_constant(const rayt_sphere *spheres, int count, uchar4 *band,
                                                int width, int height, int first_row, int rows,
                                                cudaStream_t stream)
{
    const int capacity = RAYT_MAX_CONST / 64 * 2;
    size_t depth_bytes = (size_t)width * rows * sizeof(float);
    cudaLaunchConfig_t by_pixel =
        rayt__config(dim3((width - 1) / 16 + 1, (rows - 1) / 16 + 1), dim3(16, 16), stream);
    rayt__scratch scratch;
    /* The table is device memory like any other: a kernel may write it by its address while none
       reads it as constants, and the next kernel finds it so (N. Wilt, "The CUDA Handbook", 2013,
       section 5.3). That saves a copy, 3 us. Code for which NVIDIA's guidelines for safety-critical
       CUDA C++ are binding (rule 1.12: no device code changes constants) copies instead, by
       cudaMemcpyToSymbolAsync from memory that rayt_split has filled. */
    float4 *table = NULL;
    rayt_status status = rayt__cuda(cudaGetSymbolAddress((void **)&table, rayt_table),
                                    "address of the constant memory");
    scratch.memory = NULL;
    if (status == RAYT_OK && count > capacity) status = rayt__take(&scratch, depth_bytes, stream);
    if (status != RAYT_OK) return status;
    float *depths = (float *)scratch.memory;
    int first = 0, pass = 0;
    do { /* once also for no spheres: the image must become black */
        int part = count - first < capacity ? count - first : capacity;
        if (part > 0) {
            int even = (part + 1) / 2 * 2;
            cudaLaunchConfig_t by_sphere = rayt__config((even - 1) / 256 + 1, 256, stream);
            status = rayt__launched(
                cudaLaunchKernelEx(&by_sphere, rayt_split, spheres + first, part, table));
        }
        if (status == RAYT_OK)
            status =
                rayt__launched(cudaLaunchKernelEx(&by_pixel, rayt_render_constant, part, pass,
                                                  depths, band, width, height, first_row, rows));
        first += part;
        pass++;
    } while (status == RAYT_OK && first < count);
    return scratch.memory ? rayt__give_back(&scratch, stream, status) : status;
}

/* KERNEL TILE with tiles of this edge; without bins if `starts` is NULL. */
static inline rayt_status rayt__launch_tiles(rayt__grid grid, const rayt_sphere *spheres, int count,
                                             const int *starts, const int *counts, const int *lists,
                                             uchar4 *band, int rows, cudaStream_t stream)
{
    cudaLaunchConfig_t by_tile = rayt__config(grid.across * grid.down, RAYT__THREADS, stream);
    if (grid.edge == 64)
        return rayt__launched(cudaLaunchKernelEx(&by_tile, rayt_render_tile_64, spheres, count,
                                                 starts, counts, lists, band, grid.width,
                                                 grid.height, grid.first_row, rows));
    return rayt__launched(cudaLaunchKernelEx(&by_tile, rayt_render_tile_32, spheres, count, starts,
                                             counts, lists, band, grid.width, grid.height,
                                             grid.first_row, rows));
}

/* The kernels of BINNING, then KERNEL TILE. */
static inline rayt_status rayt__launch_binned(rayt__grid grid, const rayt_sphere *spheres,
                                              int count, uchar4 *band, int rows,
                                              cudaStream_t stream)
{
    /* Room for 8 tiles a sphere and, for scenes of huge spheres, 64 spheres a tile. */
    size_t tiles = (size_t)grid.across * grid.down, capacity = 8 * (size_t)count + 64 * tiles;
    if (capacity > INT_MAX) capacity = INT_MAX;
    size_t total_bytes = 16, table_bytes = (tiles * 4 + 15) / 16 * 16;
    rayt__scratch scratch;
    rayt_status status =
        rayt__take(&scratch, total_bytes + 3 * table_bytes + capacity * sizeof(int), stream);
    if (status != RAYT_OK) return status;
    unsigned long long *total = (unsigned long long *)scratch.memory;
    unsigned *covers = (unsigned *)(scratch.memory + total_bytes);
    int *counts = (int *)(scratch.memory + total_bytes + table_bytes);
    int *starts = (int *)(scratch.memory + total_bytes + 2 * table_bytes);
    int *lists = (int *)(scratch.memory + total_bytes + 3 * table_bytes);
    const int *no_starts = NULL;
    int *no_lists = NULL;
    cudaLaunchConfig_t by_sphere = rayt__config((count - 1) / 256 + 1, 256, stream);
    cudaLaunchConfig_t by_tile = rayt__config((int)((tiles - 1) / 256 + 1), 256, stream);
    status = rayt__cuda(cudaMemsetAsync(scratch.memory, 0, total_bytes + 2 * table_bytes, stream),
                        "cudaMemset");
    if (status == RAYT_OK)
        status = rayt__launched(
            cudaLaunchKernelEx(&by_sphere, rayt_bin_cover, spheres, count, grid, covers));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&by_sphere, rayt_bin_spheres, spheres, count,
                                                   grid, covers, no_starts, counts, no_lists));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&by_tile, rayt_bin_place, (int)tiles,
                                                   (int)capacity, total, starts, counts));
    if (status == RAYT_OK)
        status = rayt__launched(cudaLaunchKernelEx(&by_sphere, rayt_bin_spheres, spheres, count,
                                                   grid, covers, starts, counts, lists));
    if (status == RAYT_OK)
        status =
            rayt__launch_tiles(grid, spheres, count, starts, counts, lists, band, rows, stream);
    return rayt__give_back(&scratch, stream, status);
}

/* Multiprocessors of the current device; 1 if there is none, for the launch to report that. */
static inline int rayt__processors(void)
{
    int device = 0, count = 0;
    if (cudaGetDevice(&device) == cudaSuccess)
        (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count > 0 ? count : 1;
}

/* From how many spheres on binning pays. */
enum { RAYT__BINNED = 12288 };

static inline rayt__grid rayt__make_grid(int edge, int width, int height, int first_row, int rows)
{
    rayt__grid grid = {
        width, height, first_row, edge, (width - 1) / edge + 1, (rows - 1) / edge + 1};
    return grid;
}

/* Tiles of 64, unless that leaves multiprocessors without one or, with bins, spheres are so many
   that they must be small to be seen. */
static inline rayt__grid rayt__choose_grid(int count, int width, int height, int first_row,
                                           int rows)
{
    rayt__grid grid = rayt__make_grid(64, width, height, first_row, rows);
    if (grid.across * grid.down < rayt__processors() ||
        (count >= RAYT__BINNED && (double)width * rows < 16.0 * count))
        grid = rayt__make_grid(32, width, height, first_row, rows);
    return grid;
}

/* A band that one launch can do: at most rayt__most_rows(width) rows. */
static inline rayt_status rayt__launch(rayt_where where, const rayt_sphere *spheres, int count,
                                       uchar4 *band, int width, int height, int first_row, int rows,
                                       cudaStream_t stream)
{
    cudaLaunchConfig_t by_pixel =
        rayt__config(dim3((width - 1) / 16 + 1, (rows - 1) / 16 + 1), dim3(16, 16), stream);
    switch (where) {
    case RAYT_CONSTANT:
        return rayt__launch_constant(spheres, count, band, width, height, first_row, rows, stream);
    case RAYT_CULLED: {
        rayt__grid tiles = rayt__choose_grid(count, width, height, first_row, rows);
        if (count >= RAYT__BINNED)
            return rayt__launch_binned(tiles, spheres, count, band, rows, stream);
        return rayt__launch_tiles(tiles, spheres, count, NULL, NULL, NULL, band, rows, stream);
    }
    case RAYT_GLOBAL:
        return rayt__launched(cudaLaunchKernelEx(&by_pixel, rayt_render_global, spheres, count,
                                                 band, width, height, first_row, rows));
    case RAYT_READONLY:
        return rayt__launched(cudaLaunchKernelEx(&by_pixel, rayt_render_readonly, spheres, count,
                                                 band, width, height, first_row, rows));
    default:
        return rayt__launched(cudaLaunchKernelEx(&by_pixel, rayt_render_shared, spheres, count,
                                                 band, width, height, first_row, rows));
    }
}
#endif
