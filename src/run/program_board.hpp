#pragma once

#include "run/shared_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::run {

/// When a rank worked on a kernel in a call: from when it had done what is before it until it was done, in
/// nanoseconds of the steady clock. 0: not at all.
struct KernelSpan {
    std::int64_t begin = 0, end = 0;
};

/// When what happened in the calls of a program, in memory that all its workers reach, threads or processes.
class ProgramBoard {
  public:
    /// For so many ranks, kernels and calls that are recorded.
    ProgramBoard(std::size_t ranks, std::size_t kernels, std::size_t calls);

    /// By rank and kernel, and behind the kernels of a rank one for what it did last.
    [[nodiscard]] KernelSpan* spans() const { return spans_; }

    /// Before the tasks of a call, by one worker.
    void begin();
    /// By each rank, when it is done.
    void end(std::size_t rank) { ends_[rank] = now(); }
    /// By one worker, when all are done. More calls than there is room for are left out.
    void record();
    void forget_records() { *count_ = 0; }

    /// What a call took, and its kernels: of the rank that began first and the one that took longest.
    struct Record {
        double seconds = 0;
        struct Kernel {
            double begin = 0, seconds = 0;
        };
        std::vector<Kernel> kernels{};
    };
    [[nodiscard]] std::vector<Record> records() const;
    /// The same as numbers, all of one length, for other processes; and theirs, added to the own ones.
    [[nodiscard]] std::span<double> numbers() const { return numbers_; }
    void merge(std::span<const double> others);

    /// Why a process failed: the first reason stays.
    void fail(std::string_view reason);
    [[nodiscard]] std::string failure() const;

  private:
    struct alignas(std::int64_t) Reason {
        std::atomic<std::uint32_t> state;
        char text[512];
    };
    [[nodiscard]] static std::int64_t now();
    [[nodiscard]] std::size_t row() const { return 1 + 2 * kernels_; }

    std::size_t ranks_, kernels_, calls_;
    SharedMemory memory_;
    Reason* reason_;
    std::int64_t *start_, *count_, *ends_;
    KernelSpan* spans_;
    std::span<double> numbers_;  ///< a row for each call
};

}  // namespace tutti::run
