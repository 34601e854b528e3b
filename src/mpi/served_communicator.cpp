#include "mpi/served_communicator.hpp"

#include "core/error.hpp"
#include "run/team_join.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace tutti::mpi {
namespace {

/// MPI makes progress in every call that waits, and programs rely on it: a message that this process has sent
/// may be what another waits for before it comes.
void make_progress() {
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

[[nodiscard]] bool all_agree(MPI_Comm communicator, bool own) {
    int mine = own ? 1 : 0, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator);
    return all == 1;
}

[[nodiscard]] bool is_on_one_machine(MPI_Comm communicator, int processes) {
    MPI_Comm near{};
    PMPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    int neighbours = 0;
    PMPI_Comm_size(near, &neighbours);
    PMPI_Comm_free(&near);
    return neighbours == processes;
}

[[nodiscard]] bool have_same_plans(MPI_Comm communicator, const PlanFolder& plans) {
    std::uint64_t first = plans.fingerprint();
    PMPI_Bcast(&first, 1, MPI_UINT64_T, 0, communicator);
    return first == plans.fingerprint();
}

constexpr std::size_t kMostCalls = 256;

}  // namespace

std::unique_ptr<ServedCommunicator> ServedCommunicator::of(MPI_Comm communicator, const PlanFolder& plans) {
    static std::uint32_t made = 0;
    int rank = 0, processes = 0;
    PMPI_Comm_rank(communicator, &rank);
    PMPI_Comm_size(communicator, &processes);
    const bool fits = is_on_one_machine(communicator, processes) && have_same_plans(communicator, plans);
    if (!all_agree(communicator, fits)) return nullptr;
    std::uint32_t host[2] = {static_cast<std::uint32_t>(getpid()), made++};
    PMPI_Bcast(host, 2, MPI_UINT32_T, 0, communicator);
    run::TeamName name;
    name.job = fmt::format("mpi-{}-{}", host[0], host[1]);
    name.process = static_cast<std::uint32_t>(rank);
    name.processes = static_cast<std::uint32_t>(processes);
    std::optional<run::SharedMemory> memory;
    try {
        memory.emplace(run::memory_of_team(name, make_progress));
    } catch (const LimitError&) {
        memory.reset();  // there is no shared memory: MPI has to do
    } catch (const InputError&) {
        memory.reset();
    }
    if (!all_agree(communicator, memory.has_value())) return nullptr;
    return std::unique_ptr<ServedCommunicator>(
        new ServedCommunicator(plans, std::move(*memory), static_cast<std::uint32_t>(rank)));
}

ServedCommunicator::ServedCommunicator(const PlanFolder& plans, run::SharedMemory memory,
                                       std::uint32_t process)
    : plans_(plans), team_(std::move(memory), process, {[] {}, make_progress}) {}

bool ServedCommunicator::serve(const ServedCall& call) {
    const auto processes = static_cast<std::int32_t>(team_.processes());
    const app::LoadedPlan* const plan = plans_.find(call.kind, processes, call.bytes);
    if (plan == nullptr) return false;  // in all of them: the bytes are the same
    // Whichever process is the root takes the part of the plan's root; all ranks of a team are alike.
    std::uint32_t shift = 0;
    if (call.kind == CollectiveKind::Broadcast) {
        const std::uint32_t root = plan->executables.front().postcondition.root.value();
        shift = (root + team_.processes() - call.root) % team_.processes();
    }
    run::PrivateCall* const made =
        call.willing ? call_for({plan, call.count, call.type, call.op, shift}) : nullptr;
    if (made == nullptr) {
        run::PrivateCall::decline(team_);
        return false;
    }
    const std::uint64_t terms =
        app::fingerprint_of(fmt::format("{} {} {} {} {}", plan->fingerprint, call.count,
                                        run::name_of(call.type), run::name_of(call.op), call.root));
    return made->run({terms, true}, call.input, call.output);
}

run::PrivateCall* ServedCommunicator::call_for(const Key& key) {
    const auto found = calls_.find(key);
    if (found != calls_.end()) return found->second.get();
    if (calls_.size() >= kMostCalls) calls_.clear();
    const auto& [plan, count, type, op, shift] = key;
    const run::Executable& executable = plan->executables.front();
    std::unique_ptr<run::PrivateCall> made;
    try {
        made = std::make_unique<run::PrivateCall>(team_, executable, run::Layout(executable, count), type, op,
                                                  shift);
    } catch (const LimitError&) {
        made = nullptr;
    }
    return calls_.emplace(key, std::move(made)).first->second.get();
}

}  // namespace tutti::mpi
