/* Memory and events that two processes share: processes; it starts itself again with a handle. */
#include "check.h"
#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { n = 3000, first = 1000 };

__global__ void twice(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - first) x[i] *= 2;
}

struct message {
    cudaIpcMemHandle_t memory;
    cudaMemPoolPtrExportData pooled;
    int pool; /* its file descriptor, which the child inherits */
    cudaIpcEventHandle_t event;
};

static void check_pool(struct message *m)
{
    cudaMemPool_t pool = NULL;
    int *x = NULL, value = 0;
    void *handle = (void *)(uintptr_t)m->pool;
    CHECK(cudaMemPoolImportFromShareableHandle(&pool, handle, cudaMemHandleTypePosixFileDescriptor,
                                               0) == cudaSuccess);
    CHECK(cudaMemPoolImportPointer((void **)&x, pool, &m->pooled) == cudaSuccess);
    CHECK(cudaMemcpy(&value, x + 1, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(value == 7 * 0x01010101);
    twice<<<1, 2>>>(x);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaFreeAsync(x, 0) == cudaSuccess);
    CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

static int child(const char *file, bool gone)
{
    struct message m;
    int *x = NULL, value = 0;
    cudaEvent_t event;
    FILE *f = fopen(file, "rb");
    CHECK(f && fread(&m, sizeof m, 1, f) == 1);
    fclose(f);
    if (gone) {
        CHECK(cudaIpcOpenMemHandle((void **)&x, m.memory, cudaIpcMemLazyEnablePeerAccess) ==
              cudaErrorMapBufferObjectFailed);
        return failures != 0;
    }
    CHECK(cudaIpcOpenMemHandle((void **)&x, m.memory, 0) == cudaErrorInvalidValue);
    CHECK(cudaIpcOpenMemHandle((void **)&x, m.memory, cudaIpcMemLazyEnablePeerAccess) ==
          cudaSuccess);
    CHECK(cudaIpcOpenEventHandle(&event, m.event) == cudaSuccess);
    check_pool(&m);
    CHECK(cudaStreamWaitEvent(0, event, 0) == cudaSuccess);
    CHECK(cudaMemcpy(&value, x + 5, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(value == first + 5);
    twice<<<8, 256>>>(x);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    cudaGetLastError();
    CHECK(cudaFree(x) == cudaErrorInvalidValue);
    CHECK(cudaIpcCloseMemHandle(x) == cudaSuccess);
    CHECK(cudaIpcCloseMemHandle(x) == cudaErrorInvalidValue);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    CHECK(cudaIpcOpenMemHandle((void **)&x, m.memory, cudaIpcMemLazyEnablePeerAccess) ==
          cudaSuccess);
    CHECK(cudaDeviceReset() == cudaSuccess);
    return failures != 0;
}

static int run_child(char *program, char *file, char *gone)
{
    int status = -1;
    pid_t process = fork();
    if (process == 0) {
        execl(program, program, file, gone, (char *)NULL);
        _exit(9);
    }
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    if (argc > 1) return child(argv[1], argc > 2);
    static int host[n];
    int *x, *again;
    struct message m;
    cudaEvent_t event, timed;
    char file[] = "message-XXXXXX";
    int number = mkstemp(file);
    for (int i = 0; i < n; i++) host[i] = i;
    CHECK(number >= 0 && cudaMalloc(&x, sizeof host) == cudaSuccess);
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
    if (cudaIpcGetMemHandle(&m.memory, x + first) == cudaErrorNotSupported) return 3;
    CHECK(cudaEventCreate(&timed) == cudaSuccess);
    CHECK(cudaIpcGetMemHandle(&m.memory, host) == cudaErrorInvalidValue);
    CHECK(cudaIpcGetMemHandle(&m.memory, x + first) == cudaSuccess);
    CHECK(cudaIpcGetEventHandle(&m.event, timed) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess) ==
          cudaSuccess);
    CHECK(cudaIpcGetEventHandle(&m.event, event) == cudaSuccess &&
          cudaEventRecord(event) == cudaSuccess);
    int pooled[2], *y;
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
    CHECK(cudaMallocAsync(&y, sizeof pooled, 0) == cudaSuccess);
    CHECK(cudaMemset(y, 7, sizeof pooled) == cudaSuccess);
    CHECK(cudaMemPoolExportPointer(&m.pooled, y) == cudaSuccess);
    CHECK(cudaMemPoolExportToShareableHandle(&m.pool, pool, cudaMemHandleTypeNone, 0) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemPoolExportToShareableHandle(&m.pool, pool, cudaMemHandleTypePosixFileDescriptor,
                                             0) == cudaSuccess);
    CHECK(fcntl(m.pool, F_SETFD, 0) == 0);
    CHECK(write(number, &m, sizeof m) == (ssize_t)sizeof m && close(number) == 0);
    CHECK(cudaIpcOpenMemHandle((void **)&again, m.memory, cudaIpcMemLazyEnablePeerAccess) ==
          cudaErrorDeviceUninitialized);
    CHECK(run_child(argv[0], file, NULL) == 0);
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < n; i++) CHECK(host[i] == (i < first ? i : 2 * i));
    CHECK(cudaMemcpy(pooled, y, sizeof pooled, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(pooled[0] == 2 * 7 * 0x01010101 && pooled[1] == pooled[0]);
    CHECK(cudaFreeAsync(y, 0) == cudaSuccess && close(m.pool) == 0);
    CHECK(cudaFree(x) == cudaSuccess && cudaEventDestroy(event) == cudaSuccess);
    CHECK(run_child(argv[0], file, file) == 0); /* its memory is gone */
    cudaEventDestroy(timed);
    unlink(file);
    memset(&m, 'x', sizeof m);
    CHECK(cudaIpcOpenMemHandle((void **)&again, m.memory, cudaIpcMemLazyEnablePeerAccess) ==
          cudaErrorInvalidValue);
    CHECK(cudaIpcOpenEventHandle(&event, m.event) == cudaErrorInvalidValue);
    printf("%d failures\n", failures);
    return failures != 0;
}
