#include "thread_load.cuh"
