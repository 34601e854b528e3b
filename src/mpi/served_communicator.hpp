#pragma once

#include "mpi/plan_folder.hpp"
#include "run/private_call.hpp"
#include "run/team.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace tutti::mpi {

/// A collective call of a program, as plans see it.
struct ServedCall {
    CollectiveKind kind{};
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::int64_t count = 0;  ///< elements of a share, or of the buffer where there are none
    std::int64_t bytes = 0;  ///< of the larger buffer
    run::ElementType type{};
    run::Operator op = run::Operator::Sum;
    std::uint32_t root = 0;
    bool willing = true;  ///< false: this process passes data that plans do not reach
};

/// A communicator whose processes are all on one machine, as a team.
class ServedCommunicator {
  public:
    /// By all processes of the communicator. Null, in all of them, if it cannot be served.
    [[nodiscard]] static std::unique_ptr<ServedCommunicator> of(MPI_Comm communicator,
                                                                const PlanFolder& plans);

    /// By all processes. Returns false, in all of them, if the call is for MPI. Throws run::LostPeerError.
    [[nodiscard]] bool serve(const ServedCall& call);

  private:
    using Key =
        std::tuple<const app::LoadedPlan*, std::int64_t, run::ElementType, run::Operator, std::uint32_t>;

    ServedCommunicator(const PlanFolder& plans, run::SharedMemory memory, std::uint32_t process);
    [[nodiscard]] run::PrivateCall* call_for(const Key& key);

    const PlanFolder& plans_;
    run::Team team_;
    std::map<Key, std::unique_ptr<run::PrivateCall>> calls_;  ///< null: it cannot be served
};

}  // namespace tutti::mpi
