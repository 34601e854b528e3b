#include "io/nccl_p2p.hpp"

#include "io/round_source.hpp"
#include "io/source_marks.hpp"

#include <fmt/format.h>

namespace tutti::io {
namespace {

constexpr std::string_view kGpuNames = R"(
// CUDA and NCCL, or HIP and RCCL, whose names differ in their first letters only.
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIPCC__)
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <rccl/rccl.h>
#define gpuMemcpyAsync hipMemcpyAsync
#define gpuMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define gpuGetLastError hipGetLastError
#define gpuSuccess hipSuccess
using gpuError = hipError_t;
using gpuStream = hipStream_t;
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nccl.h>
#define gpuMemcpyAsync cudaMemcpyAsync
#define gpuMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define gpuGetLastError cudaGetLastError
#define gpuSuccess cudaSuccess
using gpuError = cudaError_t;
using gpuStream = cudaStream_t;
#endif
#include <cstddef>
#include <cstdint>

namespace {

)";

constexpr std::string_view kGpuTypes = R"(
// Bytes of an element; 0: a datatype that the kernels do not know.
std::size_t bytes_of(ncclDataType_t datatype) {
    switch (datatype) {
        case ncclInt8:
        case ncclUint8:
            return 1;
        case ncclFloat16:
        case ncclBfloat16:
            return 2;
        case ncclInt32:
        case ncclUint32:
        case ncclFloat32:
            return 4;
        case ncclInt64:
        case ncclUint64:
        case ncclFloat64:
            return 8;
        default:
            return 0;
    }
}

ncclResult_t checked(gpuError error) { return error == gpuSuccess ? ncclSuccess : ncclUnhandledCudaError; }

ncclResult_t copy_elements(const Call& call, const Step& step, gpuStream stream) {
    const char* const from = source(call, step.from);
    char* const to = target(call, step.to);
    const std::size_t bytes = elements(step, call.count) * call.bytes;
    if (from == to || bytes == 0) return ncclSuccess;
    return checked(gpuMemcpyAsync(to, from, bytes, gpuMemcpyDeviceToDevice, stream));
}
)";

constexpr std::string_view kGpuKernels = R"(
// Elements as they are stored, and as they are computed with: half precision in float.
template <class T>
struct Plain {
    using Stored = T;
    static __device__ T load(T stored) { return stored; }
    static __device__ T store(T value) { return value; }
};
struct Half {
    using Stored = __half;
    static __device__ float load(__half stored) { return __half2float(stored); }
    static __device__ __half store(float value) { return __float2half(value); }
};
// bfloat16 is the upper half of a float, rounded to the nearest, to even where two are as near.
struct Bfloat {
    using Stored = std::uint16_t;
    static __device__ float load(std::uint16_t stored) {
        union {
            std::uint32_t bits;
            float value;
        } both;
        both.bits = static_cast<std::uint32_t>(stored) << 16;
        return both.value;
    }
    static __device__ std::uint16_t store(float value) {
        union {
            float value;
            std::uint32_t bits;
        } both;
        both.value = value;
        if (value != value) return static_cast<std::uint16_t>((both.bits >> 16) | 0x40);
        return static_cast<std::uint16_t>((both.bits + 0x7FFF + ((both.bits >> 16) & 1)) >> 16);
    }
};

struct Sum {
    template <class T>
    static __device__ T of(T a, T b) { return static_cast<T>(a + b); }
};
struct Prod {
    template <class T>
    static __device__ T of(T a, T b) { return static_cast<T>(a * b); }
};
struct Min {
    template <class T>
    static __device__ T of(T a, T b) { return b < a ? b : a; }
};
struct Max {
    template <class T>
    static __device__ T of(T a, T b) { return a < b ? b : a; }
};

// `to` may be `from` or `with`: each element is read before it is written, by the same thread.
template <class Type, class Op>
__global__ void add_elements(typename Type::Stored* to, const typename Type::Stored* from,
                             const typename Type::Stored* with, std::size_t count) {
    const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
        to[i] = Type::store(Op::of(Type::load(from[i]), Type::load(with[i])));
}

template <class Type, class Op>
ncclResult_t add_as(const Call& call, const Step& step, gpuStream stream) {
    using Stored = typename Type::Stored;
    const std::size_t count = elements(step, call.count);
    if (count == 0) return ncclSuccess;
    const unsigned threads = 256;
    const std::size_t wanted = (count + threads - 1) / threads;
    const unsigned blocks = static_cast<unsigned>(wanted < 1024 ? wanted : 1024);
    add_elements<Type, Op><<<blocks, threads, 0, stream>>>(reinterpret_cast<Stored*>(target(call, step.to)),
                                                           reinterpret_cast<const Stored*>(source(call, step.from)),
                                                           reinterpret_cast<const Stored*>(source(call, step.with)),
                                                           count);
    return checked(gpuGetLastError());
}

using Adder = ncclResult_t (*)(const Call&, const Step&, gpuStream);
template <class Type>
Adder adder_of_type(ncclRedOp_t op) {
    switch (op) {
        case ncclSum:
            return add_as<Type, Sum>;
        case ncclProd:
            return add_as<Type, Prod>;
        case ncclMin:
            return add_as<Type, Min>;
        case ncclMax:
            return add_as<Type, Max>;
        default:
            return nullptr;
    }
}
// What adds; null where there is no kernel.
Adder adder_of(ncclDataType_t datatype, ncclRedOp_t op) {
    switch (datatype) {
        case ncclInt8:
            return adder_of_type<Plain<std::int8_t>>(op);
        case ncclUint8:
            return adder_of_type<Plain<std::uint8_t>>(op);
        case ncclInt32:
            return adder_of_type<Plain<std::int32_t>>(op);
        case ncclUint32:
            return adder_of_type<Plain<std::uint32_t>>(op);
        case ncclInt64:
            return adder_of_type<Plain<std::int64_t>>(op);
        case ncclUint64:
            return adder_of_type<Plain<std::uint64_t>>(op);
        case ncclFloat16:
            return adder_of_type<Half>(op);
        case ncclBfloat16:
            return adder_of_type<Bfloat>(op);
        case ncclFloat32:
            return adder_of_type<Plain<float>>(op);
        case ncclFloat64:
            return adder_of_type<Plain<double>>(op);
        default:
            return nullptr;
    }
}
)";

constexpr std::string_view kGpuRun = R"(
// Starts the messages of a round from `step` on. Sends and receives of one pair of ranks are in the same order
// on both sides, and all of a round are in one group: none waits for another.
ncclResult_t start_messages(const Call& call, const Step*& step, const Step* end, ncclDataType_t datatype,
                            ncclComm_t comm, gpuStream stream) {
    const std::uint32_t round = step->round;
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess) return result;
    ncclResult_t first = ncclSuccess;
    for (; step != end && step->round == round && (step->kind == Send || step->kind == Receive); ++step) {
        const std::size_t count = elements(*step, call.count);
        if (count == 0 || first != ncclSuccess) continue;
        const int peer = static_cast<int>(step->peer);
        first = step->kind == Send
                    ? ncclSend(source(call, step->from), count, datatype, peer, comm, stream)
                    : ncclRecv(target(call, step->to), count, datatype, peer, comm, stream);
    }
    result = ncclGroupEnd();  // a group that was started is ended, whatever happened
    return first != ncclSuccess ? first : result;
}

ncclResult_t run_rounds(const Call& call, std::size_t rank, ncclDataType_t datatype, @adder_parameter@ncclComm_t comm,
                        gpuStream stream) {
    const Step* step = kSteps + kFirst[rank];
    const Step* const end = kSteps + kFirst[rank + 1];
    while (step != end) {
        ncclResult_t result = ncclSuccess;
        if (step->kind == Send || step->kind == Receive) {
            result = start_messages(call, step, end, datatype, comm, stream);
        } else {
            result = @local@;
            ++step;
        }
        if (result != ncclSuccess) return result;
    }
    return ncclSuccess;
}

}  // namespace

extern "C" std::size_t @name@_scratch_bytes(std::size_t count, ncclDataType_t datatype) {
    return scratch_bytes(count, bytes_of(datatype));
}

extern "C" ncclResult_t @name@(const void* sendbuff, void* recvbuff, std::size_t count, ncclDataType_t datatype,
    @op_parameter@ncclComm_t comm, gpuStream stream, void* scratch) {
    int ranks = 0, rank = 0;
    ncclResult_t result = ncclCommCount(comm, &ranks);
    if (result != ncclSuccess) return result;
    if (ranks != kRanks) return ncclInvalidUsage;
    if ((result = ncclCommUserRank(comm, &rank)) != ncclSuccess) return result;
    const std::size_t bytes = bytes_of(datatype);
    if (bytes == 0) return ncclInvalidArgument;
@adder@    if (scratch == nullptr && scratch_bytes(count, bytes) > 0) return ncclInvalidArgument;
    Call call{static_cast<const char*>(sendbuff), static_cast<char*>(recvbuff), static_cast<char*>(scratch), count,
              bytes};
    if (buffers_of(static_cast<std::size_t>(rank), sendbuff, recvbuff, count, bytes) @in_place_test@) {
@in_place@
    }
    return run_rounds(call, static_cast<std::size_t>(rank), datatype, @adder_argument@comm, stream);
}
)";

constexpr std::string_view kGpuSave =
    R"(        char* const saved = call.scratch + kScratch * largest(count) * bytes;
        const std::size_t input = kInputs[rank] * count * bytes;
        result = checked(gpuMemcpyAsync(saved, sendbuff, input, gpuMemcpyDeviceToDevice, stream));
        if (result != ncclSuccess) return result;
        call.in = saved;)";

constexpr std::string_view kGpuAdder = R"(    const Adder adder = adder_of(datatype, op);
    if (adder == nullptr) return ncclInvalidArgument;
)";

}  // namespace

std::string nccl_p2p_text(const plan::RoundPlan& plan) {
    const bool reduces = plan.reduces();
    const std::string parameters = fmt::format(
        "ncclDataType_t datatype, {}ncclComm_t comm,\n//       cudaStream_t stream, void* scratch",
        reduces ? "ncclRedOp_t op, " : "");
    const std::string descriptions = fmt::format(
        "//   datatype  ncclInt8, Uint8, Int32, Uint32, Int64, Uint64, Float16, Bfloat16, Float32 or "
        "Float64\n{}"
        "//   comm      of {} ranks, each with a GPU; other calls on it may come before and after\n"
        "//   stream    where all is queued (with HIP a hipStream_t)\n"
        "//   scratch   as many bytes of the GPU as the second function says, allocated by the caller and "
        "left alone\n"
        "//             until the stream is done; null if that is 0\n",
        reduces ? "//   op        ncclSum, ncclProd, ncclMin or ncclMax; sums of Float16 and Bfloat16 are "
                  "rounded at each step\n"
                : "",
        plan.ranks);
    const RoundLibrary library{
        .messages = "ncclSend and ncclRecv",
        .parameters = parameters,
        .descriptions = descriptions,
        .result = "ncclResult_t",
        .results =
            "It returns as NCCL's collectives do, when all is queued; a stream can be captured in a graph.",
        .datatype = "ncclDataType_t",
        .usage =
            "// NCCL from 2.10 on:  nvcc -std=c++17 -O2 -x cu -c THIS_FILE\n"
            "// RCCL:               hipcc -std=c++17 -O2 -c THIS_FILE\n"};
    std::string text = round_heading(plan, library);
    text += kGpuNames;
    text += round_tables(plan);
    text += kGpuTypes;
    if (reduces) text += kGpuKernels;
    std::string run(kGpuRun);
    const auto put = [&](std::string_view name, std::string_view by) {
        run = marks_replaced(std::move(run), name, by);
    };
    put("name", function_name_of(plan));
    put("op_parameter", reduces ? "ncclRedOp_t op, " : "");
    put("adder_parameter", reduces ? "Adder adder, " : "");
    put("adder_argument", reduces ? "adder, " : "");
    put("adder", reduces ? kGpuAdder : "");
    put("local", reduces
                     ? "step->kind == Add ? adder(call, *step, stream) : copy_elements(call, *step, stream)"
                     : "copy_elements(call, *step, stream)");
    put("in_place_test", plan.in_place ? "== Buffers::Overlapping" : "!= Buffers::Apart");
    put("in_place", plan.in_place ? "        return ncclInvalidArgument;" : kGpuSave);
    return text + run;
}

}  // namespace tutti::io
