#pragma once

#include "plan/execution_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace tutti::timing {

/// The semaphores of a GPU by which exactly one thread block hands over to exactly one other: the k-th
/// acquire then meets the k-th release. A block that reads from other ranks is excluded: it might read what
/// the releasing block has put there.
class Handovers {
  public:
    explicit Handovers(const plan::ExecutionGpu& gpu) {
        for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
            for (const plan::Operation& op : gpu.blocks[b].ops) note(op, b);
        }
        for (const auto& [id, uses] : uses_) {
            const bool starts_at_zero = id.index() < gpu.semaphores.size() && gpu.semaphores[id.index()] == 0;
            if (!starts_at_zero || uses.releasing.size() != 1 || uses.acquiring.size() != 1) continue;
            if (!readers_.contains(*uses.acquiring.begin())) private_.insert(id);
        }
    }
    [[nodiscard]] bool contains(plan::SemaphoreId id) const { return private_.contains(id); }

  private:
    struct Uses {
        std::set<std::size_t> releasing{}, acquiring{};  ///< thread blocks
    };
    void note(const plan::Operation& op, std::size_t block) {
        for (const plan::Operation& inner : op.body) note(inner, block);
        for (const plan::SemaphoreId id : op.semaphores) {
            if (op.type == plan::OperationType::SemRelease) uses_[id].releasing.insert(block);
            if (op.type == plan::OperationType::SemAcquire) uses_[id].acquiring.insert(block);
        }
        const auto elsewhere = [](const plan::Operand& operand) {
            return operand.kind != plan::Operand::Kind::Local;
        };
        if (std::ranges::any_of(op.src, elsewhere)) readers_.insert(block);
    }

    std::map<plan::SemaphoreId, Uses> uses_;
    std::set<std::size_t> readers_;
    std::set<plan::SemaphoreId> private_;
};

}  // namespace tutti::timing
