#include "io/mpi_p2p.hpp"

#include "io/round_source.hpp"
#include "io/source_marks.hpp"

#include <fmt/format.h>

namespace tutti::io {
namespace {

constexpr std::string_view kMpiStart = R"(
// MPI counts by int: more elements than this go as several messages.
constexpr std::size_t kMost = std::size_t{1} << 30;
constexpr int kTag = 1;

// Starts a message, or what is too long for one.
int start(const Call& call, const Step& step, MPI_Datatype datatype, MPI_Comm comm,
          std::vector<MPI_Request>& open) {
    const std::size_t all = elements(step, call.count);
    for (std::size_t done = 0; done < all; done += kMost) {
        const int some = static_cast<int>(std::min(kMost, all - done));
        const int peer = static_cast<int>(step.peer);
        open.push_back(MPI_REQUEST_NULL);
        const int error =
            step.kind == Send
                ? MPI_Isend(source(call, step.from) + done * call.bytes, some, datatype, peer, kTag, comm,
                            &open.back())
                : MPI_Irecv(target(call, step.to) + done * call.bytes, some, datatype, peer, kTag, comm,
                            &open.back());
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}
)";

constexpr std::string_view kMpiCopies = R"(
// A local step.
int run(const Call& call, const Step& step) {
    const char* const from = source(call, step.from);
    char* const to = target(call, step.to);
    if (from != to) std::memcpy(to, from, elements(step, call.count) * call.bytes);
    return MPI_SUCCESS;
}
)";

constexpr std::string_view kMpiSums = R"(
// A local step. Of a sum, `with` may be where the sum goes, or `from`, or neither.
int run(const Call& call, const Step& step, MPI_Datatype datatype, MPI_Op op) {
    const std::size_t all = elements(step, call.count);
    const char* from = source(call, step.from);
    char* const to = target(call, step.to);
    if (step.kind == Add) {
        const char* const with = source(call, step.with);
        if (from == to) {
            from = with;
        } else if (with != to) {
            std::memcpy(to, with, all * call.bytes);
        }
        for (std::size_t done = 0; done < all; done += kMost) {
            const int some = static_cast<int>(std::min(kMost, all - done));
            const int error = MPI_Reduce_local(from + done * call.bytes, to + done * call.bytes, some, datatype, op);
            if (error != MPI_SUCCESS) return error;
        }
    } else if (from != to) {
        std::memcpy(to, from, all * call.bytes);
    }
    return MPI_SUCCESS;
}
)";

constexpr std::string_view kMpiRun = R"(
int run_rounds(const Call& call, std::size_t rank, MPI_Datatype datatype, @op_parameter@MPI_Comm comm) {
    std::vector<MPI_Request> open;
    const Step* step = kSteps + kFirst[rank];
    const Step* const end = kSteps + kFirst[rank + 1];
    while (step != end) {
        const std::uint32_t round = step->round;
        open.clear();
        int error = MPI_SUCCESS;
        for (; step != end && step->round == round && (step->kind == Send || step->kind == Receive); ++step) {
            if ((error = start(call, *step, datatype, comm, open)) != MPI_SUCCESS) return error;
        }
        error = MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
        if (error != MPI_SUCCESS) return error;
        for (; step != end && step->round == round && (step->kind == Copy || step->kind == Add); ++step) {
            if ((error = run(call, *step@run_arguments@)) != MPI_SUCCESS) return error;
        }
    }
    return MPI_SUCCESS;
}

}  // namespace

extern "C" std::size_t @name@_scratch_bytes(std::size_t count, MPI_Datatype datatype) {
    MPI_Aint least = 0, extent = 0;
    if (MPI_Type_get_extent(datatype, &least, &extent) != MPI_SUCCESS || extent <= 0) return 0;
    return scratch_bytes(count, static_cast<std::size_t>(extent));
}

extern "C" int @name@(const void* sendbuff, void* recvbuff, std::size_t count, MPI_Datatype datatype,
    @op_parameter@MPI_Comm comm, void* scratch) {
    int ranks = 0, rank = 0, error = MPI_SUCCESS;
    if ((error = MPI_Comm_size(comm, &ranks)) != MPI_SUCCESS) return error;
    if (ranks != kRanks) return MPI_ERR_COMM;
    if ((error = MPI_Comm_rank(comm, &rank)) != MPI_SUCCESS) return error;
    MPI_Aint least = 0, extent = 0;
    if ((error = MPI_Type_get_extent(datatype, &least, &extent)) != MPI_SUCCESS) return error;
    if (least != 0 || extent <= 0) return MPI_ERR_TYPE;
    const std::size_t bytes = static_cast<std::size_t>(extent);
    if (scratch == nullptr && scratch_bytes(count, bytes) > 0) return MPI_ERR_BUFFER;
    if (sendbuff == MPI_IN_PLACE) {
        if (kInPlace[rank] < 0) return MPI_ERR_BUFFER;
        sendbuff = static_cast<char*>(recvbuff) + static_cast<std::size_t>(kInPlace[rank]) * count * bytes;
    }
    Call call{static_cast<const char*>(sendbuff), static_cast<char*>(recvbuff), static_cast<char*>(scratch), count,
              bytes};
    if (buffers_of(static_cast<std::size_t>(rank), sendbuff, recvbuff, count, bytes) @in_place_test@) {
@in_place@
    }
    return run_rounds(call, static_cast<std::size_t>(rank), datatype, @op_argument@comm);
}
)";

constexpr std::string_view kMpiSave =
    R"(        char* const saved = call.scratch + kScratch * largest(count) * bytes;
        std::memcpy(saved, sendbuff, kInputs[rank] * count * bytes);
        call.in = saved;)";

}  // namespace

std::string mpi_p2p_text(const plan::RoundPlan& plan) {
    const bool reduces = plan.reduces();
    const std::string parameters =
        fmt::format("MPI_Datatype datatype, {}MPI_Comm comm, void* scratch", reduces ? "MPI_Op op, " : "");
    const std::string descriptions = fmt::format(
        "//   datatype  any whose elements lie one behind the other\n{}"
        "//   comm      its messages have the tag 1\n"
        "//   scratch   as many bytes as the second function says, allocated by the caller; null if that is "
        "0\n",
        reduces ? "//   op        any that is associative and commutative and knows the datatype: MPI_SUM, "
                  "MPI_PROD,\n"
                  "//             MPI_MIN, MPI_MAX, or your own\n"
                : "");
    const RoundLibrary library{
        .messages = "MPI messages",
        .parameters = parameters,
        .descriptions = descriptions,
        .result = "int",
        .results = "It returns MPI_SUCCESS or MPI's error, and is done when it returns.",
        .datatype = "MPI_Datatype",
        .usage = "// Any MPI from 3.0 on: mpicxx -std=c++17 -O2 -c THIS_FILE\n"};
    std::string text = round_heading(plan, library);
    text +=
        "\n#include <mpi.h>\n\n#include <algorithm>\n#include <cstddef>\n#include <cstdint>\n#include "
        "<cstring>\n"
        "#include <vector>\n\nnamespace {\n\n";
    text += round_tables(plan);
    text += kMpiStart;
    text += reduces ? kMpiSums : kMpiCopies;
    std::string run(kMpiRun);
    run = marks_replaced(std::move(run), "name", function_name_of(plan));
    run = marks_replaced(std::move(run), "op_parameter", reduces ? "MPI_Op op, " : "");
    run = marks_replaced(std::move(run), "op_argument", reduces ? "op, " : "");
    run = marks_replaced(std::move(run), "run_arguments", reduces ? ", datatype, op" : "");
    run = marks_replaced(std::move(run), "in_place_test",
                         plan.in_place ? "== Buffers::Overlapping" : "!= Buffers::Apart");
    run = marks_replaced(std::move(run), "in_place",
                         plan.in_place ? "        return MPI_ERR_BUFFER;" : kMpiSave);
    return text + run;
}

}  // namespace tutti::io
