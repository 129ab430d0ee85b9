/* src/raytrace/trace/kernel.cuh. The kernel of rayt_trace, for one kind of memory.
   Uses: trace/. Used by: callers. */
#if defined(RAYT__EMIT) && defined(RAYT__TRACE)
/* ============================== KERNEL TRACE ================================================== */
/* A block of 128 threads draws a tile of the picture, `samples` paths for each pixel. Tiles have 16 x
   16 pixels, or 8 x 8 if the samples are many: tiles take different times, and with smaller ones
   multiprocessors wait less for the last. Paths, too, are of very different lengths: one ends at once
   in the sky, another bounces fifty times. So a thread that has ended its path takes the next one of
   the tile from a counter. No lane of a warp waits for the longest path of 32 but at the end of the
   tile. For 16 x 16:

         ids of paths 0 .. 256 samples - 1          a thread:  +--> next id, first ray
         0 .. 255: sample 0 of the pixels                      |    +-> nearest sphere      the same
         256 .. : sample 1 ..                                  |    |   light or next ray   walk for
                                                               |    +-- goes on             all rays
         sums[3][256]: light, as integers                      +------- ended: add its light

   Rays to lights are rays like others, so that there is one walk through the spheres, in which all
   lanes take part. Samples are added as integers: their order, which differs from run to run,
   changes nothing. One pixel a thread is written at the end, 4 bytes.

   Between rays a path stays in shared memory, 15 words a thread: an odd number, so that the lanes of
   a warp are in different banks. The walk has the registers to itself, some 16 more.

   RAYT_TREE has three kernels. For up to RAYT__LIST_MOST spheres there is no walk: rays of a warp test
   all CLUSTERS together. For more, and below RAYT__MANY_SAMPLES, a warp takes 32 neighbouring paths when
   all of its paths have ended, so that their rays can be BUNDLES. Else rays of a warp go through the
   tree in different times: when some have ended, their paths go on, and the walks of the others later
   (rayt__walk_on).

   A test that misses is 26 instructions on sm_90a (nvcc 13.0). No kind takes more than 64 registers, so
   that 8 blocks fit a multiprocessor; with bundles that takes 72 bytes of spills a thread. What bounds
   it: these instructions, and lanes that wait. */
RAYT_KERNEL void __launch_bounds__(RAYT__TRACE_THREADS, 8)
    RAYT__TRACE(rayt__trace_view view, uchar4 *image)
{
    __shared__ unsigned sums[3][RAYT__TRACE_PIXELS];
    __shared__ int next;
    __shared__ rayt__path places[RAYT__TRACE_THREADS];
    int bits = view.tile_bits, edge = 1 << bits, pixels = edge * edge;
    int across = ((view.width - 1) >> bits) + 1;
    int left = (int)(blockIdx.x % across) << bits, top = (int)(blockIdx.x / across) << bits;
    for (int i = threadIdx.x; i < 3 * RAYT__TRACE_PIXELS; i += RAYT__TRACE_THREADS)
        sums[i / RAYT__TRACE_PIXELS][i % RAYT__TRACE_PIXELS] = 0;
    if (threadIdx.x == 0) next = 0;
#ifdef RAYT__BUNDLES
    __shared__ rayt__together together[RAYT__TRACE_THREADS / 32];
#endif
#ifdef RAYT__LISTS
    __shared__ rayt__clusters list;
    for (int i = threadIdx.x; i < (int)(sizeof list / 16); i += RAYT__TRACE_THREADS)
        ((uint4 *)&list)[i] = rayt__load(view.tree.list + i);
#endif
    __syncthreads();

    rayt__path none = {}, *path = &places[threadIdx.x];
    *path = none;
    int pixel = 0, paths = pixels * view.samples;
    bool running = false, more = true, ground = false;
#ifdef RAYT__WALKS
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk = {};
#endif
    for (;;) {
#ifdef RAYT__BUNDLES /* a warp takes 32 paths, neighbours, when all have ended */
        while (!__any_sync(0xffffffffu, running) && __any_sync(0xffffffffu, more)) {
            int lane = (int)threadIdx.x % 32, id = 0;
            if (lane == 0) id = atomicAdd(&next, 32);
            id = __shfl_sync(0xffffffffu, id, 0) + lane;
#else
        while (!running && more) {
            int id = atomicAdd(&next, 1);
#endif
            more = id < paths;
            pixel = id & (pixels - 1);
            int column = left + rayt__column(pixel, bits), row = top + rayt__row(pixel, bits);
            running = more && column < view.width && row < view.rows;
            if (running)
                rayt__begin_path(&view, column, view.first_row + row, id >> 2 * bits, path);
        }
        if (!RAYT__GOES_ON(running)) break;
        bool any = path->light != RAYT__PATH_RAY;
#ifdef RAYT__WALKS
        if (running && walk.stage == RAYT__ENDED) {
            rayt_unit_ray ray = rayt__next_ray(&view, path, &ground);
            rayt__begin_walk(&walk, ray, !(any && ground));
        }
        int rest = __popc(__ballot_sync(0xffffffffu, running));
        __syncwarp();
        rayt__walk_on(view.tree, &walk, waiting, any, 32 - rest + RAYT__ENOUGH);
        if (running && walk.stage == RAYT__ENDED &&
            !rayt__advance(&view, walk.ray, walk.found, ground, path)) {
#else
        rayt_unit_ray ray = rayt__next_ray(&view, path, &ground);
#ifdef RAYT__BUNDLES
        int found = rayt__find_bundles(view.tree, &together[threadIdx.x / 32],
                                       running && !(any && ground), any, &ray);
#elif defined(RAYT__LISTS)
        int found = rayt__find_clusters(&list, rayt__list_indices(view.tree),
                                        running && !(any && ground), any, &ray);
#else
        int found = RAYT__FIND(&view, running && !(any && ground), any, &ray);
#endif
        if (running && !rayt__advance(&view, ray, found, ground, path)) {
#endif
            running = false;
            atomicAdd(&sums[0][pixel], rayt__counted(&view, path->sum.x));
            atomicAdd(&sums[1][pixel], rayt__counted(&view, path->sum.y));
            atomicAdd(&sums[2][pixel], rayt__counted(&view, path->sum.z));
        }
    }

    __syncthreads();
    for (int i = threadIdx.x; i < pixels; i += RAYT__TRACE_THREADS) {
        int column = left + rayt__column(i, bits), row = top + rayt__row(i, bits);
        if (column < view.width && row < view.rows)
            image[(size_t)row * view.width + column] =
                make_uchar4(rayt__toned(&view, sums[0][i]), rayt__toned(&view, sums[1][i]),
                            rayt__toned(&view, sums[2][i]), 255);
    }
}
#undef RAYT__TRACE
#undef RAYT__FIND
#undef RAYT__WALKS
#undef RAYT__LISTS
#undef RAYT__BUNDLES
#undef RAYT__GOES_ON
#endif
