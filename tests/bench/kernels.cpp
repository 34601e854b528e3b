#include "tests/bench/kernels.hpp"

#include "run/kernel_coder.hpp"
#include "tensor/builder.hpp"
#include "tensor/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tutti::bench {
namespace {

using run::KernelCode, run::KernelCoder, run::KernelMode, run::Precision;
using tensor::Program, tensor::ValueId;

/// A step of Adam on a gradient that is added up already.
Program adam(std::int64_t elements) {
    tensor::Builder b("adam", {{"data", 1}});
    const auto g = b.input("g", {elements});
    const auto w = b.state("w", {elements}), m = b.state("m", {elements}), v = b.state("v", {elements});
    const auto mean = g / 2.0, m_new = 0.9 * m + 0.1 * mean, v_new = 0.999 * v + 0.001 * (mean * mean);
    b.update(w, w - 1e-3 * (m_new / 0.19) / (sqrt(v_new / 0.002) + 1e-8));
    b.update(m, m_new);
    b.update(v, v_new);
    return b.program();
}

/// Loops of a program that are run one after the other, with memory for what they make.
class Loops {
  public:
    /// `together`: all pointwise values as one loop, in which states are updated in place; else each for
    /// itself.
    Loops(const Program& program, KernelCoder& coder, bool together, std::int64_t elements)
        : elements_(elements) {
        std::map<ValueId, ValueId> state_of;
        std::vector<std::vector<ValueId>> groups;
        for (const ValueId id : program.order()) {
            const tensor::Value& value = program[id];
            if (value.op == tensor::Op::Update && together) state_of[value.args[1]] = value.args[0];
            if (value.op == tensor::Op::Input) memory(id);
            if (!is_pointwise(value.op)) continue;
            if (!together || groups.empty()) groups.emplace_back();
            groups.back().push_back(id);
        }
        for (const std::vector<ValueId>& group : groups) {
            const tensor::Loop loop = tensor::loop_of(
                program, group, [&](ValueId id) { return !together || state_of.contains(id); });
            Call& call = calls_.emplace_back();
            run::LoopShape shape{{elements}, {}};
            for (const tensor::LoopTensor& tensor : loop.tensors) {
                shape.strides.push_back({1});
                call.from.push_back(memory(tensor.value));
            }
            for (const tensor::LoopOutput& output : loop.outputs) {
                const auto state = state_of.find(output.value);
                call.to.push_back(memory(state == state_of.end() ? output.value : state->second));
            }
            call.code = coder.code(loop, shape, Precision::Declared);
        }
    }

    void run() {
        for (const Call& call : calls_) call.code->run(call.from, call.to, 0, elements_);
    }
    [[nodiscard]] std::size_t count() const { return calls_.size(); }

  private:
    struct Call {
        std::vector<const void*> from{};
        std::vector<void*> to{};
        std::unique_ptr<KernelCode> code{};
    };

    /// As program runs have it: aligned to lines, and not all in the same sets of the caches.
    void* memory(ValueId id) {
        constexpr std::size_t kLine = 16, kApart = 17 * kLine;
        const std::size_t apart = memory_.size() * kApart;
        std::vector<float>& numbers = memory_[id];
        if (!numbers.empty()) return first_[id];
        numbers.assign(static_cast<std::size_t>(elements_) + kLine + apart, 0.5F);
        const std::size_t past = reinterpret_cast<std::uintptr_t>(numbers.data()) / sizeof(float) % kLine;
        return first_[id] = numbers.data() + (kLine - past) % kLine + apart;
    }

    std::int64_t elements_;
    std::map<ValueId, std::vector<float>> memory_;
    std::map<ValueId, float*> first_;  ///< where each begins in its memory
    std::vector<Call> calls_;
};

/// a = a + 0.5 b, which moves 12 bytes an element: what is written was read, as in Adam.
Program triad(std::int64_t elements) {
    tensor::Builder b("triad", {{"data", 1}});
    const auto x = b.input("b", {elements}), a = b.state("a", {elements});
    b.update(a, a + 0.5 * x);
    return b.program();
}

double seconds_of(Loops& loops, int times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) loops.run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

double quartile(std::vector<double> numbers, double part) {
    std::ranges::sort(numbers);
    return numbers[static_cast<std::size_t>(part * static_cast<double>(numbers.size() - 1) + 0.5)];
}

void print_row(std::int64_t elements, std::size_t rounds) {
    KernelCoder compiled(KernelMode::Compiled), tiles(KernelMode::Tiles);
    const Program step = adam(elements), move = triad(elements);
    std::vector<Loops> loops;
    loops.emplace_back(step, compiled, true, elements);
    loops.emplace_back(step, tiles, true, elements);
    loops.emplace_back(step, compiled, false, elements);
    loops.emplace_back(step, tiles, false, elements);
    loops.emplace_back(move, compiled, true, elements);
    const int times = static_cast<int>(std::max<std::int64_t>(1, 2'000'000 / elements));
    std::vector<std::vector<double>> seconds(loops.size());
    for (std::size_t round = 0; round <= rounds; ++round) {
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const double taken = seconds_of(loops[i], times);
            if (round > 0) seconds[i].push_back(taken);  // the first touches the memory
        }
    }
    const auto ns = [&](std::size_t i) {
        return quartile(seconds[i], 0.5) / static_cast<double>(elements) * 1e9;
    };
    const auto ratio = [&](std::size_t i) {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < rounds; ++round)
            ratios.push_back(seconds[i][round] / seconds[0][round]);
        return fmt::format("{:.2f} [{:.2f}-{:.2f}]", quartile(ratios, 0.5), quartile(ratios, 0.25),
                           quartile(ratios, 0.75));
    };
    constexpr double kAdamBytes = 28, kTriadBytes = 12;  // four arrays are read, three are written
    fmt::print("| {} | {:.2f} | {} | {} | {} | {:.1f} | {:.1f} | {:.2f} | {} | {} |\n", elements, ns(0),
               ratio(1), ratio(2), ratio(3), kAdamBytes / ns(0), kTriadBytes / ns(4),
               kAdamBytes / ns(0) / (kTriadBytes / ns(4)), compiled.compiler().compiled(),
               compiled.compiler().compiled() == 0
                   ? std::string("kept")
                   : fmt::format("{:.0f} ms", 1e3 * compiled.compiler().seconds() /
                                                  static_cast<double>(compiled.compiler().compiled())));
    std::fflush(stdout);
}

}  // namespace

bool kernels(const KernelsOptions& options) {
    const Program step = adam(1);
    fmt::print(
        "Adam in f32, {} operations an element, states in place; times of one thread. Ratios: time / that "
        "of the compiled kernel, median [quartiles] of {} rounds. The share of memory is its GB/s by the "
        "triad's.\n\n"
        "| elements | compiled (ns/element) | tiles | compiled, a loop for each operation | tiles, a loop "
        "for each operation | GB/s | triad GB/s | share | compiled now | each took |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        std::ranges::count_if(step.order(), [&](ValueId id) { return is_pointwise(step[id].op); }),
        options.rounds);
    for (const std::int64_t elements : {std::int64_t{4096}, std::int64_t{65536}, std::int64_t{262'144},
                                        std::int64_t{1'000'000}, std::int64_t{4'000'000}})
        print_row(elements, options.rounds);
    return true;
}

}  // namespace tutti::bench
