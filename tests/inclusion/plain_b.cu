#define PLAIN(what) plain_b_##what
#define NUMBER      4
#define FACTOR      2
#define PLUS        0
#include "plain.h"
