/* CUB for the runner: how its functions for a whole device are done: as a kernel of one thread in the
 * stream, so that order, errors and checks are those of kernels. */
#ifndef CUCC_CUB_DEVICE_WORK_H
#define CUCC_CUB_DEVICE_WORK_H
#include "../../cucc_set_aside.h"

#include "../iterator/counting_input_iterator.cuh"
#include "../thread/thread_operators.cuh"
#include "../util_debug.cuh"

namespace cub
{
namespace runner
{
template <class F, class... P> void device_thread(F work, P...)
{
    work();
}

/* NAME is what a fault is reported with; the arguments behind WORK are what it reads and writes, for the
 * check that pointers are the device's. */
template <class F, class... P>
cudaError_t device_work(const char *name, cudaStream_t stream, F work, P... touched)
{
    void (*kernel)(F, P...) = device_thread<F, P...>;
    auto prepared = cucc::prepare(name, kernel, dim3(1), dim3(1), 0, stream);
    prepared.request.returns_error = true;
    return prepared.with(work, touched...);
}

/* The first call of each function asks for the size of its temporary memory, and does nothing else. */
inline bool asks_for_size(void *temp, size_t &bytes, size_t wanted = 1)
{
    if (temp) return false;
    bytes = wanted;
    return true;
}
} // namespace runner
} // namespace cub
#include "../../cucc_give_back.h"

#endif
