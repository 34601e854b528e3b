// Scratch that is never stored: sums that are only passed on need no place.
//
// A place is kept if some instruction stores to it or reads it, so the places of one instruction are all kept
// and stay neighbours.

#include "compile/passes/layout.hpp"

namespace tutti::compile::passes {
namespace {

class Used {
  public:
    explicit Used(const Graph& graph) {
        for (const RankMemory& memory : graph.memory) used_.emplace_back(memory.scratch, false);
    }
    void add(std::uint32_t rank, plan::Buffer buffer, std::uint32_t first, std::uint32_t count) {
        if (buffer != plan::Buffer::Scratch) return;
        for (std::uint32_t k = 0; k < count; ++k) used_[rank][first + k] = true;
    }
    [[nodiscard]] const std::vector<std::vector<bool>>& of_rank() const { return used_; }

  private:
    std::vector<std::vector<bool>> used_;
};

}  // namespace

void pack_scratch(const Graph& graph, Layout& layout) {
    Used used(graph);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const Instruction& one = graph.instructions[i];
        const bool reads = (one.reads() && !layout.is_fused[i]) || one.adds_to_source();
        // What is dropped, is added to what is there, but not put there.
        if (reads) used.add(one.rank, one.source_buffer, one.source, one.count);
        if (one.writes() && !layout.drops_sum[i])
            used.add(one.rank, one.target_buffer, one.target, one.count);
    }
    layout.scratch.assign(graph.ranks(), 0);
    layout.scratch_place.assign(graph.ranks(), {});
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
        std::vector<std::uint32_t> place;
        place.reserve(graph.memory[r].scratch);
        for (const bool is_used : used.of_rank()[r]) {
            place.push_back(layout.scratch[r]);
            layout.scratch[r] += is_used ? 1 : 0;
        }
        if (layout.scratch[r] < place.size()) layout.scratch_place[r] = std::move(place);
    }
}

}  // namespace tutti::compile::passes
