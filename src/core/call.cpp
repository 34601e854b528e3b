#include "core/call.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

/// What the rank that sends or gets most has, itself included.
std::uint64_t largest_buffer(const std::vector<std::vector<std::uint64_t>>& counts) {
    std::uint64_t most = 1;
    std::vector<std::uint64_t> received;
    for (const auto& row : counts) {
        std::uint64_t sent = 0;
        received.resize(std::max(received.size(), row.size()), 0);
        for (std::size_t j = 0; j < row.size(); ++j) {
            sent += row[j];
            most = std::max(most, received[j] += row[j]);
        }
        most = std::max(most, sent);
    }
    return most;
}

}  // namespace

std::optional<std::uint64_t> chunks_of_call(const Collective& collective, std::size_t ranks) {
    using enum CollectiveKind;
    switch (collective.kind) {
        case Broadcast:
        case Reduce:
        case AllToNext:
        case Permute:
        case SendRecv:
            return collective.chunks;
        case Scatter:
        case Gather:
        case AllGather:
        case ReduceScatter:
        case AllReduce:
        case AllToAll:
            return collective.chunks * ranks;
        case AllToAllV:
            return largest_buffer(collective.counts);
        case Custom:
            break;
    }
    return std::nullopt;
}

Bytes chunk_bytes(Bytes call, std::uint64_t chunks) {
    if (call.count < 1 || call > kMaxCallBytes) {
        throw InputError(
            fmt::format("expected a size from 1 to {} bytes, found {}", kMaxCallBytes.count, call.count));
    }
    return {(call.count - 1) / static_cast<std::int64_t>(chunks) + 1};
}

std::optional<Bytes> call_bytes(const Collective& collective, std::size_t ranks) {
    const auto chunks = chunks_of_call(collective, ranks);
    if (!chunks || collective.chunk_bytes.count <= 0) return std::nullopt;
    Bytes bytes;
    const bool overflow = __builtin_mul_overflow(*chunks, collective.chunk_bytes.count, &bytes.count);
    return overflow ? std::nullopt : std::optional(bytes);
}

std::optional<double> bandwidth_GBps(Bytes call, Ticks time) {
    if (time <= Ticks(0)) return std::nullopt;
    return static_cast<double>(call.count) / static_cast<double>(time.count()) * 1000;
}

std::optional<double> bus_factor(CollectiveKind kind, std::size_t ranks) {
    using enum CollectiveKind;
    const auto n = static_cast<double>(ranks);
    switch (kind) {
        case AllReduce:
            return 2 * (n - 1) / n;
        case AllGather:
        case ReduceScatter:
        case AllToAll:
        case Gather:
        case Scatter:
            return (n - 1) / n;
        case Broadcast:
        case Reduce:
        case AllToNext:
        case SendRecv:
            return 1;
        case AllToAllV:
        case Permute:
        case Custom:
            break;
    }
    return std::nullopt;
}

}  // namespace tutti
