/* What the tests share: TAP output (one line per check, testanything.org) and random numbers.
   A test prints `ok 1 - name` or `not ok 1 - name`, ends with the plan and exits 0 if all is
   well. */
#ifndef TAP_H
#define TAP_H
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failures;

static inline void tap_ok(int pass, const char *format, ...)
{
    va_list arguments;
    printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    tap_failures += !pass;
}

/* A line that explains a failure, or what was measured. */
static inline void tap_note(const char *format, ...)
{
    va_list arguments;
    printf("# ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static inline void tap_skip(const char *name, const char *reason)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_count, name, reason);
}

static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures != 0;
}

/* splitmix64. The seed is printed, so that a failure can be repeated: TAP_SEED=n ./test */
static unsigned long long tap_state;

static inline void tap_seed(unsigned long long seed)
{
    const char *given = getenv("TAP_SEED");
    tap_state = given ? strtoull(given, NULL, 0) : seed;
    tap_note("seed %llu", tap_state);
}

static inline unsigned long long tap_bits(void)
{
    unsigned long long z = (tap_state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Uniform in (-1, 1), with more bits than a float or double holds. */
static inline double tap_uniform(void)
{
    return ((double)(tap_bits() >> 11) + 0.5) / 4503599627370496.0 - 1.0;
}
#endif
