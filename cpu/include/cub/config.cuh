/* Every header of a toolkit's CUB includes this one first. */
#error \
    "this part of CUB is not there (cpu/include/cub has what is), and a toolkit's is PTX, which needs a GPU"
