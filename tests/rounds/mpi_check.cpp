// Runs functions that tutti wrote (--to mpi-p2p, --to nccl-p2p) on real data and checks every element. run.py
// includes their sources below and compiles this with mpicxx. Every rank computes what each other rank begins
// with.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sources.inc"

namespace {

[[maybe_unused]] ncclDataType_t to_nccl(MPI_Datatype type) {
    return type == MPI_FLOAT     ? ncclFloat32
           : type == MPI_DOUBLE  ? ncclFloat64
           : type == MPI_INT64_T ? ncclInt64
           : type == MPI_UINT8_T ? ncclUint8
                                 : ncclInt32;
}
[[maybe_unused]] ncclRedOp_t to_nccl(MPI_Op op) {
    return op == MPI_SUM ? ncclSum : op == MPI_PROD ? ncclProd : op == MPI_MIN ? ncclMin : ncclMax;
}

enum Kind { AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Gather, Scatter, AllToAll, AllToNext };
using Function = int (*)(const void*, void*, std::size_t, MPI_Datatype, MPI_Op, MPI_Comm, void*);
struct Plan {
    const char* name;
    Function run;
    std::size_t (*scratch_bytes)(std::size_t, MPI_Datatype);
    Kind kind;
    int ranks, members, root;
};
const Plan kPlans[] = {
#include "plans.inc"
};

constexpr std::uint8_t kUntouched = 0xA5;

// What rank r begins with at element e: small, so that sums and products are exact in every type.
template <class T>
T value(int rank, std::size_t e, MPI_Op op) {
    const std::size_t mixed = (static_cast<std::size_t>(rank) * 40503 + e * 2654435761U) >> 3;
    return static_cast<T>(op == MPI_PROD ? 1 + mixed % 2 : 1 + mixed % 11);
}
template <class T>
T combined(T a, T b, MPI_Op op) {
    if (op == MPI_SUM) return static_cast<T>(a + b);
    if (op == MPI_PROD) return static_cast<T>(a * b);
    return op == MPI_MIN ? std::min(a, b) : std::max(a, b);
}

// Blocks of count elements in a rank's buffers; 0: it has none.
std::size_t inputs(const Plan& p, int rank) {
    if (rank >= p.members || ((p.kind == Broadcast || p.kind == Scatter) && rank != p.root)) return 0;
    const bool all = p.kind == ReduceScatter || p.kind == AllToAll || p.kind == Scatter;
    return all ? static_cast<std::size_t>(p.members) : 1;
}
std::size_t outputs(const Plan& p, int rank) {
    if (rank >= p.members || ((p.kind == Reduce || p.kind == Gather) && rank != p.root)) return 0;
    const bool all = p.kind == AllGather || p.kind == AllToAll || p.kind == Gather;
    return all ? static_cast<std::size_t>(p.members) : 1;
}

template <class T>
T expected(const Plan& p, int rank, std::size_t e, std::size_t count, MPI_Op op) {
    const std::size_t mine = static_cast<std::size_t>(rank) * count;
    switch (p.kind) {
        case AllReduce:
        case Reduce:
        case ReduceScatter: {
            const std::size_t at = p.kind == ReduceScatter ? mine + e : e;
            T sum = value<T>(0, at, op);
            for (int r = 1; r < p.members; ++r) sum = combined(sum, value<T>(r, at, op), op);
            return sum;
        }
        case AllGather:
        case Gather:
            return value<T>(static_cast<int>(e / count), e % count, op);
        case Broadcast:
            return value<T>(p.root, e, op);
        case Scatter:
            return value<T>(p.root, mine + e, op);
        case AllToAll:
            return value<T>(static_cast<int>(e / count), mine + e % count, op);
        case AllToNext:
            return value<T>(rank - 1, e, op);
    }
    return T();
}

// One call on one rank; the number of wrong elements.
template <class T>
long check(const Plan& p, int rank, std::size_t count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
           bool in_place) {
    const std::size_t in = inputs(p, rank) * count, out = outputs(p, rank) * count, guard = 8;
    const std::size_t larger = std::max(in, out);
    std::vector<T> first(larger + 2 * guard), second(larger + 2 * guard);
    std::memset(first.data(), kUntouched, first.size() * sizeof(T));
    std::memset(second.data(), kUntouched, second.size() * sizeof(T));
    T* send = first.data() + guard;
    T* receive = second.data() + guard;
    if (in_place) {
        receive = send;
        const std::size_t mine = static_cast<std::size_t>(rank) * count;
        if (in > 0 && out > in) send = receive + mine;
        if (out > 0 && in > out) receive = send + mine;
    }
    for (std::size_t e = 0; e < in; ++e) send[e] = value<T>(rank, e, op);
    std::vector<char> scratch(p.scratch_bytes(count, type) + 16, static_cast<char>(kUntouched));
    long wrong = p.run(in > 0 || in_place ? send : nullptr, out > 0 || in_place ? receive : nullptr, count,
                       type, op, comm, scratch.data()) != MPI_SUCCESS;
    if (p.kind != AllToNext || rank > 0) {
        for (std::size_t e = 0; e < out; ++e) wrong += receive[e] != expected<T>(p, rank, e, count, op);
    }
    if (!in_place) {
        for (std::size_t e = 0; e < in; ++e) wrong += send[e] != value<T>(rank, e, op);
    }
    // Nothing is written outside of the buffers.
    const auto untouched = [](const void* at, std::size_t bytes) {
        const auto* b = static_cast<const std::uint8_t*>(at);
        return std::all_of(b, b + bytes, [](std::uint8_t byte) { return byte == kUntouched; });
    };
    for (const std::vector<T>* buffer : {&first, &second}) {
        wrong += !untouched(buffer->data(), guard * sizeof(T));
        wrong += !untouched(buffer->data() + guard + larger, guard * sizeof(T));
    }
    if (!in_place) wrong += !untouched(receive + out, (larger - out) * sizeof(T));
    wrong += !untouched(scratch.data() + scratch.size() - 16, 16);
    return wrong;
}

long check_type(int type, const Plan& p, int rank, std::size_t count, MPI_Op op, MPI_Comm comm,
                bool in_place) {
    switch (type) {
        case 0:
            return check<float>(p, rank, count, MPI_FLOAT, op, comm, in_place);
        case 1:
            return check<std::int64_t>(p, rank, count, MPI_INT64_T, op, comm, in_place);
        case 2:
            return check<std::uint8_t>(p, rank, count, MPI_UINT8_T, op, comm, in_place);
        case 3:
            return check<double>(p, rank, count, MPI_DOUBLE, op, comm, in_place);
        default:
            return check<std::int32_t>(p, rank, count, MPI_INT32_T, op, comm, in_place);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    long calls = 0, failures = 0;
    int turn = 0;
    for (const Plan& p : kPlans) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < p.ranks ? 0 : MPI_UNDEFINED, rank, &comm);
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{17}, std::size_t{1000}, std::size_t{100003}}) {
            for (const bool in_place : {false, true}) {
                const int type = turn % 5;
                const MPI_Op op = ops[turn / 5 % 4];
                ++turn;
                long wrong = rank < p.ranks ? check_type(type, p, rank, count, op, comm, in_place) : 0;
                MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
                ++calls;
                failures += wrong != 0;
                if (wrong != 0 && rank == 0) {
                    std::printf("%s: %ld wrong elements in a call of %zu %s, type %d, op %d\n", p.name, wrong,
                                count, in_place ? "in place" : "out of place", type, turn / 5 % 4);
                }
            }
        }
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    if (rank == 0) std::printf("%zu plans, %ld calls, %ld wrong\n", std::size(kPlans), calls, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
