#pragma once

/// What a GPU does, in two streams: one computes, one talks to other ranks. Every call puts something into a
/// stream and returns.
///
/// Order. Arrays carry the event after which they are there; a stream waits for the events of what the other
/// one made, so computing goes on while messages are on their way.
///
/// Memory. A call of the program takes buffers one after the other, and the next call takes the same ones;
/// none is given back within a call, so no stream can write what the other still reads.

#include "emit/gpu_einsum.hpp"

#include <utility>

namespace tutti::gpu {

/// What a loop writes, and what it adds up.
template <class T>
struct Made {
    Array<T>& array;
};
template <class T>
struct Total {
    Array<T>& array;
    Reduction kind;
    Number<T>* all = nullptr;
};
template <class T>
Made(Array<T>&) -> Made<T>;
template <class T>
Total(Array<T>&, Reduction) -> Total<T>;

class Streams {
  public:
    Streams() {
        check(cudaStreamCreateWithFlags(&streams_[kCompute], cudaStreamNonBlocking));
        check(cudaStreamCreateWithFlags(&streams_[kNetwork], cudaStreamNonBlocking));
        check(cublasCreate(&blas_));
        check(cublasSetStream(blas_, streams_[kCompute]));
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// At the beginning of a call: nothing of the call before is under way any more, as both streams see it.
    void begin() {
        buffer_ = event_ = 0;
        const cudaEvent_t computed = next_event(), communicated = next_event();
        check(cudaEventRecord(computed, streams_[kCompute]));
        check(cudaEventRecord(communicated, streams_[kNetwork]));
        check(cudaStreamWaitEvent(streams_[kCompute], communicated, 0));
        check(cudaStreamWaitEvent(streams_[kNetwork], computed, 0));
    }
    template <class T>
    Array<T> made(const Shape& shape) {
        return {memory<T>(product(shape)), shape, strides_of(shape)};
    }
    // Loops: kernels of the program over the elements of a shape.

    template <class... P, class... A>
    void loop(void (*kernel)(Size, P...), const Shape& shape, A&&... arguments) {
        (before(arguments), ...);
        launch(kCompute, kernel, product(shape), argument(arguments, shape)...);
        (after(arguments), ...);
    }
    /// A loop that adds up along dimensions.
    template <class... P, class... A>
    void sweep(void (*kernel)(Sweep, P...), const Shape& shape, const std::vector<std::size_t>& dims,
               A&&... arguments) {
        const Sweep how = shared_by_blocks(shape, dims);
        (before(arguments), ...);
        (prepare(how, arguments), ...);
        run_sweep(kernel, how, argument(arguments, shape)...);
        (combine(how, arguments), ...);
        (after(arguments), ...);
    }
    template <class T>
    Array<T> reduce(const Array<T>& in, const std::vector<std::size_t>& dims, Reduction kind, bool keepdims) {
        Shape shape;
        for (std::size_t d = 0; d < in.shape.size(); ++d) {
            const bool is_reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
            if (!is_reduced || keepdims) shape.push_back(is_reduced ? 1 : in.shape[d]);
        }
        Array<T> out = made<T>(shape);
        const Sweep how = shared_by_blocks(in.shape, dims);
        Total<T> total{out, kind};
        before(in);
        prepare(how, total);
        run_sweep(reduce_elements<T>, how, view(in, in.shape), kind, ranks::neutral<Number<T>>(kind),
                  total.all);
        combine(how, total);
        return finished(kCompute, out);
    }

    template <class T, class... More>
    Array<T> einsum(const std::string& spec, const Array<T>& first, const More&... more) {
        const Einsum<T> product(spec, {first, more...});
        Array<T> out = made<T>(product.shape());
        before(first);
        (before(more), ...);
        if (!product.by_blas(blas_, out))
            launch(kCompute, contract_elements<T>, ranks::product(out.shape), out.data, product.by_loops());
        return finished(kCompute, out);
    }

    // Other views of the same memory.

    template <class T>
    static Array<T> transposed(Array<T> in, const std::vector<std::size_t>& perm) {
        const Array<T> was = in;
        for (std::size_t d = 0; d < perm.size(); ++d)
            in.shape[d] = was.shape[perm[d]], in.strides[d] = was.strides[perm[d]];
        return in;
    }
    /// dims[d]: where dimension d of the operand is in the result.
    template <class T>
    static Array<T> broadcast(Array<T> in, const Shape& shape, const std::vector<std::size_t>& dims) {
        Shape strides(shape.size(), 0);
        for (std::size_t d = 0; d < dims.size(); ++d)
            if (in.shape[d] == shape[dims[d]]) strides[dims[d]] = in.strides[d];
        in.shape = shape, in.strides = strides;
        return in;
    }
    template <class T>
    Array<T> reshaped(const Array<T>& in, const Shape& shape) {
        Array<T> out = keeps_dims(in.shape, shape) ? in : dense(kCompute, in);
        Shape strides = strides_of(shape);
        if (keeps_dims(in.shape, shape)) {
            std::size_t from = 0;
            for (std::size_t d = 0; d < shape.size(); ++d) {
                if (shape[d] == 1) continue;
                while (in.shape[from] == 1) ++from;
                strides[d] = in.strides[from++];
            }
        }
        out.shape = shape, out.strides = strides;
        return out;
    }

  protected:
    template <class T>
    static std::size_t count(const Array<T>& array) {
        return static_cast<std::size_t>(product(array.shape));
    }

    // Memory and order.

    template <class T>
    T* allocated(Size elements) {
        void* data = nullptr;
        check(cudaMalloc(&data, std::max<std::size_t>(1, static_cast<std::size_t>(elements)) * sizeof(T)));
        return static_cast<T*>(data);
    }
    /// The next buffer of this call.
    template <class T>
    T* memory(Size elements) {
        const auto bytes = static_cast<std::size_t>(elements) * sizeof(T);
        if (buffer_ == buffers_.size())
            buffers_.push_back({allocated<char>(static_cast<Size>(bytes)), bytes});
        auto& [data, size] = buffers_[buffer_++];
        if (size < bytes) {
            check(cudaFree(data));
            data = allocated<char>(static_cast<Size>(bytes));
            size = bytes;
        }
        return reinterpret_cast<T*>(data);
    }
    cudaEvent_t next_event() {
        if (event_ == events_.size()) {
            events_.emplace_back();
            check(cudaEventCreateWithFlags(&events_.back(), cudaEventDisableTiming));
        }
        return events_[event_++];
    }
    /// The stream goes on when the array is there.
    template <class T>
    void start(Lane lane, const Array<T>& array) {
        if (array.there != nullptr && array.lane != lane)
            check(cudaStreamWaitEvent(streams_[lane], array.there, 0));
    }
    template <class T>
    Array<T> finished(Lane lane, Array<T> array) {
        array.lane = lane;
        array.there = next_event();
        check(cudaEventRecord(array.there, streams_[lane]));
        return array;
    }

    template <class... P, class... A>
    void launch_blocks(Lane lane, void (*kernel)(P...), Size blocks, A&&... arguments) {
        if (blocks == 0) return;
        cudaLaunchConfig_t how{};
        how.gridDim = dim3(static_cast<unsigned>(blocks));
        how.blockDim = dim3(TUTTI_THREADS);
        how.stream = streams_[lane];
        check(cudaLaunchKernelEx(&how, kernel, std::forward<A>(arguments)...));
    }
    template <class... P, class... A>
    void launch(Lane lane, void (*kernel)(Size, P...), Size elements, A&&... arguments) {
        const Size blocks = (elements + TUTTI_THREADS - 1) / TUTTI_THREADS;
        launch_blocks(lane, kernel, std::min(blocks, kMostBlocks), elements, std::forward<A>(arguments)...);
    }
    template <class... P, class... A>
    void run_sweep(void (*kernel)(Sweep, P...), const Sweep& how, A&&... arguments) {
        const Size most = std::max<Size>(1, kMostBlocks / how.parts);
        launch_blocks(kCompute, kernel, std::min(how.results, most) * how.parts, how,
                      std::forward<A>(arguments)...);
    }
    template <class T>
    void copy(Lane lane, const Array<T>& to, const Array<T>& from) {
        View<T> there{to.data, {to.shape, to.strides}, is_dense(to)};
        launch(lane, copy_elements<T>, product(to.shape), there, view(from, from.shape));
    }
    template <class T>
    Array<T> dense(Lane lane, const Array<T>& in) {
        if (is_dense(in)) return in;
        Array<T> out = made<T>(in.shape);
        start(lane, in);
        copy(lane, out, in);
        return finished(lane, out);
    }

    cudaStream_t streams_[2] = {};

  private:
    static bool keeps_dims(const Shape& from, const Shape& to) {
        Shape a, b;
        std::copy_if(from.begin(), from.end(), std::back_inserter(a), [](Size size) { return size != 1; });
        std::copy_if(to.begin(), to.end(), std::back_inserter(b), [](Size size) { return size != 1; });
        return a == b;
    }

    // What loops take.

    template <class T>
    void before(const Array<T>& array) {
        start(kCompute, array);
    }
    template <class T>
    static View<const T> argument(const Array<T>& array, const Shape& shape) {
        return view(array, shape);
    }
    template <class T>
    static T* argument(const Made<T>& made, const Shape&) {
        return made.array.data;
    }
    template <class T>
    static Number<T>* argument(const Total<T>& total, const Shape&) {
        return total.all;
    }
    static const Numbering& argument(const Numbering& numbers, const Shape&) { return numbers; }
    template <class T>
    void after(Made<T>& made) {
        made.array = finished(kCompute, made.array);
    }
    template <class T>
    void after(Total<T>& total) {
        total.array = finished(kCompute, total.array);
    }
    template <class Other>
    void before(const Other&) {}
    template <class Other>
    void after(const Other&) {}

    Sweep shared_by_blocks(const Shape& shape, const std::vector<std::size_t>& dims) const {
        Shape kept, kept_strides, reduced, reduced_strides;
        const Shape strides = strides_of(shape);
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const bool is_reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
            (is_reduced ? reduced : kept).push_back(shape[d]);
            (is_reduced ? reduced_strides : kept_strides).push_back(strides[d]);
        }
        Sweep how{{kept, kept_strides}, {reduced, reduced_strides}, product(kept), 1};
        constexpr Size kEnoughBlocks = 512, kElementsOfThread = 4;
        if (how.results > 0 && how.results < kEnoughBlocks)
            how.parts =
                std::max<Size>(1, std::min(kEnoughBlocks / how.results,
                                           how.reduced.elements / (kElementsOfThread * TUTTI_THREADS)));
        return how;
    }
    template <class T>
    void prepare(const Sweep& how, Total<T>& total) {
        total.all = memory<Number<T>>(how.results * how.parts);
    }
    template <class T>
    void combine(const Sweep& how, Total<T>& total) {
        launch(kCompute, combine_parts<T>, how.results, total.array.data, total.all, how.parts, total.kind);
    }
    template <class Other>
    void prepare(const Sweep&, const Other&) {}
    template <class Other>
    void combine(const Sweep&, const Other&) {}

    static constexpr Size kMostBlocks = 1 << 16;

    cublasHandle_t blas_ = nullptr;
    std::vector<std::pair<char*, std::size_t>> buffers_;
    std::vector<cudaEvent_t> events_;
    std::size_t buffer_ = 0, event_ = 0;
};

}  // namespace tutti::gpu
