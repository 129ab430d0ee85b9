/* src/tiledmm/once/give_back.h. Macros of the caller are as they were.
   Uses: once/set_aside.h. Used by: callers. */
#if !defined(TMM__PASS) && !defined(TMM__MAKING_READY) && !defined(__CUDACC_RTC__)
TMM__WORDS(TMM__POP)
#if TMM__HOST && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
