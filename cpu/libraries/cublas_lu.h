/* LU factorisations for cublas.cpp, which uses them for batches of small matrices: columns of a matrix, as LAPACK
 * has them. Uses nothing. */
#ifndef CUCC_CUBLAS_LU_H
#define CUCC_CUBLAS_LU_H

#include <cmath>
#include <cstddef>
#include <utility>

namespace
{
/* P A = L U in place, L with ones, by rows' greatest elements; PIVOTS as LAPACK's, from 1, or null for none.
 * Returns the first column, from 1, whose pivot is 0. */
template <class T> int factorise(size_t n, T *a, size_t lda, int *pivots)
{
    int singular = 0;
    for (size_t k = 0; k < n; k++) {
        T *column = a + k * lda;
        if (pivots) {
            size_t best = k;
            for (size_t i = k + 1; i < n; i++)
                if (std::abs(column[i]) > std::abs(column[best])) best = i;
            pivots[k] = (int)best + 1;
            for (size_t j = 0; j < n; j++) std::swap(a[j * lda + k], a[j * lda + best]);
        }
        if (column[k] == 0) {
            if (!singular) singular = (int)k + 1;
            continue;
        }
        for (size_t i = k + 1; i < n; i++) column[i] /= column[k];
        for (size_t j = k + 1; j < n; j++)
            for (size_t i = k + 1; i < n; i++) a[j * lda + i] -= column[i] * a[j * lda + k];
    }
    return singular;
}

/* A column of the solution of A X = B, or A^T X = B, in place, with what factorise() made of A. */
template <class T>
void solve(bool transposed, size_t n, const T *a, size_t lda, const int *pivots, T *x)
{
    for (size_t k = 0; pivots && !transposed && k < n; k++) std::swap(x[k], x[pivots[k] - 1]);
    for (size_t i = 0; i < n; i++) { /* L, or U^T */
        for (size_t j = 0; j < i; j++) x[i] -= a[transposed ? i * lda + j : j * lda + i] * x[j];
        if (transposed) x[i] /= a[i * lda + i];
    }
    for (size_t i = n; i-- > 0;) { /* U, or L^T */
        for (size_t j = i + 1; j < n; j++) x[i] -= a[transposed ? i * lda + j : j * lda + i] * x[j];
        if (!transposed) x[i] /= a[i * lda + i];
    }
    for (size_t k = n; pivots && transposed && k-- > 0;) std::swap(x[k], x[pivots[k] - 1]);
}
} // namespace
#endif
