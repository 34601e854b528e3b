// As much of CUDA as functions written by tutti need, on the processor: memory is the host's, kernels run
// thread by thread. Written for the tests; run.py turns kernel<<<...>>>(...) into launch(kernel, ...)(...).
#pragma once

#include <cstddef>
#include <cstring>

#define __global__
#define __device__

using cudaError_t = int;
using cudaStream_t = void*;
enum { cudaSuccess = 0, cudaMemcpyDeviceToDevice = 3 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, cudaStream_t) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

struct Dimensions {
    unsigned x = 1;
};
inline Dimensions gridDim, blockDim, blockIdx, threadIdx;

template <class Kernel>
auto launch(Kernel kernel, unsigned blocks, unsigned threads, std::size_t, cudaStream_t) {
    return [=](auto... arguments) {
        gridDim.x = blocks;
        blockDim.x = threads;
        for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
            for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(arguments...);
        }
    };
}
