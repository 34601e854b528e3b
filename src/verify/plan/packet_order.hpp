#pragma once

#include "plan/program.hpp"
#include "verify/plan/execution_progress.hpp"
#include "verify/plan/execution_steps.hpp"
#include "verify/plan/place_index.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::verify {

struct OrderedExecution;

/// The order by packets: a reader comes after the first writer.
class PacketOrder {
  public:
    explicit PacketOrder(const ExecutionSteps& steps) : steps_(steps) {}

    /// The op does places first … first + count of a move of the steps' program.
    void note(plan::OpId op, const PlaceIndex& places, std::uint32_t move, std::int64_t first,
              std::int64_t count);

    /// Adds the edges from writers to readers. Call once, after all other edges were added.
    void order(OrderedExecution& execution, const ExecutionProgress& progress);

  private:
    struct Access {
        std::uint32_t place;
        plan::OpId op;
        bool writes, raw;
    };
    /// A reader of a place that several ops write.
    struct Open {
        plan::OpId reader, first;             ///< `first`: who wrote it first in one run
        std::uint32_t begin_writer, writers;  ///< in writers_
    };

    void order_place(std::span<const Access> accesses, OrderedExecution& execution,
                     const ExecutionProgress& progress);
    bool settle(OrderedExecution& execution, std::size_t& budget);

    const ExecutionSteps& steps_;
    std::vector<Access> accesses_;
    std::vector<Open> open_;
    std::vector<plan::OpId> writers_;
    std::vector<plan::Edge> raw_;  ///< weak: from who wrote it first in one run to who copies it unasked
};

}  // namespace tutti::verify
