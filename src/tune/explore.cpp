#include "tune/explore.hpp"

#include "rewrite/regions.hpp"
#include "rewrite/schedule.hpp"
#include "rewrite/transformations.hpp"
#include "tensor/kernels.hpp"
#include "tensor/terms.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_set>

namespace tutti::tune {
namespace {

using tensor::KernelId;
using tensor::Kernels;
using tensor::Op;
using tensor::Program;
using tensor::Step;
using tensor::ValueId;
using Values = std::vector<ValueId>;

std::optional<Program> after(const Program& program, const Step& step) {
    try {
        return rewrite::apply_step(program, step);
    } catch (const tensor::Refusal&) {
        return std::nullopt;
    }
}

std::vector<std::string> names_of(const Program& program, const Values& values) {
    std::vector<std::string> names;
    for (const ValueId id : values) names.push_back(program[id].name);
    return names;
}

/// All moves of the standard space that might be allowed.
std::vector<Step> moves(const Program& program) {
    std::vector<Step> steps;
    const std::vector<Values> regions = rewrite::regions(program);
    for (const ValueId id : program.order()) {
        const tensor::Value& value = program[id];
        if (value.op == Op::AllReduce && value.type.rank() > 0)
            steps.emplace_back(tensor::Split{.op = value.name});
        if (value.op == Op::AllGather) {
            for (const Values& unit : rewrite::units(program, id, regions))
                steps.emplace_back(tensor::Reorder{value.name, names_of(program, unit)});
        }
        if (value.op == Op::Input && value.state && !value.fixed)
            steps.emplace_back(tensor::AsSlice{.tensor = value.name});
    }
    return steps;
}

/// Adds a kernel of those values if it is allowed.
bool fuse_into(Explored& explored, const Values& values) {
    if (values.size() < 2) return false;
    const std::vector<std::string> names = names_of(explored.program, values);
    tensor::Fuse step{names, "fused." + names.front()};
    auto fused = after(explored.program, step);
    if (!fused) return false;
    explored.program = *std::move(fused);
    explored.steps.emplace_back(std::move(step));
    return true;
}

/// The values that read each other, or the same, together.
std::vector<Values> connected(const Program& program, const Values& region) {
    std::vector<std::size_t> leader(region.size());
    std::iota(leader.begin(), leader.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
        while (leader[i] != i) i = leader[i] = leader[leader[i]];
        return i;
    };
    std::vector<std::size_t> member(program.slots(), region.size());
    for (std::size_t i = 0; i < region.size(); ++i) member[region[i].index()] = i;
    for (std::size_t i = 0; i < region.size(); ++i) {
        for (const ValueId arg : program[region[i]].args) {
            if (program[arg].op == Op::Constant) continue;
            std::size_t& other = member[arg.index()];
            if (other == region.size()) other = i;
            leader[find(i)] = find(other);
        }
    }
    std::vector<Values> parts(region.size());
    for (std::size_t i = 0; i < region.size(); ++i) parts[find(i)].push_back(region[i]);
    std::erase_if(parts, [](const Values& part) { return part.empty(); });
    std::ranges::sort(parts, {}, [&](const Values& part) {
        return std::ranges::find(program.order(), part.front()) - program.order().begin();
    });
    return parts;
}

bool begins_kernels(Op op) {
    return op == Op::AllReduce || op == Op::ReduceScatter || op == Op::ReduceTo || op == Op::AllToAll;
}
bool ends_kernels(Op op) { return op == Op::AllGather || op == Op::BroadcastFrom || op == Op::Shift; }

/// The collective that the region begins with and the ones behind it.
struct Ends {
    std::optional<ValueId> first{};
    Values last{};
};

Ends ends_of(const Program& program, const tensor::Users& users, const Values& region) {
    Ends ends;
    for (const ValueId id : region) {
        for (const ValueId arg : program[id].args) {
            if (!ends.first && begins_kernels(program[arg].op)) ends.first = arg;
        }
        for (const ValueId user : users[id]) {
            if (ends_kernels(program[user].op)) ends.last.push_back(user);
        }
    }
    return ends;
}

Explored with_kernels(const Explored& explored, bool with_collectives) {
    Explored result = explored;
    const tensor::Users users(explored.program);
    std::vector<bool> taken(explored.program.slots());
    for (const Values& region : rewrite::regions(explored.program)) {
        for (const Values& part : connected(explored.program, region)) {
            bool done = false;
            if (with_collectives) {
                Ends ends = ends_of(explored.program, users, part);
                if (ends.first && taken[ends.first->index()]) ends.first.reset();
                std::erase_if(ends.last, [&](ValueId id) { return taken[id.index()]; });
                for (const bool first : {true, false}) {
                    for (const bool last : {true, false}) {
                        if (done || (first && !ends.first) || (last && ends.last.empty()) || !(first || last))
                            continue;
                        Values kernel;
                        if (first) kernel.push_back(*ends.first);
                        kernel.insert(kernel.end(), part.begin(), part.end());
                        if (last) kernel.insert(kernel.end(), ends.last.begin(), ends.last.end());
                        done = fuse_into(result, kernel);
                        if (done) {
                            for (const ValueId id : kernel) taken[id.index()] = true;
                        }
                    }
                }
            }
            if (!done) (void)fuse_into(result, part);
        }
    }
    return result;
}

/// Chains that may overlap and cannot be made longer.
class Chains {
  public:
    Chains(const Program& program, std::size_t most)
        : program_(program),
          kernels_(program),
          most_(most),
          users_(kernels_.all().size()),
          needs_(kernels_.all().size()) {
        for (std::size_t k = 0; k < kernels_.all().size(); ++k) {
            for (const ValueId id : kernels_.all()[k].values) {
                for (const ValueId arg : program[id].args) {
                    const KernelId from = kernels_.of(arg);
                    if (from.index() == k || !works(from) || !works(KernelId(k))) continue;
                    if (std::ranges::find(needs_[k], from) != needs_[k].end()) continue;
                    needs_[k].push_back(from);
                    users_[from.index()].push_back(KernelId(k));
                }
            }
        }
        for (std::size_t k = 0; k < users_.size(); ++k) grow({KernelId(k)});
    }

    [[nodiscard]] std::vector<std::vector<std::string>> names() const {
        std::vector<std::vector<std::string>> result;
        for (const auto& chain : found_) {
            auto& names = result.emplace_back();
            for (const KernelId id : chain) names.push_back(kernels_[id].name);
        }
        return result;
    }

  private:
    using Ids = std::vector<KernelId>;

    [[nodiscard]] bool works(KernelId id) const {
        return std::ranges::any_of(kernels_[id].values,
                                   [&](ValueId value) { return does_work(program_[value]); });
    }
    [[nodiscard]] bool allowed(const Ids& chain) const {
        try {
            rewrite::check_overlap(program_, kernels_, chain);
            return true;
        } catch (const tensor::Refusal&) {
            return false;
        }
    }

    void grow(const Ids& chain) {
        if (found_.size() >= most_) return;
        bool longer = false;
        for (const KernelId next : users_[chain.back().index()]) {
            Ids extended = chain;
            extended.push_back(next);
            if (!allowed(extended)) continue;
            longer = true;
            grow(extended);
        }
        if (longer || chain.size() < 2) return;
        for (const KernelId before : needs_[chain.front().index()]) {
            Ids extended{before};
            extended.insert(extended.end(), chain.begin(), chain.end());
            if (allowed(extended)) return;  // found from there
        }
        found_.push_back(chain);
    }

    const Program& program_;
    Kernels kernels_;
    std::size_t most_;
    std::vector<Ids> users_, needs_;
    std::vector<Ids> found_;
};

}  // namespace

std::vector<Explored> reachable(const Program& program, const ExploreOptions& options) {
    std::vector<Explored> found{{rewrite::tidied(program), {}}};
    std::unordered_set<tensor::StructureHash> known{structure_hash(found.front().program)};
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (Step& step : moves(found[i].program)) {
            if (found.size() >= options.most_programs || options.stop.requested()) return found;
            auto next = after(found[i].program, step);
            if (!next || !known.insert(structure_hash(*next)).second) continue;
            std::vector<Step> steps = found[i].steps;
            steps.push_back(std::move(step));
            found.push_back({*std::move(next), std::move(steps)});
        }
    }
    return found;
}

std::vector<Explored> forms(const Explored& explored, const ExploreOptions& options) {
    std::vector<Explored> kernels{explored};
    for (const bool with_collectives : {false, true}) {
        Explored fused = with_kernels(explored, with_collectives);
        const bool is_new = std::ranges::none_of(
            kernels, [&](const Explored& other) { return other.program.fused() == fused.program.fused(); });
        if (is_new) kernels.push_back(std::move(fused));
    }
    std::vector<Explored> result;
    for (const Explored& form : kernels) {
        result.push_back(form);
        for (std::vector<std::string>& chain : Chains(form.program, options.most_chains).names()) {
            tensor::OverlapStep step{std::move(chain), options.pieces};
            Explored overlapped{rewrite::overlap(form.program, step), form.steps};
            overlapped.steps.emplace_back(std::move(step));
            result.push_back(std::move(overlapped));
        }
    }
    return result;
}

}  // namespace tutti::tune
