/* src/raytrace/give_back.h. Macros of the caller are as they were.
   Uses: config.h, set_aside.h. Used by: callers. */
#if !defined(RAYT__EMIT) && !defined(__CUDACC_RTC__)
RAYT__WORDS(RAYT__POP)
#if RAYT__HOST && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
