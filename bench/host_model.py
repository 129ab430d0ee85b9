#!/usr/bin/env python3
"""How near a product from host memory can come to its limit: a model of copies and arithmetic that
flow. Prints the least time found for double 8192 on one H200 (bench/notes/host.md).

A and B arrive in equal parts. First a square of C, the fraction x of its rows and columns, is
computed by parts of K while its operands arrive; then rows and columns are added to it as theirs do.
C may leave once it is finished: none of it before the square is, then all that has been computed."""
BYTES = 8192 * 8192 * 8  # of each matrix
STEP = 1e-5  # seconds


def duration(x, arithmetic, one_way, both_ways, share, wait):
    """Seconds; rates in bytes a second; while both ways are busy, C has `share` of both_ways; it
    leaves from `wait` on."""
    time = loaded = computed = stored = 0.0
    while stored < 1 - 1e-9:
        finished = computed if computed >= x * x - 1e-9 and loaded >= x else 0.0
        leaves = stored < finished - 1e-9 and time >= wait
        arrives = loaded < 1
        if arrives:
            rate = min(one_way, both_ways * (1 - share)) if leaves else one_way
            loaded = min(1.0, loaded + STEP * rate / (2 * BYTES))
        if leaves:
            rate = min(one_way, both_ways * share) if arrives else one_way
            stored = min(finished, stored + STEP * rate / BYTES)
        at_hand = x * loaded if loaded < x else loaded * loaded
        computed = min(at_hand, computed + STEP / arithmetic)
        time += STEP
    return time


def least(one_way, both_ways, arithmetic=19.7e-3):
    return min((duration(x / 20, arithmetic, one_way, both_ways, share, wait), x / 20)
               for x in range(21) for share in (0.3, 0.4, 0.5) for wait in (0, 14e-3, 17e-3, 20e-3))


for title, both in (("copies as measured (80 GB/s both ways)", 80e9),
                    ("copies that do not slow each other down", 2 * 55.3e9)):
    seconds, square = least(55.3e9, both)
    print(f"{title}: {1e3 * seconds:.1f} ms, {1e3 * seconds / 20.1:.2f} of the limit of 20.1, "
          f"with a first square of {square:.2f}")
