#pragma once

/// Arrays in a GPU's memory and the kernels that every program needs, for gpu_program.hpp: an array is where
/// its elements are, with a stride for each dimension, so that a transpose, a broadcast, a slice and a piece
/// are arrays as well, and nothing is copied for them.

#include "emit/rank_program.hpp"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#ifndef TUTTI_THREADS
#define TUTTI_THREADS 256  // of a block; a power of two
#endif

namespace tutti::gpu {

using ranks::bf16, ranks::f16, ranks::f32, ranks::f64, ranks::i32, ranks::i64, ranks::i8, ranks::truth,
    ranks::u32, ranks::u8;
using ranks::Box, ranks::Files, ranks::Interval, ranks::Mesh, ranks::Reduction, ranks::Shape, ranks::Size,
    ranks::Type;
using ranks::kLocal, ranks::kReplicated, ranks::philox, ranks::product, ranks::power, ranks::quotient,
    ranks::reduced, ranks::root, ranks::strides_of;

/// Halves are stored as such and computed in float; all other types are stored as they are computed.
#ifdef TUTTI_F64
using stored_f16 = double;
using stored_bf16 = double;
#else
using stored_f16 = __half;
using stored_bf16 = __nv_bfloat16;
#endif

template <class T>
TUTTI_ON_GPU T number(T x) {
    return x;
}
TUTTI_ON_GPU inline float number(__half x) { return __half2float(x); }
TUTTI_ON_GPU inline float number(__nv_bfloat16 x) { return __bfloat162float(x); }
/// In what an element of the type is computed.
template <class T>
using Number = decltype(number(T{}));

TUTTI_ON_GPU inline float rounded_f16(float x) { return __half2float(__float2half(x)); }
TUTTI_ON_GPU inline float rounded_bf16(float x) { return __bfloat162float(__float2bfloat16(x)); }
TUTTI_ON_GPU inline double rounded_f16(double x) { return x; }
TUTTI_ON_GPU inline double rounded_bf16(double x) { return x; }

/// The streams of a rank: what computes, and what talks to other ranks. Each array knows which one made it
/// and the event after which it is there; the other one waits for that.
enum Lane { kCompute, kNetwork };

template <class T>
struct Array {
    T* data = nullptr;
    Shape shape{}, strides{};
    Lane lane = kCompute;
    cudaEvent_t there = nullptr;  ///< none: before the call
};

template <class T>
bool is_dense(const Array<T>& array) {
    const Shape dense = strides_of(array.shape);
    for (std::size_t d = 0; d < dense.size(); ++d)
        if (array.shape[d] > 1 && array.strides[d] != dense[d]) return false;
    return true;
}

inline constexpr int kMaxDims = 8;

/// From the number of an element in a shape (row-major) to a place.
struct Frame {
    int dims = 0;
    Size size[kMaxDims] = {}, stride[kMaxDims] = {};
    Size elements = 1;

    Frame() = default;
    Frame(const Shape& sizes, const Shape& strides)
        : dims(static_cast<int>(sizes.size())), elements(product(sizes)) {
        if (sizes.size() > kMaxDims) throw std::runtime_error("a tensor has more than 8 dimensions");
        std::copy(sizes.begin(), sizes.end(), size);
        std::copy(strides.begin(), strides.end(), stride);
    }
    TUTTI_ON_GPU Size at(Size i) const {
        Size place = 0;
        for (int d = dims - 1; d >= 0; --d) {
            const Size next = i / size[d];
            place += (i - next * size[d]) * stride[d];
            i = next;
        }
        return place;
    }
};

/// What a kernel over the elements of a shape reads or writes of an array, which may be broadcast to it.
template <class T>
struct View {
    T* data = nullptr;
    Frame frame{};
    bool dense = false;

    TUTTI_ON_GPU T& operator[](Size i) const { return data[dense ? i : frame.at(i)]; }
};
template <class T>
View<const T> view(const Array<T>& array, const Shape& shape) {
    Shape strides(shape.size(), 0);
    const std::size_t ahead = shape.size() - array.shape.size();
    for (std::size_t d = 0; d < array.shape.size(); ++d)
        if (array.shape[d] == shape[d + ahead]) strides[d + ahead] = array.strides[d];
    return {array.data, {shape, strides}, array.shape == shape && is_dense(array)};
}

/// Of the elements of a rank's part: their numbers in the whole (row-major), or their places along one
/// dimension of it.
struct Numbering {
    Frame frame{};
    Size first = 0;
    TUTTI_ON_GPU Size operator[](Size i) const { return first + frame.at(i); }
};

__device__ inline Size first_element() { return static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline Size all_threads() { return static_cast<Size>(gridDim.x) * blockDim.x; }

/// How blocks share a reduction: `parts` blocks for each result, each with its part of the reduced elements.
struct Sweep {
    Frame kept{}, reduced{};  ///< to the number of an element in what is reduced
    Size results = 0, parts = 1;

    __device__ Size first() const { return blockIdx.x / parts; }
    __device__ Size step() const { return gridDim.x / parts; }
    __device__ Size begin() const { return blockIdx.x % parts * blockDim.x + threadIdx.x; }
    __device__ Size stride() const { return parts * blockDim.x; }

    /// All threads of the block come here; what they have becomes one number.
    template <class N>
    __device__ void leave(Reduction kind, N mine, Size result, N* all) const {
        __shared__ N numbers[TUTTI_THREADS];
        numbers[threadIdx.x] = mine;
        __syncthreads();
        for (unsigned half = TUTTI_THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                numbers[threadIdx.x] =
                    ranks::reduced(kind, numbers[threadIdx.x], numbers[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0) all[result * parts + blockIdx.x % parts] = numbers[0];
        __syncthreads();
    }
};

template <class T>
__global__ void copy_elements(Size n, View<T> to, View<const T> from) {
    for (Size i = first_element(); i < n; i += all_threads()) to[i] = from[i];
}
template <class T>
__global__ void fill_elements(Size n, T* to, Number<T> with) {
    for (Size i = first_element(); i < n; i += all_threads()) to[i] = T(with);
}
template <class T>
__global__ void draw_elements(Size n, T* to, Numbering numbers, std::uint64_t seed) {
    for (Size i = first_element(); i < n; i += all_threads())
        to[i] = T(Number<T>(philox(static_cast<std::uint64_t>(numbers[i]), seed)));
}
template <class T>
__global__ void count_elements(Size n, T* to, Numbering places) {
    for (Size i = first_element(); i < n; i += all_threads()) to[i] = T(Number<T>(places[i]));
}
template <class T>
__global__ void reduce_elements(Sweep sweep, View<const T> in, Reduction kind, Number<T> nothing,
                                Number<T>* all) {
    for (Size result = sweep.first(); result < sweep.results; result += sweep.step()) {
        Number<T> mine = nothing;
        for (Size k = sweep.begin(); k < sweep.reduced.elements; k += sweep.stride())
            mine = reduced(kind, mine, number(in[sweep.kept.at(result) + sweep.reduced.at(k)]));
        sweep.leave(kind, mine, result, all);
    }
}
/// What the blocks of a reduction left becomes its results.
template <class T>
__global__ void combine_parts(Size n, T* to, const Number<T>* all, Size parts, Reduction kind) {
    for (Size i = first_element(); i < n; i += all_threads()) {
        Number<T> total = all[i * parts];
        for (Size part = 1; part < parts; ++part) total = reduced(kind, total, all[i * parts + part]);
        to[i] = T(total);
    }
}

template <class T>
constexpr ncclDataType_t nccl_type() {
    if (std::is_same_v<T, double>) return ncclFloat64;
    if (std::is_same_v<T, float>) return ncclFloat32;
    if (std::is_same_v<T, __half>) return ncclFloat16;
    if (std::is_same_v<T, __nv_bfloat16>) return ncclBfloat16;
    if (std::is_same_v<T, std::int64_t>) return ncclInt64;
    if (std::is_same_v<T, std::int32_t>) return ncclInt32;
    if (std::is_same_v<T, std::uint32_t>) return ncclUint32;
    return std::is_same_v<T, std::int8_t> ? ncclInt8 : ncclUint8;
}
template <class T>
ncclRedOp_t nccl_op(Reduction kind) {
    if (std::is_same_v<T, truth>)  // as ranks::reduced has them
        return kind == Reduction::sum || kind == Reduction::max ? ncclMax : ncclMin;
    return kind == Reduction::prod  ? ncclProd
           : kind == Reduction::max ? ncclMax
           : kind == Reduction::min ? ncclMin
                                    : ncclSum;
}

inline void check(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(code));
}
inline void check(ncclResult_t code) {
    if (code != ncclSuccess) throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(code));
}
inline void check(cublasStatus_t code) {
    if (code != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cuBLAS: error " + std::to_string(code));
}

}  // namespace tutti::gpu
