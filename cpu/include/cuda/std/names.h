/* cuda::std has what std has. */
#ifndef CUCC_CUDA_STD_NAMES_H
#define CUCC_CUDA_STD_NAMES_H

namespace std
{
}
namespace cuda
{
namespace std
{
using namespace ::std;
}
} // namespace cuda

#endif
