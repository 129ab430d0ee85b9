/* What the kernels of generate.py use. ASKING: also classes with code that asks which thread runs, or waits. */
#ifndef DRAWN_H
#define DRAWN_H

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <cooperative_groups.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-label"
namespace cg = cooperative_groups;
typedef unsigned int word;
using number = unsigned;
const unsigned SEVEN = 7;
constexpr unsigned BIG = 1000003u;
static constexpr int SMALL{2};
enum { RED = 3, GREEN = 5 };
enum class tone : unsigned { low = 2, high = 9 };
__constant__ unsigned table[4] = {11, 22, 33, 44};
__device__ unsigned drawn;
struct two {
    unsigned a, b;
};
struct view {
    const unsigned *p;
    unsigned n;
};
struct four {
    unsigned v[4];
};
struct vec {
    unsigned x, y;
};
__device__ vec operator+(vec a, vec b)
{
    return {a.x + b.x, a.y ^ b.y};
}
__device__ vec &operator+=(vec &a, unsigned b)
{
    a.x += b;
    a.y -= b;
    return a;
}
struct tripled {
    unsigned v;
    __device__ tripled(unsigned x) : v(x * 3u)
    {
    }
};
struct one_more {
    unsigned v;
    __device__ operator unsigned() const
    {
        return v + 1u;
    }
};
struct adder {
    unsigned k;
    __device__ unsigned operator()(unsigned x) const
    {
        return x + k;
    }
};
struct maths {
    static __device__ unsigned twice(unsigned x)
    {
        return 2u * x;
    }
};
namespace ns
{
__device__ unsigned mixed(unsigned x)
{
    return x ^ (x >> 7);
}
} // namespace ns
__device__ unsigned plain(unsigned x)
{
    unsigned i{x};
    i *= 5u;
    return i + 1u;
}
__device__ unsigned rank()
{
    return threadIdx.y * blockDim.x + threadIdx.x;
}
__device__ unsigned by_rank(unsigned x)
{
    return x * 3u + rank();
}
template <int N> __device__ unsigned mul(unsigned x)
{
    return x * N;
}
template <> __device__ unsigned mul<4>(unsigned x)
{
    return x + threadIdx.x;
}
template <class T> __device__ T same(T x)
{
    return x;
}
__device__ unsigned over(unsigned x)
{
    return x + 9u;
}
__device__ unsigned over(unsigned x, unsigned y)
{
    return x ^ y;
}
__device__ unsigned defaulted(unsigned x, unsigned k = 3)
{
    return x * k;
}
__device__ unsigned by_default(unsigned x, unsigned k = threadIdx.x)
{
    return x + k;
}
__device__ void bump(unsigned &x, unsigned by)
{
    x += by;
}
__device__ void bump_again(unsigned &x, unsigned by)
{
    bump(x, by);
}
__device__ void bump_at(unsigned *x, unsigned by)
{
    *x ^= by;
}
__device__ void swap_words(unsigned &a, unsigned &b)
{
    unsigned c(a);
    a = b;
    b = c;
}
__device__ unsigned counted(unsigned *where, unsigned by)
{
    return atomicAdd(where, by);
}
template <int N> __device__ unsigned add_to(unsigned *where)
{
    return atomicAdd(where, N);
}
template <int N> __device__ unsigned take()
{
    return atomicAdd(&drawn, N);
}
__device__ unsigned chosen(unsigned x)
{
    unsigned r = 0;
    switch (x & 3u) {
    case 0: r = 4; break;
    case 1: r += 5; /* goes on */
    case 2: r += 6; break;
    default: return x;
    }
    return r + x;
}
__device__ unsigned looped(unsigned x)
{
    unsigned sum{0};
    for (unsigned k{0}; k < (x & 3u); ++k) {
        if (k == 2) continue;
        sum += k * x;
    }
    return sum;
}
__device__ unsigned recursive(unsigned x)
{
    return x < 2 ? x + 1u : recursive((x & 15u) / 2u) + 3u;
}
__device__ unsigned half_of(int x, unsigned *s)
{
    s[rank()] = (unsigned)x;
    __syncthreads();
    unsigned r = s[(rank() + 1u) % (blockDim.x * blockDim.y)];
    __syncthreads();
    return (unsigned)(x / 2) + r;
}
__device__ unsigned passed(unsigned *s, unsigned x)
{
    unsigned i(rank()), n{blockDim.x * blockDim.y};
    s[i] = x;
    __syncthreads();
    const unsigned r{s[n - 1u - i]};
    __syncthreads();
    return r;
}
__device__ unsigned sum_of(const unsigned *v, int n)
{
    unsigned s = 0;
    for (int k = 0; k < n; k++) s += v[k];
    return s;
}
__device__ two both(unsigned a, unsigned b)
{
    two r{a, b};
    return r;
}

#ifdef ASKING
struct asks {
    unsigned x;
    __device__ asks()
    {
        x = threadIdx.x;
    }
};
struct asks_with {
    unsigned x;
    __device__ asks_with(unsigned w)
    {
        x = w + threadIdx.x;
    }
};
struct asks_member {
    unsigned x = threadIdx.x + 1u;
};
struct asks_value {
    __device__ operator unsigned() const
    {
        return threadIdx.x * 2u;
    }
};
struct lane {
};
__device__ unsigned operator+(unsigned a, lane)
{
    return a + threadIdx.x;
}
struct into {
    __device__ into(unsigned &o)
    {
        o = threadIdx.x * 5u;
    }
};
struct waits {
    unsigned v;
    __device__ waits(unsigned *s, unsigned x)
    {
        s[rank()] = x;
        __syncthreads();
        v = s[(rank() + 2u) % (blockDim.x * blockDim.y)];
        __syncthreads();
    }
};
struct leaves {
    unsigned &r;
    __device__ ~leaves()
    {
        r += threadIdx.x;
    }
};
__device__ unsigned operator""_th(unsigned long long x)
{
    return (unsigned)x + threadIdx.x;
}
#endif

#endif
