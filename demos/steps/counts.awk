# Of the CSV of a program built by cucc --report and run at 128 128 64: the sum over three products of
# sectors loaded, loads from shared memory, passes over its banks and those beyond need, for 32
# multiply-adds each. Awk -F '"', since a kernel's name has commas.
{ split($3, f, ","); count[f[3]] += f[4]; units[f[3]] += f[5]; needed[f[3]] += f[6] }
END {
    each = 3 * 128 * 128 * 64 / 32
    passes = units["shared load"] + units["shared store"]
    extra = passes - needed["shared load"] - needed["shared store"]
    printf "%.3f %.3f %.3f %.3f\n", units["global load"] / each, count["shared load"] / each, passes / each, extra / each
}
