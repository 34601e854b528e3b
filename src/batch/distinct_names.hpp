#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace tutti::batch {

/// "a" with its number: "a", "a-2", "a-3".
[[nodiscard]] inline std::string numbered(const std::string& name, unsigned number) {
    return number == 1 ? name : name + "-" + std::to_string(number);
}

/// Tells names apart by numbers, in the order in which they come.
class DistinctNames {
  public:
    /// The least number from 1 up with which the name is not taken yet; now it is. Constant time on average,
    /// however often a name comes.
    [[nodiscard]] unsigned number_for(const std::string& name) {
        if (taken_.insert(name).second) return 1;
        unsigned& next = next_.try_emplace(name, 2).first->second;
        while (!taken_.insert(numbered(name, next)).second) ++next;
        return next++;
    }

  private:
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, unsigned> next_;  ///< of names that came twice
};

}  // namespace tutti::batch
