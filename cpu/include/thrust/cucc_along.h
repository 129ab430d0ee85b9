/* What a program need not include where the backend is CUDA's, whose headers need it themselves.
 * Only after a header that the program includes: Thrust's include one another in circles, so that half of one may
 * be there. The program's are within three levels, Thrust's own inclusions of these below. */
#ifndef CUCC_THRUST_ALONG_H
#define CUCC_THRUST_ALONG_H

#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/memory.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>
#if __has_include(<thrust/zip_function.h>) /* Debian's Thrust is older */
#include <thrust/zip_function.h>
#endif
#if __has_include(<thrust/iterator/tabulate_output_iterator.h>)
#include <thrust/iterator/tabulate_output_iterator.h>
#endif
#include <cub/cub.cuh>

#endif
