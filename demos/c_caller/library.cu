/* library.cu - the one file of a C or C++ program that nvcc compiles: it makes the functions of
   tiledmm.cuh, with C linkage. The programs beside it, product.c and walks.cpp, include the same
   header and get declarations; their first comments say how to build them.

   As a library:  nvcc -O3 -lib demos/c_caller/library.cu -o libtiledmm.a */
#define TMM_IMPLEMENTATION
#include "../../tiledmm.cuh"

/* A type that is not ready-made, 64-bit counts: the same three lines as in walks.cpp. */
#define TMM_TYPE unsigned long long
#define TMM_NAME ull
#include "../../tiledmm.cuh"
