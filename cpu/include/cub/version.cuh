/* The version of CUB whose names the runner has. */
#ifndef CUB_VERSION
#define CUB_VERSION          200200
#define CUB_MAJOR_VERSION    2
#define CUB_MINOR_VERSION    2
#define CUB_SUBMINOR_VERSION 0
#endif
