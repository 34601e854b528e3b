#pragma once

#include "bounds/message_ports.hpp"
#include "bounds/traffic.hpp"
#include "core/bound.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

// How many contributions to one chunk anybody can have by when; contributions.cpp has the argument.

namespace tutti::bounds {

/// The ports of an NPU that has the fastest port of any, the second fastest of any, and so on.
struct FastestPorts {
    FastestPorts() = default;
    explicit FastestPorts(const std::vector<std::vector<MessagePort>>& per_npu) {
        for (const auto& ports : per_npu) {
            std::vector<std::int64_t> sorted;
            for (const MessagePort& port : ports) {
                sorted.push_back(port.gap);
                lambda = std::min(lambda, port.time);
            }
            std::ranges::sort(sorted);
            for (std::size_t i = 0; i < sorted.size(); ++i) {
                if (i == gaps.size()) gaps.push_back(sorted[i]);
                gaps[i] = std::min(gaps[i], sorted[i]);
            }
        }
    }

    std::int64_t lambda = INT64_MAX;  ///< the least time of a message
    std::vector<std::int64_t> gaps;   ///< rising
};

/// W: so long after the first release.
class Sums {
  public:
    static constexpr std::size_t kMostEntries = 2'000'000;

    /// `most`: the most holders of a chunk. `work_left`: entries that may still be computed.
    Sums(FastestPorts ports, std::int64_t most, std::size_t& work_left)
        : lambda_(ports.lambda), gaps_(std::move(ports.gaps)), most_(most), work_left_(work_left) {
        // Each message time adds one at the least, so that this ends.
        std::int64_t high = lambda_;
        while (at(high) < most_ && work_left_ > 0) high += lambda_;
        full_ = high;
    }

    std::int64_t at(std::int64_t time) {
        if (time < 0) return 0;
        if (time >= full_) return most_;
        if (time < lambda_) return 1;
        if (const auto known = known_.find(time); known != known_.end()) return known->second;
        if (work_left_ == 0) return most_;  // more than it can be, so that nothing false is proven
        --work_left_;
        std::int64_t sum = 1;
        for (const std::int64_t gap : gaps_) {
            for (std::int64_t t = time - lambda_; t >= 0 && sum < most_; t -= gap) sum += at(t);
        }
        return known_[time] = std::min(sum, most_);
    }
    [[nodiscard]] std::int64_t full() const { return full_; }

  private:
    std::int64_t lambda_;
    std::vector<std::int64_t> gaps_;  ///< rising
    std::int64_t most_;
    std::int64_t full_ = INT64_MAX;  ///< from then on it is `most`
    std::size_t& work_left_;
    std::unordered_map<std::int64_t, std::int64_t> known_;
};

/// The same about all receivers together (shared_contributions.cpp). Precondition: no switch adds or copies.
void improve_by_sharing(const Traffic& traffic, Bytes bytes, Bound& best);

}  // namespace tutti::bounds
