#pragma once

#include "core/instance.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// What may be asked for in place of what an instance says, of all its collectives.
struct Variation {
    std::optional<std::uint64_t> chunks{};  ///< in place of the field `chunks`
    std::optional<Bytes> bytes{};           ///< the size of a call (core/call.hpp), in place of `chunk_bytes`

    [[nodiscard]] bool any() const { return chunks || bytes; }
    friend bool operator==(const Variation&, const Variation&) = default;
};

/// Changes the collectives as asked. Throws InputError for `chunks` of a kind of collective that has no such
/// field, and for `bytes` in abstract units or of custom demands. Anything else that is wrong with the parts
/// is left to Instance.
void vary(InstanceParts& parts, const Variation& variation);

}  // namespace tutti
