/* src/raytrace/trace/host/build.h. Builds of trees, on the device and on the host.
   Uses: config.h, intersection.cuh, types.h, host/, trace/.
   Used by: trace/tree.h, trace/host/, callers. */
#if defined(RAYT_WITH_TRACE) && RAYT__HOST && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TREE_BUILD)
#define RAYT__PART_TREE_BUILD
/* ============================== BUILDING TREES ================================================ */
/* A tree's memory: (count + 3) / 4 nodes, one at least, balls, indices; and for few spheres the list of
   clusters, which is on devices alone, with its indices. */
static inline size_t rayt__node_count(int count)
{
    return count > 1 ? ((size_t)count + 3) / 4 : 1;
}

/* Where the list begins, or would. */
static inline size_t rayt__list_at(int count)
{
    return (rayt__node_count(count) * (RAYT__NODE_WORDS * 4) + (size_t)count * 20 + 15) / 16 * 16;
}

static inline size_t rayt__tree_bytes(int count, bool on_host)
{
    size_t list = sizeof(rayt__clusters) + (RAYT__SLOTS + RAYT__APART) * 4;
    return rayt__list_at(count) + (count <= RAYT__LIST_MOST && !on_host ? list : 0);
}

static inline rayt__tree_view rayt__view(const rayt_tree *tree)
{
    char *memory = (char *)tree->memory;
    char *balls = memory + rayt__node_count(tree->count) * (RAYT__NODE_WORDS * 4);
    rayt__tree_view view = {(const uint4 *)memory, (const float4 *)balls,
                            (const int *)(balls + (size_t)tree->count * 16), NULL};
    if (tree->count <= RAYT__LIST_MOST && !tree->on_host)
        view.list = (const uint4 *)(memory + rayt__list_at(tree->count));
    return view;
}

/* The parts of memory for a build, one after the other; each begins at a multiple of 16 bytes. With
   memory NULL it only measures. What is sorted moves between keys and other keys, whose memory has
   the meetings when all is sorted, and then the tasks. */
typedef struct rayt__workplace {
    rayt__build build;
    unsigned long long *other_keys;
    int *other_order;
    unsigned *states; /* of the sort: `per_pass` for each pass */
    size_t per_pass, bytes;
    size_t zeros; /* so many bytes at its beginning are to be 0 */
} rayt__workplace;

static inline char *rayt__part(char *memory, size_t *at, size_t bytes)
{
    char *part = memory == NULL ? NULL : memory + *at;
    *at += (bytes + 15) / 16 * 16;
    return part;
}

static inline int rayt__sort_tiles(int count)
{
    return (int)(((size_t)count + RAYT__SORT_TILE - 1) / RAYT__SORT_TILE);
}

static inline rayt__workplace rayt__make_workplace(char *memory, const rayt_tree *tree,
                                                   const rayt_sphere *spheres, int count)
{
    rayt__workplace w;
    size_t n = (size_t)count, at = 0;
    memset(&w, 0, sizeof w);
    w.build.spheres = spheres;
    w.build.count = count;
    w.build.bounds = (unsigned *)rayt__part(memory, &at, 8 * sizeof(unsigned));
    w.build.queue = (int *)rayt__part(memory, &at, RAYT__QUEUE * sizeof(int));
    w.build.flags = (int *)rayt__part(memory, &at, rayt__node_count(count) * sizeof(int));
    w.build.totals =
        (unsigned *)rayt__part(memory, &at, RAYT__PASSES * (size_t)RAYT__DIGITS * sizeof(unsigned));
    w.per_pass = (size_t)rayt__sort_tiles(count) * RAYT__DIGITS + 1;
    w.states = (unsigned *)rayt__part(memory, &at, RAYT__PASSES * w.per_pass * sizeof(unsigned));
    w.zeros = at;
    w.build.keys = (unsigned long long *)rayt__part(memory, &at, n * sizeof(unsigned long long));
    w.build.order = (int *)rayt__part(memory, &at, n * sizeof(int));
    size_t shared = at;
    w.other_keys = (unsigned long long *)rayt__part(memory, &at, n * sizeof(unsigned long long));
    w.other_order = (int *)rayt__part(memory, &at, n * sizeof(int));
    w.build.meetings = w.other_keys;
    size_t end = at;
    at = shared;
    w.build.tasks =
        (rayt__task *)rayt__part(memory, &at, rayt__node_count(count) * sizeof(rayt__task));
    if (at < end) at = end;
    w.build.pairs = (rayt__pair *)rayt__part(memory, &at, n * sizeof(rayt__pair));
    w.bytes = at;
    rayt_tree whole = *tree;
    whole.count = count;
    rayt__tree_view view = rayt__view(&whole);
    w.build.nodes = (uint4 *)view.nodes;
    w.build.balls = (float4 *)view.balls;
    w.build.indices = (int *)view.indices;
    return w;
}

/* A tree of the device must be on the one that is current. */
static inline rayt_status rayt__check_device(const rayt_tree *tree)
{
    int device = 0;
    rayt_status status = rayt__cuda(cudaGetDevice(&device), "cudaGetDevice");
    if (status == RAYT_OK && tree->device != device)
        status = rayt__fail(RAYT_ERROR_ARGUMENT,
                            "tree is in the memory of device %d, but device %d is current",
                            tree->device, device);
    return status;
}

static inline rayt_status rayt__check_build(const rayt_tree *tree, const rayt_sphere *spheres,
                                            int count)
{
    if (tree == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "tree is NULL");
    return rayt__check_spheres(spheres, count);
}

static inline rayt_status rayt__launch_sort(rayt__workplace *w, cudaStream_t stream)
{
    rayt__build *b = &w->build;
    rayt_status status = RAYT_OK;
    for (int pass = 0; pass < RAYT__PASSES && status == RAYT_OK; pass++) {
        int back = pass % 2;
        rayt__sort_job sort = {back ? w->other_keys : b->keys,
                               back ? w->other_order : b->order,
                               back ? b->keys : w->other_keys,
                               back ? b->order : w->other_order,
                               b->totals + pass * RAYT__DIGITS,
                               w->states + pass * w->per_pass,
                               b->count,
                               rayt__sort_tiles(b->count),
                               8 * pass};
        if (pass == 0) sort.values = NULL;
        cudaLaunchConfig_t tiles = rayt__config(sort.tiles, RAYT__SORT_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&tiles, rayt_sort_pass, sort));
    }
    return status;
}

static inline rayt_status rayt__launch_build(rayt__workplace *w, const uint4 *list, char *memory,
                                             cudaStream_t stream)
{
    rayt__build *b = &w->build;
    rayt_status status = RAYT_OK;
    if (b->count <= RAYT__FEW) {
        cudaLaunchConfig_t few =
            rayt__config(b->count > 0 ? (b->count - 1) / 32 + 1 : 1, RAYT__FEW_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&few, rayt_tree_few, *b));
    } else {
        cudaLaunchConfig_t some = rayt__thread_per_item(b->count, stream);
        if (some.gridDim.x > 512) some.gridDim.x = 512;
        status = rayt__cuda(cudaMemsetAsync(memory, 0, w->zeros, stream), "cudaMemset");
        if (status == RAYT_OK)
            status = rayt__launched(cudaLaunchKernelEx(&some, rayt_tree_bounds, *b));
        if (status == RAYT_OK)
            status = rayt__launched(cudaLaunchKernelEx(&some, rayt_tree_codes, *b));
        if (status == RAYT_OK) status = rayt__launch_sort(w, stream);
        if (status == RAYT_OK)
            status = rayt__cuda(cudaMemsetAsync(b->meetings, 0,
                                                (size_t)b->count * sizeof *b->meetings, stream),
                                "cudaMemset");
    }
    if (status == RAYT_OK && b->count > 0) {
        cudaLaunchConfig_t leaves =
            rayt__config((b->count - 1) / RAYT__MERGE_THREADS + 1, RAYT__MERGE_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&leaves, rayt_tree_merge, *b));
    }
    if (status == RAYT_OK) {
        int nodes = (int)rayt__node_count(b->count), most = 8 * rayt__processors();
        int blocks = (nodes - 1) / (2 * RAYT__WIDEN_NODES) + 1; /* half of the nodes are usual */
        cudaLaunchConfig_t queue =
            rayt__config(blocks < most ? blocks : most, RAYT__WIDEN_THREADS, stream);
        status = rayt__launched(cudaLaunchKernelEx(&queue, rayt_tree_widen, *b, nodes));
    }
    if (status == RAYT_OK && list != NULL) {
        cudaLaunchConfig_t one = rayt__config(1, RAYT__LIST_MOST, stream);
        status = rayt__launched(
            cudaLaunchKernelEx(&one, rayt_tree_list, b->spheres, b->count, (rayt__clusters *)list));
    }
    return status;
}

RAYT_API rayt_status rayt_build(rayt_tree *tree, const rayt_sphere *spheres, int count,
                                rayt_stream stream)
{
    rayt_status status = rayt__check_build(tree, spheres, count);
    if (status != RAYT_OK) return status;
    if (tree->memory != NULL && tree->on_host)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "tree is in host memory: rayt_tree_free it, or rayt_build_host again");
    cudaError_t before;
    status = rayt__begin(&before);
    if (status != RAYT_OK) return status;
    int device = 0;
    status = rayt__cuda(cudaGetDevice(&device), "cudaGetDevice");
    if (status == RAYT_OK && tree->memory != NULL) status = rayt__check_device(tree);
    if (status == RAYT_ERROR_ARGUMENT) return rayt__end(before, status); /* the tree stays */
    size_t bytes = rayt__tree_bytes(count, false);
    if (status == RAYT_OK && bytes > tree->bytes) {
        /* waits for those who may still walk the old tree; in a captured stream it is refused */
        status = rayt__cuda(cudaFree(tree->memory), "cudaFree of the smaller tree");
        if (status == RAYT_OK) {
            tree->memory = NULL;
            tree->bytes = 0;
            status = rayt__cuda(cudaMalloc(&tree->memory, bytes), "cudaMalloc for the tree");
        }
        if (status == RAYT_OK) tree->bytes = bytes;
    }
    rayt__scratch scratch = {NULL, 0};
    rayt__workplace w = rayt__make_workplace(NULL, tree, spheres, count);
    if (status == RAYT_OK) status = rayt__scratch_alloc(&scratch, w.bytes, stream);
    if (status == RAYT_OK) {
        tree->count = count;
        tree->on_host = 0;
        tree->device = device;
        w = rayt__make_workplace(scratch.memory, tree, spheres, count);
        status = rayt__launch_build(&w, rayt__view(tree).list, scratch.memory, stream);
        status = rayt__scratch_free(&scratch, stream, status);
    }
    if (status != RAYT_OK) tree->count = -1; /* what is there is no tree: nobody may walk in it */
    return rayt__end(before, status);
}

RAYT_API rayt_status rayt_tree_free(rayt_tree *tree)
{
    if (tree == NULL || tree->memory == NULL) return RAYT_OK;
    rayt_status status = RAYT_OK;
    if (tree->on_host) {
        free(tree->memory);
    } else {
        cudaError_t before;
        status = rayt__begin(&before);
        if (status == RAYT_OK)
            status = rayt__end(before, rayt__cuda(cudaFree(tree->memory), "cudaFree of the tree"));
    }
    memset(tree, 0, sizeof *tree);
    return status;
}

/* ---- on the host ---- */

/* The same sort as the kernels', for one thread. */
static inline RAYT__OPTIMIZE void rayt__sort_host(rayt__workplace *w, int shift)
{
    int back = shift / 8 % 2, places[RAYT__DIGITS] = {0}, sum = 0;
    rayt__build *b = &w->build;
    const unsigned long long *keys = back ? w->other_keys : b->keys;
    const int *order = back ? w->other_order : b->order;
    unsigned long long *to_keys = back ? b->keys : w->other_keys;
    int *to_order = back ? b->order : w->other_order;
    for (int i = 0; i < b->count; i++) places[rayt__digit(keys[i], shift)]++;
    for (int k = 0; k < RAYT__DIGITS; k++) {
        int many = places[k];
        places[k] = sum;
        sum += many;
    }
    for (int i = 0; i < b->count; i++) {
        int place = places[rayt__digit(keys[i], shift)]++;
        to_keys[place] = keys[i];
        to_order[place] = order[i];
    }
}

/* The codes of all spheres; returns how many of them a ray can hit. */
static inline RAYT__OPTIMIZE int rayt__codes_host(rayt__build *b)
{
    rayt__box all = {RAYT_FAR, RAYT_FAR, RAYT_FAR, -RAYT_FAR, -RAYT_FAR, -RAYT_FAR};
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        float4 ball = rayt__ball_of(b->spheres, i);
        if (!rayt_solid(ball)) continue;
        rayt__box point = {ball.x, ball.y, ball.z, ball.x, ball.y, ball.z};
        all = rayt__around(all, point);
        count++;
    }
    for (int i = 0; i < b->count; i++) {
        b->keys[i] = rayt__code(rayt__ball_of(b->spheres, i), all);
        b->order[i] = i;
    }
    return count;
}

/* Is [first, last] the left half of its parent? It meets the neighbour from which it differs less. */
static inline RAYT__OPTIMIZE bool rayt__is_left(const unsigned long long *keys, int count,
                                                int first, int last)
{
    if (first == 0) return true;
    return last < count - 1 && rayt__difference(keys, last) < rayt__difference(keys, first - 1);
}

/* The climbs of rayt_tree_merge, one after the other. Returns the name of the root. */
static inline RAYT__OPTIMIZE int rayt__merge_host(rayt__build *b, int count)
{
    int root = 0;
    for (int i = 0; i < count; i++) {
        int first = i, last = i, name = i;
        while (last - first + 1 < count) {
            bool left = rayt__is_left(b->keys, count, first, last);
            int parent = left ? last : first - 1, end = (int)(b->meetings[parent] >> 32) - 1;
            int other = (int)b->meetings[parent];
            b->meetings[parent] =
                (unsigned long long)((left ? first : last) + 1) << 32 | (unsigned)name;
            if (end < 0) break;
            int halves[2] = {left ? name : other, left ? other : name};
            first = left ? first : end;
            last = left ? end : last;
            rayt__set_pair(&b->pairs[parent],
                           rayt__around(rayt__range_box(b, first, parent, halves[0]),
                                        rayt__range_box(b, parent + 1, last, halves[1])),
                           halves[0], halves[1]);
            name = parent;
        }
        if (last - first + 1 == count) root = name;
    }
    return root;
}

/* The children of a node to be. */
typedef struct rayt__children {
    rayt__task task[RAYT__WIDTH]; /* a range and its name */
    rayt__box box[RAYT__WIDTH];
    int many;
} rayt__children;

static inline int rayt__size(const rayt__task *task)
{
    return task->last - task->first + 1;
}

static inline void rayt__set_child(const rayt__build *b, rayt__children *c, int k, int first,
                                   int last, int name)
{
    rayt__task task = {first, last, name, 0, 0, 0, 0, 0};
    c->task[k] = task;
    c->box[k] = rayt__range_box(b, first, last, name);
}

/* The children of the node that is to hold a range, on its level. */
static inline RAYT__OPTIMIZE void rayt__open_up_host(const rayt__build *b, const rayt__task *task,
                                                     int level, rayt__children *c)
{
    c->many = task->first <= task->last;
    if (c->many) rayt__set_child(b, c, 0, task->first, task->last, task->name);
    while (c->many < RAYT__WIDTH) {
        int widest = -1;
        float most = -1;
        for (int k = 0; k < c->many; k++) {
            int size = rayt__size(&c->task[k]);
            float worth = rayt__worth(c->box[k], size, level);
            if (size == 1 || worth <= most) continue;
            most = worth;
            widest = k;
        }
        if (widest < 0) break;
        rayt__task whole = c->task[widest];
        const rayt__pair *pair = &b->pairs[whole.name];
        rayt__set_child(b, c, widest, whole.first, whole.name, pair->left);
        rayt__set_child(b, c, c->many++, whole.name + 1, whole.last, pair->right);
    }
}

/* Writes a node, the spheres of its leaves, and the tasks of its children that are nodes, from *tail
   on. */
static inline RAYT__OPTIMIZE void rayt__write_host(const rayt__build *b, const rayt__task *task,
                                                   const rayt__children *c, int *tail)
{
    unsigned words[RAYT__NODE_WORDS] = {0};
    rayt__box all = {0, 0, 0, 0, 0, 0};
    int at[RAYT__WIDTH], sphere = task->sphere, first = *tail;
    for (int k = 0; k < RAYT__WIDTH; k++) at[k] = -1;
    if (c->many) all = rayt__range_box(b, task->first, task->last, task->name);
    for (int k = 0; k < c->many; k++) {
        float depths[RAYT__WIDTH];
        rayt__depths(rayt__lean(c->box[k], all), depths);
        for (int slot = 0; slot < RAYT__WIDTH; slot++)
            if (at[slot] >= 0) depths[slot] = -3e38f;
        at[rayt__deepest(depths)] = k;
    }
    rayt__raster grid = rayt__raster_of(all);
    words[0] = rayt__bits_of(grid.x);
    words[1] = rayt__bits_of(grid.y);
    words[2] = rayt__bits_of(grid.z);
    words[3] = rayt__exponents(grid);
    words[4] = (unsigned)task->room;
    words[5] = (unsigned)task->sphere;
    for (int slot = 0; slot < RAYT__WIDTH; slot++) {
        if (at[slot] < 0) continue;
        const rayt__task *child = &c->task[at[slot]];
        rayt__box box = c->box[at[slot]];
        int word = slot % 4 / 2, shift = slot % 2 * 16 + slot / 4 * 8, size = rayt__size(child);
        if (size > RAYT__LEAF_MOST) {
            words[3] |= 1u << (24 + slot);
            words[7] |= 8u << 4 * slot;
            b->tasks[(*tail)++] = *child;
        } else {
            words[6] |= ((1u << size) - 1) << 4 * slot;
            for (int i = 0; i < size; i++, sphere++) {
                b->indices[sphere] = b->order[child->first + i];
                b->balls[sphere] = rayt__ball_of(b->spheres, b->indices[sphere]);
            }
        }
        words[8 + word] |= rayt__step_low(box.low_x, grid.x, grid.ex) << shift;
        words[10 + word] |= rayt__step_low(box.low_y, grid.y, grid.ey) << shift;
        words[12 + word] |= rayt__step_low(box.low_z, grid.z, grid.ez) << shift;
        words[14 + word] |= rayt__step_high(box.high_x, grid.x, grid.ex) << shift;
        words[16 + word] |= rayt__step_high(box.high_y, grid.y, grid.ey) << shift;
        words[18 + word] |= rayt__step_high(box.high_z, grid.z, grid.ez) << shift;
    }
    for (int k = 0; k < RAYT__NODE_WORDS / 4; k++)
        b->nodes[(size_t)task->node * 5 + k] =
            make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
    for (int k = first, node = task->room, room = node + *tail - first; k < *tail; k++) {
        b->tasks[k].node = node++;
        b->tasks[k].room = room;
        b->tasks[k].sphere = sphere;
        room += rayt__room(rayt__size(&b->tasks[k]));
        sphere += rayt__size(&b->tasks[k]);
    }
}

static inline RAYT__OPTIMIZE void rayt__widen_host(rayt__build *b, int count, int root)
{
    rayt__task whole = {0, count - 1, root, 0, 1, 0, 0, 0};
    b->tasks[0] = whole;
    for (int k = 0, tail = 1, end = 1, level = 0; k < tail; k++) {
        if (k == end) {
            level++;
            end = tail;
        }
        rayt__children children;
        rayt__open_up_host(b, &b->tasks[k], level, &children);
        rayt__write_host(b, &b->tasks[k], &children, &tail);
    }
}

RAYT_API rayt_status rayt_build_host(rayt_tree *tree, const rayt_sphere *spheres, int count)
{
    rayt_status status = rayt__check_build(tree, spheres, count);
    if (status != RAYT_OK) return status;
    if (tree->memory != NULL && !tree->on_host)
        return rayt__fail(RAYT_ERROR_ARGUMENT,
                          "tree is in device memory: rayt_tree_free it, or rayt_build again");
    size_t bytes = rayt__tree_bytes(count, true);
    if (bytes > tree->bytes) {
        free(tree->memory);
        memset(tree, 0, sizeof *tree);
        tree->memory = malloc(bytes);
        if (tree->memory != NULL) tree->bytes = bytes;
    }
    rayt__workplace w = rayt__make_workplace(NULL, tree, spheres, count);
    char *memory = tree->memory == NULL ? NULL : (char *)malloc(w.bytes);
    if (memory == NULL) {
        free(tree->memory);
        memset(tree, 0, sizeof *tree);
        return rayt__fail(RAYT_ERROR_MEMORY, "no host memory for a tree over %d spheres", count);
    }
    tree->count = count;
    tree->on_host = 1;
    w = rayt__make_workplace(memory, tree, spheres, count);
    int valid = rayt__codes_host(&w.build);
    for (int shift = 0; shift < RAYT__CODE_BITS; shift += 8) rayt__sort_host(&w, shift);
    memset(w.build.meetings, 0, (size_t)count * sizeof *w.build.meetings);
    rayt__widen_host(&w.build, valid, rayt__merge_host(&w.build, valid));
    free(memory);
    return RAYT_OK;
}
#endif
