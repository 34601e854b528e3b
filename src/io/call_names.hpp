#pragma once

#include "plan/call_list.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace tutti::io {

/// Numbers the names of a call list while it is read.
class CallNames {
  public:
    explicit CallNames(plan::CallList& list) : list_(list) {
        for (std::uint32_t i = 0; i < list.names.size(); ++i) names_.emplace(list.names[i], i);
    }

    std::uint32_t name(const std::string& text) {
        const auto [found, is_new] = names_.try_emplace(text, static_cast<std::uint32_t>(list_.names.size()));
        if (is_new) list_.names.push_back(text);
        return found->second;
    }
    /// The group of that name; a new one has no members yet.
    std::uint32_t group(const std::string& text) {
        const auto [found, is_new] =
            groups_.try_emplace(text, static_cast<std::uint32_t>(list_.groups.size()));
        if (is_new) list_.groups.push_back({text, {}, true, {}});
        return found->second;
    }

  private:
    plan::CallList& list_;
    std::unordered_map<std::string, std::uint32_t> names_{}, groups_{};
};

}  // namespace tutti::io
