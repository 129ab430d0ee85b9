#define PLAIN(what) plain_a_##what
#define NUMBER      3
#define FACTOR      1
#define PLUS        1
#include "plain.h"
