/* Without a CUDA device (CUCC_DEVICES=0 or CUDA_VISIBLE_DEVICES= in the environment) every call
   that needs one says so and returns; what needs none works. */
#include "tap.h"
#include "../tiledmm.cuh"

int main(void)
{
    float a[4] = {1, 2, 3, 4}, c[4] = {9, 9, 9, 9};
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
        tap_skip("no device", "a device is visible: run with CUDA_VISIBLE_DEVICES=");
        return tap_done();
    }
    tmm_status status = tmm_smatmul(2, 2, 2, a, a, c);
    tap_ok(status == TMM_ERROR_DEVICE && c[0] == 9 && c[3] == 9, "matmul: %s", tmm_last_error());
    status = tmm_sgemm(TMM_OP_N, TMM_OP_N, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, 0);
    tap_ok(status == TMM_ERROR_DEVICE && strstr(tmm_last_error(), "device") != NULL, "gemm: %s",
           tmm_last_error());
    tap_ok(tmm_sgemm_choice(2, 2, 2, 1) != TMM_AUTO, "choice gives a kernel all the same");
    char text[4096];
    status = tmm_dgemm_explain(TMM_AUTO, TMM_OP_N, TMM_OP_N, 4096, 4096, 4096, 1, "H200", text,
                               sizeof text);
#ifdef TMM_SIMPLE
    const char *chosen = "* register_128 ";
#else
    const char *chosen = "* tensor ";
#endif
    tap_ok(status == TMM_OK && strstr(text, chosen) != NULL,
           "explain, for a GPU by name, needs none: %.60s", text);
    status = tmm_sgemm_cpu(TMM_OP_N, TMM_OP_N, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2);
    tap_ok(status == TMM_OK && c[0] == 7 && c[3] == 22, "gemm_cpu works");
    return tap_done();
}
