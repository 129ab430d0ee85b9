"""What the figures say, in sentences that are computed from them."""
import math
import statistics

from figures import (
    ARITHMETIC, KERNELS, OURS, SHARED, SIZE, STARVED, UNIT, base_name, chosen, digits, gflops,
    intensity, listing, rate_text, time_text, work,
)

CONSTANT_HOLDS = 512  # spheres that raytrace.cuh keeps in constant memory at a time (RAYT_MAX_CONST)
PARTS = {8: "an eighth", 16: "a sixteenth", 32: "a 32nd"}

ON_CPU = (
    "The kernels ran on the CPU runner: these are CPU times. They show that the results are right "
    "and say nothing about how fast a GPU would be."
)


def percent(share):
    """0.483 as 48%."""
    return f"{100 * share:.0f}%"


def limit_words(f, row):
    """The limit that binds a product, as a clause; for the device only."""
    limits = f.limits
    name, share = limits.binding(row)
    if name == "launch":
        return (f"the launch binds: {percent(min(share, 1))} of the time is what {limits.launch_how} "
                f"takes ({time_text(limits.launch)})")
    if name == "memory":
        return (f"memory binds: moving its bytes at the {digits(limits.bandwidth)} GB/s of "
                f"{limits.bandwidth_how} takes {percent(min(share, 1))} of the time")
    if name == "FP64" and (limits.starvation() or 0) >= STARVED:
        return (f"FP64 arithmetic binds, which has 1/{limits.starvation():.0f} of the rate of FP32 on "
                f"this device: {percent(share)} of {rate_text(limits.arithmetic['double'])}")
    if name:
        peak = limits.tensor if limits.uses_tensor(row) else limits.arithmetic[row["type"]]
        does = "the FP64 tensor cores bind" if limits.uses_tensor(row) else f"{name} arithmetic binds"
        return f"{does}: {percent(share)} of {rate_text(peak)}"
    if not limits.candidates(row):
        return "no limit was measured to compare with"
    return (f"no single limit binds ({percent(share)} of the time is explained at most): latency, "
            f"barriers and the issue of instructions lie between")


def starved_words(f):
    """How FP64 stands on a device that has little of it."""
    limits = f.limits
    return (f"Double runs at 1/{limits.starvation():.0f} of the rate of float on this device: "
            f"{rate_text(limits.arithmetic['double'])} of FP64 at most")


def ladder(f, kind):
    """Times by size: which limit binds at the ends, and what copies add."""
    if not f.on_gpu:
        return [ON_CPU]
    said = []
    sizes = [n for n in f.sizes(kind) if f.best(kind, n, OURS)]
    if not sizes:
        return said
    for size in dict.fromkeys([sizes[0], sizes[-1]]):
        row = f.best(kind, size, OURS)
        said.append(f"N = {size}: {KERNELS[base_name(row['name'])]} is the fastest of the kernels here, "
                    f"{time_text(row['median_ms'])} or {rate_text(gflops(row))}; {limit_words(f, row)}.")
    bound = [n for n in sizes if f.limits.binding(f.best(kind, n, OURS))[0] == "launch"]
    if bound and bound[-1] != sizes[0]:
        said.append(f"Up to N = {bound[-1]} the launch takes more than half of the fastest kernel's time.")
    if kind == "double" and (f.limits.starvation() or 0) >= STARVED:
        said.append(starved_words(f) + ".")
    row = f.best(kind, sizes[-1], OURS)
    if row["end_to_end_ms"] and row["end_to_end_ms"] > 1.5 * row["median_ms"]:
        said.append(f"Copies: with allocation and copies, N = {sizes[-1]} takes "
                    f"{time_text(row['end_to_end_ms'])}, {digits(row['end_to_end_ms'] / row['median_ms'])} "
                    f"times as long as the kernel alone: a single product from host memory is bound by "
                    f"copies.")
    return said


def speed_ups(f, kind):
    """Speed-up over the sequential product where all was measured."""
    size = f.scaling_size(kind)
    sequential = f.product(kind, size, "sequential") if size else None
    if not sequential:
        return []
    said = []
    basic, shared = f.product(kind, size, "global"), f.best(kind, size, SHARED)
    best = f.best(kind, size, OURS)

    def over(row):
        return digits(sequential["median_ms"] / row["median_ms"])

    parts = []
    for name in ("OpenMP", "MPI"):
        counts = f.counts(kind, size, name)
        several = {p: row for p, row in counts.items() if p > 1} or counts
        if several:
            p, row = min(several.items(), key=lambda item: item[1]["median_ms"])
            unit = "threads" if name == "OpenMP" else "ranks"
            parts.append(f"{over(row)} by {name} with {p} {unit[:-1] if p == 1 else unit}")
    if f.on_gpu:
        parts += [f"{over(basic)} by CUDA basic"] if basic else []
        parts += [f"{over(shared)} by CUDA shared"] if shared else []
        if best and base_name(best["name"]) not in ("global", *SHARED):
            parts.append(f"{over(best)} by {KERNELS[base_name(best['name'])]}")
    if parts:
        said.append(f"N = {size}, {kind}: speed-up S = T_s / T_p over the sequential product "
                    f"({time_text(sequential['median_ms'])}) is {listing(parts)}.")
    if not f.on_gpu:
        said.append("The kernels of the CPU runner are left out of this: their times are no GPU's.")
    return said


def growth(f, kind):
    """How the times grow with the work."""
    sizes = [n for n in f.sizes(kind) if f.product(kind, n, "global")]
    if len(sizes) < 2:
        return []
    high = sizes[-1]
    low = max((n for n in sizes if n <= high / 2), default=sizes[0])
    parts = []
    for name in OURS:
        rows = [f.product(kind, n, name) for n in (low, high)]
        if all(rows):
            parts.append((rows[1]["median_ms"] / rows[0]["median_ms"], KERNELS[name]))
    least, most = min(parts), max(parts)
    return [f"{kind}: from N = {low} to {high} the work grows {digits((high / low) ** 3)} times, the time of "
            f"the kernels {digits(least[0])} times ({least[1]}) to {digits(most[0])} times ({most[1]})."]


def peaks(f, kind):
    """The highest speed-up of each kind of method, and where the device begins to be worth while."""
    best, first = {}, None
    for size in f.sizes(kind, "sequential"):
        base = f.product(kind, size, "sequential")["median_ms"]
        rows = [("the kernels", f.best(kind, size, OURS) if f.on_gpu else None)]
        rows += [(name, row) for name in ("OpenMP", "MPI") for row in f.counts(kind, size, name).values()]
        for name, row in rows:
            if row and base / row["median_ms"] > best.get(name, (0,))[0]:
                best[name] = base / row["median_ms"], size
        if rows[0][1] and first is None and base > rows[0][1]["median_ms"]:
            first = size
    if not best:
        return []
    parts = [f"{digits(value)} by {name} at N = {size}" for name, (value, size) in best.items()]
    said = [f"{kind}: the highest speed-up is {listing(parts)}."]
    if "the kernels" in best:
        said.append(f"{kind}: without copies, a kernel is faster than the sequential product from "
                    f"N = {first} on." if first else
                    f"{kind}: no kernel is faster than the sequential product at these sizes.")
    return said


def shared_peaks(f):
    """The ratios of global to shared, in short."""
    said = []
    for kind in f.types():
        sizes = [n for n in f.sizes(kind) if f.product(kind, n, "global") and f.best(kind, n, SHARED)]
        ratio = {n: f.product(kind, n, "global")["median_ms"] / f.best(kind, n, SHARED)["median_ms"]
                 for n in sizes}
        if ratio:
            top = max(ratio, key=ratio.get)
            said.append(f"{kind}: global takes {digits(ratio[top])} times as long as shared at most "
                        f"(N = {top}), {digits(ratio[sizes[-1]])} times at N = {sizes[-1]}.")
    return said


def shared(f, kind):
    """Why the shared kernel wins over the global one, or does not, on this device."""
    sizes = [n for n in f.sizes(kind) if f.product(kind, n, "global") and f.best(kind, n, SHARED)]
    if not sizes:
        return []
    pairs = {n: (f.product(kind, n, "global"), f.best(kind, n, SHARED)) for n in sizes}
    ratio = {n: a["median_ms"] / b["median_ms"] for n, (a, b) in pairs.items()}
    last = sizes[-1]
    basic, tiled = pairs[last]
    if not f.on_gpu:
        word = "as fast" if ratio[last] >= 1 else "as slow"
        times = max(ratio[last], 1 / ratio[last])
        return [f"On the CPU runner shared is {digits(times)} times {word} as global at N = {last}: each "
                f"barrier switches between the threads of a block one by one, and the CPU's caches "
                f"serve both. That says nothing about a GPU's memory."]
    said = []
    small = [n for n in sizes if f.limits.binding(pairs[n][0])[0] == "launch"]
    if small:
        said.append(f"Launch, {kind}: at N = {listing(map(str, small))} most of global's time is a launch "
                    f"({time_text(f.limits.launch)}); there is little that shared memory could win.")
    if last in small:
        return said
    starved = f.limits.starvation() or 0
    loads, peak = work(basic) / intensity(basic), f.limits.arithmetic[kind]
    asked = loads / basic["median_ms"] * 1e-6  # GB/s
    tile = SHARED.index(base_name(tiled["name"]))
    tile = (8, 16, 32)[tile]
    head = (f"N = {last}, {kind}: shared memory (tile {tile}) is {digits(ratio[last])} times as fast as "
            f"global")
    if kind == "double" and starved >= STARVED and peak:
        reached, before = gflops(tiled) / peak, gflops(basic) / peak
        text = (f"{head}. {starved_words(f)}. Global reaches {percent(before)} of that and shared "
                f"{percent(reached)}: ")
        if reached >= 0.6:
            text += ("FP64 arithmetic binds, so that saving traffic to memory cannot help; it is no "
                     "matter of caches or of bandwidth.")
        else:
            text += "arithmetic is near, and leaves little room for any use of memory."
        said.append(text)
        return said
    if f.limits.bandwidth:
        multiple = asked / f.limits.bandwidth
        traffic = (f"Global asks for {digits(asked / 1000)} TB/s of loads, {digits(multiple)} times what "
                   f"device memory gives ({digits(f.limits.bandwidth / 1000)} TB/s)")
    else:
        multiple, traffic = None, f"Global asks for {digits(asked / 1000)} TB/s of loads"
    if ratio[last] >= 1.1:
        text = (f"{head}, which is a gain: it reads each element of A and B once per tile, {PARTS[tile]} of "
                f"the loads. {traffic}")
        if multiple and multiple > 1.1:
            text += (f", so caches, and broadcasts within a warp, serve {percent(1 - 1 / multiple)} of them "
                     f"at least; not memory but the units that load bind it")
        elif multiple:
            text += ", so memory binds it" if multiple > 0.6 else ", so latency binds it"
        said.append(text + ".")
    elif ratio[last] >= 0.95:
        said.append(f"{head}: no gain worth the name. {traffic}, which the caches of this device "
                    f"{'must serve, and do' if multiple and multiple > 1.1 else 'and the memory give'}; "
                    f"what shared memory saves was not what binds.")
    else:
        said.append(f"{head}: it does not win on this device. {traffic}, and the caches serve them "
                    f"faster than copies to shared memory with two barriers a tile.")
    won = [n for n in sizes if ratio[n] >= 1.1 and n not in small]
    if won and len(won) + len(small) < len(sizes):
        best = max(won, key=lambda n: ratio[n])
        said.append(f"{kind}: shared wins by 10% or more at N = {listing(map(str, won))}; most at {best}, by "
                    f"{digits(ratio[best])}.")
    name, share = f.limits.binding(tiled)
    said.append(f"For shared itself, {kind}: {limit_words(f, tiled)}." if name else
                f"For shared itself, {kind}, no limit of memory or of {ARITHMETIC[kind]} binds ({percent(share)} at "
                f"most): it must load from shared memory for every multiply-add, which the register "
                f"kernels mend.")
    return said


def scaling(f, kind):
    """How speed-up and efficiency go with threads and ranks."""
    size, said = f.scaling_size(kind), []
    sequential = f.product(kind, size, "sequential") if size else None
    if not sequential:
        return said
    cores = next((row["cores"] for row in f.rows if row.get("cores")), None)
    for name, unit in (("OpenMP", "thread"), ("MPI", "rank")):
        counts = f.counts(kind, size, name)
        if not counts:
            continue
        efficiency = {p: sequential["median_ms"] / r["median_ms"] / p for p, r in counts.items()}
        most = max(counts)
        text = (f"{name}, {kind}, N = {size}: with {most} {unit}{'s' * (most > 1)} S = "
                f"{digits(efficiency[most] * most)}, E = {digits(efficiency[most], 2)}")
        low = [p for p in efficiency if efficiency[p] < 0.5]
        if low:
            text += (f"; from {low[0]} {unit}{'s' * (low[0] > 1)} on more than half of the processors' "
                     f"time is lost" if low == [p for p in efficiency if p >= low[0]] else
                     f"; below one half at p = {listing(map(str, low))}")
        else:
            text += "; it stays above one half"
        high = [p for p in efficiency if efficiency[p] > 1.05 and p > 1]
        if high:
            text += (f". Above 1 at p = {listing(map(str, high))}: p cores have p times the cache, and "
                     f"clocks vary")
        if cores and most > cores:
            text += f". There are {cores} cores, so more than that many {unit}s take turns"
        said.append(text + ".")
    if said and sequential["max_ms"] > 1.3 * sequential["min_ms"]:
        said.append(f"The sequential product took from {time_text(sequential['min_ms'])} to "
                    f"{time_text(sequential['max_ms'])}: the machine had other work, or changed its clock, "
                    f"and S and E are as uncertain as that.")
    both = [f.counts(kind, size, name) for name in ("OpenMP", "MPI")]
    shared_counts = sorted(set(both[0]) & set(both[1]))
    if shared_counts and shared_counts[-1] > 1:
        p = shared_counts[-1]
        ratio = both[1][p]["median_ms"] / both[0][p]["median_ms"]
        if ratio > 1.1:
            said.append(f"At p = {p} MPI takes {digits(ratio)} times as long as OpenMP: its ranks send "
                        f"panels of A and B to each other, which threads read where they lie.")
        elif ratio < 0.9:
            said.append(f"At p = {p} MPI takes {digits(ratio)} of the time of OpenMP: each rank works on "
                        f"memory of its own.")
        else:
            said.append(f"At p = {p} MPI and OpenMP take the same time within 10%: sending panels costs "
                        f"little at this size.")
    return said


def efficiencies(f):
    """The efficiency of as many threads and ranks as were tried."""
    parts = []
    for kind in f.types():
        size = f.scaling_size(kind)
        sequential = f.product(kind, size, "sequential") if size else None
        for name in ("OpenMP", "MPI"):
            counts = f.counts(kind, size, name) if sequential and kind != "int" else {}
            if counts:
                p = max(counts)
                value = sequential["median_ms"] / counts[p]["median_ms"] / p
                parts.append(f"{digits(value, 2)} for {name} in {kind} at p = {p}")
    return [f"Efficiency: {listing(parts)}."] if parts else []


def gpu_cpu(f, kind):
    """Time of the GPU, copies included, against the CPU's."""
    if not f.on_gpu:
        return [ON_CPU]
    pairs = []
    for size in f.sizes(kind, "sequential"):
        row, cpu = f.best(kind, size, OURS), f.product(kind, size, "sequential")
        if row and row["end_to_end_ms"]:
            pairs.append((size, cpu["median_ms"] / row["end_to_end_ms"], row))
    if not pairs:
        return []
    worth = [size for size, ratio, _ in pairs if ratio > 1]
    size, ratio, row = pairs[-1]
    said = [f"With allocation and copies the GPU is {digits(ratio)} times as fast as one CPU thread at "
            f"N = {size}"]
    if worth and worth[0] != pairs[0][0]:
        said[0] += f"; it is worth while from N = {worth[0]} on"
    elif not worth:
        said[0] += ", never faster at these sizes"
    said[0] += "."
    copied = 3.0 * size * size * SIZE[kind] * 1e-6 / row["end_to_end_ms"]
    spent = 1 - row["median_ms"] / row["end_to_end_ms"]
    if spent > 0.5:
        rest = (f", where pinned memory would give {digits(f.limits.copies)} GB/s" if f.limits.copies
                else "")
        said.append(f"{percent(spent)} of that time is copies and allocation: {digits(copied)} GB/s{rest}.")
    return said


def errors(f, kind):
    """Whether the errors are those of rounding."""
    rows = [r for r in f.squares(kind) if r["max_abs_error"] is not None]
    if not rows:
        return []
    if kind not in UNIT:
        exact = all(r["max_abs_error"] == 0 for r in rows)
        return ["All results are exact (modulo 2^32)." if exact else "Not all results are exact: WRONG."]
    worst = max(rows, key=lambda r: r["max_abs_error"])
    # elements uniform in (-1, 1): |a||b| is 1/4 on average, so that |A||B| is about K / 4
    bound = (worst["K"] + 2) * UNIT[kind] * worst["K"] / 4
    said = [f"{kind}: the largest absolute error, {worst['max_abs_error']:.1e} at N = {worst['N']} by "
            f"{worst['name']}, is 1/{digits(bound / worst['max_abs_error'], 2)} of (K + 2) u |A||B|, what "
            f"rounding can explain at most (u = {UNIT[kind]:.1e}, |A||B| about K / 4)."]
    relative = max(rows, key=lambda r: r["max_rel_error"])
    if relative["max_rel_error"] > 100 * UNIT[kind] * math.sqrt(relative["K"]):
        said.append(f"The relative error goes up to {relative['max_rel_error']:.1e}, where an element of C "
                    f"is next to nothing because its terms cancel; that is no fault of a kernel.")
    size = worst["N"]
    ours, cpu = f.best(kind, size, OURS), f.product(kind, size, "sequential")
    if ours and cpu and ours["max_abs_error"] is not None and cpu["max_abs_error"]:
        ratio = ours["max_abs_error"] / cpu["max_abs_error"]
        word = "the same as" if 0.9 < ratio < 1.1 else f"{digits(ratio, 2)} times"
        said.append(f"At N = {size} the error of {KERNELS[base_name(ours['name'])]} is {word} the sequential "
                    f"product's.")
    return said


def error_growth(f):
    """With which power of N the errors grow."""
    said = []
    for kind in [k for k in f.types() if k in UNIT]:
        worst = {}
        for row in f.squares(kind):
            if row["max_abs_error"]:
                worst[row["N"]] = max(row["max_abs_error"], worst.get(row["N"], 0))
        if len(worst) > 1:
            low, high = min(worst), max(worst)
            power = math.log(worst[high] / worst[low]) / math.log(high / low)
            said.append(f"{kind}: from N = {low} to {high} the largest error grows as N to the power of "
                        f"{digits(power, 2)}, the bound as N to the power of 2.")
    return said


def cublas_pairs(f, kind):
    """{N: time of cuBLAS over ours}: sustained if that was measured, else single products."""
    pairs = {
        row["N"]: row["ratio"] for row in f.of("limits", name="sustained", type=kind)
        if row["M"] == row["N"] == row["K"]
    }
    if not pairs:
        for size in f.sizes(kind, "cuBLAS"):
            ours, theirs = f.product(kind, size, "auto"), f.product(kind, size, "cuBLAS")
            if ours:
                pairs[size] = theirs["median_ms"] / ours["median_ms"]
    return dict(sorted(pairs.items()))


def cublas(f):
    """How auto compares with cuBLAS."""
    said = []
    for kind in f.types():
        pairs = cublas_pairs(f, kind)
        if not pairs:
            continue
        mean = statistics.geometric_mean(pairs.values())
        slower = [n for n, ratio in pairs.items() if ratio < 0.98]
        text = (f"{kind}: over {len(pairs)} sizes tmm_gemm is {digits(mean)} times as fast as cuBLAS in the "
                f"geometric mean, from {digits(min(pairs.values()))} to {digits(max(pairs.values()))}")
        if not slower:
            text += "; nowhere slower by 2% or more."
        elif len(slower) <= 4:
            text += f"; slower by 2% or more at N = {listing(map(str, slower))}."
        else:
            text += f"; slower by 2% or more at {len(slower)} of them, from N = {slower[0]} to {slower[-1]}."
        said.append(text)
    return said


def choice(f, rows):
    """Which kernel TMM_AUTO takes, by how much it should be faster, and whether it was."""
    first = rows[0]
    others = [r for r in rows[1:] if r["takes"] == "compared" and r["predicted_ms"]]
    said = f"It takes {first['name']}"
    if first["predicted_ms"]:
        said += f", predicted at {time_text(first['predicted_ms'])}, bound by {first['bound']}"
    if others and first["predicted_ms"]:
        next_one = min(others, key=lambda r: r["predicted_ms"])
        said += (f"; next comes {next_one['name']}, predicted to take "
                 f"{digits(next_one['predicted_ms'] / first['predicted_ms'])} times as long")
    found = [said + "."]
    if not f.on_gpu:
        found.append("The times are predictions for that GPU, by the numbers in src/tiledmm/once/tuning.h.")
    measured = {r["name"]: f.product(r["type"], r["N"], r["name"]) for r in rows if r["takes"] != "no"}
    measured = {name: row["median_ms"] for name, row in measured.items() if row} if f.on_gpu else {}
    if first["name"] in measured:
        best = min(measured, key=measured.get)
        ms = measured[first["name"]]
        found.append(f"Measured, {first['name']} took {time_text(ms)}, " + (
            "the least of all that were measured." if best == first["name"] else
            f"and {best} is the fastest of all that were measured: {time_text(measured[best])}."))
    return found


def devices(f, kind):
    """What splitting over devices gave."""
    rows = f.of("devices", type=kind)
    if not rows:
        return []
    said = []
    alone = rows[0]["other_ms"]
    splits = {}
    for row in rows:
        splits.setdefault(row["name"], []).append(row)
    resident = splits.pop("resident", None)  # the same split, without copies
    best = min(splits, key=lambda name: splits[name][0]["min_ms"])
    parts = [row["part_ms"] for row in splits[best] if row["part_rows"]]
    same = len({row["device_index"] for row in rows}) == 1
    said.append(f"{kind}, N = {rows[0]['N']}: the split '{best}' is the fastest, "
                f"{time_text(splits[best][0]['min_ms'])} against {time_text(alone)} by one device alone: "
                f"speed-up {digits(alone / splits[best][0]['min_ms'])}; the slowest device takes "
                f"{digits(max(parts) / min(parts))} times as long as the fastest one.")
    if same:
        said.append("There is one device, which acts as several: this shows the split, and can gain no "
                    "more than what overlaps.")
    if not f.on_gpu:
        said.append("The devices are pretended ones, on the same cores: CPU times.")
    if "automatic" in splits and best != "automatic":
        ratio = splits["automatic"][0]["min_ms"] / splits[best][0]["min_ms"]
        if ratio > 1.02:
            said.append(f"The automatic split takes {digits(ratio)} times as long as that.")
    if resident:
        said.append(f"Where A, B and C lie on the devices (resident) it takes {time_text(resident[0]['min_ms'])}.")
    return said


def spheres(f):
    """How the kinds of memory compare for the scene."""
    table = sphere_table(f)
    if not table:
        return []
    if not f.on_gpu:
        return [ON_CPU]
    said = []
    counts = sorted(table)

    def compare(name, count, faster, slower, tie):
        row = table[count]
        if name not in row or "global" not in row:
            return
        ratio = row["global"]["median_ms"] / row[name]["median_ms"]
        word = faster if ratio > 1.05 else slower if ratio < 0.95 else tie
        said.append(f"{name} memory, {count} spheres: {digits(ratio)} times as fast as global; {word}.")

    few = [n for n in counts if n <= 128]
    if few:
        compare("constant", few[-1],
                "all lanes of a warp ask for the same sphere, the one access that the constant cache "
                "serves at once, and its records are packed for it",
                "the broadcast from the first-level cache takes less time than the one from the "
                "constant cache here",
                "one broadcast costs the same from either cache")
    if counts[-1] > CONSTANT_HOLDS:
        compare("constant", counts[-1],
                f"also in passes, for it holds {CONSTANT_HOLDS} of them at a time",
                f"it holds {CONSTANT_HOLDS} of them at a time, and each pass reads and writes a depth per "
                f"pixel",
                f"its passes of {CONSTANT_HOLDS} cost what its broadcasts win")
    compare("shared", counts[-1],
            "a broadcast from shared memory comes sooner than one through the first-level cache",
            "copies and barriers cost more than they save",
            "the first-level cache serves the same broadcast from the same unit, so that copying first "
            "wins nothing")
    row = table[counts[-1]]
    if "culled" in row and "global" in row:
        ratio = row["global"]["median_ms"] / row["culled"]["median_ms"]
        said.append(f"Culling: {counts[-1]} spheres {digits(ratio)} times as fast as global, for each part "
                    f"of the image asks only for the spheres that reach it; that is worth more than any "
                    f"kind of memory.")
    if "global" in row:
        tests = row["global"]["width"] * row["global"]["height"] * counts[-1] / row["global"]["median_ms"]
        said.append(f"Global makes {digits(tests * 1e-6)} thousand million tests of a ray against a sphere "
                    f"a second. The {counts[-1]} spheres are {digits(counts[-1] * 0.028)} kB, which caches "
                    f"hold, and one read serves a whole warp: device memory does not bind it, the "
                    f"instructions of the tests do.")
    return said


def sphere_growth(f):
    """How the times grow with the number of spheres."""
    table = sphere_table(f)
    if len(table) < 2:
        return []
    low, high = min(table), max(table)
    parts = [f"{digits(table[high][name]['median_ms'] / row['median_ms'])} times as long with {name}"
             for name, row in table[low].items() if name in table[high]]
    return [f"{high} spheres, {digits(high / low)} times as many as {low}, take {listing(parts)}."]


def sphere_table(f):
    """{spheres: {memory: row}}."""
    table = {}
    for row in f.of("spheres"):
        table.setdefault(row["spheres"], {})[row["memory"]] = row
    return table


def overlap(f):
    """What streams gave, and which part is the floor."""
    said = []
    for kind in f.types("overlap"):
        rows = {row["name"]: row for row in f.of("overlap", type=kind)}
        serial, streams = rows.get("serial"), rows.get("streams")
        if not serial or not streams:
            continue
        parts = {"copying in": serial["in_ms"], "computing": serial["compute_ms"],
                 "copying out": serial["out_ms"]}
        slowest = max(parts, key=parts.get)
        text = (f"{kind}, N = {serial['N']}: with {streams['streams']} streams "
                f"{digits(serial['median_ms'] / streams['median_ms'])} times as fast as one after the other; ")
        text += (f"{slowest} binds, {time_text(parts[slowest])} of the {time_text(streams['median_ms'])}."
                 if f.on_gpu else "the CPU runner does one thing at a time, so nothing overlaps.")
        said.append(text)
    for row in f.of("outofcore"):
        said.append(f"Out of core, {row['type']}, N = {row['N']}, with a sixth of the matrices' memory: "
                    f"{time_text(row['median_ms'])}, {rate_text(row['rate'])} with all copies.")
    if not f.on_gpu and said:
        said.append(ON_CPU)
    return said


def memory(f):
    """The largest differences between right and wrong use of a kind of memory."""
    rows = [r for r in f.of("memory") if r["ratio"] and "(right)" not in r["name"]]
    worst = sorted(rows, key=lambda r: -r["ratio"])[:3]
    if not worst:
        return []
    words = [f"{digits(r['ratio'])} times for '{r['name']}' ({r['memory']})" for r in worst]
    return [f"Against the right way of the same demo, the largest costs are {listing(words)}."]


def roofline(f, kind):
    """Where the kernels stand under the roofs."""
    limits = f.limits
    size = f.full_size(kind)
    if size is None:
        return []
    if not f.on_gpu:
        return ["The CPU runner measures no limits: the roof drawn is the highest rate that any product "
                "reached on this CPU, and there is none for memory."]
    peak, said = limits.arithmetic[kind], []
    if limits.bandwidth and peak:
        ridge = peak / limits.bandwidth
        said.append(f"{kind}: the roofs meet at {digits(ridge)} FLOP per byte; a kernel that asks for more "
                    f"bytes than that per FLOP needs the caches to reach the roof of {ARITHMETIC[kind]}.")
        above = []
        for name in OURS:
            row = f.product(kind, size, name)
            if row and intensity(row) and gflops(row) > 1.05 * intensity(row) * limits.bandwidth:
                above.append(KERNELS[name])
        if above:
            said.append(f"Above the roof of device memory at N = {size}: {listing(above)}. Caches serve what "
                        f"memory could not.")
    rows = [r for r in (f.product(kind, size, name) for name in OURS) if r]
    row = max(rows, key=gflops)
    said.append(f"Highest: {KERNELS[base_name(row['name'])]}, {rate_text(gflops(row))}; {limit_words(f, row)}.")
    return said


def summary(f):
    """The findings that come first on the page."""
    said = []
    wrong = f.wrong()
    if wrong:
        said.append(f"WRONG RESULTS: {len(wrong)} of {len(f.rows)} measurements: "
                    f"{listing(sorted({row['name'] for row in wrong}))}.")
    if not f.on_gpu:
        said.append(ON_CPU)
    starved = f.limits.starvation()
    if f.on_gpu and starved:
        word = "starved of FP64" if starved >= STARVED else "made for FP64, too"
        said.append(f"The device does {digits(starved, 2)} FP32 operations for one of FP64: it is {word}.")
    for kind in f.types():
        if kind == "int":
            continue
        size = f.full_size(kind)
        if f.on_gpu and size:
            row = f.best(kind, size, OURS)
            said.append(f"{kind}, N = {size}: {rate_text(gflops(row))} by {chosen(row)}; {limit_words(f, row)}.")
        said += speed_ups(f, kind)[:1]
    if f.on_gpu:
        said += cublas(f)
    table = sphere_table(f)
    if table and f.on_gpu:
        count = max(table)
        best = min(table[count].values(), key=lambda r: r["median_ms"])
        said.append(f"{count} spheres, {best['width']} x {best['height']} pixels: {time_text(best['median_ms'])} "
                    f"at best ({best['memory']}).")
    return said
