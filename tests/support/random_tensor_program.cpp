#include "tests/support/random_tensor_program.hpp"

#include "rewrite/schedule.hpp"
#include "tensor/kernels.hpp"
#include "tensor/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace tutti::test {
namespace {

using tensor::AxisId;
using tensor::Op;
using tensor::Program;
using tensor::ProgramParts;
using tensor::Value;
using tensor::ValueId;

template <class Choices>
auto one_of(const Choices& choices, Rng& rng) {
    return choices[rng.below(choices.size())];
}

std::vector<AxisId> some_axes(const tensor::Mesh& mesh, Rng& rng) {
    std::vector<AxisId> axes;
    for (std::size_t a = 0; a < mesh.axes().size(); ++a) {
        if (rng.below(2) == 0) axes.emplace_back(a);
    }
    if (axes.empty()) axes.emplace_back(rng.below(mesh.axes().size()));
    return axes;
}

Value random_input(const ProgramParts& parts, Rng& rng) {
    Value value;
    value.name = fmt::format("x{}", parts.values.size());
    value.shape = {{6, "N"}};
    if (rng.below(2) == 0) value.shape.push_back({5, "M"});
    if (rng.below(4) == 0) value.shape.push_back({4, "K"});
    value.state = rng.below(3) == 0;
    for (std::size_t a = 0; a < parts.mesh.axes().size(); ++a) {
        const std::array layouts{tensor::Layout(), tensor::Layout(), tensor::Layout::local(),
                                 rng.below(8) == 0 ? tensor::Layout::root(1)
                                                   : tensor::Layout::sliced(rng.below(value.shape.size()))};
        value.layout.push_back(value.state ? layouts[0] : one_of(layouts, rng));
    }
    return value;
}

std::vector<tensor::Size> random_shape(Rng& rng) {
    static const tensor::Size kN{6, "N"}, kM{5, "M"}, kK{4, "K"}, kOne{1, ""};
    static const std::array<std::vector<tensor::Size>, 8> kShapes{
        {{}, {kN}, {kM}, {kN, kM}, {kN, kOne}, {kOne, kN}, {kN, kM, kK}, {kN, kOne, kM}}};
    return one_of(kShapes, rng);
}

/// What makes numbers of its own.
void become_source(Value& value, Rng& rng) {
    value.op = one_of(std::array{Op::Constant, Op::Constant, Op::Uniform, Op::Iota}, rng);
    value.args.clear();
    value.shape = random_shape(rng);
    value.number = static_cast<double>(rng.below(3));
    value.seed = static_cast<std::int64_t>(rng.below(2));
}

void become_pointwise(Value& value, ValueId second, ValueId third, Rng& rng) {
    using enum tensor::DType;
    static constexpr std::array kUnary{Op::Neg, Op::Neg, Op::Abs,     Op::Abs, Op::Tanh,  Op::Tanh, Op::Sqrt,
                                       Op::Exp, Op::Erf, Op::Sigmoid, Op::Not, Op::Rsqrt, Op::Log};
    static constexpr std::array kBinary{Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Pow};
    static constexpr std::array kBool{Op::Lt, Op::Ge, Op::Eq, Op::Le, Op::Gt, Op::Ne, Op::And, Op::Or};
    static constexpr std::array kTypes{BF16, F32, F32, I32, I32, I32,  I32, F16,
                                       F64,  I64, U32, I8,  U8,  Bool, Bool};
    const std::uint64_t kind = rng.below(10);
    if (kind < 2) {
        value.op = one_of(kUnary, rng);
    } else if (kind < 7) {
        value.op = one_of(kBinary, rng);
        value.args.push_back(second);
    } else if (kind < 8) {
        value.op = one_of(kBool, rng);
        value.args.push_back(second);
    } else if (kind < 9) {
        value.op = Op::Select;
        value.args.insert(value.args.end(), {second, third});
    } else {
        value.op = Op::Cast;
        value.dtype = one_of(kTypes, rng);
    }
}

/// What computes otherwise than element by element.
void become_compute(Value& value, ValueId second, ValueId third, Rng& rng) {
    switch (rng.below(6)) {
        case 0:
        case 1:
            value.op = Op::Reduce;
            value.dims =
                one_of(std::vector<std::vector<std::int64_t>>{{1, 0}, {value.dim}, {value.dim}, {0, 2}}, rng);
            value.keepdims = rng.below(3) == 0;
            value.reduction =
                rng.below(3) == 0 ? static_cast<tensor::Reduction>(rng.below(4)) : tensor::Reduction::Sum;
            break;
        case 2:
        case 3:
            value.op = Op::Einsum;
            value.spec =
                one_of(std::array{"nm,nk->mk", "nm,n->nm", "nm,nm->n", "nm,km->nk", "n,n->n", "nm,nk->nmk",
                                  "nmk,nmk->nm", "nmk,nm->nk", "nmk,njk->njm", "n,m->nm", "nm,m,n->nm"},
                       rng);
            value.args.push_back(second);
            if (std::ranges::count(value.spec, ',') == 2) value.args.push_back(third);
            break;
        case 4:
            value.op = Op::Transpose;
            value.perm =
                one_of(std::vector<std::vector<std::int64_t>>{{1, 0}, {1, 0}, {2, 0, 1}, {0, 2, 1}}, rng);
            break;
        default:
            value.op = rng.below(2) == 0 ? Op::Broadcast : Op::Reshape;
            value.shape = random_shape(rng);
            if (value.op == Op::Broadcast && rng.below(2) == 0) value.dims = {value.dim};
    }
}

/// What moves elements, or says only where they are.
void become_communication(Value& value, Rng& rng) {
    value.op = one_of(std::array{Op::AllReduce, Op::AllReduce, Op::AllReduce, Op::ReduceScatter,
                                 Op::AllGather, Op::AllGather, Op::Slice, Op::Shift, Op::AllToAll, Op::Stack,
                                 Op::Unstack, Op::ReduceTo, Op::BroadcastFrom},
                      rng);
    const bool one_axis =
        value.op == Op::Shift || value.op == Op::AllToAll || value.op == Op::Stack || value.op == Op::Unstack;
    if (one_axis) value.axes.resize(1);
    value.by = rng.below(3) == 0 ? -1 : 1;
    value.split = static_cast<std::int64_t>(rng.below(2));
    value.concat = 1 - value.split;
    value.root = static_cast<std::int64_t>(rng.below(2));
    if (rng.below(6) == 0) value.reduction = tensor::Reduction::Max;
}

/// The next value, which need not type. The newest values are read most, so that programs have some depth.
Value random_value(const ProgramParts& parts, Rng& rng) {
    const auto any = [&] {
        const std::size_t count = parts.values.size();
        const std::size_t back = std::min(rng.below(count), rng.below(count));
        return ValueId(count - 1 - back);
    };
    Value value;
    value.name = fmt::format("v{}", parts.values.size());
    value.args = {any()};
    value.axes = some_axes(parts.mesh, rng);
    value.dim = static_cast<std::int64_t>(rng.below(8) == 0 ? 2 : rng.below(2));
    const std::uint64_t kind = rng.below(16);
    if (kind == 0) {
        become_source(value, rng);
    } else if (kind < 7) {
        become_pointwise(value, any(), any(), rng);
    } else if (kind < 11) {
        become_compute(value, any(), any(), rng);
    } else {
        become_communication(value, rng);
    }
    if (!is_collective(value.op) && kind_of(value.op) != tensor::OpKind::Placement) value.axes.clear();
    return value;
}

std::optional<Program> typed(const ProgramParts& parts) {
    try {
        return Program(parts);
    } catch (const tensor::Refusal&) {
        return std::nullopt;
    }
}

std::vector<std::string> names_of(const Program& program, const std::vector<ValueId>& ids) {
    std::vector<std::string> names;
    for (const ValueId id : ids) names.push_back(program[id].name);
    return names;
}

/// A value that works, and some of those behind it.
std::vector<ValueId> random_region(const Program& program, Rng& rng) {
    const tensor::Users users(program);
    std::vector<ValueId> region{one_of(program.order(), rng)};
    std::set<ValueId> inside{region[0]};
    for (std::size_t tries = 1 + rng.below(6); tries > 0; --tries) {
        const auto next = users[one_of(region, rng)];
        if (next.empty()) continue;
        const ValueId id = next[rng.below(next.size())];
        if (program[id].op != Op::Update && inside.insert(id).second) region.push_back(id);
    }
    return region;
}

ValueId any_of(const Program& program, Rng& rng, std::initializer_list<Op> ops) {
    std::vector<ValueId> found;
    for (const ValueId id : program.order()) {
        if (std::ranges::find(ops, program[id].op) != ops.end()) found.push_back(id);
    }
    return found.empty() ? program.order().back() : one_of(found, rng);
}

tensor::Step random_chain(const Program& program, Rng& rng) {
    const tensor::Kernels kernels(program);
    const tensor::Users users(program);
    std::vector<std::string> chain;
    ValueId at = one_of(program.order(), rng);
    for (std::size_t length = 2 + rng.below(2); chain.size() < length;) {
        const std::string& name = kernels[kernels.of(at)].name;
        if (chain.empty() || chain.back() != name) chain.push_back(name);
        const auto next = users[at];
        if (next.empty()) break;
        at = next[rng.below(next.size())];
    }
    return tensor::OverlapStep{chain, 4};
}

}  // namespace

Program random_tensor_program(Rng& rng, std::size_t values) {
    ProgramParts parts;
    parts.name = "random";
    parts.mesh = rng.below(2) == 0 ? tensor::Mesh({{"a", 3}}) : tensor::Mesh({{"a", 2}, {"b", 2}});
    parts.sizes = {{"N", 6}, {"M", 5}, {"K", 4}};
    for (std::size_t i = 2 + rng.below(3); i > 0; --i) parts.values.push_back(random_input(parts, rng));
    const std::size_t inputs = parts.values.size();
    for (std::size_t tries = 0; tries < 20 * values && parts.values.size() < values; ++tries) {
        parts.values.push_back(random_value(parts, rng));
        parts.outputs = {ValueId(parts.values.size() - 1)};
        if (!typed(parts)) parts.values.pop_back();
    }
    // States become what fits.
    for (std::size_t s = 0; s < inputs; ++s) {
        for (std::size_t v = parts.values.size(); parts.values[s].state && v-- > inputs;) {
            Value update;
            update.op = Op::Update;
            update.name = fmt::format("u{}", s);
            update.args = {ValueId(s), ValueId(v)};
            parts.values.push_back(update);
            parts.outputs = {ValueId(parts.values.size() - 1)};
            if (typed(parts)) break;
            parts.values.pop_back();
        }
    }
    parts.outputs.clear();
    std::vector<bool> read(parts.values.size(), false);
    for (const Value& value : parts.values) {
        for (const ValueId arg : value.args) read[arg.index()] = true;
    }
    for (std::size_t i = inputs; i < parts.values.size(); ++i) {
        if (!read[i]) parts.outputs.emplace_back(i);
    }
    if (parts.outputs.empty()) parts.outputs.emplace_back(std::size_t{0});
    return Program(parts);
}

tensor::Step random_tensor_step(const Program& program, Rng& rng) {
    const auto dim = static_cast<std::int64_t>(rng.below(2));
    std::vector<std::string> axes;
    for (const AxisId axis : some_axes(program.mesh(), rng)) axes.push_back(program.mesh().name(axis));
    switch (rng.below(12)) {
        case 0:
        case 1:
        case 2:
            return tensor::Split{program[any_of(program, rng, {Op::AllReduce})].name,
                                 tensor::Split::Into::ReduceScatterGather,
                                 dim,
                                 0,
                                 {}};
        case 3: {
            const bool by_axes = rng.below(2) == 0;
            return tensor::Split{program[any_of(program, rng, {Op::AllReduce})].name,
                                 by_axes ? tensor::Split::Into::Axes : tensor::Split::Into::ReduceBroadcast,
                                 0, dim, by_axes ? axes : std::vector<std::string>()};
        }
        case 4:
        case 5:
        case 6: {
            tensor::Reorder step{program[any_of(program, rng, {Op::AllGather, Op::BroadcastFrom})].name, {}};
            if (rng.below(2) == 0) {
                std::vector<ValueId> region = random_region(program, rng);
                if (region.size() > 1) region.erase(region.begin());
                step.ops = names_of(program, region);
            }
            return step;
        }
        case 7:
            return tensor::Distribute{program[one_of(program.order(), rng)].name, dim, axes};
        case 8:
            return tensor::AsSlice{program[any_of(program, rng, {Op::Input})].name, {}, {}};
        case 9:
            return tensor::Fuse{names_of(program, random_region(program, rng)), ""};
        case 10:
            return tensor::Coalesce{{program[any_of(program, rng, {Op::AllReduce})].name,
                                     program[any_of(program, rng, {Op::AllReduce})].name},
                                    ""};
        default:
            return random_chain(program, rng);
    }
}

RandomForm random_form(const Program& original, Rng& rng) {
    RandomForm form{original, {}};
    for (int tries = 0; tries < 24; ++tries) {
        const tensor::Step step = random_tensor_step(form.program, rng);
        try {
            form.program = rewrite::apply_step(form.program, step);
            form.steps.push_back(step);
        } catch (const tensor::Refusal&) {
            continue;
        }
    }
    return form;
}

}  // namespace tutti::test
