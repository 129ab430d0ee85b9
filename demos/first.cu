/* first.cu */
#define TMM_NO_DOUBLE /* float alone: half of the time to compile */
#define TMM_NO_INT
#include "../tiledmm.cuh"
int main(void)
{
    static float A[300 * 200], B[200 * 100], C[300 * 100]; /* row-major */
    for (int i = 0; i < 300 * 200; i++) A[i] = i % 7 - 3;
    for (int i = 0; i < 200 * 100; i++) B[i] = i % 5 - 2;
    tmm_status status = tmm_smatmul(300, 100, 200, A, B, C); /* M, N, K: C = A B */
    printf("%s C(0, 0) = %g\n", status == TMM_OK ? "ok" : tmm_last_error(), C[0]);
    return fflush(stdout) ? perror("first: standard output"), 1 : (int)status;
}
