#pragma once

#include "run/program_board.hpp"
#include "run/program_messages.hpp"
#include "run/rank_part.hpp"
#include "run/task_graph.hpp"
#include "run/wires.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tutti::run {

/// The emulated network of a program, if it runs on one.
struct ProgramNetwork {
    const Topology* topology = nullptr;
    /// The schedule of the call that these collectives make as one, where each is cut into so many pieces.
    std::function<NetworkCall(const std::vector<tensor::ValueId>& collectives, std::int64_t pieces)>
        schedule_of{};
    /// StageOptions::pieces_of.
    std::function<std::int64_t(const tensor::Kernel&)> pieces_of{};
};

/// The stages of a program as tasks of ranks, one for each level of each piece, in the order of pieces: so a
/// piece that can go on does so before the next one begins. Ranks wait for each other where a level reads
/// from others or writes to them, and behind a stage that does.
class ProgramTasks {
  public:
    /// What ranks do each other's work with; all null: they reach each other's memory, at no cost.
    struct Links {
        const ProgramNetwork* network = nullptr;  ///< with `wires`, if messages take time
        Wires* wires = nullptr;
        ProgramMessages* messages = nullptr;  ///< if there are other processes: only ranks here get tasks
        const RunFaults* faults = nullptr;    ///< for tests
    };

    /// `spans`: ProgramBoard's; written in calls. All must outlive this.
    ProgramTasks(const tensor::Program& program, const tensor::Kernels& kernels,
                 const std::vector<ProgramStage>& stages, const RankPartMaker& maker, KernelSpan* spans,
                 const Links& links);

    [[nodiscard]] const TaskGraph& graph() const { return graph_; }
    /// Those that have tasks; each is the worker of its place here.
    [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return here_; }

  private:
    using TaskId = TaskGraph::TaskId;
    /// The parts of a level on one rank.
    struct LevelParts {
        std::vector<std::pair<std::size_t, RankPart*>> parts{};  ///< with their kernels
    };

    void add(const ProgramStage& stage);
    [[nodiscard]] std::vector<LevelParts> parts_of(const ProgramStage::Level& level,
                                                   const ProgramStage& stage);
    void add_level(const ProgramStage& stage, std::size_t level, std::int64_t piece,
                   const std::vector<LevelParts>& parts);
    void add_calls(const ProgramStage& stage, const ProgramStage::Level& level,
                   const std::vector<TaskId>& tasks);
    void add_transfers(const ProgramStage& stage, const ProgramPart& part, std::int64_t piece,
                       const std::vector<TaskId>& tasks);
    void wait_for_group(const std::vector<tensor::AxisId>& axes, const std::vector<TaskId>& before,
                        const std::vector<TaskId>& tasks);
    [[nodiscard]] std::vector<TaskId> ends_of_groups(const std::vector<tensor::AxisId>& axes,
                                                     const std::vector<TaskId>& tasks);
    void end_stage(const ProgramStage& stage);
    void run_level(std::int64_t rank, const LevelParts& parts, std::int64_t piece) const;

    const tensor::Program& program_;
    const tensor::Kernels& kernels_;
    const RankPartMaker& maker_;
    KernelSpan* spans_;
    const Links links_;
    std::size_t ranks_;
    std::vector<std::uint32_t> here_;
    TaskGraph graph_;
    std::vector<std::unique_ptr<RankPart>> owned_;
    std::vector<TaskId> before_;                 ///< by rank: what its stage waits for
    std::vector<std::vector<TaskId>> of_stage_;  ///< by rank: the tasks of this stage
    std::vector<TaskId> last_level_;             ///< by rank: of this piece
    /// Of this stage: what ranks here send, which their memory is needed for until then.
    std::vector<ProgramMessages::Transfer> sent_;
};

}  // namespace tutti::run
