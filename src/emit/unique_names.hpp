#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tutti::emit {

/// Gives each name once: the second time it is followed by a number.
class UniqueNames {
  public:
    /// A name that is never given as it is.
    void keep(std::string_view name) { taken_.emplace(name, 2); }
    [[nodiscard]] std::string take(const std::string& name) {
        const auto [known, is_free] = taken_.emplace(name, 2);
        if (is_free) return name;
        while (true) {
            std::string free = fmt::format("{}_{}", name, known->second++);
            if (taken_.emplace(free, 2).second) return free;
        }
    }

  private:
    std::map<std::string, std::size_t, std::less<>> taken_;  ///< with the number that follows next
};

}  // namespace tutti::emit
