/* cublasLt.h of the CPU runner: handles, which programs make before they know what they need. */
#ifndef CUCC_CUBLASLT_H
#define CUCC_CUBLASLT_H

#include "cublas_v2.h"

typedef struct cublasContext *cublasLtHandle_t;

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate(handle);
}
static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy(handle);
}

#endif
