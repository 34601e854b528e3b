#pragma once

#include "core/topology.hpp"
#include "timing/plan_timing.hpp"
#include "timing/router.hpp"

namespace tutti::timing {

/// Maps a plan's ranks to a topology's NPUs, for the front ends of all formats. Adds the routes of
/// connections to the program.
class Placement {
  public:
    /// Throws InputError unless the group has `ranks` different NPUs of the topology. Fills in the group of
    /// `timing`, whose other fields must be set.
    Placement(const Topology& topology, TimedProgram& program, const TimingOptions& options,
              JobTiming& timing);

    /// The route of a new connection from rank to rank; `turn` is its number among those of the same two.
    /// Throws InputError if there is no route. Fast where connections come in order of `from`.
    [[nodiscard]] RouteId connect(Rank from, Rank to, OptionalId<plan::ChannelId> channel,
                                  std::uint32_t turn);

    /// Adds a note, once.
    void note_once(const std::string& note);

    /// Later tasks belong to that thread block, if the plan has thread blocks.
    void begin_block(Rank gpu, OptionalId<plan::BlockId> block) {
        owners_.push_back({static_cast<TaskId>(program_.tasks.size()), gpu, block});
    }
    /// The gpu and thread block of the tasks from `first` on.
    struct Owner {
        TaskId first = 0;
        Rank gpu{};
        OptionalId<plan::BlockId> block{};
    };
    [[nodiscard]] std::vector<Owner> owners() && { return std::move(owners_); }

    /// The size of a chunk of the call.
    [[nodiscard]] SizeId chunk_size() const { return chunk_size_; }

  private:
    [[nodiscard]] const FixedRoute* fixed(Rank from, Rank to, OptionalId<plan::ChannelId> channel) const;
    [[nodiscard]] Route checked(const FixedRoute& route) const;
    [[nodiscard]] NodeId npu(Rank rank) const { return timing_.group[rank.index()]; }
    [[nodiscard]] std::string name_of_rank(Rank rank) const;
    void note_buffers(const Route& route);

    const Topology& topology_;
    TimedProgram& program_;
    const TimingOptions& options_;
    JobTiming& timing_;
    Router router_;
    SizeId chunk_size_;
    std::vector<Owner> owners_;
    bool noted_buffers_ = false;
};

}  // namespace tutti::timing
