/* A program of C++ whose kernels are files beside it: CMake has the compiler of C++ link it. */
#include "product.h"
#include <stdio.h>

int main()
{
    const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, expected[4] = {19, 22, 43, 50};
    double c[4] = {};
    int failures = multiply_with_tiles(a, b, c, 2, 4) != 0;
    for (int i = 0; i < 4; i++) failures += c[i] != expected[i];
    printf("%d failures\n", failures);
    return failures > 0;
}
