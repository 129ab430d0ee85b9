/* Copies by all threads of a group, done when the call returns; wait makes them seen by all. */
#ifndef CUCC_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUCC_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#include "../cucc_set_aside.h"

#include "../cooperative_groups.h"
#include "../cuda/barrier"

namespace cooperative_groups
{
/* The size is in bytes, a number or a cuda::aligned_size_t; with two layouts, in elements. */
template <class G, class T, class S>
void memcpy_async(const G &group, T *to, const T *from, const S &size)
{
    cucc::copy_shared_out(group, to, from, (size_t)size, nullptr, 0);
    cucc::copies_commit();
}
template <class G, class T, class A, class B>
void memcpy_async(const G &group, T *to, const A &to_count, const T *from, const B &from_count)
{
    size_t most = (size_t)to_count < (size_t)from_count ? (size_t)to_count : (size_t)from_count;
    cucc::copy_shared_out(group, to, from, most * sizeof(T), nullptr, 0);
    cucc::copies_commit();
}
template <class G>
void wait(const G &group, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    cucc::copies_wait_prior(0);
    sync(group, file, line);
}
template <unsigned int stages, class G>
void wait_prior(const G &group, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    cucc::copies_wait_prior(stages);
    sync(group, file, line);
}
} // namespace cooperative_groups
#include "../cucc_give_back.h"

#endif
