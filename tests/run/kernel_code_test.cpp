// Loops over elements, interpreted and compiled: what the verifier's numbers give, in the same bits whichever
// way, fused or step by step, whole or in pieces.

#include "core/rng.hpp"
#include "run/kernel_coder.hpp"
#include "verify/tensor/field_numbers.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace tutti;
using run::Arithmetic, run::KernelMode, run::LocalTensor, run::LoopShape, run::Precision;
using tensor::DType, tensor::Loop, tensor::LoopOperand, tensor::LoopStep, tensor::Op;
using verify::Element;
using Kind = LoopOperand::Kind;

namespace {

constexpr Op kUnary[] = {Op::Neg,  Op::Abs, Op::Sqrt,    Op::Rsqrt, Op::Exp, Op::Log,
                         Op::Tanh, Op::Erf, Op::Sigmoid, Op::Not,   Op::Cast};
constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Pow, Op::Lt,
                          Op::Le,  Op::Gt,  Op::Ge,  Op::Eq,  Op::Ne,  Op::And, Op::Or};

DType any_type(Rng& rng) { return static_cast<DType>(rng.below(tensor::kDTypeNames.size())); }
bool is_comparison(Op op) { return op >= Op::Lt && op <= Op::Or; }

/// A loop and the rank's shape of it: two or three dimensions, and tensors that are dense, broadcast along
/// some of them, or transposed.
struct Case {
    Loop loop{};
    LoopShape shape{};
    std::vector<std::size_t> tensor_elements{};

    [[nodiscard]] std::int64_t elements() const { return run::product(shape.sizes); }
    [[nodiscard]] DType type_of(const LoopOperand& operand) const {
        switch (operand.kind) {
            case Kind::Earlier:
                return loop.steps[operand.index].to;
            case Kind::Tensor:
                return loop.tensors[operand.index].read.dtype;
            case Kind::Constant:
                break;
        }
        return loop.constants[operand.index].dtype;
    }
};

void add_tensor(Case& made, DType dtype, Rng& rng) {
    const std::vector<std::int64_t>& sizes = made.shape.sizes;
    std::vector<std::int64_t> strides = run::row_major_strides(sizes);
    std::size_t elements = static_cast<std::size_t>(made.elements());
    if (const std::uint64_t kind = rng.below(4); kind == 1) {  // broadcast
        elements = 1;
        for (std::size_t d = sizes.size(); d-- > 0;) {
            const bool is_there = rng.below(2) == 0;
            strides[d] = is_there ? static_cast<std::int64_t>(elements) : 0;
            if (is_there) elements *= static_cast<std::size_t>(sizes[d]);
        }
    } else if (kind == 2) {  // transposed
        std::int64_t step = 1;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            strides[d] = step;
            step *= sizes[d];
        }
    }
    made.shape.strides.push_back(strides);
    made.tensor_elements.push_back(std::max<std::size_t>(elements, 1));
    tensor::LoopTensor tensor;
    tensor.read.dtype = dtype;
    made.loop.tensors.push_back(tensor);
}

/// An operand of the type: something that is there, else a new tensor.
LoopOperand operand_of(Case& made, DType dtype, Rng& rng) {
    std::vector<LoopOperand> known;
    for (std::size_t i = 0; i < made.loop.steps.size(); ++i) known.push_back({Kind::Earlier, i});
    for (std::size_t i = 0; i < made.loop.tensors.size(); ++i) known.push_back({Kind::Tensor, i});
    for (std::size_t i = 0; i < made.loop.constants.size(); ++i) known.push_back({Kind::Constant, i});
    std::erase_if(known, [&](const LoopOperand& operand) { return made.type_of(operand) != dtype; });
    if (!known.empty() && rng.below(4) != 0) return known[rng.below(known.size())];
    if (rng.below(4) == 0) {
        const double numbers[] = {0.1, -3, 0.5, 1e-8, 70000, -0.0};
        made.loop.constants.push_back({numbers[rng.below(6)], dtype});
        return {Kind::Constant, made.loop.constants.size() - 1};
    }
    add_tensor(made, dtype, rng);
    return {Kind::Tensor, made.loop.tensors.size() - 1};
}

void add_step(Case& made, Op op, DType from, DType to, bool leaves, Rng& rng) {
    LoopStep step{.op = op, .from = from, .to = is_comparison(op) ? DType::Bool : from};
    if (op == Op::Cast) step.to = to;
    if (op == Op::Select) step.operands.push_back(operand_of(made, DType::Bool, rng));
    const bool is_unary = std::ranges::find(kUnary, op) != std::end(kUnary);
    for (int k = 0; k < (is_unary ? 1 : 2); ++k) step.operands.push_back(operand_of(made, from, rng));
    if (leaves) {
        step.output = made.loop.outputs.size();
        made.loop.outputs.push_back({tensor::ValueId(std::size_t{0}), step.to});
    }
    made.loop.steps.push_back(step);
}

Case empty_case(Rng& rng) {
    Case made;
    for (std::size_t dims = 1 + rng.below(3); dims > 0; --dims)
        made.shape.sizes.push_back(static_cast<std::int64_t>(1 + rng.below(dims == 1 ? 300 : 7)));
    return made;
}

Case random_case(Rng& rng, std::size_t steps) {
    Case made = empty_case(rng);
    const DType favourite = any_type(rng);
    while (steps-- > 0) {
        const DType from = rng.below(3) == 0 ? any_type(rng) : favourite;
        const std::uint64_t kind = rng.below(6);
        const Op op = kind == 0  ? Op::Select
                      : kind < 3 ? kUnary[rng.below(std::size(kUnary))]
                                 : kBinary[rng.below(std::size(kBinary))];
        add_step(made, op, from, any_type(rng), steps == 0 || rng.below(4) == 0, rng);
    }
    return made;
}

/// Every operation on every type, and every cast.
Case whole_case(Rng& rng) {
    Case made = empty_case(rng);
    for (std::size_t type = 0; type < tensor::kDTypeNames.size(); ++type) {
        const auto from = static_cast<DType>(type);
        for (const Op op : kUnary) {
            if (op != Op::Cast) add_step(made, op, from, from, true, rng);
        }
        for (const Op op : kBinary) add_step(made, op, from, from, true, rng);
        add_step(made, Op::Select, from, from, true, rng);
        for (std::size_t to = 0; to < tensor::kDTypeNames.size(); ++to)
            add_step(made, Op::Cast, from, static_cast<DType>(to), true, rng);
    }
    return made;
}

using Memory = std::vector<LocalTensor>;

Memory drawn_tensors(const Case& made, Precision precision, Rng& rng) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {0,    -0.0,   1,   -1,    0.5,        kInfinity, -kInfinity, std::nan(""),
                              1e-7, 65520., 3e9, 1e300, 0x1p53 + 2, 0x1.8p-24, 300,        -129};
    Memory tensors;
    for (std::size_t k = 0; k < made.loop.tensors.size(); ++k) {
        const DType dtype = made.loop.tensors[k].read.dtype;
        LocalTensor tensor(dtype, precision, {static_cast<std::int64_t>(made.tensor_elements[k])});
        for (std::size_t i = 0; i < made.tensor_elements[k]; ++i) {
            if (auto* field = std::get_if<2>(&tensor.data)) {
                (*field)[i] = {rng.below(20) == 0  ? verify::kPoison
                               : rng.below(4) == 0 ? rng.below(2)
                                                   : rng.below(verify::FieldNumbers::kPrime)};
            } else {
                tensor.set(i, rng.below(8) == 0 ? special[rng.below(std::size(special))]
                                                : static_cast<double>(rng.below(4000)) / 256 - 4);
            }
        }
        round_to(dtype, precision, tensor);
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

/// Runs the loop in pieces of random sizes; in the field what is not written stays poison.
Memory outputs_of(run::KernelCode& code, const Case& made, const Memory& tensors, Precision precision,
                  Rng* pieces) {
    Memory outputs;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const LocalTensor& tensor : tensors) from.push_back(tensor.first());
    for (const tensor::LoopOutput& output : made.loop.outputs)
        outputs.emplace_back(output.dtype, precision, made.shape.sizes);
    for (LocalTensor& output : outputs) to.push_back(output.first());
    for (std::int64_t at = 0; at < made.elements();) {
        const auto most = static_cast<std::uint64_t>(made.elements() - at);
        const auto piece = static_cast<std::int64_t>(pieces == nullptr ? most : 1 + pieces->below(most));
        code.run(from, to, at, at + piece);
        at += piece;
    }
    return outputs;
}

/// The bits of an element; all that is not a number is one.
Element bits_of(const LocalTensor& tensor, std::size_t i) {
    if (const auto* field = std::get_if<2>(&tensor.data)) return (*field)[i].bits;
    const double number = tensor.at(i);
    return verify::RealNumbers::of(std::isnan(number) ? std::nan("") : number);
}

std::string first_difference(const Case& made, const Memory& a, const Memory& b) {
    for (std::size_t k = 0; k < a.size(); ++k) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(made.elements()); ++i) {
            if (bits_of(a[k], i) == bits_of(b[k], i)) continue;
            for (const LoopStep& step : made.loop.steps) {
                if (step.output != k) continue;
                return std::string(name_of(step.op)) + " of " + std::string(name_of(step.from)) +
                       ", element " + std::to_string(i) + ": " + std::to_string(bits_of(a[k], i)) + " and " +
                       std::to_string(bits_of(b[k], i));
            }
        }
    }
    return "";
}

/// Every step as a loop of its own, whose operands are all in memory.
Memory one_by_one(const Case& made, const Memory& tensors, const Arithmetic& arithmetic) {
    Memory steps, outputs(made.loop.outputs.size());
    for (const LoopStep& step : made.loop.steps) {
        Case single{.shape = {made.shape.sizes, {}}};
        single.loop.constants = made.loop.constants;
        LoopStep alone = step;
        std::vector<const void*> from;
        for (LoopOperand& operand : alone.operands) {
            if (operand.kind == Kind::Constant) continue;
            const bool is_step = operand.kind == Kind::Earlier;
            tensor::LoopTensor read;
            read.read.dtype = made.type_of(operand);
            single.shape.strides.push_back(is_step ? run::row_major_strides(made.shape.sizes)
                                                   : made.shape.strides[operand.index]);
            from.push_back(is_step ? steps[operand.index].first() : tensors[operand.index].first());
            operand = {Kind::Tensor, single.loop.tensors.size()};
            single.loop.tensors.push_back(read);
        }
        alone.output = 0;
        single.loop.outputs = {{tensor::ValueId(std::size_t{0}), step.to}};
        single.loop.steps = {alone};
        LocalTensor& made_here = steps.emplace_back(step.to, arithmetic.precision, made.shape.sizes);
        void* const to[] = {made_here.first()};
        run::tile_code(single.loop, single.shape, arithmetic)->run(from, to, 0, made.elements());
        if (step.output) outputs[*step.output] = made_here;
    }
    return outputs;
}

/// The same, element by element, in the verifier's numbers.
Memory verified(const Case& made, const Memory& tensors, Precision precision,
                const verify::Numbers& numbers) {
    Memory outputs;
    for (const tensor::LoopOutput& output : made.loop.outputs)
        outputs.emplace_back(output.dtype, precision, made.shape.sizes);
    std::vector<std::int64_t> index(made.shape.sizes.size(), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(made.elements()); ++i) {
        std::vector<Element> of_step;
        const auto element = [&](const LoopOperand& operand) -> Element {
            if (operand.kind == Kind::Earlier) return of_step[operand.index];
            if (operand.kind == Kind::Constant) {
                const tensor::LoopConstant& constant = made.loop.constants[operand.index];
                return numbers.constant(constant.number, constant.dtype);
            }
            std::int64_t at = 0;
            for (std::size_t d = 0; d < index.size(); ++d)
                at += index[d] * made.shape.strides[operand.index][d];
            return bits_of(tensors[operand.index], static_cast<std::size_t>(at));
        };
        for (const LoopStep& step : made.loop.steps) {
            std::vector<Element> x;
            for (const LoopOperand& operand : step.operands) x.push_back(element(operand));
            Element result = verify::kPoison;
            if (std::ranges::find(x, verify::kPoison) == x.end()) {
                result = step.op == Op::Select ? (numbers.is_true(x[0]) ? x[1] : x[2])
                         : step.op == Op::Cast ? numbers.cast(step.from, step.to, x[0])
                         : x.size() == 1       ? numbers.unary(step.op, step.from, x[0])
                                               : numbers.binary(step.op, step.from, x[0], x[1]);
            }
            of_step.push_back(result);
            if (!step.output) continue;
            LocalTensor& output = outputs[*step.output];
            if (auto* field = std::get_if<2>(&output.data)) {
                (*field)[i] = {result};
            } else {
                output.set(i, verify::RealNumbers::number(result));
            }
        }
        for (std::size_t d = index.size(); d-- > 0 && ++index[d] == made.shape.sizes[d];) index[d] = 0;
    }
    return outputs;
}

}  // namespace

TEST_CASE("loops give what the verifier's numbers give, in f64 and in the field") {
    Rng rng(7);
    for (int round = 0; round < 60; ++round) {
        const Case made = round == 0 ? whole_case(rng) : random_case(rng, 1 + rng.below(25));
        const verify::RealNumbers real(verify::RealNumbers::Precision::F64);
        const verify::FieldNumbers field(17);
        for (const Precision precision : {Precision::F64, Precision::Field}) {
            const Arithmetic arithmetic(precision, 17);
            const verify::Numbers& numbers =
                precision == Precision::F64 ? static_cast<const verify::Numbers&>(real) : field;
            const Memory tensors = drawn_tensors(made, precision, rng);
            const Memory expected = verified(made, tensors, precision, numbers);
            INFO(round);
            for (const run::TileTable* table : run::tile_tables()) {
                const auto code = run::tile_code(made.loop, made.shape, arithmetic, *table);
                CHECK(first_difference(made, outputs_of(*code, made, tensors, precision, &rng), expected) ==
                      "");
            }
        }
    }
}

TEST_CASE("fused, step by step, interpreted and compiled loops have the same bits") {
    Rng rng(11);
    run::KernelCoder coder(KernelMode::Compiled);
    for (int round = 0; round < 4; ++round) {
        const Case made = round == 0 ? whole_case(rng) : random_case(rng, 1 + rng.below(40));
        for (const Precision precision : {Precision::Declared, Precision::F64, Precision::Field}) {
            const Arithmetic arithmetic(precision, 5);
            const Memory tensors = drawn_tensors(made, precision, rng);
            const Memory expected = one_by_one(made, tensors, arithmetic);
            const auto code = coder.code(made.loop, made.shape, arithmetic);
            INFO(round, ", ", static_cast<int>(precision));
            for (const run::TileTable* table : run::tile_tables()) {
                const auto tiles = run::tile_code(made.loop, made.shape, arithmetic, *table);
                CHECK(first_difference(made, outputs_of(*tiles, made, tensors, precision, &rng), expected) ==
                      "");
            }
            CHECK(first_difference(made, outputs_of(*code, made, tensors, precision, &rng), expected) == "");
            CHECK(first_difference(made, outputs_of(*code, made, tensors, precision, nullptr), expected) ==
                  "");
        }
    }
    if (!coder.compiler().why().empty()) MESSAGE("not compiled: ", coder.compiler().why());
}

TEST_CASE("two operations in one pass are rounded one after the other, with numbers among the operands") {
    Rng rng(23);
    const double numbers[] = {0.1, 4, -0x1p-20, 3e38, 0x1p126, 0};
    for (int first = 0; first < 4; ++first) {
        for (int second = 0; second < 4; ++second) {
            for (std::size_t mask = 0; mask < 8; ++mask) {
                const bool is_right = rng.below(2) == 0;
                Case made;
                made.shape.sizes = {2300};
                const auto operand = [&](std::size_t k) -> LoopOperand {
                    if ((mask >> k) % 2 == 0) {
                        made.shape.strides.push_back({1});
                        made.tensor_elements.push_back(2300);
                        made.loop.tensors.emplace_back().read.dtype = DType::F32;
                        return {Kind::Tensor, made.loop.tensors.size() - 1};
                    }
                    made.loop.constants.push_back({numbers[rng.below(std::size(numbers))], DType::F32});
                    return {Kind::Constant, made.loop.constants.size() - 1};
                };
                const auto op = [](int number) {
                    return static_cast<Op>(static_cast<int>(Op::Add) + number);
                };
                const LoopOperand x = operand(0), y = operand(1), z = operand(2), inner{Kind::Earlier, 0};
                made.loop.steps = {{op(first), DType::F32, DType::F32, {x, y}, {}},
                                   {op(second), DType::F32, DType::F32,
                                    is_right ? std::vector{z, inner} : std::vector{inner, z}, 0}};
                made.loop.outputs = {{tensor::ValueId(std::size_t{0}), DType::F32}};
                const Arithmetic arithmetic(Precision::Declared);
                const Memory tensors = drawn_tensors(made, Precision::Declared, rng),
                             expected = one_by_one(made, tensors, arithmetic);
                INFO(first, " ", second, " ", mask, " ", is_right);
                for (const run::TileTable* table : run::tile_tables()) {
                    const auto code = run::tile_code(made.loop, made.shape, arithmetic, *table);
                    CHECK(first_difference(made, outputs_of(*code, made, tensors, Precision::Declared, &rng),
                                           expected) == "");
                }
            }
        }
    }
}

TEST_CASE("an output may be the memory of a dense tensor, which is updated in place") {
    for (const KernelMode mode : {KernelMode::Tiles, KernelMode::Compiled}) {
        // w, m: m' = m + w, w' = w - m', and m, w are read again afterwards.
        Case made;
        made.shape = {{1000}, {{1}, {1}}};
        made.loop.tensors.resize(2);
        made.loop.outputs.resize(3);
        const auto add = [&](Op op, LoopOperand x, LoopOperand y, std::size_t output) {
            made.loop.steps.push_back({op, DType::F32, DType::F32, {x, y}, output});
        };
        const LoopOperand w{Kind::Tensor, 0}, m{Kind::Tensor, 1};
        add(Op::Add, m, w, 1);
        add(Op::Sub, w, {Kind::Earlier, 0}, 0);
        add(Op::Mul, w, m, 2);
        const auto code = run::KernelCoder(mode).code(made.loop, made.shape, Precision::Declared);
        std::vector<float> ws, ms, out(1000);
        for (int i = 0; i < 1000; ++i) {
            ws.push_back(static_cast<float>(i));
            ms.push_back(static_cast<float>(3 * i % 7));
        }
        const std::vector<float> old_w = ws, old_m = ms;
        const void* const from[] = {ws.data(), ms.data()};
        void* const to[] = {ws.data(), ms.data(), out.data()};
        code->run(from, to, 0, 333);
        code->run(from, to, 333, 1000);
        for (std::size_t i = 0; i < 1000; ++i) {
            REQUIRE(ms[i] == old_m[i] + old_w[i]);
            REQUIRE(ws[i] == old_w[i] - (old_m[i] + old_w[i]));
            REQUIRE(out[i] == old_w[i] * old_m[i]);
        }
    }
}
