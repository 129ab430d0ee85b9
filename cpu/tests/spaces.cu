/* Who may call whom: what nvcc refuses is marked, all else it takes. With -DHOST what the host does wrong, too
 * (nvcc then comes no further). */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

int square(int x)
{
    return x * x;
}
static inline float half_of(float x)
{
    return x / 2;
}
template <class T> T same(T x)
{
    return x;
}
namespace
{
int hidden(int x)
{
    return x;
}
} // namespace
extern "C" int elsewhere(int x);
int measured(int x);
void overloaded(float *);
__device__ void overloaded(int *p)
{
    *p = 1;
}
#define SQUARE(x) square(x)

int rows = 3, columns;
const int count_of = 4;
constexpr int doubled(int x)
{
    return 2 * x;
}
static const float step = 0.5f;
constexpr double pi = 3.14159;
const float weights[3] = {1, 2, 3};
const char *message = "text";
enum kind { first, second };
namespace settings
{
float factor;
static const int size = 16;
} // namespace settings
const dim3 shape(3);

struct pair {
    int a, b;
    static int made;
    static const int limit = 3;
    pair() = default;
    pair(int a, int b) : a(a), b{b}
    {
    }
    int sum() const
    {
        return a + b;
    }
    __host__ __device__ int product() const
    {
        return a * b;
    }
    __device__ int difference() const
    {
        return a - b;
    }
    pair operator+(const pair &o) const
    {
        return pair(a + o.a, b + o.b);
    }
    __host__ __device__ pair &operator+=(const pair &o)
    {
        a += o.a;
        return *this;
    }
    int square(int x) const;
    friend std::ostream &operator<<(std::ostream &out, const pair &p)
    {
        return out << p.a;
    }
};
int pair::made;

/* Members of a class within a class are no variables, whether it has a name or not. */
struct unnamed {
    union {
        struct {
            int u, v;
        };
        int w[2];
    };
    __host__ __device__ unnamed(int u, int v)
    {
        this->u = u;
        this->v = v;
    }
    __host__ __device__ int operator[](int i) const
    {
        return w[i];
    }
};
int pair::square(int x) const
{
    return x * a;
}
struct triple {
    int operator()(int x) const
    {
        return 3 * x;
    }
};
struct twice {
    __device__ int operator()(int x) const
    {
        return 2 * x;
    }
};
struct of_device {
    int v;
    __device__ of_device(int v) : v(v)
    {
    }
};

__device__ int cube(int x)
{
    return x * x * x;
}
static __device__ int never_used(int x)
{
    return square(x) + rows;
}
template <class T> __device__ T never_instantiated(T x)
{
    return square(3) + same(x);
}
template <class T> __device__ T instantiated(T x)
{
    return square(3) + /* wrong */
           same(x);    /* wrong */
}
template <class F> __device__ int apply(F f, int x)
{
    return f(x); /* wrong */
}
__host__ __device__ int both(int x)
{
    if (x < 0) exit(1);
    return square(x); /* nvcc warns */
}
__host__ __device__ int of_rows()
{
    return rows; /* wrong */
}
__host__ __device__ int by_architecture(int x)
{
#ifdef __CUDA_ARCH__
    return cube(x);
#else
    return square(x) + rows;
#endif
}
__device__ int of_the_device_alone(int x)
{
#ifdef __CUDA_ARCH__
    return x;
#else
    if (x < 0) exit(1);
    return square(x) + columns;
#endif
}
template <int N> __device__ int by_constant(int x)
{
    if constexpr (N > 3)
        return square(x);
    else
        return x;
}

__global__ void right(int *p, float *f, pair q, pair *r, int rows)
{
    int square = 2, weights[2] = {1, 2};
    struct {
        int columns, factor;
    } local = {rows, 2};
    p[0] = square + weights[1] + local.columns + local.factor + count_of + settings::size;
    p[1] = cube(3) + q.product() + q.difference() + pair::limit + second + both(2);
    f[0] = step + (float)pi + std::sqrt(f[1]) + fabsf(f[2]) + abs(-3) + max(3, 4) + powf(2, 3);
    p[2] = sizeof(measured(3)) + by_architecture(2) + of_the_device_alone(3) + by_constant<2>(1);
    r[0] += q;
    pair copy = q, nothing;
    nothing.a = copy.a << 2;
    overloaded(p);
    p[3] = apply(twice(), 3) + apply([](int x) { return cube(x); }, 2) + nothing.a + shape.x;
    static int kept = 3;
    p[4] = kept;
    __shared__ pair shared;
    shared.a = 3;
    auto outer = [=](int x) { return rows + x; };
    p[5] = outer(2) + unnamed(3, 4)[1];
}

__global__ void wrong(int *p, float *f, pair q, pair *r)
{
    p[0] = square(3);          /* wrong */
    f[0] = half_of(f[1]);      /* wrong */
    p[1] = SQUARE(p[2]);       /* wrong */
    p[2] = hidden(2);          /* wrong */
    p[3] = elsewhere(2);       /* wrong */
    if (false) p[4] = same(2); /* wrong */
    p[5] = rows;               /* wrong */
    columns = 3;               /* wrong */
    f[1] = settings::factor;   /* wrong */
    f[2] = weights[p[0]];      /* wrong */
    p[6] = message[0];         /* wrong */
    p[7] = q.sum();            /* wrong */
    p[8] = pair(1, 2)          /* wrong */
               .a;
    r[0] = q + q;         /* wrong */
    p[9] = pair::made;    /* wrong */
    p[10] = q.square(2);  /* wrong */
    p[11] = triple()(3);  /* wrong */
    int *address = &rows; /* wrong */
    auto inner = [](int x) {
        return square(x); /* wrong */
    };
    p[13] = rand();       /* wrong */
    fprintf(stderr, "x"); /* wrong */
    p[12] = inner(2) + *address + instantiated(2) + apply(triple(), 2);
}

typedef int (*function)(int);
static function by_address = cube;

static void of_host(pair q, int *p)
{
    std::cout << q << by_address(2) << sizeof(q.product()) << square(2) << both(2) << doubled(2);
    int difference = rows + q.sum(), made = std::max(columns, 2);
    q += pair(difference, made);
    right<<<1, 1>>>(p, nullptr, q, nullptr, 3);
#ifdef HOST
    p[0] = cube(3);        /* WRONG */
    p[1] = q.difference(); /* WRONG */
    p[2] = of_device(3).v; /* WRONG */
    p[3] = twice()(2);     /* WRONG */
    auto lambda = [](int x) {
        return cube(x); /* WRONG */
    };
    p[4] = lambda(2);
#endif
}
#ifdef HOST
__host__ __device__ int of_both(int x)
{
    return cube(x); /* WRONG */
}
#endif

int main()
{
    of_host(pair(1, 2), nullptr);
    wrong<<<1, 1>>>(nullptr, nullptr, pair(1, 2), nullptr);
}
