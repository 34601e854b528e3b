#pragma once

#include "core/schedule.hpp"
#include "symmetry/orbits.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti::symmetry {

/// A schedule in generator form: the sends of some chunks, and generators of a symmetry group. It stands for
/// all images of its sends under the group (docs/symmetric-schedules.md). For 40,000 NPUs it takes megabytes,
/// the expanded sends gigabytes.
struct SymmetricSchedule {
    std::string instance;  ///< the name of the instance it was made for
    Ticks makespan;        ///< as stated; the verifier recomputes it
    std::vector<Generator> generators;
    std::vector<Send> sends;  ///< of representative chunks, one of each orbit; links and starts as they are
};

/// The expansion of a symmetric schedule, in the order of starts_before, generated while it is read. Memory:
/// the unexpanded sends, and a few numbers per link and chunk.
class SymmetricSource final : public SendSource {
  public:
    /// Both must outlive the source. Throws InputError where the schedule has no expansion: its generators
    /// are invalid (GroupAction), or some image of a send does not exist.
    SymmetricSource(const Instance& instance, const SymmetricSchedule& schedule);

    [[nodiscard]] std::span<const Send> next() override;
    [[nodiscard]] Ticks makespan() const override { return schedule_.makespan; }
    /// The position of the send whose image it is.
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return origins_[i]; }
    /// The number of sends in the expansion.
    [[nodiscard]] std::uint64_t size() const {
        return std::uint64_t{action_.size()} * schedule_.sends.size();
    }

  private:
    void begin_tick();
    void list_tick();
    void fill(const Send& send, std::uint32_t* chunks) const;

    const SymmetricSchedule& schedule_;
    GroupAction action_;
    LinkOrbits links_;
    std::vector<std::uint32_t> rows_;    ///< the images of the representative chunks, one row after the other
    std::vector<std::uint32_t> row_of_;  ///< of each send
    std::vector<std::uint32_t> order_;   ///< of the sends, by start

    std::size_t begin_ = 0, end_ = 0;        ///< the sends of the tick at hand, in order_
    std::vector<std::uint32_t> chunks_;      ///< of the tick: images by send, then element
    std::vector<std::uint32_t> send_on_;     ///< of the tick: which of its sends is on an orbit, or kNoImage
    std::vector<std::uint32_t> link_orbit_;  ///< by link
    std::size_t link_ = 0;                   ///< reached in the tick
    std::vector<Send> batch_;
    std::vector<std::uint64_t> origins_;
    bool listed_ = false;  ///< the tick's sends were sorted, not swept
};

/// The whole expansion in memory. Throws as SymmetricSource.
[[nodiscard]] Schedule expanded(const Instance& instance, const SymmetricSchedule& schedule);

}  // namespace tutti::symmetry
