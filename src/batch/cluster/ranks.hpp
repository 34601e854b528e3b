#pragma once

#include <functional>
#include <string>

namespace tutti::batch::cluster {

/// This process among those that somebody started together.
struct Ranks {
    unsigned rank = 0, size = 1;
    unsigned on_this_host = 0;  ///< how many of them; 0: not known
    std::string job{};          ///< the same for all of them and, if not empty, for nobody else
    /// Started by one that ends everything when a process of it dies, but not when it ends well.
    bool detach = false;
    bool follow_parent = false;  ///< without its parent nobody wants this process any more
};

/// The value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;

/// What the launcher says in the environment; one rank alone where there is none. In this order:
/// TUTTI_RANK and TUTTI_RANKS (and TUTTI_JOB), for all other launchers and to have one's way; Open MPI's
/// mpirun; srun, for a step of several tasks; whoever sets PMI_RANK and PMI_SIZE (MPICH, Intel MPI). Throws
/// InputError for a TUTTI_RANK or TUTTI_RANKS that makes no sense; the others are then passed over.
[[nodiscard]] Ranks ranks_in(const Environment& environment);

/// The threads that a rank runs at a time if nobody says how many: the cores that it is bound to, and not
/// more than its part of the machine.
[[nodiscard]] unsigned cores_of(const Ranks& ranks);

/// Whoever started this process; constructed at the start of it.
class Launcher {
  public:
    Launcher();
    /// Its process has ended, or nobody reads any more what this one says: there may be a script in between.
    [[nodiscard]] bool gone() const;

  private:
    int parent_;
};

/// The machine's name.
[[nodiscard]] std::string host_name();

}  // namespace tutti::batch::cluster
