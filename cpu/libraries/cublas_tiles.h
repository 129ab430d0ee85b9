/* Matrix products for cublas.cpp: tiles of C in registers, panels of A and B in the order in which they are
 * read. A tile is two vectors of rows by six columns: 12 of 16 registers; each turn of its loop does 12
 * products of vectors for two loads and six broadcasts. */
#ifndef CUCC_CUBLAS_TILES_H
#define CUCC_CUBLAS_TILES_H

#include <algorithm>
#include <vector>

namespace tiles
{
enum { bytes = 32, columns = 6, depth = 256, block_rows = 128, block_columns = 480 };

template <class T> struct of {
    typedef T lanes __attribute__((vector_size(bytes), aligned(sizeof(T))));
    enum { width = bytes / sizeof(T), rows = 2 * width };
};

/* OUT, ROWS by COLUMNS, of a panel of A and one of B, each DEPTH long. */
template <class T>
__attribute__((always_inline)) inline void multiply_tile(int deep, const T *a, const T *b, T *out)
{
    typedef typename of<T>::lanes lanes;
    lanes c[columns][2] = {};
    for (int l = 0; l < deep; l++, a += of<T>::rows, b += columns) {
        lanes upper = *(const lanes *)a, lower = *(const lanes *)(a + of<T>::width);
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++) {
            c[j][0] += upper * b[j];
            c[j][1] += lower * b[j];
        }
    }
#pragma GCC unroll 6
    for (int j = 0; j < columns; j++)
        for (int h = 0; h < 2; h++) *(lanes *)(out + j * of<T>::rows + h * of<T>::width) = c[j][h];
}

template <class T> void multiply_any(int deep, const T *a, const T *b, T *out)
{
    multiply_tile(deep, a, b, out);
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2,fma"))) void multiply_avx2(int deep, const T *a, const T *b, T *out)
{
    multiply_tile(deep, a, b, out);
}
#endif

template <class T> auto choose() -> void (*)(int, const T *, const T *, T *)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_avx2<T>;
#endif
    return multiply_any<T>;
}

/* Adds the product of M x K and K x N elements, as A(row, l) and B(l, column) give them, to SUM, which is
 * stored by columns of M. */
template <class T, class A, class B> void add_product(int m, int n, int k, A a, B b, T *sum)
{
    const int rows = of<T>::rows;
    auto multiply = choose<T>();
    std::vector<T> left((size_t)block_rows * depth), right((size_t)block_columns * depth);
    T tile[columns * rows];
    auto add_tile = [&](int i0, int j0) {
        for (int j = j0; j < std::min(n, j0 + columns); j++)
            for (int i = i0; i < std::min(m, i0 + rows); i++)
                sum[(size_t)j * (size_t)m + (size_t)i] += tile[(j - j0) * rows + i - i0];
    };
    for (int j0 = 0; j0 < n; j0 += block_columns)
        for (int l0 = 0; l0 < k; l0 += depth) {
            int deep = std::min<int>(depth, k - l0), j1 = std::min(n, j0 + block_columns);
            T *to = right.data();
            for (int j = j0; j < j1; j += columns)
                for (int l = l0; l < l0 + deep; l++)
                    for (int c = j; c < j + columns; c++) *to++ = c < n ? b(l, c) : T(0);
            for (int i0 = 0; i0 < m; i0 += block_rows) {
                int i1 = std::min(m, i0 + block_rows);
                to = left.data();
                for (int i = i0; i < i1; i += rows)
                    for (int l = l0; l < l0 + deep; l++)
                        for (int r = i; r < i + rows; r++) *to++ = r < m ? a(r, l) : T(0);
                for (int j = j0; j < j1; j += columns)
                    for (int i = i0; i < i1; i += rows) {
                        multiply(deep, left.data() + (size_t)(i - i0) * (size_t)deep,
                                 right.data() + (size_t)(j - j0) * (size_t)deep, tile);
                        add_tile(i, j);
                    }
            }
        }
}
} // namespace tiles

#endif
