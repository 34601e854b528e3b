#pragma once

#include "plan/call_list.hpp"

#include <cstdint>
#include <string>
#include <string_view>
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
    /// Of a type and of an operator, under one of their usual names (plan/call_list.hpp).
    std::uint32_t type(const std::string& text) { return known_as(types_, text, plan::type_name); }
    std::uint32_t reduction(const std::string& text) {
        return known_as(reductions_, text, plan::operator_name);
    }
    /// The group of that name; a new one has no members yet.
    std::uint32_t group(const std::string& text) {
        const auto [found, is_new] =
            groups_.try_emplace(text, static_cast<std::uint32_t>(list_.groups.size()));
        if (is_new) list_.groups.push_back({text, {}, true, {}});
        return found->second;
    }

  private:
    using Numbers = std::unordered_map<std::string, std::uint32_t>;

    std::uint32_t known_as(Numbers& known, const std::string& text,
                           std::string (*usual_name)(std::string_view)) {
        const auto found = known.find(text);
        return found != known.end() ? found->second
                                    : known.emplace(text, name(usual_name(text))).first->second;
    }

    plan::CallList& list_;
    Numbers names_{}, groups_{}, types_{}, reductions_{};
};

}  // namespace tutti::io
