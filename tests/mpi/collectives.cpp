// A MPI program that knows nothing of tutti: all its collectives with data that it checks itself. Ends with 1
// if anything is wrong.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int wrong = 0;

void expect(bool right, const char* what, int count) {
    if (right) return;
    if (wrong++ < 5) std::fprintf(stderr, "wrong: %s with %d elements\n", what, count);
}

/// What rank r has in place i.
std::int64_t value(int rank, std::int64_t place) { return rank * 1000003 + place * 7 + 1; }

void check_comm(MPI_Comm comm, int count) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::int64_t ranks_sum = std::int64_t{size} * (size - 1) / 2;
    const auto n = static_cast<std::size_t>(count), all = n * static_cast<std::size_t>(size);

    for (const bool in_place : {false, true}) {
        const char* const how = in_place ? "in place" : "out of place";
        (void)how;
        std::vector<std::int64_t> input(all), output(all, -1);
        const auto fill = [&](std::vector<std::int64_t>& into, std::size_t elements) {
            for (std::size_t at = 0; at < elements; ++at)
                into[at] = value(rank, static_cast<std::int64_t>(at));
        };
        fill(in_place ? output : input, n);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : input.data(), output.data(), count, MPI_INT64_T, MPI_SUM,
                      comm);
        bool right = true;
        for (std::size_t at = 0; at < n; ++at)
            right =
                right && output[at] == ranks_sum * 1000003 + size * (static_cast<std::int64_t>(at) * 7 + 1);
        expect(right, "MPI_Allreduce sum", count);

        fill(in_place ? output : input, n);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : input.data(), output.data(), count, MPI_LONG, MPI_MAX, comm);
        right = true;
        for (std::size_t at = 0; at < n; ++at)
            right = right && output[at] == value(size - 1, static_cast<std::int64_t>(at));
        expect(right, "MPI_Allreduce max", count);

        for (auto& each : output) each = -1;
        fill(input, n);
        std::int64_t* const own = output.data() + static_cast<std::size_t>(rank) * n;
        if (in_place)
            for (std::size_t at = 0; at < n; ++at) own[at] = input[at];
        MPI_Allgather(in_place ? MPI_IN_PLACE : input.data(), count, MPI_INT64_T, output.data(), count,
                      MPI_INT64_T, comm);
        right = true;
        for (std::size_t at = 0; at < all; ++at)
            right = right && output[at] == value(static_cast<int>(at / n), static_cast<std::int64_t>(at % n));
        expect(right, "MPI_Allgather", count);

        fill(in_place ? output : input, all);
        MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : input.data(), output.data(), count, MPI_INT64_T,
                                 MPI_SUM, comm);
        right = true;
        for (std::size_t at = 0; at < n; ++at) {
            const auto place = static_cast<std::int64_t>(at + static_cast<std::size_t>(rank) * n);
            right = right && output[at] == ranks_sum * 1000003 + size * (place * 7 + 1);
        }
        expect(right, "MPI_Reduce_scatter_block", count);

        fill(in_place ? output : input, all);
        MPI_Alltoall(in_place ? MPI_IN_PLACE : input.data(), count, MPI_INT64_T, output.data(), count,
                     MPI_INT64_T, comm);
        right = true;
        for (std::size_t at = 0; at < all; ++at) {
            const auto place = static_cast<std::int64_t>(at % n + static_cast<std::size_t>(rank) * n);
            right = right && output[at] == value(static_cast<int>(at / n), place);
        }
        expect(right, "MPI_Alltoall", count);
    }
    for (int root = 0; root < size; ++root) {
        std::vector<std::int64_t> buffer(n, -1);
        if (rank == root)
            for (std::size_t at = 0; at < n; ++at) buffer[at] = value(root, static_cast<std::int64_t>(at));
        MPI_Bcast(buffer.data(), count, MPI_INT64_T, root, comm);
        bool right = true;
        for (std::size_t at = 0; at < n; ++at)
            right = right && buffer[at] == value(root, static_cast<std::int64_t>(at));
        expect(right, "MPI_Bcast", count);
    }
}

/// One rank's elements lie apart, so a plan cannot reach them: all must leave the call to MPI.
void check_types_that_differ(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    constexpr int kCount = 1000;
    MPI_Datatype apart{};
    MPI_Type_vector(kCount, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    std::vector<int> buffer(2 * kCount, -1);
    if (rank == 0)
        for (int at = 0; at < kCount; ++at) buffer[static_cast<std::size_t>(2 * at)] = at;
    if (rank == 0) {
        MPI_Bcast(buffer.data(), 1, apart, 0, comm);
    } else {
        MPI_Bcast(buffer.data(), kCount, MPI_INT, 0, comm);
        bool right = true;
        for (int at = 0; at < kCount; ++at) right = right && buffer[static_cast<std::size_t>(at)] == at;
        expect(right, "MPI_Bcast of types that differ", kCount);
    }
    MPI_Type_free(&apart);
}

/// A message that only goes on while its sender is in a call of MPI: the receiver comes to the collective
/// later.
void check_progress(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::vector<char> large(8 << 20, static_cast<char>(rank + 1));
    std::int64_t one = 1, sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Isend(large.data(), static_cast<int>(large.size()), MPI_CHAR, 1, 3, comm, &request);
    if (rank == 1)
        MPI_Recv(large.data(), static_cast<int>(large.size()), MPI_CHAR, 0, 3, comm, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int size = 0;
    MPI_Comm_size(comm, &size);
    expect(sum == size && (rank != 1 || large.back() == 1), "a message beside MPI_Allreduce", 1);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half{}, again{};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    for (const int count : {1, 17, 1000, 50'021}) {
        check_comm(MPI_COMM_WORLD, count);
        check_comm(half, count);
        MPI_Comm_dup(half, &again);
        check_comm(again, count);
        MPI_Comm_free(&again);
    }
    check_types_that_differ(MPI_COMM_WORLD);
    check_progress(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%d wrong\n", all);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
