/* Launches: kernel<<<...>>>(...) becomes a call of prepare (rewrite.cpp). Included by cuda_runtime.h. */
#ifndef CUCC_LAUNCH_H
#define CUCC_LAUNCH_H

namespace cucc
{
cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t symbol_address(void **address, const void *symbol);
cudaError_t symbol_size(size_t *size, const void *symbol);
void register_symbol(void *address, size_t size, bool managed, bool constant = false);
#ifdef CUCC_CHECK
void count_constants(size_t size, const void *unit);
void check_function(const char *kernel, int argument, const void *function);
#else
inline void count_constants(size_t, const void *)
{
}
#endif
[[maybe_unused]] static const char this_unit = 0; /* an address that only one file has */
cudaError_t thrown_away(const char *call, cudaError_t error); /* --check: nobody looks at it */

/* A program's own function may begin with cuda, too, and return something else or nothing. */
struct no_error {
};
inline cudaError_t operator,(cudaError_t error, no_error)
{
    return error;
}
inline void thrown_away(const char *, no_error)
{
}

/* One beside each __device__ or __constant__ variable. A const variable is the same on every
 * device and cannot be written, so it needs no images. */
struct symbol {
    template <class T> explicit symbol(T &variable)
    {
        register_symbol((void *)&variable, sizeof variable, false);
    }
    template <class T> explicit symbol(const T &)
    {
    }
};

struct constant_symbol { /* one beside each __constant__ variable */
    template <class T> explicit constant_symbol(T &variable, const void *unit = &this_unit)
    {
        register_symbol((void *)&variable, sizeof variable, false, true);
        count_constants(sizeof variable, unit);
    }
    template <class T> explicit constant_symbol(const T &variable, const void *unit = &this_unit)
    {
        count_constants(sizeof variable, unit);
    }
};

struct managed_symbol { /* one beside each __managed__ variable */
    template <class T> explicit managed_symbol(T &variable)
    {
        register_symbol((void *)&variable, sizeof variable, true);
    }
};

struct launch_request {
    const char *kernel;
    const void *function;
    dim3 grid, block;
    size_t dynamic_shared;
    cudaStream_t stream;
    dim3 cluster;       /* blocks that share their shared memory; zeros: as the kernel says */
    bool cooperative;   /* all blocks at once */
    bool returns_error; /* a call, which <<< >>> is not */
    int argument_count;
    const void *const *pointers; /* the arguments that are pointers to objects; else null */
    void (*run_thread)(void *closure);
    void (*run_block)(void *closure); /* all threads of a block, as loops; null: there is none */
    void *closure;
    size_t closure_size;
    uint64_t launched; /* when, and where, for --check */
    uint32_t launched_at;
    void *(*copy_closure)(const void *closure); /* for launches that wait in a stream */
    void (*free_closure)(void *closure);
};
cudaError_t launch(const launch_request &request);

/* One beside each kernel with __cluster_dims__. */
void set_cluster(const char *kernel, unsigned int x, unsigned int y, unsigned int z);
struct cluster_of {
    explicit cluster_of(const char *kernel, unsigned int x, unsigned int y = 1, unsigned int z = 1)
    {
        set_cluster(kernel, x, y, z);
    }
};

template <class T> const void *object_pointer(const T &)
{
    return nullptr;
}
template <class T> const void *object_pointer(T *const &p)
{
    return (const void *)p;
}
template <class R, class... A> const void *object_pointer(R (*const &)(A...))
{
    return nullptr;
}
#ifdef CUCC_CHECK
template <class T> void check_if_function(const char *, int, const T &)
{
}
template <class R, class... A>
void check_if_function(const char *kernel, int argument, R (*const &function)(A...))
{
    check_function(kernel, argument, (const void *)function);
}
#endif

/* An argument of a kernel as CUDA keeps it: its bytes, so that no constructor or destructor runs in
 * threads. What C++ passes in memory because of such members goes to the kernel by address, as the
 * ABI of g++ does it, and each thread has bytes of its own. */
template <class P>
constexpr bool by_address = __is_class(P) && !(__is_trivially_constructible(P, const P &) &&
                                               __is_trivially_constructible(P, P &&));
template <class P, bool = by_address<P>> struct stored_argument {
    using passed = P;
    P value;
    explicit stored_argument(const P &argument) : value(argument)
    {
    }
    P &get()
    {
        return value;
    }
};
template <class P> struct stored_argument<P, true> {
    using passed = P &;
    alignas(P) unsigned char bytes[sizeof(P)];
    explicit stored_argument(const P &argument)
    {
        memcpy(bytes, (const void *)&argument, sizeof bytes);
    }
    P &get()
    {
        return *(P *)bytes;
    }
};

/* What does the same as a kernel whose address a program has taken, as loops; null: nothing does. */
const void *loops_of(const void *kernel);

template <class F>
cudaError_t start_closure(launch_request &request, int argument_count, const void *const *pointers,
                          bool loops, F thread)
{
    request.argument_count = argument_count;
    request.pointers = pointers;
    request.run_thread = [](void *closure) { (*static_cast<F *>(closure))(false); };
    if (loops) request.run_block = [](void *closure) { (*static_cast<F *>(closure))(true); };
    request.closure = &thread;
    request.closure_size = sizeof thread;
    request.copy_closure = [](const void *closure) {
        return (void *)new F(*static_cast<const F *>(closure));
    };
    request.free_closure = [](void *closure) { delete static_cast<F *>(closure); };
    return launch(request);
}

/* KERNEL<<<grid, block, shared, stream>>>(arguments) becomes
 * prepare("KERNEL", KERNEL, grid, block, shared, stream)(arguments), so that each argument is
 * converted once to its parameter's type, as CUDA does. */
template <class... P> struct prepared_launch {
    launch_request request;
    void (*kernel)(P...);
    void (*block)(P...) = nullptr; /* the same as loops over the threads */

    /* Not inlined, so that warnings about the arguments name the launch. */
    __attribute__((noinline)) void operator()(P... arguments)
    {
        (void)start(stored_argument<P>(arguments)...);
    }

    cudaError_t with(P... arguments)
    {
        return start(stored_argument<P>(arguments)...);
    }

#ifdef __clang__
    __attribute__((no_sanitize("function")))
#endif
    static void
    call(void (*kernel)(P...), stored_argument<P>... arguments)
    {
        if constexpr ((by_address<P> || ...))
            ((void (*)(typename stored_argument<P>::passed...))(void *)kernel)(arguments.get()...);
        else
            kernel(arguments.get()...);
    }

    cudaError_t start(stored_argument<P>... arguments)
    {
        const void *pointers[] = {object_pointer(arguments.get())..., nullptr};
#ifdef CUCC_CHECK
        int argument = 0;
        (check_if_function(request.kernel, ++argument, arguments.get()), ...);
        (void)argument;
#endif
        if (!block) block = (void (*)(P...))loops_of((const void *)kernel);
        return start_closure(request, (int)sizeof...(P), pointers, block != nullptr,
                             [=, kernel = kernel, block = block](bool whole) {
                                 call(whole ? block : kernel, arguments...);
                             });
    }
};

inline launch_request new_request(const char *name, const void *function, dim3 grid, dim3 block,
                                  size_t dynamic_shared, cudaStream_t stream)
{
    launch_request request = {};
    request.kernel = name;
    request.function = function;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared = dynamic_shared;
    request.stream = stream;
    request.cluster = dim3(0, 0, 0);
    return request;
}

template <class... P>
prepared_launch<P...> prepare(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                              size_t dynamic_shared = 0, cudaStream_t stream = nullptr)
{
    return {new_request(name, (const void *)kernel, grid, block, dynamic_shared, stream), kernel};
}
template <class... P>
prepared_launch<P...> prepare_loops(void (*loops)(P...), const char *name, void (*kernel)(P...),
                                    dim3 grid, dim3 block, size_t dynamic_shared = 0,
                                    cudaStream_t stream = nullptr)
{
    return {new_request(name, (const void *)kernel, grid, block, dynamic_shared, stream), kernel,
            loops};
}

/* A kernel that only a call can choose, since it is overloaded, leaves template arguments to be
 * deduced or has default arguments, is called by a function object. POINTER and BLOCK give pointers to it
 * and to its loops, of the type that the arguments choose. */
template <class F, class L, class T, class B> struct prepared_call {
    launch_request request;
    F kernel;
    L loops;
    T pointer;
    B block;

    template <class... A> void operator()(A &&...arguments)
    {
        if constexpr ((by_address<std::decay_t<A>> || ...))
            start_typed(pointer(arguments...), block(arguments...), std::forward<A>(arguments)...);
        else
            start(stored_argument<std::decay_t<A>>(arguments)...);
    }
    template <class... P, class... A>
    void start_typed(void (*typed)(P...), void (*typed_block)(P...), A &&...arguments)
    {
        static_assert(sizeof...(P) == sizeof...(A),
                      "cucc: write all arguments of this launch, since one is an object with "
                      "constructors or destructors");
        request.function = (const void *)typed;
        if constexpr (sizeof...(P) == sizeof...(A))
            prepared_launch<P...>{request, typed, typed_block}(std::forward<A>(arguments)...);
    }
    template <class... P> void start(stored_argument<P>... arguments)
    {
        const void *pointers[] = {object_pointer(arguments.get())..., nullptr};
#ifdef CUCC_CHECK
        int argument = 0;
        (check_if_function(request.kernel, ++argument, arguments.get()), ...);
        (void)argument;
#endif
        constexpr bool has_loops = !std::is_same_v<L, std::nullptr_t>;
        (void)start_closure(request, (int)sizeof...(P), pointers, has_loops,
                            [=, kernel = kernel, loops = loops](bool whole) mutable {
                                (void)whole;
                                (void)loops;
                                if constexpr (has_loops)
                                    if (whole) return loops(arguments.get()...);
                                kernel(arguments.get()...);
                            });
    }
};
template <class T, class B, class F>
prepared_call<F, std::nullptr_t, T, B> prepare_call(T pointer, B block, const char *name, F kernel,
                                                    dim3 grid, dim3 threads,
                                                    size_t dynamic_shared = 0,
                                                    cudaStream_t stream = nullptr)
{
    return {new_request(name, nullptr, grid, threads, dynamic_shared, stream), kernel, nullptr,
            pointer, block};
}

template <class L, class T, class B, class F>
prepared_call<F, L, T, B> prepare_call_loops(L loops, T pointer, B block, const char *name,
                                             F kernel, dim3 grid, dim3 threads,
                                             size_t dynamic_shared = 0,
                                             cudaStream_t stream = nullptr)
{
    return {new_request(name, nullptr, grid, threads, dynamic_shared, stream), kernel, loops,
            pointer, block};
}

/* A kernel's name that is not launched on the spot becomes kernel_pointer("KERNEL", KERNEL), which
 * leaves behind what cudaLaunchKernel needs to call it by an untyped pointer. */
struct kernel_record {
    const char *name;
    cudaError_t (*launch)(const launch_request &request, void **arguments);
    const void *loops;
};
void register_kernel(const void *kernel, const kernel_record &record);
const char *kernel_name(const void *kernel); /* of one whose address a program has taken */
launch_request configured(const cudaLaunchConfig_t *config, const void *kernel);

template <class... P, size_t... I>
cudaError_t launch_untyped(const launch_request &request, void **arguments,
                           std::index_sequence<I...>)
{
    (void)arguments;
    prepared_launch<P...> prepared = {request, (void (*)(P...))request.function};
    return prepared.start(stored_argument<P>(*(std::remove_reference_t<P> *)arguments[I])...);
}

template <class... P>
auto kernel_pointer(const char *name, void (*kernel)(P...), void (*loops)(P...) = nullptr)
    -> void (*)(P...)
{
    register_kernel((const void *)kernel,
                    {name,
                     [](const launch_request &request, void **arguments) {
                         return launch_untyped<P...>(request, arguments,
                                                     std::index_sequence_for<P...>{});
                     },
                     (const void *)loops});
    return kernel;
}

/* Something else of a kernel's name. */
template <class T, class... L>
std::enable_if_t<!std::is_function_v<std::remove_reference_t<T>>, T &&> kernel_pointer(const char *,
                                                                                       T &&object,
                                                                                       L &&...)
{
    return std::forward<T>(object);
}
} // namespace cucc

#endif
