#pragma once

#include "plan/program.hpp"
#include "verify/plan/place_index.hpp"
#include "verify/plan/program_graph.hpp"
#include "verify/plan/sums.hpp"

#include <vector>

namespace tutti::verify {

/// The values of all places after running a program in the order of the graph. Where no race reaches an
/// output, every other order gives the same outputs.
class Execution {
  public:
    Execution(const plan::Program& program, const ProgramGraph& graph, const PlaceIndex& places, Sums& sums);

    /// By the place's number.
    [[nodiscard]] SumId value(std::uint32_t place) const { return values_[place]; }
    /// The op that wrote it last; kNoOp: none did. The first call takes as long as running the program.
    [[nodiscard]] plan::OpId writer(std::uint32_t place) const {
        if (writers_.empty()) find_writers();
        return writers_[place];
    }

    /// A packet that was written twice, with different values.
    struct Clash {
        std::uint32_t place = 0;
        plan::OpId first = plan::kNoOp, second = plan::kNoOp;
    };
    [[nodiscard]] const std::vector<Clash>& clashes() const { return clashes_; }

  private:
    void write(plan::OpId op, std::uint32_t range, std::uint32_t place, SumId value);
    void find_writers() const;

    const plan::Program& program_;
    const ProgramGraph& graph_;
    const PlaceIndex& places_;
    std::vector<SumId> values_;
    mutable std::vector<plan::OpId> writers_;  ///< empty until somebody asks; messages about what is wrong do
    std::vector<Clash> clashes_;
    bool any_packets_ = false;
};

/// The initial value of a place.
[[nodiscard]] SumId initial_value(const plan::Memory& memory, std::int64_t place, Sums& sums);

}  // namespace tutti::verify
