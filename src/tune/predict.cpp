#include "tune/predict.hpp"

#include "tensor/kernels.hpp"
#include "tensor/parts.hpp"
#include "tune/kernel_cost.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace tutti::tune {
namespace {

using tensor::Kernel;
using tensor::KernelId;
using tensor::Kernels;
using tensor::Op;
using tensor::ValueId;

/// How much of the computation of a kernel that holds collectives is not hidden behind them.
constexpr double kLastPiece = 1.0 / 8;

/// What a kernel needs, whole or one piece of it.
struct Need {
    double compute_us = 0,
           network_us = 0;       ///< with launches; a kernel with collectives needs the network only
    double network_busy_us = 0;  ///< of these, until the next piece's messages can follow
    bool computes = false, communicates = false;
    double own_us = 0;  ///< of a kernel with collectives: its computation, which is hidden
    [[nodiscard]] double us() const { return compute_us + network_us; }
    /// How long a piece keeps its stream from the next one.
    [[nodiscard]] double busy_us() const { return compute_us + network_busy_us; }
};

/// Kernels that are executed together: one, or those of an overlap.
struct Stage {
    std::vector<KernelId> kernels{};
    std::int64_t pieces = 1;
};

/// A piece of a kernel of an overlap, from the beginning of the overlap.
struct Piece {
    std::size_t stage = 0;  ///< of the chain
    std::int64_t number = 0;
    double start = 0, end = 0;
};

class Predictor {
  public:
    Predictor(const tensor::Program& program, const tensor::Device& device, CallSchedules& calls,
              const PredictOptions& options)
        : program_(program),
          device_(device),
          calls_(calls),
          options_(options),
          kernels_(program),
          users_(program),
          costs_(program, users_, device) {}

    Prediction run() {
        set_up_stages();
        std::vector<double> ready(program_.slots(), 0);
        std::vector<bool> done(stages_.size());
        std::vector<bool> made(program_.slots());
        std::size_t left = stages_.size();
        while (left > 0) {
            const std::size_t before = left;
            for (std::size_t s = 0; s < stages_.size(); ++s) {
                if (done[s]) continue;
                const std::optional<double> start = operands_ready(stages_[s], ready, made);
                if (!start) continue;  // an overlap whose last kernels need what comes later in the order
                const double end = place(stages_[s], *start);
                for (const KernelId kernel : stages_[s].kernels) {
                    for (const ValueId id : kernels_[kernel].values) {
                        ready[id.index()] = end;
                        made[id.index()] = true;
                    }
                }
                prediction_.us = std::max(prediction_.us, end);
                done[s] = true;
                --left;
            }
            if (left == before) throw InternalError("the kernels of a program have no order");
        }
        count();
        std::ranges::stable_sort(prediction_.bars, {}, &Bar::start_us);
        return std::move(prediction_);
    }

  private:
    void set_up_stages() {
        std::vector<std::size_t> overlap(kernels_.all().size(), program_.overlaps().size());
        for (std::size_t o = 0; o < program_.overlaps().size(); ++o) {
            for (const std::string& name : program_.overlaps()[o].chain)
                overlap[kernels_.find(name)->index()] = o;
        }
        std::vector<bool> is_there(program_.overlaps().size());
        for (std::size_t k = 0; k < kernels_.all().size(); ++k) {
            const std::size_t o = overlap[k];
            if (o == program_.overlaps().size()) {
                stages_.push_back({{KernelId(k)}, 1});
            } else if (!is_there[o]) {
                is_there[o] = true;
                Stage stage{{}, program_.overlaps()[o].pieces};
                for (const std::string& name : program_.overlaps()[o].chain)
                    stage.kernels.push_back(*kernels_.find(name));
                stages_.push_back(std::move(stage));
            }
        }
    }

    std::optional<double> operands_ready(const Stage& stage, const std::vector<double>& ready,
                                         const std::vector<bool>& made) const {
        std::set<ValueId> inside;
        for (const KernelId kernel : stage.kernels)
            inside.insert(kernels_[kernel].values.begin(), kernels_[kernel].values.end());
        double start = 0;
        for (const ValueId id : inside) {
            for (const ValueId arg : program_[id].args) {
                if (inside.contains(arg)) continue;
                if (!made[arg.index()]) return std::nullopt;
                start = std::max(start, ready[arg.index()]);
            }
        }
        return start;
    }

    /// The calls of a kernel, of a k-th part of each; a coalesced kernel makes one.
    std::vector<Call> calls_in(const Kernel& kernel, std::int64_t pieces) const {
        std::vector<Call> list;
        bool only_calls = true;
        for (const ValueId id : kernel.values) {
            const tensor::Value& value = program_[id];
            if (!tensor::is_collective(value.op)) {
                only_calls = only_calls && !tensor::does_work(value);
                continue;
            }
            Call call = call_of(program_, value);
            call.bytes = (call.bytes + pieces - 1) / pieces;
            list.push_back(call);
        }
        const auto same = [&](const Call& call) {
            return call.op == list.front().op && call.axes == list.front().axes &&
                   call.root == list.front().root && call.by == list.front().by;
        };
        if (only_calls && list.size() > 1 && std::ranges::all_of(list, same)) {
            for (std::size_t i = 1; i < list.size(); ++i) list.front().bytes += list[i].bytes;
            list.resize(1);
        }
        return list;
    }

    double us_of(const Call& call) {
        return options_.guess ? calls_.estimated_us(call) : calls_.of(call).us();
    }

    double busy_us_of(const Call& call) {
        return options_.guess ? calls_.estimated_busy_us(call) : calls_.of(call).busy_us();
    }

    Need need_of(const Kernel& kernel, std::int64_t pieces) {
        Need need;
        const auto works = [&](ValueId id) { return tensor::does_work(program_[id]); };
        if (std::ranges::none_of(kernel.values, works)) return need;
        const std::vector<Call> list = calls_in(kernel, pieces);
        const double compute = costs_.compute_us(kernel) / static_cast<double>(pieces);
        need.communicates = !list.empty();
        need.computes = list.empty() || std::ranges::any_of(kernel.values, [&](ValueId id) {
                            return works(id) && !tensor::is_collective(program_[id].op);
                        });
        for (const Call& call : list) {
            need.network_us += device_.launch_us + us_of(call);
            need.network_busy_us += device_.launch_us + busy_us_of(call);
        }
        if (!need.communicates) need.compute_us = device_.launch_us + compute;
        if (need.communicates && need.computes) {
            need.network_us += device_.launch_us + compute * kLastPiece;
            need.network_busy_us += device_.launch_us + compute * kLastPiece;
            need.own_us = compute;
        }
        return need;
    }

    /// Puts it behind what is there already; returns its end.
    double place(const Stage& stage, double start) {
        std::vector<Need> needs;
        needs.reserve(stage.kernels.size());
        for (const KernelId kernel : stage.kernels) needs.push_back(need_of(kernels_[kernel], stage.pieces));
        if (stage.pieces > 1) return place_pieces(stage, needs, start);
        const Need& need = needs.front();
        if (!need.computes && !need.communicates) return start;
        if (need.computes) start = std::max(start, compute_free_);
        if (need.communicates) start = std::max(start, network_free_);
        const double end = start + need.us();
        if (need.computes) compute_free_ = end;
        if (need.communicates) network_free_ = end;
        add_bar(stage.kernels.front(), need, start, end, -1, 1);
        return end;
    }

    double place_pieces(const Stage& stage, const std::vector<Need>& needs, double start) {
        start = std::max({start, compute_free_, network_free_});
        const std::vector<Piece> pieces = pieces_of(stage, needs);
        double us = 0;
        for (const Piece& piece : pieces) us = std::max(us, piece.end);
        const double alone = us;
        std::optional<Call> joint;
        if (options_.joint) {
            joint = joint_call(stage, needs);
            const double joint_us = joint ? joint_end(*joint, stage, needs) : us;
            if (joint_us < us) {
                us = joint_us;
                joint_.emplace(stage.kernels[1], *joint);
            }
        }
        compute_free_ = network_free_ = start + us;
        const double stretch = alone > 0 ? us / alone : 1;  // to what one schedule for all pieces takes
        for (const Piece& piece : pieces) {
            Need drawn = needs[piece.stage];
            drawn.computes = drawn.computes && !drawn.communicates;
            add_bar(stage.kernels[piece.stage], drawn, start + piece.start * stretch,
                    start + piece.end * stretch, piece.number, stage.pieces);
        }
        return start + us;
    }

    /// Pieces as they follow each other: each when the one before it in the chain is there and its stream is
    /// free; of those that can start at one time the later in the chain.
    static std::vector<Piece> pieces_of(const Stage& stage, const std::vector<Need>& needs) {
        std::vector<Piece> pieces;
        std::vector<std::int64_t> next(needs.size(), 0);
        std::vector<std::vector<double>> made(needs.size(),
                                              std::vector<double>(static_cast<std::size_t>(stage.pieces), 0));
        double free[2] = {0, 0};
        for (std::size_t left = needs.size() * static_cast<std::size_t>(stage.pieces); left > 0; --left) {
            std::size_t chosen = needs.size();
            double soonest = 0;
            for (std::size_t s = needs.size(); s-- > 0;) {
                const auto piece = static_cast<std::size_t>(next[s]);
                if (next[s] == stage.pieces || (s > 0 && next[s - 1] <= next[s])) continue;
                const double at =
                    std::max(free[needs[s].communicates ? 1 : 0], s > 0 ? made[s - 1][piece] : 0);
                if (chosen == needs.size() || at < soonest) {
                    chosen = s;
                    soonest = at;
                }
            }
            const double stop = soonest + needs[chosen].us();
            made[chosen][static_cast<std::size_t>(next[chosen])] = stop;
            free[needs[chosen].communicates ? 1 : 0] = soonest + needs[chosen].busy_us();
            pieces.push_back({chosen, next[chosen]++, soonest, stop});
        }
        return pieces;
    }

    /// All pieces of the only call of a chain, which a computation comes before, as one.
    std::optional<Call> joint_call(const Stage& stage, const std::vector<Need>& needs) const {
        if (needs.size() < 2 || needs[0].communicates || !needs[1].communicates) return std::nullopt;
        std::vector<Call> list = calls_in(kernels_[stage.kernels[1]], stage.pieces);
        if (list.size() != 1 ||
            std::any_of(needs.begin() + 2, needs.end(), [](const Need& need) { return need.communicates; }))
            return std::nullopt;
        list.front().pieces = stage.pieces;
        list.front().each = Ticks(static_cast<std::int64_t>(needs[0].us() * 1e6));
        return list.front();
    }

    /// When the chain is done with it: behind the last piece come the last pieces of what is left.
    double joint_end(const Call& joint, const Stage& stage, const std::vector<Need>& needs) {
        const Call piece = calls_in(kernels_[stage.kernels[1]], stage.pieces).front();
        double behind = needs[1].us() - calls_.of(piece).us();
        for (std::size_t i = 2; i < needs.size(); ++i) behind += needs[i].us();
        try {
            return calls_.of(joint).us() + behind;
        } catch (const LimitError&) {
            return std::numeric_limits<double>::infinity();
        }
    }

    /// What a kernel of a stage calls: parts, or all pieces as one.
    std::vector<Call> planned(KernelId kernel, std::int64_t pieces) const {
        if (const auto joint = joint_.find(kernel); joint != joint_.end()) return {joint->second};
        return calls_in(kernels_[kernel], pieces);
    }

    void add_bar(KernelId kernel, const Need& need, double start, double end, std::int64_t piece,
                 std::int64_t pieces) {
        if (!options_.bars || (!need.computes && !need.communicates)) return;
        Bar bar{.kernel = kernels_[kernel].name,
                .computes = need.computes,
                .communicates = need.communicates,
                .start_us = start,
                .end_us = end,
                .piece = piece,
                .calls = {}};
        for (const Call& call : planned(kernel, pieces)) bar.calls.push_back(number_of(call));
        prediction_.bars.push_back(std::move(bar));
    }

    std::size_t number_of(const Call& call) {
        const auto known = std::ranges::find(prediction_.calls, call);
        if (known == prediction_.calls.end()) {
            prediction_.calls.push_back(call);
            return prediction_.calls.size() - 1;
        }
        return static_cast<std::size_t>(known - prediction_.calls.begin());
    }

    void count() {
        for (const ValueId id : program_.order()) {
            const tensor::Value& value = program_[id];
            if (value.op == Op::Input && value.state)
                prediction_.state_bytes += tensor::part_bytes(program_.mesh(), value.type);
        }
        for (const Stage& stage : stages_) {
            for (const KernelId kernel : stage.kernels) {
                for (const Call& call : calls_in(kernels_[kernel], stage.pieces)) {
                    (void)number_of(call);
                    if (options_.guess) continue;
                    prediction_.wire_bytes +=
                        calls_.of(call).wire_bytes * static_cast<std::uint64_t>(stage.pieces);
                }
            }
        }
        prediction_.kernels = kernels_.working(program_);
    }

    const tensor::Program& program_;
    const tensor::Device& device_;
    CallSchedules& calls_;
    const PredictOptions options_;
    const Kernels kernels_;
    const tensor::Users users_;
    const KernelCosts costs_;
    std::vector<Stage> stages_;
    std::map<KernelId, Call> joint_;  ///< where one schedule for all pieces is better
    double compute_free_ = 0, network_free_ = 0;
    Prediction prediction_;
};

}  // namespace

Prediction predict(const tensor::Program& program, const tensor::Device& device, CallSchedules& calls,
                   const PredictOptions& options) {
    return Predictor(program, device, calls, options).run();
}

}  // namespace tutti::tune
