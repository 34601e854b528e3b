#pragma once

#include "models/encode/symmetry.hpp"
#include "models/program.hpp"

#include <functional>

namespace tutti::models {

/// The literals "this commodity starts this hop at that time" of one representative, in its own time.
class Starts {
  public:
    /// One literal for each hop and start in the window; of those hops only that `takes` wants, if given.
    Starts(Program& program, const Network& network, const Windows& windows, Units64 deadline,
           const std::string& name, const std::function<bool(const Hop&)>& takes = {});

    struct Range {
        Units64 first = 0, last = -1;
        std::uint32_t var = 0;  ///< of the first start
    };
    [[nodiscard]] const Range& range(std::uint32_t hop) const { return ranges_[hop]; }
    [[nodiscard]] std::optional<Literal> at(std::uint32_t hop, Units64 start) const {
        const Range& range = ranges_[hop];
        if (start < range.first || start > range.last) return std::nullopt;
        return Literal{{range.var + static_cast<std::uint32_t>(start - range.first)}, false};
    }
    /// Every hop and start, in order: visit(hop, start, literal).
    template <class Visit>
    void each(Visit visit) const {
        for (std::uint32_t h = 0; h < ranges_.size(); ++h) {
            for (Units64 t = ranges_[h].first; t <= ranges_[h].last; ++t) visit(h, t, *at(h, t));
        }
    }

  private:
    std::vector<Range> ranges_;
};

/// Literals that arrive at and depart from one node, by time.
struct Traffic {
    std::vector<std::vector<Literal>> arrivals, departures;  ///< index: time
    Traffic(const Network& network, const Starts& starts, NodeId node, Units64 deadline);
};

}  // namespace tutti::models
