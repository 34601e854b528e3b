// Who knows its rank from where. No MPI library is linked: mpirun and its like are only asked to start
// processes, and all of them say in the environment which one it is. What the processes then say to each
// other goes through sockets of ours (cluster_crew.cpp says why).
//
// A batch script of Slurm is no step: it has SLURM_PROCID and maybe SLURM_NTASKS, but only what srun starts
// has SLURM_STEP_NUM_TASKS. Within a step, srun's own PMI and somebody else's mpiexec look alike, except that
// the numbers of the latter are not those of the step.

#include "batch/cluster/ranks.hpp"

#include "core/error.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace tutti::batch::cluster {
namespace {

constexpr unsigned kMostRanks = 1U << 20;

/// The number that the value begins with; "4(x2),3" is 4.
std::optional<unsigned> number(const Environment& environment, const char* name) {
    const char* value = environment(name);
    if (value == nullptr) return std::nullopt;
    const std::string_view text(value);
    unsigned result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || result > kMostRanks) return std::nullopt;
    return result;
}

std::string joined(const Environment& environment, std::initializer_list<const char*> names) {
    std::string text;
    for (const char* name : names) {
        if (const char* value = environment(name)) text += fmt::format("{}={};", name, value);
    }
    return text;
}

std::optional<Ranks> numbered(const Environment& environment, const char* rank, const char* size,
                              const char* on_this_host) {
    const auto which = number(environment, rank), of = number(environment, size);
    if (!which || !of || *of == 0 || *which >= *of) return std::nullopt;
    Ranks ranks;
    ranks.rank = *which;
    ranks.size = *of;
    ranks.on_this_host = number(environment, on_this_host).value_or(0);
    return ranks;
}

std::optional<Ranks> by_hand(const Environment& environment) {
    if (environment("TUTTI_RANKS") == nullptr && environment("TUTTI_RANK") == nullptr) return std::nullopt;
    if (number(environment, "TUTTI_RANKS") == 1U) return Ranks{};
    auto ranks = numbered(environment, "TUTTI_RANK", "TUTTI_RANKS", "TUTTI_RANKS_ON_THIS_HOST");
    if (!ranks)
        throw InputError("TUTTI_RANKS must be the number of ranks and TUTTI_RANK one of 0 to that less 1");
    ranks->job = joined(environment, {"TUTTI_JOB"});
    return ranks;
}

std::optional<Ranks> by_open_mpi(const Environment& environment) {
    auto ranks =
        numbered(environment, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE");
    if (!ranks) return std::nullopt;
    ranks->job = joined(
        environment, {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_precondition_transports"});
    ranks->detach = ranks->follow_parent = true;
    return ranks;
}

std::optional<Ranks> by_srun(const Environment& environment) {
    auto ranks = numbered(environment, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE");
    if (!ranks || ranks->size < 2) return std::nullopt;
    const auto other = numbered(environment, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS");
    if (other && (other->rank != ranks->rank || other->size != ranks->size)) return std::nullopt;
    ranks->on_this_host = 0;  // nodes may have different numbers of tasks; srun binds them instead
    ranks->job = joined(environment, {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"});
    return ranks;
}

std::optional<Ranks> by_pmi(const Environment& environment) {
    auto ranks = numbered(environment, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS");
    if (!ranks) return std::nullopt;
    ranks->detach = ranks->follow_parent = true;
    return ranks;
}

}  // namespace

Ranks ranks_in(const Environment& environment) {
    for (const auto& launcher : {by_hand, by_open_mpi, by_srun, by_pmi}) {
        if (const auto ranks = launcher(environment)) return *ranks;
    }
    return {};
}

unsigned cores_of(const Ranks& ranks) {
    cpu_set_t bound;
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned all = online > 0 ? static_cast<unsigned>(online) : 1U;
    // Fails on machines of more than 1024 cores.
    const unsigned mine = ::sched_getaffinity(0, sizeof bound, &bound) == 0
                              ? static_cast<unsigned>(std::max(1, CPU_COUNT(&bound)))
                              : all;
    return std::clamp(all / std::max(1U, ranks.on_this_host), 1U, mine);
}

Launcher::Launcher() : parent_(::getppid()) {}

bool Launcher::gone() const {
    pollfd words{STDERR_FILENO, 0, 0};
    const bool unheard = ::poll(&words, 1, 0) == 1 && (words.revents & (POLLERR | POLLHUP)) != 0;
    return unheard || ::getppid() != parent_;
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

}  // namespace tutti::batch::cluster
