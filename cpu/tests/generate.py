#!/usr/bin/env python3
"""Writes kernels at random, and what each must store: generate.py SEED COUNT LEVEL > FILE.cu, compiled with drawn.h

Each kernel is drawn as C++ and as Python at once. Python does its threads one after another up to each barrier, and
the sum of all that they store stands in the program, which launches the kernels and compares. No kernel has a race, so
all orders of the threads must agree with it. LEVEL: 0, what is on the list of loops_list.h alone; 1, in some kernels
what is not; 2, classes with code that asks which thread runs, too. The program ends with status 1 if a sum is wrong,
and names the kernels; `generate.py SEED COUNT LEVEL KERNEL` writes this one alone.
"""
import random
import sys

M = 0xFFFFFFFF
WORDS = 256  # of the input

def popc(x):
    return bin(x & M).count("1")


def chosen(x):
    k = x & 3
    if k == 3:
        return x
    return ([4, 11, 6][k] + x) & M


def looped(x):
    return sum(k * x for k in range(x & 3) if k != 2) & M


def recursive(x):
    return x + 1 if x < 2 else (recursive((x & 15) // 2) + 3) & M


class Variable:
    def __init__(self, name, py, kind, uniform=False, constant=False):
        self.name, self.py, self.kind, self.uniform, self.constant = name, py, kind, uniform, constant


class Kernel:
    """One kernel, as lines of C++ and of Python."""

    NAMES = "a b c d e i j k x y t v sum row col index value SEVEN r s0 n0 head plain two_".split()
    GLOBALS = {"SEVEN", "plain"}

    def __init__(self, rng, number, level):
        self.rng, self.level = rng, level
        self.exotic = level > 0 and rng.random() < 0.45
        self.name = f"k{number}"
        self.cpp, self.py, self.depth, self.pydepth = [], [], 1, 1
        self.scopes, self.serial, self.shared = [[]], 0, []
        self.width, self.height = rng.choice([(1, 1), (5, 1), (32, 1), (64, 1), (8, 4), (7, 5), (48, 1), (16, 4), (33, 1)])
        self.threads, self.blocks = self.width * self.height, rng.choice([1, 2, 3])
        self.number = rng.choice([0, 1, 2, 3, 4, 5])  # the template's parameter
        self.template = rng.random() < 0.3
        self.uniform_only = 0
        self.in_loop = 0
        self.together = True
        self.budget = rng.randint(6, 16)

    # ---- text ----

    def c(self, text):
        self.cpp.append("    " * self.depth + text)

    def p(self, text):
        self.py.append("    " * self.pydepth + text)

    def new(self):
        self.serial += 1
        return f"v{self.serial}"

    def visible(self):
        seen, found = set(), []
        for scope in reversed(self.scopes):
            for v in scope:
                if v.name not in seen:
                    seen.add(v.name)
                    found.append(v)
        return found

    def hides(self, name):
        return any(v.name == name for scope in self.scopes for v in scope)

    def fresh(self):
        """A name that the innermost scope does not have yet; it may be one of those around."""
        here = {v.name for v in self.scopes[-1]}
        free = [n for n in self.NAMES if n not in here and (len(self.scopes) > 1 or n != "a")]
        return self.rng.choice(free) if free else f"w{self.serial}"

    # ---- expressions: C++ and Python of an unsigned int ----

    def literal(self):
        n = self.rng.choice([0, 1, 2, 3, 5, 17, 100, 65537])
        return f"{n}u", str(n)

    def read(self, v):
        kinds = {
            "u": (v.name, v.py),
            "i": (f"(unsigned){v.name}", f"({v.py} & M)"),
            "f": (f"(unsigned){v.name}", f"int({v.py})"),
            "c": (f"(unsigned){v.name}", v.py),
            "z": (f"(unsigned){v.name}", f"({v.py} & M)"),
            "b": (f"({v.name} ? 4u : 1u)", f"(4 if {v.py} else 1)"),
            "two": (f"{v.name}.a", f"{v.py}[0]"),
            "vec": (f"{v.name}.y", f"{v.py}[1]"),
            "arr": (f"{v.name}[{self.serial % 4}]", f"{v.py}[{self.serial % 4}]"),
            "four": (f"{v.name}.v[{self.serial % 4}]", f"{v.py}[{self.serial % 4}]"),
        }
        return kinds[v.kind]

    def leaf(self, uniform):
        rng = self.rng
        choice = rng.random()
        if choice < 0.2:
            return self.literal()
        if choice < 0.6:
            known = [v for v in self.visible() if v.uniform or not uniform]
            if known:
                return self.read(rng.choice(known))
        options = [("blockIdx.x", "bx"), ("blockDim.x", str(self.width)), ("count", "count"), ("factor", "factor"),
                   ("gridDim.x", str(self.blocks)), ("(unsigned)RED", "3"), ("(unsigned)SMALL", "2"), ("BIG", "1000003")]
        if not self.hides("SEVEN"):
            options.append(("SEVEN", "7"))
        if self.template:
            options.append(("(unsigned)NUMBER", str(self.number)))
        if self.level:
            options.append(("(unsigned)tone::high", "9"))
        if not uniform:
            options += [("threadIdx.x", "tx"), ("threadIdx.y", "ty"), ("threadIdx.x", "tx")] * 2
        return rng.choice(options)

    def expression(self, depth=2, uniform=False):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.25:
            return self.leaf(uniform)
        kind = rng.randrange(15 if uniform else 24)
        a, pa = self.expression(depth - 1, uniform)
        if kind < 5:
            b, pb = self.expression(depth - 1, uniform)
            op = rng.choice("+-*^&|")
            return f"({a} {op} {b})", f"(({pa} {op} {pb}) & M)"
        if kind == 5:
            s = rng.randint(1, 7)
            return rng.choice([(f"({a} << {s})", f"(({pa} << {s}) & M)"), (f"({a} >> {s})", f"({pa} >> {s})")])
        if kind == 6:
            b, pb = self.expression(depth - 1, uniform)
            x, px = self.leaf(uniform)
            return f"({a} > {b} ? {x} : {b})", f"({px} if {pa} > {pb} else {pb})"
        if kind == 7:
            b, pb = self.leaf(uniform)
            return f"(unsigned)({a} < {b})", f"int({pa} < {pb})"
        if kind == 8:
            form = rng.choice(["(unsigned)(int)({})", "static_cast<unsigned>({})", "unsigned({})", "(word)({})", "number({})"])
            return form.format(a), pa
        if kind == 9:
            b, pb = self.leaf(uniform)
            f = rng.choice(["min", "max"])
            return f"{f}({a}, {b})", f"{f}({pa}, {pb})"
        if kind == 10:
            return f"(unsigned)__popc({a})", f"popc({pa})"
        if kind == 11:
            b, pb = self.leaf(uniform)
            c, pc = self.leaf(uniform)
            return f"(unsigned)({a} > 2u && {b} != {c} || !{c})", f"int(({pa} > 2 and {pb} != {pc}) or {pc} == 0)"
        if kind == 12:
            return f"__umulhi({a}, 65537u)", f"(({pa} * 65537) >> 32)"
        if kind == 13:
            return f"({a} % (blockIdx.x + 3u))", f"({pa} % (bx + 3))"
        if kind == 14:
            return f"(unsigned)sizeof(int) * {a}", f"((4 * {pa}) & M)"
        if kind == 15:
            return f"in[{a} & 255u]", f"src[{pa} & 255]"
        if kind == 16:
            return f"table[{a} & 3u]", f"[11, 22, 33, 44][{pa} & 3]"
        if self.uniform_only:
            return a, pa
        return self.called(a, pa)

    def called(self, a, pa):
        rng = self.rng
        calls = [(f"by_rank({a})", f"(({pa} * 3 + rank) & M)"), (f"mul<3>({a})", f"(({pa} * 3) & M)"),
                 (f"over({a})", f"(({pa} + 9) & M)"), (f"over({a}, factor)", f"({pa} ^ factor)"),
                 (f"chosen({a})", f"chosen({pa})"), (f"looped({a})", f"looped({pa})"),
                 (f"mul<4>({a})", f"(({pa} + tx) & M)"), (f"ns::mixed({a})", f"(lambda q: q ^ (q >> 7))({pa})"),
                 (f"maths::twice({a})", f"((2 * {pa}) & M)"), (f"defaulted({a})", f"(({pa} * 3) & M)"),
                 (f"defaulted({a}, 5u)", f"(({pa} * 5) & M)"), (f"by_default({a})", f"(({pa} + tx) & M)"),
                 (f"both({a}, 4u).a", pa), (f"same({a})", pa), (f"same<unsigned>({a})", pa)]
        if not self.hides("plain"):
            calls += [(f"plain({a})", f"(({pa} * 5 + 1) & M)")] * 3
        if self.exotic:
            calls += [(f"recursive({a})", f"recursive({pa})"), (f"adder{{3u}}({a})", f"(({pa} + 3) & M)"),
                      (f"(unsigned)one_more{{{a}}}", f"(({pa} + 1) & M)"), (f"tripled({a}).v", f"(({pa} * 3) & M)"),
                      (f"([](unsigned q) {{ return q + threadIdx.x; }})({a})", f"(({pa} + tx) & M)"),
                      (f"([=]() {{ return {a} + 1u; }})()", f"(({pa} + 1) & M)")]
            if self.level > 1:
                calls += [(f"({a} + lane())", f"(({pa} + tx) & M)"), (f"asks_with({a}).x", f"(({pa} + tx) & M)"),
                          ("asks{}.x", "tx"), ("(unsigned)asks_value()", "((2 * tx) & M)"), ("7_th", "(7 + tx)"),
                          ("asks_member{}.x", "(tx + 1)")] * 2
        return rng.choice(calls)

    # ---- statements ----

    def declare(self, uniform=False):
        rng = self.rng
        e, pe = self.expression(rng.randint(1, 3), uniform)
        name, py = self.fresh(), self.new()
        kind = rng.choices(["u", "i", "f", "c", "z", "b", "two", "vec", "arr", "four"], [40, 8, 8, 4, 8, 3, 6, 4, 8, 3])[0]
        if kind == "vec" and not self.level:
            kind = "two"
        if uniform and kind not in "uiz":
            kind = "u"
        constant = rng.random() < 0.25 and kind in "uifcz"
        value = {"u": (e, pe), "i": (f"(int)({e} & 1023u)", f"({pe} & 1023)"), "f": (f"(float)({e} & 1023u)", f"float({pe} & 1023)"),
                 "c": (f"(unsigned char)({e})", f"({pe} & 255)"), "z": (e, pe), "b": (f"({e} > 20u)", f"({pe} > 20)")}
        types = {"u": rng.choice(["unsigned", "unsigned int", "word", "number", "uint32_t"]), "i": "int", "f": "float",
                 "c": "unsigned char", "z": "size_t", "b": "bool"}
        if kind in value:
            ce, pv = value[kind]
            if ce.startswith("unsigned(") or ce.startswith("number("):
                ce = f"+{ce}"  # not the declaration of a function
            t = types[kind]
            if kind == "u" and rng.random() < 0.15:
                t = "auto"
                ce = f"static_cast<unsigned>({ce})"
            if kind == "f" and rng.random() < 0.5:
                ce, pv = f"{ce} * 0.5f", f"({pv} * 0.5)"
            form = rng.choice(["{t} {n} = {e};", "{t} {n} = {e};", "{t} {n} = {e};", "{t} {n}{{{e}}};", "{t} {n}({e});",
                               "const {t} {n}{{{e}}};", "{t} const {n}({e});", "{t} {n} = {{{e}}};", "{t} {n}; {n} = {e};"])
            if t == "auto" and ("= {{" in form or "; " in form):
                form = "auto {n} = {e};"
            if self.exotic and rng.random() < 0.15:
                form = rng.choice(["volatile {t} {n} = {e};", "decltype(0u + 1u) {n}({e});", "[[maybe_unused]] {t} {n} = {e};",
                                   "alignas(8) {t} {n} = {e};", "{t} {n} = [&]() {{ return {e}; }}();"])
                if "decltype" in form and (kind != "u" or t == "auto"):
                    form = "{t} {n} = {e};"
                constant = "volatile" in form
            constant = constant or "const " in form
            # A name is in scope in its own value: none of that name may be read there.
            if self.names_in(name, ce):
                name = f"w{self.serial}"
            if constant and "const" not in form and "; " not in form and "volatile" not in form:
                form = "const " + form
            constant = constant and ("const" in form or "volatile" in form)
            self.c(form.format(t=t, n=name, e=ce))
            self.p(f"{py} = {pv}")
        else:
            parts = [self.expression(1, uniform) for _ in range(2 if kind in ("two", "vec") else 4)]
            if any(self.names_in(name, q) for q, _ in parts):
                name = f"w{self.serial}"
            values = ", ".join(q for q, _ in parts)
            form = {"two": ["two {n} = {{{v}}};", "two {n}{{{v}}};", "two {n} = both({v});", "two {n}(both({v}));"],
                    "vec": ["vec {n}{{{v}}};", "vec {n} = {{{v}}};", "auto {n} = vec{{{v}}};"],
                    "arr": ["unsigned {n}[4] = {{{v}}};", "unsigned {n}[4]{{{v}}};"],
                    "four": ["four {n} = {{{{{v}}}}};", "four {n}{{{{{v}}}}};"]}[kind]
            self.c(rng.choice(form).format(n=name, v=values))
            self.p(f"{py} = [{', '.join(q for _, q in parts)}]")
        v = Variable(name, py, kind, uniform and self.together, constant)
        self.scopes[-1].append(v)
        return v

    @staticmethod
    def names_in(name, text):
        word = ""
        for ch in text + " ":
            if ch.isalnum() or ch == "_":
                word += ch
            else:
                if word == name:
                    return True
                word = ""
        return False

    def assign(self):
        rng = self.rng
        known = [v for v in self.visible() if not v.constant and v.kind != "b"]
        if not known:
            return self.declare()
        v = rng.choice(known)
        uniform = v.uniform
        if uniform and not self.together:
            v.uniform = uniform = False  # some threads alone change it
            return None if self.in_loop else self.assign_to(v, False)
        return self.assign_to(v, uniform)

    def assign_to(self, v, uniform):
        rng = self.rng
        e, pe = self.expression(2, uniform)
        n, py = v.name, v.py
        if v.kind == "u":
            forms = [(f"{n} = {e};", f"{py} = {pe}"), (f"{n} += {e};", f"{py} = ({py} + {pe}) & M"), (f"{n} ^= {e};", f"{py} ^= {pe}"),
                     (f"{n} -= {e};", f"{py} = ({py} - {pe}) & M"), (f"{n} = {n} * 3u + {e};", f"{py} = ({py} * 3 + {pe}) & M"),
                     (f"{n}++;", f"{py} = ({py} + 1) & M"), (f"--{n};", f"{py} = ({py} - 1) & M"), (f"{n} <<= 1;", f"{py} = ({py} << 1) & M")]
            if not uniform:
                forms += [(f"if ({e} > 9u) {n} = 5u;", f"if {pe} > 9: {py} = 5"), (f"bump({n}, {e});", f"{py} = ({py} + {pe}) & M"),
                          (f"bump_at(&{n}, {e});", f"{py} ^= {pe}"),
                          (f"bump_again({n}, {e});", f"{py} = ({py} + {pe}) & M"), (f"({n} += 1u), ({n} ^= {e});", None)]
                if self.exotic:
                    forms += [(f"*&{n} += 2u;", f"{py} = ({py} + 2) & M"), (f"({n}) += 3u;", f"{py} = ({py} + 3) & M"),
                              (f"{n} > 4u ? ({n} = 2u) : ({n} += 3u);", f"{py} = 2 if {py} > 4 else {py} + 3"),
                              (f"{e} > 6u && ({n} ^= 1u);", f"{py} = {py} ^ 1 if {pe} > 6 else {py}"),
                              (f"{{ unsigned &q_ = {n}; q_ += {e}; }}", f"{py} = ({py} + {pe}) & M"),
                              (f"{{ unsigned *q_ = &{n}; *q_ ^= {e}; }}", f"{py} ^= {pe}"),
                              (f"[&] {{ {n} += {e}; }}();", f"{py} = ({py} + {pe}) & M")]
                if self.level > 1 and self.exotic:
                    forms += [(f"into{{{n}}};", f"{py} = (tx * 5) & M"), (f"{{ into o_({n}); }}", f"{py} = (tx * 5) & M"),
                              (f"{{ leaves o_{{{n}}}; }}", f"{py} = ({py} + tx) & M")] * 2
            cpp, python = rng.choice(forms)
            if python is None:
                cpp, python = f"{n} += 1u, {n} ^= 12u;", f"{py} = ((({py} + 1) & M) ^ 12)"
            # what reads the variable itself within its own value must not come after a change of it
            self.c(cpp)
            self.p(python)
            return None
        if v.kind in ("two", "vec", "arr", "four"):
            k = rng.randrange(2 if v.kind in ("two", "vec") else 4)
            place = {"two": f"{n}.{'ab'[k % 2]}", "vec": f"{n}.{'xy'[k % 2]}", "arr": f"{n}[{k}]", "four": f"{n}.v[{k}]"}[v.kind]
            forms = [(f"{place} += {e};", f"{py}[{k}] = ({py}[{k}] + {pe}) & M"), (f"{place} = {e};", f"{py}[{k}] = {pe}"),
                     (f"bump({place}, {e});", f"{py}[{k}] = ({py}[{k}] + {pe}) & M")]
            if v.kind == "vec":
                forms += [(f"{n} += {e};", f"_t = {pe}; {py}[0] = ({py}[0] + _t) & M; {py}[1] = ({py}[1] - _t) & M"),
                          (f"{n} = {n} + vec{{1u, {e}}};", f"_t = {pe}; {py}[0] = ({py}[0] + 1) & M; {py}[1] ^= _t")]
            if v.kind == "arr":
                forms += [(f"for (unsigned q_ = 0; q_ < 4; q_++) {n}[q_] += q_;", f"for _q in range(4): {py}[_q] = ({py}[_q] + _q) & M"),
                          (f"{n}[1] = sum_of({n}, 3);", f"{py}[1] = sum({py}[:3]) & M"),
                          (f"swap_words({n}[0], {n}[3]);", f"{py}[0], {py}[3] = {py}[3], {py}[0]")]
                if self.exotic:
                    forms.append((f"{{ unsigned *q_ = {n}; q_[2] += 7u; }}", f"{py}[2] = ({py}[2] + 7) & M"))
                    forms.append((f"for (unsigned &q_ : {n}) q_ ^= 9u;", f"for _q in range(4): {py}[_q] ^= 9"))
            cpp, python = rng.choice(forms)
            self.c(cpp)
            self.p(python)
            return None
        value = {"i": (f"(int)({e} & 1023u)", f"({pe} & 1023)"), "f": (f"(float)({e} & 1023u)", f"float({pe} & 1023)"),
                 "c": (f"(unsigned char)({e})", f"({pe} & 255)"), "z": (e, pe)}[v.kind]
        self.c(f"{n} = {value[0]};")
        self.p(f"{py} = {value[1]}")
        return None

    def array(self):
        name = f"shared_{len(self.shared)}"
        self.shared.append(name)
        return name

    def exchange(self):
        """Words that threads give each other through shared memory, or by lanes of a warp."""
        rng = self.rng
        e, pe = self.expression(2)
        t = self.threads
        name, py, s = f"g{self.serial}", self.new(), self.array()
        other, pyother = rng.choice([(f"{t - 1}u - rank_", f"{t - 1} - rank"), (f"(rank_ + 1u) % {t}u", f"(rank + 1) % {t}"), ("0", "0")])
        rows = [f"S['{s}'][rank] = {pe}", "yield", f"{py} = S['{s}'][{pyother}]", "yield"]
        sync = rng.choice(["__syncthreads();", "__syncthreads();", "cg::sync(group_);", "group_.sync();"])
        self.has_group = getattr(self, "has_group", False) or "group_" in sync
        kind = rng.randrange(8)
        self.c(f"__shared__ unsigned {s}[{t}];")
        if kind == 0 and t % 32 == 0:
            self.c(f"unsigned {name} = {e};")
            self.c(f"{name} += __shfl_down_sync(0xffffffffu, {name}, 3);")
            rows = [f"{py} = {pe}", f"S['{s}'][rank] = {py}", "yield",
                    f"{py} = ({py} + S['{s}'][rank + 3 if rank % 32 < 29 else rank]) & M", "yield"]
        elif kind == 1:
            self.c(f"unsigned {name} = passed({s}, {e});")
            rows[2] = f"{py} = S['{s}'][{t - 1} - rank]"
        elif kind == 2:
            f = rng.choice(["7.75f", "(int)({e} & 255u)", "(float)({e} & 255u) + 0.5f"])
            self.c(f"unsigned {name} = half_of({f.replace('{e}', e)}, {s});")
            value = "7" if f[0] == "7" else f"({pe} & 255)"
            rows = [f"_h = {value}", f"S['{s}'][rank] = _h", "yield", f"{py} = _h // 2 + S['{s}'][(rank + 1) % {t}]", "yield"]
        elif kind == 3 and self.exotic and self.level > 1:
            self.c(f"unsigned {name} = waits({s}, {e}).v;")
            rows[2] = f"{py} = S['{s}'][(rank + 2) % {t}]"
        elif kind == 4:
            self.c(f"if (rank_ == 0) {s}[0] = {e};")
            self.c("__syncthreads();")
            self.c(f"unsigned {name}{{{s}[0]}};")
            self.c("__syncthreads();")
            rows = [f"if rank == 0: S['{s}'][0] = {pe}", "yield", f"{py} = S['{s}'][0]", "yield"]
        elif kind == 5:
            self.c(f"if (rank_ == 0) {s}[0] = 0;")
            self.c("__syncthreads();")
            self.c(f"atomicAdd(&{s}[0], {e});")
            self.c("__syncthreads();")
            self.c(f"const unsigned {name}({s}[0]);")
            self.c("__syncthreads();")
            rows = [f"if rank == 0: S['{s}'][0] = 0", "yield", f"S['{s}'][0] = (S['{s}'][0] + {pe}) & M", "yield", f"{py} = S['{s}'][0]", "yield"]
        else:
            self.c(f"{s}[rank_] = {e};")
            self.c(sync)
            if rng.random() < 0.3:
                self.c(f"unsigned *at_{name} = {s} + 0; unsigned {name} = at_{name}[{other}];")
            else:
                self.c(f"unsigned {name} = {s}[{other}];")
            self.c("__syncthreads();")
        for row in rows:
            self.p(row)
        self.scopes[-1].append(Variable(name, py, "u", False, kind == 5))

    def atomic(self):
        rng = self.rng
        e, pe = self.expression(1)
        kind = rng.randrange(5)
        if kind == 0:
            self.c(f"atomicAdd(&sums[{self.serial % 4}], {e});")
            self.p(f"sums[{self.serial % 4}] = (sums[{self.serial % 4}] + {pe}) & M")
        elif kind == 1:
            self.c(f"atomicMax(sums + 4, {e});")
            self.p(f"sums[4] = max(sums[4], {pe})")
        elif kind == 2:  # each draws a number, and marks it; who draws which is open
            form = rng.choice(["sums[8u + take<1>() % 8u * 0u] += 0u;", None])
            if form:
                self.c("{ unsigned q_ = take<1>(); atomicXor(&sums[6], q_ * q_ * 7u + q_); }")
                self.p("_q = drawn[0]; drawn[0] += 1; sums[6] ^= (_q * _q * 7 + _q) & M")
            else:
                self.c("{ unsigned q_{add_to<2>(&sums[5])}; atomicAdd(sums + 7, q_ * 3u); }")
                self.p("_q = sums[5]; sums[5] = (_q + 2) & M; sums[7] = (sums[7] + _q * 3) & M")
        else:  # of a word of its own
            name, py = f"g{self.serial}", self.new()
            form = rng.choice(["unsigned {n} = atomicAdd(&own[gid_], {e});", "unsigned {n}{{counted(own + gid_, {e})}};",
                               "unsigned {n} = add_to<3>(&own[gid_]);"])
            self.c(form.format(n=name, e=e))
            self.p(f"{py} = own[gid]; own[gid] = (own[gid] + {'3' if '<3>' in form else pe}) & M")
            self.scopes[-1].append(Variable(name, py, "u"))

    def lambda_(self):
        """A named lambda and two calls of it, the second where another variable has the name of what it takes."""
        rng = self.rng
        known = [v for v in self.visible() if v.kind == "u"]
        e, pe = self.expression(1)
        f, n1, p1 = f"f{self.serial}", f"g{self.serial}", self.new()
        capture = known and rng.choice(known)
        body, pbody = (f"q_ * 3u + {capture.name}", f"{capture.py}") if capture else ("q_ * 3u", "0")
        mark = rng.choice(["", "", " __device__ "]) if self.exotic else ""
        how = rng.choice(["[=]", "[&]"])
        if not capture and mark:
            how, body, pbody = "[]", "q_ * 3u + threadIdx.x", "tx"
        self.c(f"auto {f} = {how}{mark}(unsigned q_) {{ return {body}; }};")
        self.c(f"unsigned {n1} = {f}({e});")
        self.p(f"{p1} = ({pe} * 3 + {pbody}) & M")
        held = capture and not capture.constant
        if capture:
            self.p(f"_k = {capture.py}")
        self.scopes[-1].append(Variable(n1, p1, "u"))
        if held and rng.random() < 0.5:
            self.c(f"{{ unsigned {capture.name}{{5u}}; {n1} += {f}({capture.name}); }}")
            self.p(f"{p1} = ({p1} + 15 + {capture.py}) & M")

    def pointer_function(self):
        n, py = f"g{self.serial}", self.new()
        e, pe = self.expression(1)
        if self.hides("plain"):
            return
        form = self.rng.choice([0, 1, 2])
        if form == 0:
            self.c(f"unsigned (*p{n})(unsigned) = by_rank; unsigned {n} = (*p{n})({e});")
            self.p(f"{py} = ({pe} * 3 + rank) & M")
        elif form == 1:
            self.c(f"unsigned (*p{n}[])(unsigned) = {{plain, by_rank}}; unsigned {n} = p{n}[1]({e});")
            self.p(f"{py} = ({pe} * 3 + rank) & M")
        else:
            self.c(f"auto p{n} = rank; unsigned {n} = {e} + p{n}();")
            self.p(f"{py} = ({pe} + rank) & M")
        self.scopes[-1].append(Variable(n, py, "u"))

    def odd(self):
        """What the list does not have, but for constexpr."""
        n, py = f"g{self.serial}", self.new()
        e, pe = self.expression(1)
        forms = [(f"auto [{n}, h{n}] = both({e}, 3u); {n} += h{n};", f"{py} = ({pe} + 3) & M"),
                 (f"unsigned {n} = 1u; if ({e} > 3u) goto end_{n}; {n} = 2u; end_{n}: {n} += 1u;", f"{py} = 2 if {pe} > 3 else 3"),
                 (f"unsigned {n} = 0u; switch ({e} & 3u) {{ case 0: {n} = 1u; case 1: {n} += 2u; break; default: {n} = threadIdx.x; }}",
                  f"_q = {pe} & 3; {py} = 3 if _q == 0 else 2 if _q == 1 else tx"),
                 (f"struct local_{n} {{ unsigned a, b; __device__ unsigned sum() const {{ return a + b; }} }}; unsigned {n} = local_{n}{{{e}, 4u}}.sum();",
                  f"{py} = ({pe} + 4) & M"),
                 (f"using type_{n} = unsigned; type_{n} {n}{{{e}}};", f"{py} = {pe}"),
                 (f"typedef unsigned type_{n}; type_{n} {n}({e});", f"{py} = {pe}"),
                 (f"unsigned {n}; asm(\"\" : \"=r\"({n}) : \"0\"({e}));", f"{py} = {pe}"),
                 (f"unsigned {n} = 0u; for (unsigned q_ : {{1u, 2u, threadIdx.x}}) {n} += q_ * 3u;", f"{py} = (9 + tx * 3) & M"),
                 (f"uint3 at_{n}{{threadIdx}}; unsigned {n} = at_{n}.x + {e};", f"{py} = ({pe} + tx) & M"),
                 (f"uint3 at_{n}(threadIdx), *to_{n} = &at_{n}; unsigned {n} = to_{n}->x + {e};", f"{py} = ({pe} + tx) & M"),
                 (f"auto &at_{n} = threadIdx; unsigned {n} = at_{n}.x + {e};", f"{py} = ({pe} + tx) & M"),
                 (f"unsigned {n}; if (unsigned q_ = {e}; q_ > 2u) {n} = q_; else {n} = 8u;", f"{py} = {pe}; {py} = {py} if {py} > 2 else 8"),
                 (f"unsigned {n} = 0u; if constexpr (sizeof(int) == 4) {n} = {e};", f"{py} = {pe}"),
                 (f"constexpr unsigned at_{n} = 6u; unsigned {n} = {e} * at_{n};", f"{py} = ({pe} * 6) & M"),
                 (f"static constexpr unsigned at_{n}[] = {{6u, 7u}}; unsigned {n} = {e} * at_{n}[threadIdx.x & 1u];", f"{py} = ({pe} * (6 + (tx & 1))) & M"),
                 (f"unsigned {n} = __syncthreads_count(1) + {e};" if self.together else f"unsigned {n} = {self.threads} + {e};",
                  f"{py} = ({self.threads} + {pe}) & M"),
                 (f"unsigned *at_{n} = new unsigned({e}); unsigned {n} = *at_{n}; delete at_{n};", f"{py} = {pe}"),
                 (f"unsigned {n} = ({e}, threadIdx.x);", f"{py} = tx")]
        cpp, python = self.rng.choice(forms)
        self.c(cpp)
        self.p(python)
        self.scopes[-1].append(Variable(n, py, "u"))

    def block(self, count, together):
        was = self.together
        self.together = was and together
        self.scopes.append([])
        self.depth += 1
        self.pydepth += 1
        self.p("pass")
        for _ in range(count):
            self.statement()
        self.scopes.pop()
        self.depth -= 1
        self.pydepth -= 1
        self.together = was

    def branch(self):
        together = self.together and self.rng.random() < 0.4
        e, pe = self.expression(2, together)
        b, pb = self.leaf(together)
        comparison = self.rng.choice([">", "<", "==", "!="])
        if together and self.rng.random() < 0.5:  # a bound between blocks, which all threads of each are on one side of
            e, pe, comparison, b = "gid_", "gid", "<", f"{self.threads * self.rng.randint(0, self.blocks)}u"
            pb = b[:-1]
        self.c(f"if ({e} {comparison} {b}) {{")
        self.p(f"if {pe} {comparison} {pb}:")
        self.uniform_branch(together)
        if self.rng.random() < 0.5:
            self.c("} else {")
            self.p("else:")
            self.uniform_branch(together)
        self.c("}")

    def uniform_branch(self, together):
        self.block(self.rng.randint(1, 3), together)

    def loop(self):
        rng = self.rng
        together = self.together and rng.random() < 0.5
        self.serial += 1
        q, pq = rng.choice(["k", "n", "i"]) + "_", self.new()
        self.in_loop += 1
        form = rng.randrange(5)
        bound, pbound = rng.choice([("3u", "3"), ("(factor & 3u)", "(factor & 3)"), ("blockIdx.x + 2u", "(bx + 2)")])
        if not together and rng.random() < 0.5:
            bound, pbound = "(threadIdx.x & 3u) + 1u", "((tx & 3) + 1)"
        declared = Variable(q, pq, "u", together, True)
        self.scopes.append([declared])
        if form < 3:
            head = rng.choice(["unsigned {q} = 0", "unsigned {q}{{0}}", "unsigned {q}(0)", "unsigned int {q} = 0u"]).format(q=q)
            self.c(f"for ({head}; {q} < {bound}; {rng.choice(['{q}++', '++{q}', '{q} += 1']).format(q=q)}) {{")
        elif form == 3:
            self.c(f"unsigned {q}{self.serial} = 0; while ({q}{self.serial} < {bound}) {{ const unsigned {q} = {q}{self.serial};")
        else:
            self.c(f"unsigned {q}{self.serial}{{0}}; do {{ unsigned const {q}{{{q}{self.serial}}};")
        serial = self.serial
        self.p(f"{pq} = 0")
        self.p(f"while {'True' if form == 4 else f'{pq} < {pbound}'}:")
        self.block(rng.randint(1, 3), together and form != 4)
        self.pydepth += 1
        leaves = form < 3 and rng.random() < 0.2
        if leaves:
            e, pe = rng.choice([("blockIdx.x", "bx"), (q, pq)] + ([] if together else [("threadIdx.x", "tx"), ("in[threadIdx.x]", "src[tx]")]))
            self.c(f"    if (({e} & 1u) == 1u) break;")
            self.p(f"if {pe} & 1 == 1: break")
        if form == 3:
            self.c(f"    {q}{serial}++; }}")
        elif form == 4:
            self.c(f"    {q}{serial} += 1u; }} while ({q}{serial} < {bound});")
        else:
            self.c("}")
        self.p(f"{pq} = {pq} + 1")
        if form == 4:
            self.p(f"if not {pq} < {pbound}: break")
        self.pydepth -= 1
        self.scopes.pop()
        self.in_loop -= 1

    def listed(self):
        """More of what is on the list."""
        n, py = f"g{self.serial}", self.new()
        e, pe = self.expression(1)
        b, pb = self.leaf(False)
        forms = [(f"unsigned {n} = 0; for (unsigned l_ = 0, m_ = 5; l_ < m_; l_++, m_--) {n} += l_ * {b} + m_;",
                  f"{py} = sum(l * {pb} + m for l, m in ((0, 5), (1, 4), (2, 3))) & M"),
                 (f"const unsigned *at_{n} = in + ({e} & 127u); unsigned {n}{{at_{n}[3] + *at_{n}}};",
                  f"_q = {pe} & 127; {py} = (src[_q + 3] + src[_q]) & M"),
                 (f"const unsigned *at_{n}(&in[{e} & 127u]), *to_{n}{{at_{n} + 2}}; unsigned {n}(to_{n}[-1]);", f"{py} = src[({pe} & 127) + 1]"),
                 (f"unsigned {n} = *(in + ({e} & 255u)) + 1u;", f"{py} = (src[{pe} & 255] + 1) & M"),
                 (f"view w_{n}{{in, {e}}}; unsigned {n} = w_{n}.p[w_{n}.n & 255u];", f"{py} = src[{pe} & 255]"),
                 (f"unsigned m_{n}[2][2] = {{{{{e}, 2u}}, {{3u, {b}}}}}; m_{n}[1][threadIdx.x & 1u] += 5u; unsigned {n} = m_{n}[0][0] ^ m_{n}[1][1];",
                  f"_q = {pb} + (5 if tx & 1 else 0); {py} = ({pe} ^ _q & M) & M"),
                 (f"unsigned {n}{{1u}}; while (true) {{ {n} += 3u; if ({n} > ({e} & 15u)) break; }}",
                  f"{py} = 4\n{{pad}}while {py} <= {pe} & 15: {py} += 3"),
                 (f"float h_{n} = sqrtf((float)({e} & 255u)); unsigned {n} = (unsigned)(h_{n} * h_{n} > 8.5f);", f"{py} = int(({pe} & 255) > 8)"),
                 (f"uint2 p_{n} = make_uint2({e}, {b}); p_{n}.x += p_{n}.y; unsigned {n} = p_{n}.x;", f"{py} = ({pe} + {pb}) & M"),
                 (f"uint4 p_{n}{{{e}, 1u, {b}, 2u}}; unsigned {n} = p_{n}.x ^ p_{n}.z;", f"{py} = {pe} ^ {pb}"),
                 (f"constexpr unsigned at_{n} = 6u; unsigned {n} = {e} * at_{n};", f"{py} = ({pe} * 6) & M"),
                 (f"own[gid_] += {e}; unsigned {n} = own[gid_];", f"own[gid] = (own[gid] + {pe}) & M; {py} = own[gid]"),
                 (f"unsigned &at_{n} = own[gid_]; at_{n} ^= {e}; unsigned {n} = at_{n};", f"own[gid] ^= {pe}; {py} = own[gid]"),
                 (f"unsigned *at_{n} = &own[gid_], {n} = (unsigned)*at_{n}; if ({b} > 2u) *at_{n} += {e};",
                  f"{py} = own[gid]\n{{pad}}if {pb} > 2: own[gid] = ({py} + {pe}) & M"),
                 (f"unsigned {n} = 0; for (int l_ = 3; l_ >= 0; l_--) {{ if (l_ == 2) continue; {n} = {n} * 3u + {b}; }}",
                  f"{py} = 13 * {pb} & M")]
        cpp, python = self.rng.choice(forms)
        self.c(cpp)
        self.p(python.replace("{pad}", "    " * self.pydepth))
        self.scopes[-1].append(Variable(n, py, "u"))

    def warp(self):
        """What the lanes of a warp tell each other, where all are there."""
        n, py, s = f"g{self.serial}", self.new(), self.array()
        e, pe = self.expression(1)
        mine = "range(rank // 32 * 32, rank // 32 * 32 + 32)"
        forms = [("__any_sync(0xffffffffu, {e} > 60u)", f"int(any(q > 60 for q in (S['{s}'][k] for k in {mine})))"),
                 ("(unsigned)__popc(__ballot_sync(~0u, {e} & 1u))", f"sum(S['{s}'][k] & 1 for k in {mine})"),
                 ("__shfl_xor_sync(0xffffffffu, {e}, 5)", f"S['{s}'][rank ^ 5]"),
                 ("__shfl_sync(0xffffffffu, {e}, 7)", f"S['{s}'][rank // 32 * 32 + 7]"),
                 ("__shfl_up_sync(0xffffffffu, {e}, 1)", f"S['{s}'][rank - 1 if rank % 32 else rank]"),
                 ("__reduce_add_sync(0xffffffffu, {e})", f"sum(S['{s}'][k] for k in {mine}) & M")]
        cpp, python = self.rng.choice(forms)
        self.c(f"unsigned {n} = {cpp.format(e=e)};")
        for row in (f"S['{s}'][rank] = {pe}", "yield", f"{py} = {python}", "yield"):
            self.p(row)
        self.scopes[-1].append(Variable(n, py, "u"))

    def strided(self):
        """A loop from the thread's number on, as over a grid."""
        q, pq, n, py = f"i{self.serial}_", self.new(), f"g{self.serial}", self.new()
        head = self.rng.choice([f"unsigned {q} = rank_", f"unsigned {q}{{rank_}}", f"size_t {q}(rank_)"])
        self.c(f"unsigned {n}{{0}}; for ({head}; {q} < {WORDS}u; {q} += {self.threads}u) {n} += in[{q}] ^ factor;")
        self.p(f"{py} = 0")
        self.p(f"for {pq} in range(rank, {WORDS}, {self.threads}): {py} = ({py} + (src[{pq}] ^ factor)) & M")
        self.scopes[-1].append(Variable(n, py, "u"))

    def statement(self):
        rng = self.rng
        self.serial += 1
        self.budget -= 1
        if self.budget < 0 or len(self.scopes) > 4:
            return self.assign()
        kind = rng.random()
        if kind < 0.27:
            return self.declare()
        if kind < 0.34 and self.together:
            self.uniform_only += 1
            self.declare(uniform=True)
            self.uniform_only -= 1
            return None
        if kind < 0.51:
            return self.assign()
        if kind < 0.62 and self.together:
            return self.exchange()
        if kind < 0.68:
            return self.branch()
        if kind < 0.76:
            return self.loop()
        if kind < 0.81:
            return self.atomic()
        if kind < 0.86:
            return self.lambda_()
        if kind < 0.91:
            return self.strided()
        if kind < 0.96:
            return self.warp() if self.together and self.threads % 32 == 0 and rng.random() < 0.5 else self.listed()
        if self.exotic:
            return self.odd() if rng.random() < 0.8 else self.pointer_function()
        return self.assign()

    def write(self):
        rng = self.rng
        for _ in range(rng.randint(3, 9)):
            self.statement()
        if rng.random() < 0.3:  # some threads have nothing more to do
            e, pe = self.leaf(False)
            self.c(f"if ({e} == 2u) return;")
            self.p(f"if {pe} == 2: return")
        total, ptotal = "1u", "1"
        for v in self.scopes[0]:
            if v.kind == "arr":
                for k in range(4):
                    total, ptotal = f"({total}) * 31u + {v.name}[{k}]", f"(({ptotal}) * 31 + {v.py}[{k}]) & M"
                continue
            a, pa = self.read(v)
            total, ptotal = f"({total}) * 31u + {a}", f"(({ptotal}) * 31 + {pa}) & M"
        self.c(f"out[gid_] = {total};")
        self.p(f"out[gid] = ({ptotal}) & M")
        head = "template <int NUMBER> " if self.template else ""
        gid = rng.choice(["const unsigned rank_ = {r}, gid_ = blockIdx.x * {t}u + rank_;", "unsigned rank_{{{r}}}; unsigned const gid_{{blockIdx.x * {t}u + rank_}};",
                          "const unsigned rank_({r}), gid_(blockIdx.x * {t}u + rank_);", "auto rank_ = {r}; size_t const gid_{{blockIdx.x * {t}u + rank_}};"])
        gid = gid.format(r="threadIdx.y * blockDim.x + threadIdx.x", t=self.threads)
        group = ["    auto group_ = cg::this_thread_block();"] if getattr(self, "has_group", False) else []
        return "\n".join([f"{head}__global__ void {self.name}(const unsigned *in, unsigned *out, unsigned *own, unsigned *sums, unsigned count, unsigned factor)",
                          "{", *group, "    " + gid, *self.cpp, "}"])

    def launch(self):
        name = f"{self.name}<{self.number}>" if self.template else self.name
        return f"{name}<<<{self.blocks}, dim3({self.width}, {self.height})>>>(in, out, own, sums, 37u, 21u)"

    def run(self, source):
        """All threads of all blocks, each up to the next barrier."""
        space = {"M": M, "popc": popc, "chosen": chosen, "looped": looped, "recursive": recursive, "min": min, "max": max}
        code = "def kernel(tx, ty, bx, rank, gid, src, out, own, sums, S, count, factor, drawn):\n    if 0: yield\n" + "\n".join(self.py)
        exec(compile(code, self.name, "exec"), space)
        every = self.threads * self.blocks
        out, own, sums, drawn = [0] * every, [0] * every, [0] * 8, [0]
        for block in range(self.blocks):
            shared = {s: [0] * self.threads for s in self.shared}
            live = [space["kernel"](r % self.width, r // self.width, block, r, block * self.threads + r, source, out, own, sums, shared, 37, 21, drawn)
                    for r in range(self.threads)]
            while live:
                going = []
                for thread in live:
                    try:
                        next(thread)
                        going.append(thread)
                    except StopIteration:
                        pass
                live = going
        total = 0
        for word in out + own + sums:
            total = (total * 1000003 + word) & 0xFFFFFFFFFFFFFFFF
        return total


def main():
    seed, count, level = (int(word) for word in sys.argv[1:4])
    only = int(sys.argv[4]) if len(sys.argv) > 4 else -1
    source = [(k * 2654435761 + 12345) >> 7 & 0xFFFF for k in range(WORDS)]
    bodies, runs = [], []
    for number in range(count):
        kernel = Kernel(random.Random(seed * 1000003 + number), number, level)
        body = kernel.write()
        if only in (-1, number):
            bodies.append(body)
            runs.append(f'    clear(); {kernel.launch()}; failed += !agrees("{kernel.name}", {kernel.threads * kernel.blocks}, {kernel.run(source)}ULL);')
    print(f"/* generate.py {seed} {count} {level} */")
    print(("#define ASKING\n" if level > 1 else "") + '#include "drawn.h"')
    print("\n".join(bodies))
    print(f"""
static unsigned *in, *out, *own, *sums;
static void clear()
{{
    unsigned zero = 0;
    cudaMemset(out, 0, 1024), cudaMemset(own, 0, 1024), cudaMemset(sums, 0, 32), cudaMemcpyToSymbol(drawn, &zero, 4);
}}
static bool agrees(const char *kernel, int words, unsigned long long right)
{{
    static unsigned host[3][256];
    unsigned long long total = 0;
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(host[0], out, 1024, cudaMemcpyDeviceToHost), cudaMemcpy(host[1], own, 1024, cudaMemcpyDeviceToHost);
    cudaMemcpy(host[2], sums, 32, cudaMemcpyDeviceToHost);
    for (int part = 0; part < 3; part++)
        for (int k = 0; k < (part < 2 ? words : 8); k++) total = total * 1000003ULL + host[part][k];
    if (error || total != right) printf("%s of seed {seed}, level {level}: %s\\n", kernel, error ? cudaGetErrorString(error) : "wrong");
    return !error && total == right;
}}
int main()
{{
    static unsigned source[{WORDS}];
    int failed = 0;
    for (unsigned k = 0; k < {WORDS}; k++) source[k] = (unsigned)((k * 2654435761ULL + 12345ULL) >> 7 & 0xFFFF);
    cudaMalloc(&in, sizeof source), cudaMalloc(&out, 1024), cudaMalloc(&own, 1024), cudaMalloc(&sums, 32);
    cudaMemcpy(in, source, sizeof source, cudaMemcpyHostToDevice);
{chr(10).join(runs)}
    printf("%d of {len(runs)} kernels wrong\\n", failed);
    return failed != 0;
}}""")


if __name__ == "__main__":
    main()
