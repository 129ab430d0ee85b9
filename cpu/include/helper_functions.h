/* helper_functions.h of the CPU runner: timers, command lines, comparisons and portable images. */
#ifndef COMMON_HELPER_FUNCTIONS_H_
#define COMMON_HELPER_FUNCTIONS_H_

#include "helper_string.h"
#include "helper_timer.h"
#include "helper_image.h"

#endif
