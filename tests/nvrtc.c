/* Compiles tiledmm.cuh with NVRTC, the compiler in a library that CuPy and others use: from a
   folder, from memory, and with a type of one's own; the kernels must have their plain names.
   Needs the toolkit but no GPU. Arguments: the folders of tiledmm.cuh and of CUDA's headers. */
#include <nvrtc.h>
#include "tap.h"

enum { MAX_ENTRIES = 128, MAX_NAME = 64 };

static char *compiler_said; /* in the last compilation, NULL: nothing */

static char *read_file(const char *folder, const char *name)
{
    char path[4096], *text = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file) {
        fseek(file, 0, SEEK_END);
        long size = ftell(file);
        rewind(file);
        text = (char *)calloc((size_t)size + 1, 1);
        if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = 0;
        fclose(file);
    }
    if (!text) {
        printf("Bail out! cannot read %s\n", path);
        exit(2);
    }
    return text;
}

/* The PTX, or NULL; a warning counts as an error. `header`: the text of a header in memory. */
static char *compile_named(const char *source, const char *header, const char *name,
                           const char *option)
{
    const char *names[1] = {name}, *options[2] = {"--gpu-architecture=compute_80", option};
    nvrtcProgram program;
    size_t size = 0;
    char *ptx = NULL;
    free(compiler_said);
    compiler_said = NULL;
    if (nvrtcCreateProgram(&program, source, "user.cu", header ? 1 : 0, &header, names))
        return NULL;
    nvrtcResult result = nvrtcCompileProgram(program, option ? 2 : 1, options);
    if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
        compiler_said = (char *)calloc(size + 1, 1);
        nvrtcGetProgramLog(program, compiler_said);
    } else if (result == NVRTC_SUCCESS && nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS) {
        ptx = (char *)calloc(size + 1, 1);
        nvrtcGetPTX(program, ptx);
    }
    nvrtcDestroyProgram(&program);
    return ptx;
}

static char *compile(const char *source, const char *header, const char *option)
{
    return compile_named(source, header, "tiledmm.cuh", option);
}

/* README's call, which tests/nvrtc.sh has put into readme.h. */
static int readme_compiles(const char *text)
{
    const char *options[1] = {"-DTMM_SIMPLE"}, *name = "tiledmm.cuh";
    const char *source = "#include \"tiledmm.cuh\"\n";
    nvrtcProgram program = NULL;
#include "readme.h"
    nvrtcResult result = nvrtcCompileProgram(program, 1, options);
    nvrtcDestroyProgram(&program);
    return result == NVRTC_SUCCESS;
}

static void test_compiled(const char *way, const char *ptx)
{
    tap_ok(ptx != NULL, "%s: compiles without a word", way);
    if (!compiler_said) return;
    for (char *line = strtok(compiler_said, "\n"); line; line = strtok(NULL, "\n"))
        tap_note("%s", line);
}

/* One result for each name in `expected` (separated by spaces), and one that there is no other. */
static void test_entries(const char *way, const char *ptx, const char *expected)
{
    static char entries[MAX_ENTRIES][MAX_NAME];
    int count = 0, found = 0, names = 0;
    for (const char *at = ptx; at && (at = strstr(at, ".entry ")) != NULL && count < MAX_ENTRIES;) {
        at += strlen(".entry ");
        snprintf(entries[count++], MAX_NAME, "%.*s", (int)strcspn(at, "( \n"), at);
    }
    for (const char *name = expected; *name; names++) {
        int length = (int)strcspn(name, " "), there = 0;
        for (int n = 0; n < count; n++)
            there +=
                (int)strlen(entries[n]) == length && strncmp(entries[n], name, (size_t)length) == 0;
        tap_ok(there == 1, "%s: .entry %.*s", way, length, name);
        found += there;
        name += length;
        while (*name == ' ') name++;
    }
    tap_ok(count > 0 && count == found && found == names, "%s: no other .entry", way);
    if (count != found)
        for (int n = 0; n < count; n++) tap_note("entry %s", entries[n]);
}

/* what every type has with TMM_SIMPLE; of float besides; what every type has without it */
#define SIMPLE(letter) \
    "tmm_" letter "gemm_global tmm_" letter "gemm_shared_32 tmm_" letter "gemm_register_128 "
#define TILES(letter) \
    "tmm_" letter "gemm_shared_8 tmm_" letter "gemm_shared_16 tmm_" letter "gemm_register_64 "
#define FAST(letter) \
    "tmm_" letter "gemm_outer_wide tmm_" letter "gemm_direct tmm_" letter "gemm_sum "
/* what tiles are divided by, but for those of 16 bits */
#define DIVIDED(letter) "tmm_" letter "gemm_reduce "
/* what float and double have besides */
#define FLOATING(letter)                                                                \
    "tmm_" letter "pack tmm_" letter "gemm_small_16x16 tmm_" letter "gemm_small_32x32 " \
    "tmm_" letter "gemm_outer_narrow "

static const char kernels[] = SIMPLE("s") FAST("s") DIVIDED("s") FLOATING(
    "s") "tmm_sgemm_shared_8 tmm_sgemm_shared_16 "
         "tmm_sgemm_register_64 tmm_sgemm_small_16x32 tmm_sgemm_small_32x64 "
         "tmm_sgemm_skinny_k_4 tmm_sgemm_skinny_k_16 tmm_sgemm_skinny_lines_4 "
         "tmm_sgemm_skinny_lines_16 tmm_sgemm_pipelined_any tmm_sgemm_pipelined_tn "
         "tmm_sgemm_narrow_3 tmm_sgemm_narrow_4 " SIMPLE("d") FAST("d") DIVIDED("d") FLOATING(
             "d") "tmm_dgemm_small_16x32 tmm_dgemm_tensor_128x128 tmm_dgemm_tensor_64x64 "
                  "tmm_dgemm_tensor_32x64 tmm_dgemm_tensor_96x128 tmm_dgemm_tensor_any " SIMPLE("i")
                      FAST("i") DIVIDED("i") "tmm_igemm_small_16x32 tmm_igemm_pipelined_any ";

int main(int count, char **words)
{
    const char *folder = count > 1 ? words[1] : ".";
    char *header = read_file(folder, "tiledmm.cuh"), include_path[4096];
    snprintf(include_path, sizeof include_path, "-I%s", folder);

    tap_ok(readme_compiles(header), "README's way, by name");

    /* Its inclusions of itself must find it, too; the fast kernels take long. */
    char *ptx = compile("#define TMM_SIMPLE\n#include \"tiledmm.cuh\"\n", header, NULL);
    test_compiled("from memory", ptx);
    test_entries("from memory", ptx, SIMPLE("s") TILES("s") SIMPLE("d") SIMPLE("i"));
    free(ptx);
    if (count > 3) return tap_done(); /* quick */

    ptx = compile("#include \"tiledmm.cuh\"\n", NULL, include_path);
    test_compiled("from a folder", ptx);
    test_entries("from a folder", ptx, kernels);
    free(ptx);

    ptx = compile_named("#define TMM_SIMPLE\n#define TMM_NO_DOUBLE\n#define TMM_NO_INT\n"
                        "#define TMM_HEADER \"product.cuh\"\n#include \"product.cuh\"\n",
                        header, "product.cuh", NULL);
    test_compiled("from memory under another name", ptx);
    test_entries("from memory under another name", ptx, SIMPLE("s") TILES("s"));
    free(ptx);

    ptx = compile("#define TMM_NO_READY_MADE\n"
                  "#define TMM_TYPE unsigned\n"
                  "#define TMM_NAME u\n"
                  "#define TMM_TILE 24\n"
                  "#include \"tiledmm.cuh\"\n"
                  "#define N 1024\n"
                  "#include \"tiledmm.cuh\"\n", /* which now has nothing to do */
                  header, NULL);
    test_compiled("a type and a tile of one's own", ptx);
    test_entries("a type and a tile of one's own", ptx,
                 "tmm_ugemm_global tmm_ugemm_shared_24 tmm_ugemm_register_64 "
                 "tmm_ugemm_register_128 tmm_ugemm_pipelined_any tmm_ugemm_small_16x32 " FAST("u")
                     DIVIDED("u"));
    free(ptx);

    /* NVRTC has no headers of its own: cuda_fp16.h comes from the toolkit, or with CuPy. */
    snprintf(include_path, sizeof include_path, "-I%s", count > 2 ? words[2] : ".");
    ptx = compile("#define TMM_SIMPLE\n#define TMM_NO_DOUBLE\n#define TMM_NO_INT\n"
                  "#define TMM_WITH_HALF\n#define TMM_WITH_BFLOAT16\n#include \"tiledmm.cuh\"\n",
                  header, include_path);
    test_compiled("half and bfloat16", ptx);
    test_entries("half and bfloat16", ptx,
                 SIMPLE("s") TILES("s") SIMPLE("h") SIMPLE("hs") SIMPLE("b") SIMPLE("bs"));
    free(ptx);
    ptx = compile("#include <cuda_fp16.h>\n#define TMM_NO_READY_MADE\n#define TMM_TYPE __half\n"
                  "#define TMM_SUM float\n#define TMM_NAME x\n#include \"tiledmm.cuh\"\n",
                  header, include_path);
    test_compiled("half by all kernels", ptx);
    test_entries("half by all kernels", ptx,
                 SIMPLE("x")
                     FAST("x") "tmm_xgemm_shared_8 tmm_xgemm_shared_16 tmm_xgemm_register_64 "
                               "tmm_xgemm_half_64x64 tmm_xgemm_half_128x128 "
                               "tmm_xgemm_half_128x256 tmm_xgemm_half_align "
                               "tmm_xgemm_half_thin tmm_xgemm_half_tiny "
                               "tmm_xgemm_half_wgmma_128x128 tmm_xgemm_half_wgmma_128x192 "
                               "tmm_xgemm_half_wgmma_128x256 "
                               "tmm_xgemm_half_wgmma_192x192 tmm_xgemm_half_wgmma_192x224 ");
    free(ptx);

    ptx = compile("#define TMM_NO_READY_MADE\n"
                  "#define TMM_NAME x\n"
                  "#define TMM_TILE 33\n"
                  "#include \"tiledmm.cuh\"\n",
                  header, NULL);
    tap_ok(!ptx && compiler_said && strstr(compiler_said, "TMM_TILE must be 1 to 32"),
           "TMM_TILE 33 is refused with a sentence");
    free(ptx);
    ptx = compile("#define N 1024\n#include \"tiledmm.cuh\"\n", header, NULL);
    tap_ok(!ptx && compiler_said && strstr(compiler_said, "such as N or TILE after the #include"),
           "a macro N before the #include is refused with a sentence: there is no push_macro");
    free(ptx);
    free(compiler_said);
    free(header);
    return tap_done();
}
