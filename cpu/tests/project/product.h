#ifndef PRODUCT_H
#define PRODUCT_H

#ifdef __cplusplus
extern "C" {
#endif

/* c = a * b of n x n values, rows one after another, by blocks of tile x tile threads; 0, or an error. */
int multiply_with_tiles(const double *a, const double *b, double *c, int n, int tile);

#ifdef __cplusplus
}
#endif

#endif
