/* src/raytrace/trace/types.h. Materials, lights, scenes, cameras: what rayt_trace takes.
   Uses: intersection.cuh, tree.h. Used by: functions.h, path.cuh, trace/host/. */
#if defined(RAYT_WITH_TRACE) && !defined(RAYT__PART_TRACE_TYPES)
#define RAYT__PART_TRACE_TYPES
/* ============================== TRACE: TYPES ================================================== */
/* What becomes of light at a surface. Its colour is that of the sphere. */
typedef enum rayt_kind {
    RAYT_MATT = 0, /* lit by sun, lights and ambient light; a path of light ends there */
    RAYT_DIFFUSE,  /* lit by sun and lights, and by all that is around: a path goes on anywhere */
    RAYT_MIRROR,   /* reflects */
    RAYT_GLASS,    /* reflects and refracts */
    RAYT_KIND_COUNT
} rayt_kind;

/* The surface of one sphere; 16 bytes. A kind that is none counts as RAYT_MATT. */
typedef struct RAYT_ALIGN rayt_material {
    int kind;    /* a rayt_kind */
    float fuzz;  /* RAYT_MIRROR: 0 reflects exactly, 1 is satin; clamped to 0 .. 1 */
    float index; /* RAYT_GLASS: of refraction, inside to outside: 1.5 in air; up to 0: a mirror */
    float unused;
} rayt_material;

/* A light, and the point or the direction that it comes from. Colours of lights are those that a
   white RAYT_MATT surface facing the light has, of point lights at a distance of 1. */
typedef struct rayt_light {
    float x, y, z;
    float r, g, b; /* 0 or more; 1 is white */
} rayt_light;

enum { RAYT_MOST_LIGHTS = 4 };

/* All members may be 0: then nothing is there and all is black. The y axis points upwards. */
typedef struct rayt_scene {
    const rayt_sphere *spheres;     /* `count` of them */
    const rayt_material *materials; /* one a sphere; NULL: all are RAYT_MATT */
    int count;
    const struct rayt_tree *tree; /* of the same spheres, from rayt_build; for RAYT_TREE */
    int ground;                   /* 1: a plane at y = ground_height, with squares of two colours */
    float ground_height, ground_square; /* the latter: their edge; 0 for one colour, the first */
    float ground_colours[2][3];
    rayt_material ground_material;
    rayt_light sun; /* infinitely far; x, y, z: the direction towards it, of any length */
    int light_count;
    rayt_light lights[RAYT_MOST_LIGHTS]; /* points; light falls off with the square of distance */
    float sky_bottom[3], sky_top[3];     /* seen by rays straight down and up, mixed between */
    float ambient[3];                    /* light on RAYT_MATT surfaces, from nowhere */
} rayt_scene;

/* field_of_view 0: parallel rays, one unit of length a pixel, as for rayt_render. */
typedef struct rayt_camera {
    float position[3], target[3]; /* where it is, what is in the middle of the picture */
    float up[3];                  /* what is up in the picture, roughly */
    float field_of_view;          /* vertical, in degrees, up to 179; 0: parallel rays */
    float aperture;               /* diameter of the lens; 0: all is sharp */
    float focus_distance;         /* along the view, to the plane that is sharp; > 0 with a lens */
} rayt_camera;

typedef struct rayt_quality {
    int samples; /* paths a pixel, 1 to 65536; one goes through its centre, more are spread over it */
    int depth;   /* rays of a path at most, 1 to 1000; rays towards lights apart */
    unsigned long long seed;
    float gamma; /* 0.1 to 10: bytes are the mean to the power 1 / gamma; 1: in proportion */
} rayt_quality;
#endif
