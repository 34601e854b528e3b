#include "run/calibrate.hpp"

#include "core/error.hpp"
#include "run/contraction.hpp"
#include "run/kernel_coder.hpp"
#include "run/program_run.hpp"
#include "run/worker_threads.hpp"
#include "tensor/builder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <thread>
#include <vector>

namespace tutti::run {
namespace {

using tensor::DType, tensor::Loop, tensor::LoopOperand, tensor::LoopStep, tensor::Op;
using Kind = LoopOperand::Kind;

constexpr std::size_t kRounds = 9;

/// Runs `work(thread)` on all threads at the same time, some rounds; the median of the rounds' times, each of
/// the slowest thread.
double median_seconds(WorkerThreads& threads, const Stop& stop,
                      const std::function<void(std::size_t)>& work) {
    std::vector<double> rounds;
    std::vector<double> seconds(threads.count());
    for (std::size_t round = 0; round <= kRounds; ++round) {
        if (stop.requested()) throw LimitError("interrupted");
        threads.run([&](std::size_t thread) {
            const auto start = std::chrono::steady_clock::now();
            work(thread);
            seconds[thread] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        });
        if (round > 0) rounds.push_back(std::ranges::max(seconds));  // the first touches the memory
    }
    std::ranges::nth_element(rounds, rounds.begin() + kRounds / 2);
    return std::max(rounds[kRounds / 2], 1e-9);
}

/// A loop on tensors of its own, for every thread.
class Measured {
  public:
    Measured(KernelCoder& coder, const Loop& loop, std::int64_t elements, std::size_t threads)
        : elements_(elements) {
        const LoopShape shape{{elements}, std::vector<std::vector<std::int64_t>>(loop.tensors.size(), {1})};
        for (std::size_t thread = 0; thread < threads; ++thread) {
            OfThread& own = of_thread_.emplace_back();
            for (const tensor::LoopTensor& tensor : loop.tensors) {
                own.tensors.emplace_back(tensor.read.dtype, Precision::Declared, shape.sizes);
                fill(own.tensors.back(), 1, tensor.read.dtype, Precision::Declared);
            }
            for (const tensor::LoopOutput& output : loop.outputs)
                own.tensors.emplace_back(output.dtype, Precision::Declared, shape.sizes);
            for (std::size_t k = 0; k < own.tensors.size(); ++k) {
                if (k < loop.tensors.size()) {
                    own.from.push_back(own.tensors[k].first());
                } else {
                    own.to.push_back(own.tensors[k].first());
                }
            }
            own.code = coder.code(loop, shape, Precision::Declared);
        }
    }
    void run(std::size_t thread) {
        OfThread& own = of_thread_[thread];
        own.code->run(own.from, own.to, 0, elements_);
    }

  private:
    struct OfThread {
        std::vector<LocalTensor> tensors{};
        std::vector<const void*> from{};
        std::vector<void*> to{};
        std::unique_ptr<KernelCode> code{};
    };
    std::int64_t elements_;
    std::vector<OfThread> of_thread_;
};

Loop empty_loop(DType dtype, std::size_t tensors) {
    Loop loop;
    tensor::LoopTensor tensor;
    tensor.read.dtype = dtype;
    loop.tensors.assign(tensors, tensor);
    loop.outputs = {{tensor::ValueId(std::size_t{0}), dtype}};
    return loop;
}

/// c = a + 0.5 b.
Loop triad(DType dtype) {
    Loop loop = empty_loop(dtype, 2);
    loop.constants = {{0.5, dtype}};
    loop.steps = {{Op::Mul, dtype, dtype, {{Kind::Tensor, 1}, {Kind::Constant, 0}}, std::nullopt},
                  {Op::Add, dtype, dtype, {{Kind::Tensor, 0}, {Kind::Earlier, 0}}, 0}};
    return loop;
}

/// Functions of functions, of numbers that stay near 1: erf(tanh(…)), or exp(log(exp(…))).
Loop functions(DType dtype, std::initializer_list<Op> ops) {
    Loop loop = empty_loop(dtype, 1);
    LoopOperand x{Kind::Tensor, 0};
    for (const Op op : ops) {
        loop.steps.push_back({op, dtype, dtype, {x}, std::nullopt});
        x = {Kind::Earlier, loop.steps.size() - 1};
    }
    loop.steps.back().output = 0;
    return loop;
}

constexpr std::size_t kChain = 32;

/// ((x + x) * x + x) * x …
Loop chain(DType dtype) {
    Loop loop = empty_loop(dtype, 1);
    const LoopOperand x{Kind::Tensor, 0};
    for (std::size_t i = 0; i < kChain; ++i) {
        LoopStep step{i % 2 == 0 ? Op::Add : Op::Mul,
                      dtype,
                      dtype,
                      {i == 0 ? x : LoopOperand{Kind::Earlier, i - 1}, x}};
        if (i + 1 == kChain) step.output = 0;
        loop.steps.push_back(std::move(step));
    }
    return loop;
}

class Calibration {
  public:
    Calibration(std::size_t threads, const Stop& stop) : threads_(threads), stop_(stop) {}

    tensor::Device device() {
        tensor::Device made;
        for (std::size_t type = 0; type < tensor::kDTypeNames.size(); ++type) {
            const auto dtype = static_cast<DType>(type);
            made.pointwise_tflops[type] = pointwise(dtype) / 1e12;
        }
        constexpr std::int64_t kInMemory = std::int64_t{96} << 20U, kInCache = std::int64_t{2} << 20U;
        set_by_storage(made.memory_GBps, [&](DType dtype) { return memory(dtype, kInMemory) / 1e9; });
        set_by_storage(made.cache_GBps, [&](DType dtype) { return memory(dtype, kInCache) / 1e9; });
        set_by_storage(made.function_tflops, [&](DType dtype) {
            return function(dtype, {Op::Tanh, Op::Erf, Op::Tanh, Op::Erf}) / 1e12;
        });
        set_by_storage(made.exp_tflops, [&](DType dtype) {
            return function(dtype, {Op::Exp, Op::Log, Op::Exp, Op::Log}) / 1e12;
        });
        set_by_storage(made.matmul_tflops, [&](DType dtype) { return matmul(dtype) / 1e12; });
        // A byte of a type moves as long as those do that it is stored in.
        for (std::size_t type = 0; type < tensor::kDTypeNames.size(); ++type) {
            const auto dtype = static_cast<DType>(type);
            const double stored = static_cast<double>(tensor::bytes_of(dtype)) /
                                  static_cast<double>(bytes_of(storage_of(dtype, Precision::Declared)));
            made.memory_GBps[type] *= stored;
            made.cache_GBps[type] *= stored;
        }
        made.cache_MB = cache(kInCache, kInMemory, made) / 1e6;
        made.launch_us = launch() * 1e6;
        return made;
    }

  private:
    template <class Rate>
    static void set_by_storage(tensor::Device::Rates& rates, const Rate& rate) {
        const double single = rate(DType::F32), full = rate(DType::F64);
        for (std::size_t type = 0; type < rates.size(); ++type) {
            const bool is_single =
                storage_of(static_cast<DType>(type), Precision::Declared) == Storage::Single;
            rates[type] = is_single ? single : full;
        }
    }

    /// A triad on so many bytes of each thread.
    double memory(DType dtype, std::int64_t bytes) {
        const auto size = static_cast<std::int64_t>(bytes_of(storage_of(dtype, Precision::Declared)));
        const std::int64_t times = std::max<std::int64_t>(1, (std::int64_t{32} << 20U) / bytes);
        Measured loop(coder_, triad(dtype), bytes / 3 / size, threads_.count());
        const double seconds = median_seconds(threads_, stop_, [&](std::size_t thread) {
            for (std::int64_t i = 0; i < times; ++i) loop.run(thread);
        });
        return static_cast<double>(bytes * times) / seconds;
    }

    /// The most bytes that are nearer in speed to the cache than to memory.
    double cache(std::int64_t least, std::int64_t most, const tensor::Device& made) {
        const auto single = static_cast<std::size_t>(DType::F32);
        const double between = std::sqrt(made.cache_GBps[single] * made.memory_GBps[single]) * 1e9;
        std::int64_t fits = least;
        for (std::int64_t bytes = 2 * least; bytes < most; bytes *= 2) {
            if (memory(DType::F32, bytes) < between) break;
            fits = bytes;
        }
        return static_cast<double>(fits);
    }

    /// So often that threads are at it together: they may share a core, and begin at different times.
    double function(DType dtype, std::initializer_list<Op> ops) {
        constexpr std::int64_t kElements = 2048;
        constexpr int kTimes = 20;
        const Loop loop = functions(dtype, ops);
        Measured measured(coder_, loop, kElements, threads_.count());
        const double seconds = median_seconds(threads_, stop_, [&](std::size_t thread) {
            for (int i = 0; i < kTimes; ++i) measured.run(thread);
        });
        return static_cast<double>(loop.steps.size()) * kElements * kTimes / seconds;
    }

    double pointwise(DType dtype) {
        constexpr std::int64_t kElements = 2048;
        constexpr int kTimes = 50;
        Measured loop(coder_, chain(dtype), kElements, threads_.count());
        const double seconds = median_seconds(threads_, stop_, [&](std::size_t thread) {
            for (int i = 0; i < kTimes; ++i) loop.run(thread);
        });
        return static_cast<double>(kChain) * kElements * kTimes / seconds;
    }

    double matmul(DType dtype) {
        constexpr std::int64_t kSize = 384;
        tensor::Value value;
        value.op = Op::Einsum;
        value.spec = "mk,kn->mn";
        value.type.dtype = dtype;
        std::vector<std::vector<LocalTensor>> of_thread(threads_.count());
        std::vector<EinsumMemory> of_products(threads_.count());
        for (std::vector<LocalTensor>& matrices : of_thread) {
            for (int i = 0; i < 3; ++i) {
                matrices.emplace_back(dtype, Precision::Declared, std::vector<std::int64_t>{kSize, kSize});
                fill(matrices.back(), 1, dtype, Precision::Declared);
            }
        }
        const double seconds = median_seconds(threads_, stop_, [&](std::size_t thread) {
            std::vector<LocalTensor>& matrices = of_thread[thread];
            const std::vector<MemoryView> operands{memory_of(matrices[0]), memory_of(matrices[1])};
            einsum(value, operands, memory_of(matrices[2]), Precision::Declared, of_products[thread],
                   &coder_.blas());
        });
        return 2.0 * kSize * kSize * kSize / seconds;
    }

    /// Kernels of one element, one after the other, on as many ranks as there are threads.
    double launch() {
        constexpr int kKernels = 64;
        tensor::Builder b("launch", {{"ranks", static_cast<std::int64_t>(threads_.count())}});
        tensor::Expr x = b.input("x", {1});
        for (int i = 0; i < kKernels; ++i) x = -x;
        b.output(x);
        LocalTensor one(DType::F32, Precision::Declared, {1});
        const std::vector<RankTensors> inputs(threads_.count(), {{"x", one}});
        return run_program(b.program(), inputs, {.calls = kRounds}, stop_).seconds / kKernels;
    }

    WorkerThreads threads_;
    const Stop& stop_;
    KernelCoder coder_{KernelMode::Compiled};
};

}  // namespace

tensor::Device calibrate(std::size_t threads, const Stop& stop) {
    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
    return Calibration(threads, stop).device();
}

}  // namespace tutti::run
