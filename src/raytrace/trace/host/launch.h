/* src/raytrace/trace/host/launch.h. Launches of KERNEL TRACE.
   Uses: config.h, types.h, host/, kernels/constant.cuh, trace/. Used by: trace.h. */
#if RAYT__HOST && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TRACE_LAUNCH)
#define RAYT__PART_TRACE_LAUNCH
/* ============================== TRACE: LAUNCHERS ============================================== */
/* Puts the first spheres into the table of RAYT_CONSTANT, in the order of the stream. */
static inline rayt_status rayt__fill_table(const rayt__trace_view *view, cudaStream_t stream)
{
    const int capacity = RAYT_MAX_CONST / 16;
    int held = view->count < capacity ? view->count : capacity;
    float4 *table = NULL;
    if (held == 0) return RAYT_OK;
    rayt_status status = rayt__cuda(cudaGetSymbolAddress((void **)&table, rayt_table),
                                    "address of the constant memory");
    if (status != RAYT_OK) return status;
    cudaLaunchConfig_t config =
        rayt__config((held - 1) / RAYT__TRACE_THREADS + 1, RAYT__TRACE_THREADS, stream);
    return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_fill, view->spheres, held, table));
}

/* The rows first_row .. first_row + rows - 1 of the view, to `band`: at most 2^30 tiles. */
static inline rayt_status rayt__launch_trace(rayt_where where, const rayt__trace_view *view,
                                             uchar4 *band, cudaStream_t stream)
{
    int across = ((view->width - 1) >> view->tile_bits) + 1;
    int down = ((view->rows - 1) >> view->tile_bits) + 1;
    cudaLaunchConfig_t config = rayt__config(across * down, RAYT__TRACE_THREADS, stream);
    switch (where) {
    case RAYT_GLOBAL:
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_global, *view, band));
    case RAYT_READONLY:
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_readonly, *view, band));
    case RAYT_CONSTANT:
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_constant, *view, band));
    case RAYT_TREE:
        if (view->tree.list != NULL)
            return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_list, *view, band));
        if (view->samples < RAYT__MANY_SAMPLES)
            return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_bundles, *view, band));
        return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_tree, *view, band));
    default: return rayt__launched(cudaLaunchKernelEx(&config, rayt_trace_shared, *view, band));
    }
}

/* All rows of the view, in as many launches as that takes. */
static inline rayt_status rayt__trace_rows(rayt_where where, rayt__trace_view *view,
                                           unsigned char *band, cudaStream_t stream)
{
    int first_row = view->first_row, rows = view->rows;
    int most = (1 << 30) / (((view->width - 1) >> view->tile_bits) + 1);
    rayt_status status = RAYT_OK;
    if (where == RAYT_CONSTANT) {
        rayt__take_table();
        status = rayt__fill_table(view, stream);
    }
    for (int done = 0; done < rows && status == RAYT_OK; done += most) {
        view->first_row = first_row + done;
        view->rows = rows - done < most ? rows - done : most;
        status =
            rayt__launch_trace(where, view, (uchar4 *)band + (size_t)done * view->width, stream);
    }
    if (where == RAYT_CONSTANT) rayt__leave_table();
    return status;
}
#endif
