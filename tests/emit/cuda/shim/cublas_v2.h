#pragma once

// Products of matrices by three loops.

#include "cuda_bf16.h"
#include "cuda_runtime.h"

using cublasHandle_t = cudaStream_t*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    *handle = new cudaStream_t(nullptr);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    *handle = stream;
    return CUBLAS_STATUS_SUCCESS;
}

namespace shim {

inline double element(const void* data, cudaDataType_t type, long long i) {
    if (type == CUDA_R_64F) return static_cast<const double*>(data)[i];
    if (type == CUDA_R_16F) return __half2float(static_cast<const __half*>(data)[i]);
    if (type == CUDA_R_16BF) return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    return static_cast<const float*>(data)[i];
}
inline void store(void* data, cudaDataType_t type, long long i, double x) {
    if (type == CUDA_R_64F) static_cast<double*>(data)[i] = x;
    if (type == CUDA_R_32F) static_cast<float*>(data)[i] = static_cast<float>(x);
    if (type == CUDA_R_16F) static_cast<__half*>(data)[i] = __half(static_cast<float>(x));
    if (type == CUDA_R_16BF) static_cast<__nv_bfloat16*>(data)[i] = __nv_bfloat16(static_cast<float>(x));
}

}  // namespace shim

inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                                                 const void* alpha, const void* a, cudaDataType_t a_type, int lda, long long a_step, const void* b,
                                                 cudaDataType_t b_type, int ldb, long long b_step, const void* beta, void* c, cudaDataType_t c_type,
                                                 int ldc, long long c_step, int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
    const auto scale = [&](const void* at) {
        return compute == CUBLAS_COMPUTE_64F ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
    };
    if (scale(alpha) != 1 || scale(beta) != 0) shim::fail("a product that is scaled");
    if (lda < (op_a == CUBLAS_OP_N ? m : k) || ldb < (op_b == CUBLAS_OP_N ? k : n) || ldc < m || m < 1 || n < 1 || k < 1 || batch < 1)
        shim::fail("sizes that cuBLAS refuses");
    shim::push(*handle, [=] {
        for (long long g = 0; g < batch; ++g) {
            for (long long i = 0; i < m; ++i) {
                for (long long j = 0; j < n; ++j) {
                    double sum = 0;
                    for (long long l = 0; l < k; ++l) {
                        sum += shim::element(a, a_type, g * a_step + (op_a == CUBLAS_OP_N ? i + l * lda : l + i * lda)) *
                               shim::element(b, b_type, g * b_step + (op_b == CUBLAS_OP_N ? l + j * ldb : j + l * ldb));
                    }
                    shim::store(c, c_type, g * c_step + i + j * ldc, sum);
                }
            }
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}
