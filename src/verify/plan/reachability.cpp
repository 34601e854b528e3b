#include "verify/plan/reachability.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tutti::verify {
namespace {

/// Searches backwards from one op at a time, breadth first.
class BackwardSearch {
  public:
    BackwardSearch(const ProgramGraph& graph, const std::vector<std::uint32_t>& turn)
        : graph_(graph), turn_(turn), reached_(turn.size(), 0), wanted_(turn.size(), 0) {}

    /// Begins anew.
    void start(plan::OpId to) {
        reached_[to] = ++walk_;
        queue_.assign(1, to);
        missing_ = 0;
        earliest_ = std::numeric_limits<std::uint32_t>::max();
    }
    /// One of the ops that are looked for.
    void want(plan::OpId from) {
        if (wanted_[from] == walk_) return;
        wanted_[from] = walk_;
        ++missing_;
        earliest_ = std::min(earliest_, turn_[from]);
    }
    /// Until all are found, no op is left, or about `most` edges were visited; returns how many were.
    std::size_t run(std::size_t most) {
        std::size_t edges = 0;
        for (std::size_t at = 0; at < queue_.size() && missing_ > 0 && edges < most; ++at) {
            for (const plan::OpId source : graph_.before(queue_[at])) {
                ++edges;
                if (turn_[source] < earliest_ || reached_[source] == walk_) continue;
                reached_[source] = walk_;
                queue_.push_back(source);
                if (wanted_[source] == walk_) --missing_;
            }
        }
        return edges;
    }
    [[nodiscard]] bool found(plan::OpId from) const { return reached_[from] == walk_; }

  private:
    const ProgramGraph& graph_;
    const std::vector<std::uint32_t>& turn_;
    std::vector<std::uint32_t> reached_, wanted_;  ///< the walk in which an op was
    std::vector<plan::OpId> queue_;
    std::uint32_t walk_ = 0, earliest_ = 0;
    std::size_t missing_ = 0;
};

}  // namespace

Reachability::Reachability(const plan::Program& program, const ProgramGraph& graph)
    : program_(program), graph_(graph), chains_(program.chains) {
    expects(!graph.has_cycle());
    chain_.reserve(program.ops.size());
    position_.reserve(program.ops.size());
    std::vector<std::uint32_t> length(program.chains, 0);
    for (const plan::Op& op : program.ops) {
        const bool alone = op.chain == plan::Op::kNoChain;
        chain_.push_back(alone ? chains_++ : op.chain);
        position_.push_back(alone ? 1 : ++length[op.chain]);
    }
    turn_.resize(program.ops.size());
    for (std::size_t i = 0; i < graph.order().size(); ++i)
        turn_[graph.order()[i]] = static_cast<std::uint32_t>(i);
}

std::vector<bool> Reachability::answers(const std::vector<OrderQuestion>& questions) {
    std::vector<bool> answers(questions.size(), false);
    first_look(questions, answers);
    std::vector<std::uint32_t> open;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        // What comes later in one allowed order happens before nothing that comes earlier there.
        const bool possible = turn_[questions[i].from] < turn_[questions[i].to];
        if (!answers[i] && possible) open.push_back(static_cast<std::uint32_t>(i));
    }
    search_nearby(questions, open, answers);
    // Groups queries about one chain, and those about one GPU's chains.
    std::ranges::stable_sort(open, {}, [&](std::uint32_t i) { return chain_[questions[i].from]; });
    for (std::size_t begin = 0; begin < open.size();) {
        std::size_t end = begin, lanes = 0;
        for (std::uint32_t last = std::numeric_limits<std::uint32_t>::max(); end < open.size(); ++end) {
            const std::uint32_t chain = chain_[questions[open[end]].from];
            if (chain != last && ++lanes > kLanes) break;
            last = chain;
        }
        by_clocks(questions,
                  {open.begin() + static_cast<std::ptrdiff_t>(begin),
                   open.begin() + static_cast<std::ptrdiff_t>(end)},
                  answers);
        begin = end;
    }
    return answers;
}

void Reachability::first_look(const std::vector<OrderQuestion>& questions, std::vector<bool>& answers) const {
    if (questions.empty()) return;
    std::vector<std::uint32_t> chain_begin(chains_ + 1, 0);
    for (const std::uint32_t chain : chain_) ++chain_begin[chain + 1];
    for (std::size_t i = 1; i < chain_begin.size(); ++i) chain_begin[i] += chain_begin[i - 1];
    const auto place_of = [&](plan::OpId op) { return chain_begin[chain_[op]] + position_[op] - 1; };
    std::vector<plan::OpId> chain_ops(chain_.size());
    for (plan::OpId op = 0; op < chain_.size(); ++op) chain_ops[place_of(op)] = op;
    // Queries in the order of the queried ops; then every chain is walked with a table of what it has waited
    // for so far.
    std::vector<std::uint32_t> next(chain_.size() + 1, 0), by_target(questions.size());
    for (const OrderQuestion& question : questions) ++next[place_of(question.to) + 1];
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (std::uint32_t i = 0; i < questions.size(); ++i) by_target[next[place_of(questions[i].to)]++] = i;
    // waited[c] = position of chain c that the walked chain has waited for, if stamp[c] says it is of this
    // walk
    std::vector<std::uint32_t> waited(chains_, 0), stamp(chains_, 0);
    std::uint32_t walk = 0;
    for (std::size_t i = 0; i < by_target.size();) {
        const std::uint32_t chain = chain_[questions[by_target[i]].to];
        ++walk;
        std::uint32_t at = chain_begin[chain];
        for (; i < by_target.size() && chain_[questions[by_target[i]].to] == chain; ++i) {
            const OrderQuestion& question = questions[by_target[i]];
            for (; at < chain_begin[chain] + position_[question.to]; ++at) {
                for (const plan::OpId source : graph_.before(chain_ops[at])) {
                    std::uint32_t& position = waited[chain_[source]];
                    if (stamp[chain_[source]] != walk) position = 0;
                    stamp[chain_[source]] = walk;
                    position = std::max(position, position_[source]);
                }
            }
            const std::uint32_t from = chain_[question.from];
            answers[by_target[i]] = from == chain
                                        ? position_[question.from] < position_[question.to]
                                        : stamp[from] == walk && waited[from] >= position_[question.from];
        }
    }
}

void Reachability::search_nearby(const std::vector<OrderQuestion>& questions,
                                 std::vector<std::uint32_t>& open, std::vector<bool>& answers) const {
    if (open.empty()) return;
    std::ranges::sort(open, {}, [&](std::uint32_t i) { return questions[i].to; });
    std::vector<bool> queried(chains_, false);
    std::size_t chains = 0, targets = 0;
    for (std::size_t k = 0; k < open.size(); ++k) {
        const OrderQuestion& question = questions[open[k]];
        if (k == 0 || question.to != questions[open[k - 1]].to) ++targets;
        if (!queried[chain_[question.from]]) ++chains;
        queried[chain_[question.from]] = true;
    }
    // At most half of what the clocks would cost, and no more for one op than four times its share.
    std::size_t budget = (chains / kLanes + 1) * (program_.ops.size() + graph_.edges()) / 2;
    const std::size_t most = 64 + 4 * budget / targets;
    BackwardSearch search(graph_, turn_);
    std::vector<std::uint32_t> left;
    for (std::size_t begin = 0; begin < open.size();) {
        const plan::OpId to = questions[open[begin]].to;
        std::size_t end = begin;
        search.start(to);
        for (; end < open.size() && questions[open[end]].to == to; ++end)
            search.want(questions[open[end]].from);
        const std::size_t limit = std::min(most, budget), edges = search.run(limit);
        budget -= std::min(budget, edges);
        for (std::size_t k = begin; k < end; ++k) {
            const bool found = search.found(questions[open[k]].from);
            answers[open[k]] = found;
            if (!found && edges >= limit) left.push_back(open[k]);
        }
        begin = end;
    }
    open = std::move(left);
}

void Reachability::by_clocks(const std::vector<OrderQuestion>& questions,
                             const std::vector<std::uint32_t>& open, std::vector<bool>& answers) {
    std::vector<std::uint32_t> lane_of_chain(chains_, kLanes);
    std::size_t lanes = 0;
    for (const std::uint32_t i : open) {
        std::uint32_t& lane = lane_of_chain[chain_[questions[i].from]];
        if (lane == kLanes) lane = static_cast<std::uint32_t>(lanes++);
    }
    // Only ops between the first `from` and the last `to` matter.
    std::uint32_t begin = std::numeric_limits<std::uint32_t>::max(), end = 0;
    for (const std::uint32_t i : open) {
        begin = std::min(begin, turn_[questions[i].from]);
        end = std::max(end, turn_[questions[i].to] + 1);
    }
    std::vector<Clock>& clocks = clocks_;
    clocks.resize(program_.ops.size());
    for (std::uint32_t turn = begin; turn < end; ++turn) {
        const plan::OpId op = graph_.order()[turn];
        Clock clock{};
        for (const plan::OpId source : graph_.before(op)) {
            if (turn_[source] < begin) continue;
            const Clock& other = clocks[source];
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                clock[lane] = std::max(clock[lane], other[lane]);
        }
        const std::uint32_t lane = lane_of_chain[chain_[op]];
        if (lane < kLanes) clock[lane] = std::max(clock[lane], position_[op]);
        clocks[op] = clock;
    }
    for (const std::uint32_t i : open) {
        const OrderQuestion& question = questions[i];
        answers[i] = clocks[question.to][lane_of_chain[chain_[question.from]]] >= position_[question.from];
    }
}

}  // namespace tutti::verify
