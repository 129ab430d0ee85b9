/* One call of each header; with the argument `device`, one that needs a GPU. */
#include <tiledmm.cuh>
#include <raytrace.cuh>
#include <stdio.h>

int main(int count, char **words)
{
    float a = 6, b = 7, c = 0;
    rayt_sphere sphere = {0, 0, 0, 8, 1, 0, 0};
    unsigned char image[4 * 4 * 4] = {0};
    (void)words;
    if (tmm_sgemm_cpu(TMM_OP_N, TMM_OP_N, 1, 1, 1, 1, &a, 1, &b, 1, 0, &c, 1) != TMM_OK || c != 42)
        return 1;
    if (rayt_render_cpu(&sphere, 1, image, 4, 4) != RAYT_OK || image[4 * 10] != 255) return 2;
    if (count > 1 && (c = 0, tmm_smatmul(1, 1, 1, &a, &b, &c) != TMM_OK || c != 42)) {
        printf("%s\n", tmm_last_error());
        return 3;
    }
    return 0;
}
