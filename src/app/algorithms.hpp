#pragma once

#include "app/json.hpp"
#include "core/collective.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct AlgorithmsOptions {
    std::string name{};  ///< one of the library; empty: all
    CollectiveKind kind = CollectiveKind::AllReduce;
    std::optional<std::string> topology{};  ///< where they are to be compared
    std::vector<std::int64_t> sizes{};      ///< of the call; ascending
    std::optional<bool> in_place{};         ///< not given: in place where an algorithm can do that
    friend bool operator==(const AlgorithmsOptions&, const AlgorithmsOptions&) = default;
};

/// The library, or one algorithm of it: `name`, `about`, `source`, `collectives`, `parameters`.
[[nodiscard]] io::Json library_json(const std::string& name);
/// The same for people.
[[nodiscard]] std::string library_text(const std::string& name);

}  // namespace tutti::app
