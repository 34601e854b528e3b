// libtutti_mpi.so: between a MPI program and its library (MPI's profiling interface), by LD_PRELOAD.
//
// TUTTI_MPI_PLANS names a folder of plans. A collective call is served by a plan if there is one for its
// kind, its size and the number of its communicator's processes, if these are all on one machine, and if the
// data are of types that plans know; MPI does all others. TUTTI_MPI_REPORT=1 prints at the end what was
// served.
//
// The state of a communicator is an attribute of it, so looking it up takes no longer than a call of MPI, and
// it goes when the communicator goes.

#include "mpi/served_communicator.hpp"
#include "mpi/types.hpp"
#include "run/meeting.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

namespace tutti::mpi {
namespace {

struct Kind {
    CollectiveKind kind;
    const char* name;
};
constexpr std::array kKinds{
    Kind{CollectiveKind::AllReduce, "MPI_Allreduce"}, Kind{CollectiveKind::AllGather, "MPI_Allgather"},
    Kind{CollectiveKind::ReduceScatter, "MPI_Reduce_scatter_block"},
    Kind{CollectiveKind::AllToAll, "MPI_Alltoall"}, Kind{CollectiveKind::Broadcast, "MPI_Bcast"}};

/// Not by a stream: a program may have closed them.
void say(const std::string& line) {
    const std::string text = "tutti: " + line + "\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
}

[[nodiscard]] bool is_set(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

/// What the attribute points to.
struct State {
    std::unique_ptr<ServedCommunicator> served;  ///< null: all its calls are MPI's
};

int forget_state(MPI_Comm, int, void* value, void*) {
    delete static_cast<State*>(value);
    return MPI_SUCCESS;
}

class Interposer {
  public:
    static Interposer& get() {
        static Interposer interposer;
        return interposer;
    }

    [[nodiscard]] bool serve(std::size_t kind, MPI_Comm communicator, ServedCall call) {
        if (plans_.count() == 0 || call.bytes <= 0) return false;
        call.kind = kKinds[kind].kind;
        try {
            ServedCommunicator* const served = state_of(communicator, call.kind);
            const bool done = served != nullptr && served->serve(call);
            (done ? served_ : passed_)[kind].fetch_add(1, std::memory_order_relaxed);
            return done;
        } catch (const std::exception& error) {
            say(error.what());
            PMPI_Abort(communicator, 1);
            return false;
        }
    }

    void report() const {
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank != 0 || !is_set("TUTTI_MPI_REPORT")) return;
        say(fmt::format("{} plans", plans_.count()));
        for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
            if (served_[kind] + passed_[kind] > 0)
                say(fmt::format("{}: {} calls served by plans, {} by MPI", kKinds[kind].name,
                                served_[kind].load(), passed_[kind].load()));
        }
    }

  private:
    Interposer() {
        const char* const folder = std::getenv("TUTTI_MPI_PLANS");
        if (folder == nullptr || *folder == '\0') return;
        plans_ = PlanFolder(folder);
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) {
            for (const std::string& problem : plans_.problems()) say("not used: " + problem);
        }
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_state, &key_, nullptr);
    }

    [[nodiscard]] ServedCommunicator* state_of(MPI_Comm communicator, CollectiveKind kind) {
        void* value = nullptr;
        int found = 0;
        PMPI_Comm_get_attr(communicator, key_, &value, &found);
        if (found != 0) return static_cast<State*>(value)->served.get();
        int processes = 0, between = 0;
        PMPI_Comm_test_inter(communicator, &between);
        PMPI_Comm_size(communicator, &processes);
        if (between != 0 || processes < 2 || !plans_.has(kind, processes)) return nullptr;
        auto state = std::make_unique<State>();
        state->served = ServedCommunicator::of(communicator, plans_);
        ServedCommunicator* const served = state->served.get();
        PMPI_Comm_set_attr(communicator, key_, state.release());
        return served;
    }

    PlanFolder plans_;
    int key_ = MPI_KEYVAL_INVALID;
    std::array<std::atomic<std::uint64_t>, kKinds.size()> served_{}, passed_{};
};

/// Bytes of an element; 0 for types that are no plain stretch of bytes.
struct PlainType {
    std::int64_t bytes = 0;
    bool plain = false;
};
[[nodiscard]] PlainType plain_type(MPI_Datatype type) {
    int size = 0, integers = 0, addresses = 0, types = 0, combiner = 0;
    PMPI_Type_size(type, &size);
    MPI_Aint low = 0, extent = 0;
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return {size, combiner == MPI_COMBINER_NAMED && extent == size && low == 0};
}

[[nodiscard]] const std::byte* bytes_at(const void* address) {
    return static_cast<const std::byte*>(address);
}
[[nodiscard]] std::byte* bytes_at(void* address) { return static_cast<std::byte*>(address); }

/// A call that only moves data: in bytes.
[[nodiscard]] ServedCall moving(const void* input, void* output, int count, MPI_Datatype type) {
    const PlainType plain = plain_type(type);
    ServedCall call;
    call.input = bytes_at(input);
    call.output = bytes_at(output);
    call.count = std::int64_t{count} * plain.bytes;
    call.type = run::ElementType::U8;
    call.willing = plain.plain;
    return call;
}

[[nodiscard]] int processes_of(MPI_Comm communicator) {
    int processes = 1;
    PMPI_Comm_size(communicator, &processes);
    return processes;
}
[[nodiscard]] int rank_in(MPI_Comm communicator) {
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    return rank;
}

[[nodiscard]] bool reduces(ServedCall& call, int count, MPI_Datatype type, MPI_Op op) {
    const auto element = element_type_of(type);
    const auto operation = operator_of(op);
    if (!element || !operation) return false;
    call.count = count;
    call.type = *element;
    call.op = *operation;
    return true;
}

}  // namespace
}  // namespace tutti::mpi

using tutti::mpi::bytes_at;
using tutti::mpi::Interposer;
using tutti::mpi::ServedCall;

extern "C" {

int MPI_Allreduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    ServedCall call;
    call.input = input == MPI_IN_PLACE ? bytes_at(output) : bytes_at(input);
    call.output = bytes_at(output);
    if (count > 0 && tutti::mpi::reduces(call, count, type, op)) {
        call.bytes = call.count * static_cast<std::int64_t>(tutti::run::size_of(call.type));
        if (Interposer::get().serve(0, comm, call)) return MPI_SUCCESS;
    }
    return PMPI_Allreduce(input, output, count, type, op, comm);
}

int MPI_Allgather(const void* input, int count, MPI_Datatype type, void* output, int output_count,
                  MPI_Datatype output_type, MPI_Comm comm) {
    ServedCall call = tutti::mpi::moving(input, output, output_count, output_type);
    call.bytes = call.count * tutti::mpi::processes_of(comm);
    if (input == MPI_IN_PLACE) {
        call.input = call.output + tutti::mpi::rank_in(comm) * call.count;
    } else {
        call.willing = call.willing && tutti::mpi::plain_type(type).plain;
    }
    if (Interposer::get().serve(1, comm, call)) return MPI_SUCCESS;
    return PMPI_Allgather(input, count, type, output, output_count, output_type, comm);
}

int MPI_Reduce_scatter_block(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
    ServedCall call;
    call.input = input == MPI_IN_PLACE ? bytes_at(output) : bytes_at(input);
    call.output = bytes_at(output);
    if (count > 0 && tutti::mpi::reduces(call, count, type, op)) {
        call.bytes = call.count * static_cast<std::int64_t>(tutti::run::size_of(call.type)) *
                     tutti::mpi::processes_of(comm);
        if (Interposer::get().serve(2, comm, call)) return MPI_SUCCESS;
    }
    return PMPI_Reduce_scatter_block(input, output, count, type, op, comm);
}

int MPI_Alltoall(const void* input, int count, MPI_Datatype type, void* output, int output_count,
                 MPI_Datatype output_type, MPI_Comm comm) {
    ServedCall call = tutti::mpi::moving(input, output, output_count, output_type);
    call.bytes = call.count * tutti::mpi::processes_of(comm);
    if (input == MPI_IN_PLACE) {
        call.input = call.output;
    } else {
        call.willing = call.willing && tutti::mpi::plain_type(type).plain;
    }
    if (Interposer::get().serve(3, comm, call)) return MPI_SUCCESS;
    return PMPI_Alltoall(input, count, type, output, output_count, output_type, comm);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    ServedCall call = tutti::mpi::moving(buffer, buffer, count, type);
    call.bytes = call.count;
    call.root = static_cast<std::uint32_t>(root);
    if (Interposer::get().serve(4, comm, call)) return MPI_SUCCESS;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Finalize() {
    Interposer::get().report();
    return PMPI_Finalize();
}

}  // extern "C"
