/* src/raytrace/trace/tree.h. The tree and its queries, as callers see them.
   Uses: config.h, intersection.cuh, types.h, hit.cuh, trace/host/.
   Used by: types.h, trace/host/, callers. */
#if defined(RAYT_WITH_TRACE) && !defined(__CUDACC_RTC__) && !defined(RAYT__PART_TREE_TYPES)
#define RAYT__PART_TREE_TYPES
/* ============================== TREE: TYPES AND DECLARATIONS ================================== */
/* A bounding-volume hierarchy over spheres. It begins as zeros, `rayt_tree tree = {}` (in C {0}). It
   holds a copy of the centres and radii, 40 bytes a sphere in all (on a device, for up to 512 spheres,
   another 11 KB): for questions the spheres are not needed any more. rayt_trace still reads those that
   are hit: they must be there, and unmoved. */
typedef struct rayt_tree {
    void *memory; /* of the device, or of the host */
    size_t bytes; /* allocated; grows, never shrinks */
    int count;    /* spheres of the last build; -1: it has failed */
    int on_host;  /* built by rayt_build_host */
    int device;   /* the one that was current when it was built */
} rayt_tree;

typedef enum rayt_query_kind {
    RAYT_NEAREST = 0, /* the nearest hit of each ray; of equal ones the sphere of lowest index */
    RAYT_ANY,         /* whether a ray hits anything, as shadows ask: ends at the first hit found */
} rayt_query_kind;

/* The answer for one ray. */
typedef struct rayt_found {
    int index; /* of the sphere; -1: the ray hits nothing. RAYT_ANY: 0 for a hit of any sphere */
    float t;   /* distance; RAYT_ANY, or no hit: 0 */
} rayt_found;

/* Where to look for neighbours: a point and a radius. */
typedef struct RAYT_ALIGN rayt_ball {
    float x, y, z;
    float radius; /* up to 1e18, else nothing is near; negative: so deep inside a sphere */
} rayt_ball;

/* Builds the tree over `count` spheres in device memory, enqueued on `stream`; again for spheres that
   have moved, or of another count: memory is kept and grows where it must. The stream is waited for
   only then, and a captured one refuses it. Spheres that no ray can hit (radius or coordinates out of
   range, NaN) are left out.
   tree: host memory, one stream at a time. spheres: 16-byte aligned, may be NULL if count is 0.
   Errors: RAYT_ERROR_ARGUMENT; _MEMORY, _DEVICE, _CUDA, after which questions are refused until a
   build succeeds. */
RAYT_API rayt_status rayt_build(rayt_tree *tree, const rayt_sphere *spheres, int count,
                                rayt_stream stream);

/* The same in host memory, complete when it returns, by one thread.
   Errors: RAYT_ERROR_ARGUMENT, RAYT_ERROR_MEMORY. */
RAYT_API rayt_status rayt_build_host(rayt_tree *tree, const rayt_sphere *spheres, int count);

/* Frees the memory of a tree, which may then be built anew. Waits for the device. NULL and an empty
   tree are allowed. */
RAYT_API rayt_status rayt_tree_free(rayt_tree *tree);

/* Asks a tree for `count` rays, enqueued on `stream`. rays, found: memory of the device, for a tree
   of the host host memory, then complete when it returns; 16-byte and 8-byte aligned. The answers
   are the bits that a loop over all spheres gives, whatever the tree. A ray that hits many spheres at
   one distance has to look at all of these, to find the lowest index.
   Errors: RAYT_ERROR_ARGUMENT (also for a tree that was never built, or on another device),
   RAYT_ERROR_DEVICE, RAYT_ERROR_CUDA. */
RAYT_API rayt_status rayt_query(rayt_query_kind kind, const rayt_tree *tree, const rayt_ray *rays,
                                int count, rayt_found *found, rayt_stream stream);

/* All spheres that come within a radius of a point, for `count` balls: distance to the centre at
   most radius + the sphere's radius. For centres within R among spheres of one radius r, ask for
   R - r. counts: how many there are, for each ball. lists: `capacity` indices for each ball, of which
   the first min(counts, capacity) are set, in ascending order: where counts is above capacity, the
   list was too short and has the lowest indices. Lists are kept in order by insertion, so that long
   ones take long; capacity 0 (lists NULL) only counts. A ball that is NaN, or has a number above
   1e18, finds nothing. Memory and errors: as above. */
RAYT_API rayt_status rayt_query_within(const rayt_tree *tree, const rayt_ball *balls, int count,
                                       int *counts, int *lists, int capacity, rayt_stream stream);
#endif
