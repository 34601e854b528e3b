// A reduction with several receivers, directly: not "reduce, then broadcast", but any schedule at all. The
// value of a node is a set of contributions; one Boolean says whether a contribution is in it at a time, one
// whether a transfer carries it. A copy replaces the value, a reduce adds to it and must bring nothing that
// is there already.

#include "models/encode/sum.hpp"

#include <fmt/format.h>

#include <map>

namespace tutti::models {
namespace {

class Sum {
  public:
    Sum(Program& program, const Routing& routing, const Commodity& commodity, const SumStarts& starts,
        const Asked& asked, std::string name)
        : program_(program),
          network_(routing.network_of(commodity)),
          commodity_(commodity),
          starts_(starts),
          horizon_(asked.horizon),
          stop_(asked.stop),
          name_(std::move(name)) {
        for (const NodeId holder : commodity.sources) {
            Commodity alone = commodity;
            alone.sources = {holder};
            windows_.push_back(windows_of(routing, alone, horizon_));
        }
    }

    /// Ends early once it is stopped.
    void add() {
        add_values();
        for (std::uint32_t h = 0; h < network_.hops.size(); ++h) add_cargo(h);
        if (stop_.requested()) return;
        for (std::size_t n = 0; n < network_.rule.size(); ++n) add_changes(NodeId(n));
    }

  private:
    /// The contribution k is in the node's value at that time, if it can be at all.
    [[nodiscard]] std::optional<Literal> value(std::size_t k, NodeId node, Units64 time) const {
        const auto& [first, var] = values_[k][node.index()];
        if (first == Windows::kNever || time < first) return std::nullopt;
        return Literal{{var + static_cast<std::uint32_t>(time - first)}, false};
    }

    void add_values() {
        values_.resize(commodity_.sources.size());
        for (std::size_t k = 0; k < commodity_.sources.size(); ++k) {
            values_[k].resize(network_.rule.size(), {Windows::kNever, 0});
            for (std::size_t n = 0; n < network_.rule.size(); ++n) {
                const Units64 first = windows_[k].earliest[n];
                if (first == Windows::kNever || first > horizon_) continue;
                values_[k][n] = {first, static_cast<std::uint32_t>(program_.vars())};
                for (Units64 t = first; t <= horizon_; ++t) {
                    program_.boolean(
                        fmt::format("{}.of{}.at{}.t{}", name_, commodity_.sources[k].value(), n, t));
                }
            }
            const auto own =
                value(k, commodity_.sources[k], ready_at(commodity_, commodity_.sources[k]));  // D1
            if (own) program_.fix(*own);                        // else released after the horizon: D2 fails
            for (const NodeId receiver : commodity_.targets) {  // D2
                const auto last = value(k, receiver, horizon_);
                if (last) {
                    program_.fix(*last);
                } else {
                    program_.choice(Promise::AtLeastOne, {});
                }
            }
        }
    }

    /// D3: a transfer carries what its source has when it starts, and something at least.
    void add_cargo(std::uint32_t h) {
        const Hop& hop = network_.hops[h];
        const Starts::Range& range = starts_.copy.range(h);
        for (Units64 t = range.first; t <= range.last && !stop_.requested(); ++t) {
            const Literal copy = *starts_.copy.at(h, t), reduce = *starts_.reduce.at(h, t);
            program_.clause({!copy, !reduce});
            std::vector<Literal> something_if_copy{!copy}, something_if_reduce{!reduce};
            for (std::size_t k = 0; k < commodity_.sources.size(); ++k) {
                const auto held = value(k, hop.from, t);
                if (!held) continue;
                const Literal cargo = program_.boolean(
                    fmt::format("{}.of{}.on{}.t{}", name_, commodity_.sources[k].value(), h, t));
                cargo_[{h, t, k}] = cargo;
                program_.implies(cargo, *held);
                program_.clause({!cargo, copy, reduce});
                program_.clause({!copy, !*held, cargo});
                program_.clause({!reduce, !*held, cargo});
                something_if_copy.push_back(*held);
                something_if_reduce.push_back(*held);
            }
            program_.choice(Promise::AtLeastOne, something_if_copy);
            program_.choice(Promise::AtLeastOne, something_if_reduce);
        }
    }

    void add_changes(NodeId node) {
        struct Arrival {
            std::uint32_t hop;
            Units64 start;
        };
        std::vector<std::vector<Arrival>> arrivals(static_cast<std::size_t>(horizon_) + 1);
        for (const std::uint32_t h : network_.in[node.index()]) {
            const Units64 after = network_.hops[h].ends.front().after;
            const Starts::Range& range = starts_.copy.range(h);
            for (Units64 t = range.first; t <= range.last; ++t) {
                arrivals[static_cast<std::size_t>(t + after)].push_back({h, t});
            }
        }
        for (Units64 t = 0; t <= horizon_ && !stop_.requested(); ++t) {
            const auto& now = arrivals[static_cast<std::size_t>(t)];
            add_races(now.size(), [&](std::size_t i) {
                return std::pair(*starts_.copy.at(now[i].hop, now[i].start),
                                 *starts_.reduce.at(now[i].hop, now[i].start));
            });
            for (std::size_t k = 0; k < commodity_.sources.size(); ++k) {
                const auto here = value(k, node, t);
                if (!here) continue;
                const auto before = value(k, node, t - 1);
                const bool born = node == commodity_.sources[k] && t == ready_at(commodity_, node);
                // D5: it is there if it was and was not replaced, or if it has just come; and only then.
                std::vector<Literal> kept{*here}, why{!*here};
                std::vector<Literal> once;
                for (const auto& [h, start] : now) {
                    const Literal copy = *starts_.copy.at(h, start), reduce = *starts_.reduce.at(h, start);
                    kept.push_back(copy);
                    const auto found = cargo_.find({h, start, k});
                    if (found == cargo_.end()) {
                        program_.clause({!copy, !*here});
                        continue;
                    }
                    const Literal cargo = found->second;
                    program_.implies(cargo, *here);
                    program_.clause({!copy, cargo, !*here});
                    why.push_back(cargo);
                    once.push_back(cargo);
                    // D6: nothing is counted twice.
                    if (before) program_.clause({!reduce, !cargo, !*before});
                }
                if (before) {
                    kept.push_back(!*before);
                    program_.choice(Promise::AtLeastOne, kept);
                    why.push_back(*before);
                }
                if (!born) program_.choice(Promise::AtLeastOne, why);
                if (once.size() > 1) program_.choice(Promise::AtMostOne, once);
            }
        }
    }

    /// D4: a copy comes alone.
    template <class Pair>
    void add_races(std::size_t count, Pair pair) {
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j < count; ++j) {
                if (i == j) continue;
                const Literal copy = pair(i).first;
                if (i < j) program_.clause({!copy, !pair(j).first});
                program_.clause({!copy, !pair(j).second});
            }
        }
    }

    Program& program_;
    const Network& network_;
    const Commodity& commodity_;
    const SumStarts& starts_;
    const Units64 horizon_;
    const Stop& stop_;
    const std::string name_;
    std::vector<Windows> windows_;
    std::vector<std::vector<std::pair<Units64, std::uint32_t>>> values_;
    std::map<std::tuple<std::uint32_t, Units64, std::size_t>, Literal> cargo_;
};

}  // namespace

void add_sum(Program& program, const Routing& routing, const Commodity& commodity, const SumStarts& starts,
             const Asked& asked, const std::string& name) {
    Sum(program, routing, commodity, starts, asked, name).add();
}

}  // namespace tutti::models
