// Which programs are solved in this process, and which in a helper that can be killed.
//
// A solver hears a stop when it polls, and none polls everywhere: presolve, symmetry detection, the first
// factorisation, writing the model down. How long that takes grows with the size of the program. Measured by
// how much a solve ended after its slice of time, at the most, on the instances of star, cluster, fat_tree,
// dragonfly, rail, mesh, torus, hypercube, custom and dgx (`--method exact --time-limit 12`, 2 shared cores;
// size: terms, literals, intervals and variables in all):
//
//   size                 CP-SAT    HiGHS    Z3
//   up to 100 000        0.12 s    0.36 s   0.13 s
//   up to 300 000        0.33 s    0.12 s   0.25 s
//   up to 700 000        0.62 s    0.66 s   0.27 s
//   1 300 000            1.0 s     0.9 s    1.1 s
//   3 700 000            2.3 s     -        0.3 s
//
// So programs up to kMostSolvedHere stay in this process: their solvers end within half a second of the stop.
// For each of the others a helper process is started. That takes 12 ms with HiGHS, 70 with Z3 and 120 with
// CP-SAT, whose library has to be loaded again (on a machine with ten times more work than cores); a program
// of size 1 000 000 is a message of 3 MB, and writing and reading it take 0.1 to 0.3 s there, where CP-SAT
// and HiGHS take 3 to 5 s to solve it and Z3 17. A helper that is kept for the next program was not tried:
// the same solver would be asked to survive what the last one left in it.

#include "models/remote/helper.hpp"
#include "models/remote/remote_backend.hpp"

namespace tutti::models::remote {
namespace {

class StoppableBackend final : public Backend {
  public:
    StoppableBackend(std::shared_ptr<const Backend> here, std::string_view name, const std::string& helper,
                     std::shared_ptr<HelperMemory> memory)
        : here_(std::move(here)), there_(std::string(name), helper, here_, std::move(memory)) {}

    [[nodiscard]] SolverLibrary library() const override { return here_->library(); }
    [[nodiscard]] Abilities abilities() const override { return here_->abilities(); }

    [[nodiscard]] Answer solve(const Program& program, const SolveLimits& limits) const override {
        return program.size() + program.vars() > kMostSolvedHere ? there_.solve(program, limits)
                                                                 : here_->solve(program, limits);
    }
    [[nodiscard]] LinearAnswer solve(const LinearProgram& program, const SolveLimits& limits) const override {
        return program.entries.size() + program.columns() > kMostSolvedHere ? there_.solve(program, limits)
                                                                            : here_->solve(program, limits);
    }

  private:
    std::shared_ptr<const Backend> here_;
    RemoteBackend there_;
};

}  // namespace

OpenedBackend open_stoppable(std::string_view name, std::shared_ptr<HelperMemory> memory) {
    OpenedBackend opened = find_backend(name)->open();
    if (!opened) return opened;
    const std::string helper = helper_file();
    if (helper.empty()) return opened;
    return {std::make_unique<StoppableBackend>(std::move(opened.backend), name, helper, std::move(memory)),
            {}};
}

}  // namespace tutti::models::remote
