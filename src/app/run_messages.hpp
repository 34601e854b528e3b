#pragma once

#include "run/message_call.hpp"
#include "run/mpi_library.hpp"
#include "run/test_data.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti::app {

/// A call with test data in the processes that mpirun started, by messages; made by all of them. What it
/// answers is the same in all.
class MessageRun {
  public:
    /// Throws InputError if there are more processes than ranks.
    MessageRun(run::MpiLibrary& mpi, const run::Executable& executable, std::int64_t count,
               run::ElementType type, run::Operator op, const run::TestData& data, std::size_t piece_bytes,
               std::function<void()> check);

    /// Runs it so many times; microseconds of each, as process 0 has them.
    [[nodiscard]] std::span<const double> time(std::uint32_t rounds);
    /// Compares the outputs of all ranks; a difference is only told where it is.
    [[nodiscard]] run::TestData::Check check() const;

  private:
    [[nodiscard]] bool is_own(Rank rank) const;

    run::MpiLibrary& mpi_;
    std::size_t ranks_;
    const run::TestData& data_;
    run::MessagePlan plan_;
    run::Layout layout_;
    std::vector<std::vector<std::byte>> owned_;
    std::vector<std::byte*> memories_;
    std::optional<run::MessageCall> call_;
    std::vector<double> times_;
};

}  // namespace tutti::app
