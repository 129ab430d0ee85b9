/* CUB for the runner: loads and stores with a hint to the caches, which only volatile ones heed. */
#ifndef CUCC_CUB_THREAD_LOAD_CUH
#define CUCC_CUB_THREAD_LOAD_CUH
#include "../../cucc_set_aside.h"

#include "../util_type.cuh"

namespace cub
{
template <CacheLoadModifier MODIFIER, class I> runner::value_of<I> ThreadLoad(I from)
{
    typedef runner::value_of<I> T;
    if constexpr (MODIFIER == LOAD_VOLATILE && std::is_pointer_v<I> && std::is_scalar_v<T>)
        return *(const volatile T *)from;
    else
        return *from;
}

template <CacheStoreModifier MODIFIER, class O, class T> void ThreadStore(O to, T value)
{
    typedef runner::output_of<O, T *> V;
    if constexpr (MODIFIER == STORE_VOLATILE && std::is_pointer_v<O> && std::is_scalar_v<V>)
        *(volatile V *)to = value;
    else
        *to = value;
}
} // namespace cub
#include "../../cucc_give_back.h"

#endif
