#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::plan {

/// A node of a Chakra execution trace, with the fields that a collective needs (docs/chakra.md).
struct ChakraNode {
    enum class Type : std::uint8_t {
        Send,     ///< COMM_SEND_NODE
        Receive,  ///< COMM_RECV_NODE
        Gate      ///< COMP_NODE that computes nothing: it only comes after others
    };
    Type type = Type::Gate;
    std::uint32_t id = 0;  ///< unique within the NPU's trace, from 1, ascending
    /// The nodes of the same trace on which this one depends; ascending, all smaller than its own number.
    std::vector<std::uint32_t> after{};

    // Sends and receives only. The two ends of a message have the same tag, bytes and chunk, and no others
    // do.
    NodeId peer{};
    std::uint32_t tag = 0;
    Bytes bytes{};
    ChunkId chunk{};
    std::uint32_t collective = 0;

    std::int64_t microseconds = 0;  ///< of a gate: how long it takes; 0 is next to nothing

    friend bool operator==(const ChakraNode&, const ChakraNode&) = default;
};

/// A process group as ASTRA-sim's --comm-group-configuration lists it.
struct ChakraGroup {
    std::uint32_t number = 0;  ///< from 1; ASTRA-sim takes group 0 for all NPUs
    std::vector<NodeId> members{};
};

struct ChakraTraces {
    std::vector<std::vector<ChakraNode>> npus{};  ///< none is empty: ASTRA-sim's reader refuses such traces
    std::vector<std::string> collectives{};       ///< ids
    std::vector<std::uint32_t> group_of{};        ///< a collective's group, 0 for all NPUs
    std::vector<ChakraGroup> groups{};            ///< those that are not all NPUs in order
};

}  // namespace tutti::plan
