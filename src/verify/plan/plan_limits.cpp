// Figures from the sources of the runtimes, as docs/msccl-xml.md lists them.

#include "verify/plan/plan_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tutti::verify {
namespace {

using plan::Step;
using plan::StepType;

struct Limits {
    int steps_per_block;
    int blocks_per_gpu;      ///< 0: no limit
    int blocks_per_channel;  ///< of a gpu; 0: no limit
    int channels;
    bool demands_sizes;  ///< outofplace, minBytes and maxBytes must be there
    std::string_view reduce_scatter;
};
constexpr int kMostCount = 71;
constexpr int kMostDependencyBlock = 127;
constexpr int kMostChained = 16;
constexpr int kMostXmlNodes = 4096;
constexpr int kMostChildren = 1024;
constexpr std::size_t kMostText = 255;

Limits limits_of(plan::Target target) {
    switch (target) {
        case plan::Target::Rccl:
            return {64, 64, 0, 128, true, "reducescatter"};
        case plan::Target::MscclExecutor:
            return {64, 0, 32, 32, true, "reducescatter"};
        default:
            return {256, 216, 0, 32, false, "reduce_scatter"};
    }
}

class MscclLimitCheck {
  public:
    MscclLimitCheck(const plan::MscclPlan& plan, const MscclStructure& structure, plan::Target target,
                    Findings& warnings)
        : plan_(plan),
          structure_(structure),
          target_(target),
          limits_(limits_of(target)),
          warnings_(warnings) {}

    void run() {
        check_head();
        for (const Rank gpu : plan::ranks_below(std::ssize(structure_.gpus))) check_gpu(gpu);
        for (const auto& block : structure_.blocks) check_block(block);
    }

  private:
    void warn(std::string code, const std::string& what, plan::Place place = {}) {
        warnings_.add(std::move(code), fmt::format("{}: {}", name_of(target_), what), place);
    }

    void check_head() {
        if (limits_.demands_sizes) {
            std::vector<std::string_view> missing;
            if (!plan_.out_of_place) missing.push_back("outofplace");
            if (!plan_.min_bytes) missing.push_back("minBytes");
            if (!plan_.max_bytes) missing.push_back("maxBytes");
            if (!plan_.in_place) missing.push_back("inplace");
            if (!missing.empty()) {
                warn("target-attribute",
                     fmt::format("refuses the file: algo has no {}", fmt::join(missing, ", no ")));
            }
        }
        if (!limits_.demands_sizes && plan_.max_bytes == 0) {
            warn("target-size", "maxBytes=0 is the first size that is too large: never used");
        }
        if (plan_.channels > limits_.channels) {
            warn("limit-channels",
                 fmt::format("{} channels, at most {} are possible", plan_.channels, limits_.channels));
        }
        if (plan_.name.size() > kMostText) {
            warn("limit-text",
                 fmt::format("the name has {} bytes, at most {} are read", plan_.name.size(), kMostText));
        }
        if (!plan_.collective) {
            warn("target-attribute", "refuses the file: algo has no coll");
            return;
        }
        const auto goal = kind_in_plan(*plan_.collective);
        if (goal == CollectiveKind::ReduceScatter && *plan_.collective != limits_.reduce_scatter) {
            warn("target-collective", fmt::format("does not know coll=\"{}\"; it says \"{}\"",
                                                  *plan_.collective, limits_.reduce_scatter));
        } else if (!goal || goal == CollectiveKind::AllToNext || goal == CollectiveKind::SendRecv) {
            warn("target-collective", fmt::format("does not know coll=\"{}\"", *plan_.collective));
        }
    }

    void check_gpu(Rank gpu) {
        const auto own = structure_.blocks_of(gpu);
        const plan::Place place{.gpu = gpu};
        const auto blocks = static_cast<int>(own.size());
        if (limits_.blocks_per_gpu > 0 && blocks > limits_.blocks_per_gpu) {
            warn("limit-tbs",
                 fmt::format("gpu {} has {} thread blocks, at most {} run", gpu, blocks,
                             limits_.blocks_per_gpu),
                 place);
        }
        std::map<OptionalId<plan::ChannelId>, int> per_channel;
        std::size_t nodes = 1 + static_cast<std::size_t>(blocks);
        for (const MscclStructure::Block& block : own) {
            ++per_channel[block.block->channel];
            nodes += block.block->steps.size();
        }
        for (const auto& [channel, count] : per_channel) {
            if (limits_.blocks_per_channel == 0 || count <= limits_.blocks_per_channel) continue;
            warn("limit-tbs",
                 fmt::format("gpu {} has {} thread blocks on channel {}, at most {} run", gpu, count,
                             plan::file_number(channel), limits_.blocks_per_channel),
                 place);
        }
        if (nodes > kMostXmlNodes) {
            warn("limit-xml",
                 fmt::format("gpu {} is {} XML elements, at most {} are read", gpu, nodes, kMostXmlNodes),
                 place);
        }
        if (blocks > kMostChildren) {
            warn("limit-xml",
                 fmt::format("gpu {} has {} children, at most {} are read", gpu, blocks, kMostChildren),
                 place);
        }
    }

    void check_block(const MscclStructure::Block& block) {
        const auto& steps = block.block->steps;
        const plan::Place place = structure_.place(block);
        if (steps.size() > static_cast<std::size_t>(limits_.steps_per_block)) {
            warn("limit-steps",
                 fmt::format("gpu {} tb {} has {} steps, at most {} run", block.gpu, block.block->id,
                             steps.size(), limits_.steps_per_block),
                 place);
        }
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const plan::Place at = structure_.place(block.first + static_cast<plan::OpId>(i));
            if (steps[i].count > kMostCount) {
                warn("limit-count", fmt::format("cnt {} is more than {}", steps[i].count, kMostCount), at);
            }
            if (plan::file_number(steps[i].dep_block) > kMostDependencyBlock) {
                warn("limit-dependency",
                     fmt::format("depid {} is more than {}", *steps[i].dep_block, kMostDependencyBlock), at);
            }
        }
        check_chains(block);
    }

    /// Consecutive `re` into one place from one buffer run as one, with the cnt of the last.
    void check_chains(const MscclStructure::Block& block) {
        const auto& steps = block.block->steps;
        for (std::size_t i = 0; i < steps.size();) {
            std::size_t end = i + 1;
            if (steps[i].type == StepType::Reduce) {
                while (end < steps.size() && steps[end].type == StepType::Reduce && !steps[end].dep_block &&
                       steps[end].dst == steps[i].dst && steps[end].src.buffer == steps[i].src.buffer) {
                    ++end;
                }
                const plan::Place at = structure_.place(block.first + static_cast<plan::OpId>(i));
                if (end - i > kMostChained) {
                    warn("limit-chain",
                         fmt::format("{} consecutive re into one place, at most {} run as one", end - i,
                                     kMostChained),
                         at);
                }
                const bool equal =
                    std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(i),
                                steps.begin() + static_cast<std::ptrdiff_t>(end),
                                [&](const Step& step) { return step.count == steps[i].count; });
                if (!equal) {
                    warn("target-chain",
                         "consecutive re into one place with different cnt: all run with the last one's", at);
                }
            }
            i = end;
        }
    }

    const plan::MscclPlan& plan_;
    const MscclStructure& structure_;
    const plan::Target target_;
    const Limits limits_;
    Findings& warnings_;
};

}  // namespace

void warn_of_limits(const plan::MscclPlan& plan, const MscclStructure& structure, plan::Target target,
                    Findings& warnings) {
    if (target == plan::Target::Mscclpp) {
        warnings.add("target-format", "mscclpp: reads execution plans as JSON, no XML");
        return;
    }
    MscclLimitCheck(plan, structure, target, warnings).run();
}

}  // namespace tutti::verify
