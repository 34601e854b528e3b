#pragma once

#include "models/backends/registry.hpp"

#include <atomic>
#include <memory>

namespace tutti::models::remote {

/// What the helper processes of one search hold in memory together.
using HelperMemory = std::atomic<std::size_t>;

/// The backend of that name, each solve of it in a helper process of its own. Where limits.must_end is
/// requested, the process is killed some tens of milliseconds later, whatever its solver is at. A process
/// that cannot be started, crashes, answers nonsense or takes more memory than the limits say is a Failed
/// answer, in words. What comes back is checked against the program once more.
///
/// `here` is the same backend in this process, for what takes no solving: library() and abilities().
class RemoteBackend final : public Backend {
  public:
    RemoteBackend(std::string name, std::string helper, std::shared_ptr<const Backend> here,
                  std::shared_ptr<HelperMemory> memory = {});

    [[nodiscard]] SolverLibrary library() const override { return here_->library(); }
    [[nodiscard]] Abilities abilities() const override { return here_->abilities(); }
    [[nodiscard]] Answer solve(const Program& program, const SolveLimits& limits) const override;
    [[nodiscard]] LinearAnswer solve(const LinearProgram& program, const SolveLimits& limits) const override;

  private:
    std::string name_;
    std::string helper_;
    std::shared_ptr<const Backend> here_;
    std::shared_ptr<HelperMemory> memory_;
};

/// Terms, literals, intervals and variables of a program that is solved in this process; larger ones go to a
/// helper process. See stoppable.cpp for why so many.
inline constexpr std::size_t kMostSolvedHere = 200'000;

/// The backend of that name as a search with a time limit wants it: small programs are solved in this
/// process, larger ones in a helper process, so that every solve ends within half a second of
/// limits.must_end. Where there is no helper program, all are solved in this process and may take longer.
[[nodiscard]] OpenedBackend open_stoppable(std::string_view name, std::shared_ptr<HelperMemory> memory = {});

}  // namespace tutti::models::remote
