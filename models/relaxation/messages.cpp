// The bound "time-expanded" with messages. A chunk that goes to many receivers makes one way only in the
// other program, because copies are free. But where no switch copies, copies are made by NPUs, and what they
// send are different transfers: each receiver gets a last message, through switches only, from an NPU that
// can have the chunk when the message starts. Nothing is asked about how the chunk got there, only when it
// can be. For sums that one node wants it is the first messages of the contributions, in time left to the
// end. (verify/certificate_messages checks what is found; docs/bounds.md has the formula.)
//
// DGX-2, all-gather of 1 MiB chunks: every GPU sends and gets 15 messages over 6 ports, so that few fit
// before the horizon that do not start at once; those must stay on the board, and the others are too late for
// the trunks. That proves 174 215 040 (in small times), which is the optimum; ports alone prove 168 572 160.
//
// The program is small because links, NPUs and receivers that look alike (colour refinement) are taken
// together: a linear program has an optimum that treats them alike. Columns, for one receiver of each class:
//   s[k, X]     chunks like k whose message starts at an NPU of class X, as soon as it can be there or later;
//   f[e, t]     starts on links of class e at t, w[X, t] what waits at nodes of class X from t to t + 1;
//   m[k]        missing messages, which are minimised;
//   n[g, t]     starts on links of class g in the window from t on, of all receivers.
// Rows: what arrives and waited at a class of nodes starts or waits on; s and m make up what each receiver
// wants; n[g, t + 1] is n[g, t], less what starts at t, plus what starts at the end (so that a window has two
// entries, not one for each of its ticks); n[g, t] is at most the number of links. The duals of these last
// rows are the weights, which are checked here exactly, on the network itself.

#include "models/relaxation/message_case.hpp"
#include "models/relaxation/time_expanded.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <tuple>

namespace tutti::models {
namespace {

/// Of the exact check: links times ticks times batches.
constexpr std::int64_t kMostWork = 20'000'000;

/// Receivers that look alike, and what one of them wants.
struct Payer {
    std::size_t kind, node;
    std::int64_t late;
    std::int64_t count = 1;  ///< of such receivers
    std::vector<std::size_t> batches;
};

std::vector<std::size_t> base_colours(const MessageCase& messages) {
    // What a node wants, and when it can have it; switches apart.
    std::vector<std::vector<std::tuple<std::size_t, std::int64_t, bool, std::int64_t>>> looks(messages.nodes);
    for (const MessageCase::Batch& batch : messages.batches) {
        std::vector<bool> pays(messages.nodes, false);
        for (const NodeId node : batch.ends) pays[node.index()] = true;
        for (std::size_t n = 0; n < messages.npus; ++n)
            looks[n].emplace_back(batch.kind, batch.ready[n], pays[n], batch.count);
    }
    std::map<std::vector<std::tuple<std::size_t, std::int64_t, bool, std::int64_t>>, std::size_t> numbers;
    std::vector<std::size_t> colours;
    for (std::size_t n = 0; n < messages.nodes; ++n) {
        std::ranges::sort(looks[n]);
        colours.push_back(
            n >= messages.npus ? 0 : 1 + numbers.try_emplace(looks[n], numbers.size()).first->second);
    }
    return refined(messages, std::move(colours));
}

std::vector<Payer> payers_of(const MessageCase& messages, const std::vector<std::size_t>& colours) {
    std::map<std::pair<std::size_t, std::size_t>, Payer> all;  // by kind and node
    for (std::size_t b = 0; b < messages.batches.size(); ++b) {
        const MessageCase::Batch& batch = messages.batches[b];
        for (std::size_t i = 0; i < batch.ends.size(); ++i) {
            const std::size_t node = batch.ends[i].index();
            Payer& payer = all.try_emplace({batch.kind, node}, Payer{batch.kind, node, batch.late[i], 1, {}})
                               .first->second;
            payer.batches.push_back(b);
        }
    }
    std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, std::size_t> alike;
    std::vector<Payer> result;
    for (auto& [key, payer] : all) {
        const auto [entry, is_new] =
            alike.try_emplace({payer.kind, colours[payer.node], payer.late}, result.size());
        if (is_new) {
            result.push_back(std::move(payer));
        } else {
            ++result[entry->second].count;
        }
    }
    return result;
}

class MessageProgram {
  public:
    MessageProgram(const MessageCase& messages, std::int64_t horizon, std::size_t most_entries)
        : messages_(messages), horizon_(horizon), most_entries_(most_entries) {
        const std::vector<std::size_t> colours = base_colours(messages);
        std::map<std::tuple<std::size_t, std::size_t, std::int64_t, std::int64_t>, std::size_t> numbers;
        for (const MessageCase::Edge& edge : messages.edges) {
            const auto number = numbers.try_emplace(
                {colours[edge.from], colours[edge.to], edge.length, edge.busy}, numbers.size());
            class_of_.push_back(number.first->second);
        }
        starts_.resize(numbers.size());
        payers_ = payers_of(messages, colours);
        colours_ = colours;
    }

    [[nodiscard]] TimedAnswer solve(const Backend& backend, const SolveLimits& limits) {
        using Word = TimedAnswer::Word;
        if (horizon_ < 0 || horizon_ > static_cast<std::int64_t>(most_entries_))
            return {Word::TooLarge, {}, 0};
        for (const Payer& payer : payers_) {
            if (limits.stop.requested()) return {};
            add(payer);
            if (program_.entries.size() > most_entries_) return {Word::TooLarge, {}, 0};
        }
        for (std::size_t g = 0; g < starts_.size(); ++g) {
            add_windows(g);
            if (program_.entries.size() > most_entries_) return {Word::TooLarge, {}, 0};
        }
        const std::size_t entries = program_.entries.size();
        const LinearAnswer answer = backend.solve(program_, limits);
        if (answer.ended != Ended::Optimal) return {Word::Unknown, {}, entries};
        if (answer.objective < 1e-6) return {Word::Fits, {}, entries};
        return {Word::Missing, weights(answer), entries};
    }

  private:
    using Ticks64 = std::int64_t;
    /// Links that look alike from one payer.
    struct Hop {
        std::size_t from, to;  ///< classes of nodes
        std::int64_t length;
        std::size_t global;  ///< class of links
        Ticks64 first = 0, last = -1;
        std::uint32_t column = 0;
    };
    struct Window {
        std::size_t row, global;
        Ticks64 first;
    };

    /// The ways of messages to one payer.
    void add(const Payer& payer) {
        const auto colours = told_apart(payer.node);
        const std::size_t classes = *std::ranges::max_element(colours) + 1;
        std::vector<bool> is_npu(classes, false);
        for (std::size_t n = 0; n < messages_.npus; ++n) is_npu[colours[n]] = true;
        const std::size_t end = classes;  // where messages end; the payer may also start some
        std::vector<Hop> hops = hops_of(payer, colours, end);

        std::map<std::vector<std::int64_t>, std::int64_t> wanted;  // when it can be at each class: how often
        for (const std::size_t b : payer.batches) {
            std::vector<std::int64_t> ready(classes, kUnreachable);
            for (std::size_t n = 0; n < messages_.npus; ++n)
                ready[colours[n]] = std::min(ready[colours[n]], messages_.batches[b].ready[n]);
            wanted[std::move(ready)] += messages_.batches[b].count;
        }
        std::vector<Ticks64> first(classes + 1, kUnreachable), last(classes + 1, -1);
        for (const auto& [ready, count] : wanted) {
            for (std::size_t x = 0; x < classes; ++x) first[x] = std::min(first[x], ready[x]);
        }
        last[end] = horizon_ - payer.late;
        settle(hops, first, last);

        std::vector<std::map<Ticks64, std::vector<std::uint32_t>>> given(classes);
        for (const auto& [ready, count] : wanted) {
            for (std::size_t x = 0; x < classes; ++x) {
                if (ready[x] > last[x]) continue;
                const std::uint32_t column = program_.add_column(0);
                given[x][ready[x]].push_back(column);
                program_.add(column, 1);
            }
            program_.add(program_.add_column(payer.count), 1);
            program_.end_row(count, true);
        }
        for (Hop& hop : hops) {
            hop.first = first[hop.from];
            hop.last = std::min(last[hop.to] - hop.length, last[hop.from]);
            hop.column = static_cast<std::uint32_t>(program_.columns());
            for (Ticks64 t = hop.first; t <= hop.last; ++t) {
                starts_[hop.global][t].emplace_back(program_.add_column(0), payer.count);
            }
        }
        for (std::size_t x = 0; x < classes; ++x) {
            if (first[x] <= last[x]) add_balance(x, first[x], last[x], hops, given[x]);
        }
    }

    [[nodiscard]] std::vector<std::size_t> told_apart(std::size_t node) const {
        std::vector<std::size_t> colours = colours_;
        colours[node] = messages_.nodes;
        return refined(messages_, std::move(colours));
    }

    [[nodiscard]] std::vector<Hop> hops_of(const Payer& payer, const std::vector<std::size_t>& colours,
                                           std::size_t end) const {
        std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Hop> hops;
        for (std::size_t e = 0; e < messages_.edges.size(); ++e) {
            const MessageCase::Edge& edge = messages_.edges[e];
            if (!messages_.usable[payer.kind][e]) continue;
            if (edge.to < messages_.npus && edge.to != payer.node) continue;
            const std::size_t to = edge.to == payer.node ? end : colours[edge.to];
            const Hop hop{colours[edge.from], to, edge.length, class_of_[e]};
            hops.try_emplace({hop.from, hop.to, hop.global}, hop);
        }
        std::vector<Hop> result;
        for (const auto& [key, hop] : hops) result.push_back(hop);
        return result;
    }

    /// From when on, and until when, messages can be at each class.
    static void settle(const std::vector<Hop>& hops, std::vector<Ticks64>& first,
                       std::vector<Ticks64>& last) {
        for (bool again = true; again;) {
            again = false;
            for (const Hop& hop : hops) {
                const Ticks64 arrival =
                    first[hop.from] < kUnreachable ? first[hop.from] + hop.length : kUnreachable;
                if (arrival < first[hop.to]) {
                    first[hop.to] = arrival;
                    again = true;
                }
                if (last[hop.to] - hop.length > last[hop.from]) {
                    last[hop.from] = last[hop.to] - hop.length;
                    again = true;
                }
            }
        }
    }

    /// What arrives, waited or is given starts or waits on.
    void add_balance(std::size_t node, Ticks64 first, Ticks64 last, const std::vector<Hop>& hops,
                     const std::map<Ticks64, std::vector<std::uint32_t>>& given) {
        const auto add = [&](const Hop& hop, Ticks64 t, std::int64_t value) {
            if (hop.first <= t && t <= hop.last)
                program_.add(hop.column + static_cast<std::uint32_t>(t - hop.first), value);
        };
        std::optional<std::uint32_t> waited;
        for (Ticks64 t = first; t <= last; ++t) {
            if (waited) program_.add(*waited, 1);
            if (const auto now = given.find(t); now != given.end()) {
                for (const std::uint32_t column : now->second) program_.add(column, 1);
            }
            for (const Hop& hop : hops) {
                if (hop.to == node) add(hop, t - hop.length, 1);
                if (hop.from == node) add(hop, t, -1);
            }
            if (t < last) {
                waited = program_.add_column(0);
                program_.add(*waited, -1);
            }
            program_.end_row(0, true);
        }
    }

    /// What starts in the windows of a class of links.
    void add_windows(std::size_t global) {
        const auto& starts = starts_[global];
        if (starts.empty()) return;
        const auto edge = static_cast<std::size_t>(std::ranges::find(class_of_, global) - class_of_.begin());
        const auto links = static_cast<std::int64_t>(std::ranges::count(class_of_, global));
        const Ticks64 busy = messages_.edges[edge].busy;
        const auto add = [&](Ticks64 t, std::int64_t sign) {
            const auto now = starts.find(t);
            if (now == starts.end()) return;
            for (const auto& [column, count] : now->second) program_.add(column, sign * count);
        };
        const Ticks64 begin = starts.begin()->first;
        const Ticks64 end = std::max(begin, starts.rbegin()->first - busy + 1);
        std::uint32_t before = 0;
        for (Ticks64 w = begin; w <= end; ++w) {
            const std::uint32_t inside = program_.add_column(0);
            program_.add(inside, -1);
            if (w == begin) {
                for (Ticks64 t = w; t < w + busy; ++t) add(t, 1);
            } else {
                program_.add(before, 1);
                add(w - 1, -1);
                add(w + busy - 1, 1);
            }
            program_.end_row(0, true);
            program_.add(inside, -1);
            windows_.push_back({program_.rows(), global, w});
            program_.end_row(-links);
            before = inside;
            if (program_.entries.size() > most_entries_) return;
        }
    }

    /// Of every link; backwards windows are turned round.
    [[nodiscard]] std::vector<WindowWeight> weights(const LinearAnswer& answer) const {
        std::vector<WindowWeight> result;
        for (std::size_t e = 0; e < messages_.edges.size(); ++e) {
            for (const Window& window : windows_) {
                if (window.global != class_of_[e] || answer.dual[window.row] <= 0) continue;
                result.push_back({e, window.first, answer.dual[window.row]});
            }
        }
        return result;
    }

    const MessageCase& messages_;
    const Ticks64 horizon_;
    const std::size_t most_entries_;
    std::vector<std::size_t> colours_;   ///< of nodes
    std::vector<std::size_t> class_of_;  ///< of links
    std::vector<Payer> payers_;
    LinearProgram program_;
    /// Per class of links and tick: columns, and for how many receivers each stands.
    std::vector<std::map<Ticks64, std::vector<std::pair<std::uint32_t, std::int64_t>>>> starts_;
    std::vector<Window> windows_;
};

/// Whether all messages must pay more than the weights, on the network itself.
bool refuted(const MessageCase& messages, std::int64_t horizon, const std::vector<WholeWeight>& weights) {
    const auto ticks = static_cast<std::size_t>(horizon) + 1;
    std::vector<std::vector<std::int64_t>> prices(messages.edges.size());
    for (const auto& [link, window, weight] : weights) {
        prices[link].resize(ticks, 0);
        const std::int64_t end = std::min(horizon, window + messages.edges[link].busy - 1);
        for (std::int64_t t = window; t <= end; ++t) prices[link][static_cast<std::size_t>(t)] += weight;
    }
    Wide needed = 0, allowed = 0;
    for (const WholeWeight& weight : weights) allowed += weight.weight;
    for (const MessageCase::Batch& batch : messages.batches) {
        std::vector<std::int64_t> latest(messages.nodes, horizon), paid(messages.nodes, kUnreachable),
            ended(messages.nodes, kUnreachable);
        for (std::size_t i = 0; i < batch.ends.size(); ++i)
            latest[batch.ends[i].index()] = horizon - batch.late[i];
        std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> arrivals(ticks);
        for (std::size_t n = 0; n < messages.npus; ++n) {
            if (batch.ready[n] <= horizon)
                arrivals[static_cast<std::size_t>(batch.ready[n])].emplace_back(n, 0);
        }
        for (std::size_t t = 0; t < ticks; ++t) {
            for (const auto& [node, price] : arrivals[t]) paid[node] = std::min(paid[node], price);
            for (std::size_t e = 0; e < messages.edges.size(); ++e) {
                const MessageCase::Edge& edge = messages.edges[e];
                const std::int64_t end = static_cast<std::int64_t>(t) + edge.length;
                if (paid[edge.from] >= kUnreachable || !messages.usable[batch.kind][e] ||
                    end > latest[edge.to])
                    continue;
                const std::int64_t price = paid[edge.from] + (prices[e].empty() ? 0 : prices[e][t]);
                if (edge.to < messages.npus) {
                    ended[edge.to] = std::min(ended[edge.to], price);
                } else if (price < paid[edge.to]) {
                    arrivals[static_cast<std::size_t>(end)].emplace_back(edge.to, price);
                }
            }
        }
        for (const NodeId node : batch.ends) {
            if (ended[node.index()] >= kUnreachable) return true;
            needed += Wide{ended[node.index()]} * batch.count;
        }
    }
    return needed > allowed;
}

TimedLengthsCertificate certificate_of(const MessageCase& messages, std::int64_t horizon,
                                       const std::vector<WholeWeight>& weights) {
    TimedLengthsCertificate certificate;
    certificate.horizon = Ticks(messages.unit * (horizon + 1) - 1);
    certificate.messages = true;
    for (const auto& [link, window, weight] : weights) {
        const MessageCase::Edge& edge = messages.edges[link];
        // Nothing starts before 0, so a window that begins before it may as well begin there.
        const std::int64_t first =
            messages.backwards ? std::max<std::int64_t>(0, horizon - edge.length - window - edge.busy + 1)
                               : window;
        certificate.weights.push_back({LinkId(link), Ticks(first * messages.unit), weight});
    }
    return certificate;
}

}  // namespace

Relaxed messages_bound(const Instance& instance, const Backend& backend, Ticks from,
                       const RelaxationLimits& limits) {
    expects(backend.abilities().linear_programs);
    const auto begin = std::chrono::steady_clock::now();
    Relaxed result;
    Ticks best = from;
    for (const bool backwards : {false, true}) {
        if (limits.solve.stop.requested()) break;
        const auto messages = message_case(instance, backwards);
        if (!messages) continue;
        std::size_t left = limits.all_entries;
        const auto is_refuted = [&](std::int64_t horizon) {
            const auto work = static_cast<double>(messages->edges.size()) * static_cast<double>(horizon) *
                              static_cast<double>(messages->batches.size());
            if (work > static_cast<double>(kMostWork)) {
                result.too_large = true;
                return false;
            }
            const TimedAnswer answer = MessageProgram(*messages, horizon, std::min(limits.entries, left))
                                           .solve(backend, limits.solve);
            left -= answer.entries;
            result.too_large = result.too_large || answer.word == TimedAnswer::Word::TooLarge;
            if (answer.word != TimedAnswer::Word::Missing) return false;
            const auto weights = whole_weights(answer.weights, [&](const std::vector<WholeWeight>& some) {
                return refuted(*messages, horizon, some);
            });
            if (!weights) return false;
            best = Ticks(messages->unit * (horizon + 1));
            result.bound = {"time-expanded", best, certificate_of(*messages, horizon, *weights), 0};
            return true;
        };
        (void)first_not_refuted(best.count() / messages->unit, is_refuted, limits.solve.stop);
    }
    if (result.bound)
        result.bound->seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace tutti::models
