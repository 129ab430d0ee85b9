/* mma.h of the CPU runner: products of small matrices by a warp (nvcuda::wmma). Element E of a matrix, row
 * by row, is x[E / 32] of lane E % 32; on a GPU that is nobody's business either. */
#ifndef CUCC_MMA_H
#define CUCC_MMA_H
#include "cucc_set_aside.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda
{
namespace wmma
{
struct row_major {
};
struct col_major {
};
enum layout_t { mem_row_major, mem_col_major };
struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
namespace precision
{
struct tf32 {
};
} // namespace precision
inline float __float_to_tf32(float value)
{
    unsigned int bits = __float_as_uint(value);
    return isnan(value) ? value : __uint_as_float((bits + 0x1000u) & ~0x1fffu);
}

namespace cucc_details
{
template <class T> struct stored {
    using type = T;
};
template <> struct stored<precision::tf32> {
    using type = float;
};
/* The sums of products of elements: double of double, int of bytes, else float. */
template <class T> struct summed {
    using type = float;
};
template <> struct summed<double> {
    using type = double;
};
template <> struct summed<signed char> {
    using type = int;
};
template <> struct summed<unsigned char> {
    using type = int;
};
template <class use, int m, int n, int k> struct shape;
template <int m, int n, int k> struct shape<matrix_a, m, n, k> {
    static constexpr int rows = m, columns = k;
};
template <int m, int n, int k> struct shape<matrix_b, m, n, k> {
    static constexpr int rows = k, columns = n;
};
template <int m, int n, int k> struct shape<accumulator, m, n, k> {
    static constexpr int rows = m, columns = n;
};
constexpr bool is_shape(int m, int n, int k)
{
    return (k == 16 && m * n == 256 && (m == 16 || m == 32 || m == 8)) ||
           (m == 16 && n == 16 && k == 8) || (m == 8 && n == 8 && k == 4);
}
} // namespace cucc_details

template <class use, int m, int n, int k, class T, class layout = void> class fragment
{
  public:
    static_assert(cucc_details::is_shape(m, n, k), "cucc: wmma has no such shape");
    using element_type = T;
    using storage_element_type = typename cucc_details::stored<T>::type;
    static constexpr int rows = cucc_details::shape<use, m, n, k>::rows,
                         columns = cucc_details::shape<use, m, n, k>::columns,
                         num_elements = rows * columns / 32, num_storage_elements = num_elements;
    storage_element_type x[num_elements];
};

namespace cucc_details
{
template <class F, class V> void load(F &f, const V *from, unsigned int stride, bool by_rows)
{
    for (int i = 0; i < F::num_elements; i++) {
        unsigned int e = (unsigned int)(i * 32 + cucc::lane_number());
        unsigned int row = e / F::columns, column = e % F::columns;
        f.x[i] = (typename F::storage_element_type)
            from[by_rows ? row * stride + column : column * stride + row];
    }
}
template <class L> constexpr bool by_rows = __is_same(L, row_major);
} // namespace cucc_details

template <class use, int m, int n, int k, class T, class layout, class V>
void load_matrix_sync(fragment<use, m, n, k, T, layout> &f, const V *from, unsigned int stride)
{
    cucc::whole_warp("wmma::load_matrix_sync");
    __syncwarp();
    cucc_details::load(f, from, stride, cucc_details::by_rows<layout>);
}
template <int m, int n, int k, class T, class V>
void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const V *from, unsigned int stride,
                      layout_t layout)
{
    cucc::whole_warp("wmma::load_matrix_sync");
    __syncwarp();
    cucc_details::load(f, from, stride, layout == mem_row_major);
}
template <int m, int n, int k, class T, class V>
void store_matrix_sync(V *to, const fragment<accumulator, m, n, k, T> &f, unsigned int stride,
                       layout_t layout)
{
    cucc::whole_warp("wmma::store_matrix_sync");
    for (int i = 0; i < f.num_elements; i++) {
        unsigned int e = (unsigned int)(i * 32 + cucc::lane_number());
        unsigned int row = e / n, column = e % n;
        to[layout == mem_row_major ? row * stride + column : column * stride + row] = f.x[i];
    }
    __syncwarp();
}
template <class use, int m, int n, int k, class T, class layout, class V>
void fill_fragment(fragment<use, m, n, k, T, layout> &f, V value)
{
    for (auto &x : f.x) x = (typename cucc_details::stored<T>::type)value;
}

/* D = A B + C. The lanes show one another their fragments, and lane 0 works for all. */
template <int m, int n, int k, class D, class A, class a_layout, class B, class b_layout, class C>
void mma_sync(fragment<accumulator, m, n, k, D> &d,
              const fragment<matrix_a, m, n, k, A, a_layout> &a,
              const fragment<matrix_b, m, n, k, B, b_layout> &b,
              const fragment<accumulator, m, n, k, C> &c, bool = false)
{
    using sum = typename cucc_details::summed<A>::type;
    cucc::whole_warp("wmma::mma_sync");
    struct fragments {
        fragment<accumulator, m, n, k, D> *d;
        const fragment<matrix_a, m, n, k, A, a_layout> *a;
        const fragment<matrix_b, m, n, k, B, b_layout> *b;
        const fragment<accumulator, m, n, k, C> *c;
    } mine = {&d, &a, &b, &c};
    const uint64_t *lanes = cucc::warp_gather(0xffffffffu, (uint64_t)(uintptr_t)&mine);
    if (cucc::lane_number() == 0) {
        sum left[m][k], right[k][n], result[m][n];
        auto of = [=](int e) { return (const fragments *)(uintptr_t)lanes[e % 32]; };
        for (int e = 0; e < m * k; e++) left[e / k][e % k] = (sum)of(e)->a->x[e / 32];
        for (int e = 0; e < k * n; e++) right[e / n][e % n] = (sum)of(e)->b->x[e / 32];
        for (int e = 0; e < m * n; e++) result[e / n][e % n] = (sum)of(e)->c->x[e / 32];
        for (int i = 0; i < m; i++)
            for (int l = 0; l < k; l++)
                for (int j = 0; j < n; j++) result[i][j] += left[i][l] * right[l][j];
        for (int e = 0; e < m * n; e++) of(e)->d->x[e / 32] = (D)result[e / n][e % n];
    }
    __syncwarp();
}
} // namespace wmma
} // namespace nvcuda
#include "cucc_give_back.h"

#endif
