#pragma once

// CUDA on this machine's processor, as far as the programs of `tutti convert --to cuda` use it, so that they
// can be run where there is no GPU. What goes into a stream waits in a queue until the device is
// synchronized; then streams take turns as TUTTI_STREAM_ORDER says ("0": the first stream goes on as long as
// it can; "1": the second does), so that a program that forgets to wait for an event reads what is not there
// yet. New memory has all bits set: NaN. The threads of a block take turns at __syncthreads().

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __host__
#define __device__
#define __shared__ static

struct dim3 {
    unsigned x, y, z;
    explicit dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace shim {

[[noreturn]] inline void fail(const char* words) {
    std::fprintf(stderr, "shim: %s\n", words);
    std::abort();
}

struct Work {
    std::function<bool()> ready;
    std::function<void()> run;
};
struct Stream {
    std::deque<Work> queue;
};
struct Event {
    long issued = 0, done = 0;
};
inline std::vector<std::unique_ptr<Stream>> streams;

inline void run_all() {
    const char* const order = std::getenv("TUTTI_STREAM_ORDER");
    const bool backwards = order != nullptr && order[0] == '1';
    while (true) {
        bool empty = true, worked = false;
        for (std::size_t k = 0; k < streams.size() && !worked; ++k) {
            auto& queue = streams[backwards ? streams.size() - 1 - k : k]->queue;
            empty = empty && queue.empty();
            if (queue.empty() || !queue.front().ready()) continue;
            const Work work = std::move(queue.front());
            queue.pop_front();
            work.run();
            worked = true;
        }
        if (worked) continue;
        if (empty) return;
        fail("the streams wait for each other");
    }
}
inline void push(Stream* stream, std::function<void()> run) {
    if (stream == nullptr) fail("a call without a stream");
    stream->queue.push_back({[] { return true; }, std::move(run)});
}

// The threads of a block as coroutines.
constexpr std::size_t kStack = 1 << 16;
inline ucontext_t scheduler;
inline std::vector<ucontext_t> threads;
inline std::vector<std::unique_ptr<char[]>> stacks;
inline std::vector<bool> over;
inline const std::function<void()>* body = nullptr;

inline void thread_begins() {
    (*body)();
    over[threadIdx.x] = true;
}
inline void run_block(const std::function<void()>& kernel) {
    const unsigned count = blockDim.x;
    threads.resize(count);
    over.assign(count, false);
    while (stacks.size() < count) stacks.push_back(std::make_unique<char[]>(kStack));
    body = &kernel;
    for (unsigned t = 0; t < count; ++t) {
        getcontext(&threads[t]);
        threads[t].uc_stack.ss_sp = stacks[t].get();
        threads[t].uc_stack.ss_size = kStack;
        threads[t].uc_link = &scheduler;
        makecontext(&threads[t], thread_begins, 0);
    }
    for (std::size_t running = count; running > 0;) {
        std::size_t still = 0;
        for (unsigned t = 0; t < count; ++t) {
            if (over[t]) continue;
            threadIdx.x = t;
            swapcontext(&scheduler, &threads[t]);
            still += over[t] ? 0 : 1;
        }
        if (still != 0 && still != count) fail("not all threads of a block come to __syncthreads()");
        running = still;
    }
}

}  // namespace shim

inline void __syncthreads() { swapcontext(&shim::threads[threadIdx.x], &shim::scheduler); }

enum cudaError_t { cudaSuccess };
using cudaStream_t = shim::Stream*;
using cudaEvent_t = shim::Event*;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum cudaDataType_t { CUDA_R_64F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF };
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
    if (device != 0) shim::fail("there is one device");
    return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    *data = std::malloc(bytes);
    std::memset(*data, 0xFF, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* data) {
    shim::run_all();
    std::free(data);
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
    shim::run_all();
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
    shim::run_all();
    if (bytes > 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    shim::streams.push_back(std::make_unique<shim::Stream>());
    *stream = shim::streams.back().get();
    return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = new shim::Event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const long number = ++event->issued;
    shim::push(stream, [=] { event->done = std::max(event->done, number); });
    return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const long number = event->issued;
    stream->queue.push_back({[=] { return event->done >= number; }, [] {}});
    return cudaSuccess;
}

struct cudaLaunchConfig_t {
    dim3 gridDim{}, blockDim{};
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    void* attrs = nullptr;
    unsigned numAttrs = 0;
};
template <class... Takes, class... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* how, void (*kernel)(Takes...), Given&&... given) {
    if (how->gridDim.x == 0 || how->gridDim.x > 0x7FFFFFFF) shim::fail("a grid of no blocks, or too many");
    const std::tuple<std::remove_cv_t<Takes>...> arguments(std::forward<Given>(given)...);
    shim::push(how->stream, [=, grid = how->gridDim, block = how->blockDim] {
        gridDim = grid;
        blockDim = block;
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
            shim::run_block([&] { std::apply(kernel, arguments); });
    });
    return cudaSuccess;
}
