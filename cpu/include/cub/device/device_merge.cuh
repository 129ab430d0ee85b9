/* CUB for the runner: merges of two sorted arrays. Of equal keys those of the first array come first. */
#ifndef CUCC_CUB_DEVICE_MERGE_CUH
#define CUCC_CUB_DEVICE_MERGE_CUH
#include "../../cucc_set_aside.h"

#include "device_work.h"

namespace cub
{
namespace runner
{
struct less {
    template <class T, class U> bool operator()(const T &a, const U &b) const
    {
        return a < b;
    }
};
} // namespace runner

struct DeviceMerge {
    template <class A, class ValuesA, class B, class ValuesB, class Keys, class Values,
              class Less = runner::less>
    static cudaError_t MergePairs(void *temp, size_t &bytes, A a, ValuesA values_a, int64_t count_a,
                                  B b, ValuesB values_b, int64_t count_b, Keys keys, Values values,
                                  Less less = {}, cudaStream_t stream = 0)
    {
        if (runner::asks_for_size(temp, bytes)) return cudaSuccess;
        auto work = [=]() mutable {
            for (int64_t i = 0, j = 0; i < count_a || j < count_b;) {
                const bool second = i == count_a || (j < count_b && less(b[j], a[i]));
                if (second)
                    keys[i + j] = b[j];
                else
                    keys[i + j] = a[i];
                if constexpr (!std::is_same_v<Values, NullType *>) {
                    if (second)
                        values[i + j] = values_b[j];
                    else
                        values[i + j] = values_a[i];
                }
                (second ? j : i)++;
            }
        };
        return runner::device_work("cub::DeviceMerge", stream, work, a, values_a, b, values_b, keys,
                                   values);
    }
    template <class A, class B, class Keys, class Less = runner::less>
    static cudaError_t MergeKeys(void *temp, size_t &bytes, A a, int64_t count_a, B b,
                                 int64_t count_b, Keys keys, Less less = {},
                                 cudaStream_t stream = 0)
    {
        NullType *none = nullptr;
        return MergePairs(temp, bytes, a, none, count_a, b, none, count_b, keys, none, less,
                          stream);
    }
};
} // namespace cub
#include "../../cucc_give_back.h"

#endif
