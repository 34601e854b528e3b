#pragma once

#include "emit/pieces.hpp"
#include "tensor/kernels.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tutti::run {

[[nodiscard]] bool contains(const std::vector<tensor::ValueId>& values, tensor::ValueId id);

/// Whether no rank but the root has what is broadcast. Others would lose theirs where it is made in place.
[[nodiscard]] bool only_root_has_operand(const tensor::Program& program, tensor::ValueId broadcast);

/// Values that a rank makes as one.
struct ProgramPart {
    enum class Kind : std::uint8_t {
        Loop,     ///< pointwise values over the same elements
        Local,    ///< one value of what the rank has
        Exchange  ///< one collective: made of what others have
    };
    Kind kind = Kind::Local;
    std::size_t kernel = 0;  ///< its place among the program's kernels
    std::vector<tensor::ValueId> values{};
    /// Of a loop: a sum over ranks that only the loop reads. It is made as the loop goes, and never in
    /// memory.
    std::optional<tensor::ValueId> head{};
    /// Of a loop: gathers of what it makes. It goes to the others as the loop goes.
    std::vector<tensor::ValueId> tails{};
};

/// Kernels that are executed together, on one piece after the other.
struct ProgramStage {
    /// A rank does a level on a piece as one, when the ranks it reads from or writes to have done the level
    /// before on that piece.
    struct Level {
        std::vector<ProgramPart> parts{};
        std::vector<tensor::AxisId> axes{};  ///< of its exchanges, heads and tails
        bool spreads = false;                ///< others write to a rank here: it is done when all of them are
    };
    std::vector<Level> levels{};
    std::optional<emit::PiecePlan> cut{};  ///< none: one piece, which is all
    std::vector<tensor::AxisId> axes{};    ///< of all levels
    [[nodiscard]] std::int64_t pieces() const { return cut ? cut->pieces : 1; }
};

struct StageOptions {
    /// Whether messages take time: then nothing is written to others as a loop goes, because it has to wait.
    bool has_links = false;
    /// Into how many pieces a kernel with collectives, that no overlap cuts, is cut so that it works while
    /// messages are under way.
    std::function<std::int64_t(const tensor::Kernel&)> pieces_of{};
};

/// The program's kernels in stages, in an order in which they can be executed: overlaps as one, every other
/// kernel by itself. An overlap that no dimension goes through is executed kernel by kernel.
[[nodiscard]] std::vector<ProgramStage> program_stages(const tensor::Program& program,
                                                       const tensor::Kernels& kernels,
                                                       const StageOptions& options = {});

}  // namespace tutti::run
