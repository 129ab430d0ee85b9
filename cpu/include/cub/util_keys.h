/* CUB for the runner: keys of radix sorts as whole numbers. */
#ifndef CUCC_CUB_UTIL_KEYS_H
#define CUCC_CUB_UTIL_KEYS_H
#include "../cucc_set_aside.h"

#include "util_type.cuh"

namespace cub
{
namespace runner
{
template <class K>
using key_bits =
    std::conditional_t<sizeof(K) == 1, uint8_t,
                       std::conditional_t<sizeof(K) == 2, uint16_t,
                                          std::conditional_t<sizeof(K) == 4, uint32_t, uint64_t>>>;

/* A number without a sign that is in the order of the keys: the sign of whole numbers is inverted; floating
 * point is ordered by its sign, then by its other bits, and -0 is 0. Of it the bits from BEGIN up to END. */
template <class K> key_bits<K> key_digits(const K &key, int begin, int end, bool descending)
{
    typedef key_bits<K> bits;
    static_assert(sizeof(K) == sizeof(bits), "a key is a number of 1, 2, 4 or 8 bytes");
    const int width = 8 * sizeof(K);
    const bits sign = (bits)((bits)1 << (width - 1));
    bits b;
    memcpy(&b, (const void *)&key, sizeof b);
    if constexpr (!std::is_integral_v<K> && !std::is_enum_v<K>) {
        if (b == sign) b = 0;
        b = (bits)(b & sign ? ~b : b | sign);
    } else if constexpr (std::is_signed_v<K>)
        b = (bits)(b ^ sign);
    if (descending) b = (bits)~b;
    b = (bits)(begin < width ? b >> begin : 0);
    return end - begin < width ? (bits)(b & (((bits)1 << (end - begin)) - 1)) : b;
}
} // namespace runner
} // namespace cub
#include "../cucc_give_back.h"

#endif
