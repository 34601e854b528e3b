#pragma once

#include "io/source.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::io {

/// A node of an execution trace, as far as communication needs it.
struct TraceNode {
    enum class Type : std::uint8_t { Other, Send, Receive, Collective };

    std::uint64_t id = 0;
    Type type = Type::Other;
    std::vector<std::uint64_t> after{};  ///< nodes
    std::string collective{};            ///< "all_reduce", as call_kind() knows it
    std::int64_t size = -1;
    std::string dtype{}, group{}, stream{};
    std::int64_t source = -1, destination = -1, root = -1;
    std::uint32_t tag = 0;
};

/// A file of traces: nodes, groups, or both.
struct TraceFile {
    std::string format{};  ///< "chakra", "pytorch", "groups"
    std::vector<TraceNode> nodes{};
    /// The process groups that the file declares. Without members: all ranks.
    std::map<std::string, std::vector<std::uint32_t>> groups{};
    std::uint64_t left_out = 0;  ///< calls of a kind that is not known
};

[[nodiscard]] TraceFile read_trace_file(Source& source);

}  // namespace tutti::io
