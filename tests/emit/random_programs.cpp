// Writes random tensor programs with random schedules and the numbers that they mean, a line of JSON for
// each:
//
//     tutti_random_programs COUNT [SEED] > cases.jsonl
//     {"name": "seed 7", "program": {...}, "steps": [...], "numbers": {"mesh", "sizes", "inputs", "outputs",
//     "names"}, "layouts": [...]}
//
// tests/emit/cpp/run.py, tests/emit/cuda/run.py and tests/torch/run.py run them with --cases. Numbers are
// those of the verifier in f64; "names" and "layouts" say for each output what it is called after the steps,
// and what ranks hold of it. What rounding can change is left out: programs whose numbers are others when
// every rounding is made a thousand million times as large, those that are not finite or large, and those
// with a cast to a type that cannot hold the number.

#include "io/json_text.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "tensor/refusal.hpp"
#include "tests/support/random_tensor_program.hpp"
#include "verify/tensor/meaning.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

namespace tutti::test {
namespace {

using tensor::DType, tensor::Op, tensor::Program, verify::RealNumbers;

/// f64, but what is rounded is off by up to 1e-7 of itself, each time another part.
class Shaken final : public verify::Numbers {
  public:
    explicit Shaken(std::uint64_t seed) : rng_(seed) {}

    verify::Element constant(double number, DType dtype) const override {
        return exact_.constant(number, dtype);
    }
    verify::Element count(std::int64_t number, DType dtype) const override {
        return exact_.count(number, dtype);
    }
    verify::Element uniform(std::int64_t seed, std::int64_t element) const override {
        return exact_.uniform(seed, element);
    }
    verify::Element unary(Op op, DType dtype, verify::Element x) const override {
        return shaken(dtype, exact_.unary(op, dtype, x));
    }
    verify::Element binary(Op op, DType dtype, verify::Element x, verify::Element y) const override {
        const bool decides = op >= Op::Lt && op <= Op::Or;
        return shaken(decides ? DType::Bool : dtype, exact_.binary(op, dtype, x, y));
    }
    bool is_true(verify::Element x) const override { return exact_.is_true(x); }
    verify::Element cast(DType from, DType to, verify::Element x) const override {
        fits_ = fits_ && can_hold(to, RealNumbers::number(x));
        return exact_.cast(from, to, x);
    }
    verify::Element combine(tensor::Reduction reduction, DType dtype, verify::Element x,
                            verify::Element y) const override {
        return shaken(dtype, exact_.combine(reduction, dtype, x, y));
    }
    verify::Element nothing(tensor::Reduction reduction) const override { return exact_.nothing(reduction); }
    verify::Element drawn(std::string_view input, std::int64_t element, DType dtype,
                          bool positive) const override {
        return exact_.drawn(input, element, dtype, positive);
    }

    /// Whether all casts have a meaning.
    [[nodiscard]] bool fits() const { return fits_; }

  private:
    static bool can_hold(DType dtype, double x) {
        const auto within = [&](double least, double most) { return x > least - 1 && x < most + 1; };
        switch (dtype) {
            case DType::I64:
                return within(-0x1p62, 0x1p62);
            case DType::I32:
                return within(-0x1p31, 0x1p31 - 1);
            case DType::U32:
                return within(0, 0x1p32 - 1);
            case DType::I8:
                return within(-128, 127);
            case DType::U8:
                return within(0, 255);
            default:
                return true;
        }
    }

    verify::Element shaken(DType dtype, verify::Element x) const {
        if (!tensor::is_floating(dtype)) return x;
        const double part = static_cast<double>(rng_.below(2001)) / 1000 - 1;
        return RealNumbers::of(RealNumbers::number(x) * (1 + 1e-7 * part));
    }

    RealNumbers exact_{RealNumbers::Precision::F64};
    mutable Rng rng_;
    mutable bool fits_ = true;
};

double largest(const verify::Array& array) {
    double most = 1;
    for (const verify::Element element : array.elements)
        most = std::max(most, std::abs(RealNumbers::number(element)));
    return most;
}

/// Whether both are the same but for a little of the largest element, and neither is large nor without an
/// end.
bool agree(const verify::Array& a, const verify::Array& b) {
    constexpr double kLarge = 1e6, kClose = 1e-4;
    const double scale = largest(a);
    return std::ranges::equal(a.elements, b.elements, [&](verify::Element x, verify::Element y) {
        const double first = RealNumbers::number(x), second = RealNumbers::number(y);
        return std::abs(first) < kLarge && std::abs(first - second) <= kClose * scale;
    });
}

io::Json nested(const verify::Array& array) {
    std::vector<io::Json> parts;
    for (const verify::Element element : array.elements) parts.emplace_back(RealNumbers::number(element));
    for (std::size_t d = array.shape.size(); d-- > 0;) {
        const auto size = static_cast<std::size_t>(array.shape[d]);
        std::vector<io::Json> joined;
        for (std::size_t i = 0; i < parts.size(); i += size) {
            io::Json list = io::Json::array();
            for (std::size_t k = i; k < i + size; ++k) list.push_back(std::move(parts[k]));
            joined.push_back(std::move(list));
        }
        parts = std::move(joined);
    }
    return std::move(parts.at(0));
}

/// The program on up to five ranks, with sizes that mostly do not divide; none if it does not type there.
std::optional<Program> resized(const Program& program, Rng& rng) {
    constexpr std::array<std::array<std::int64_t, 2>, 6> kMeshes{
        {{2, 1}, {2, 2}, {1, 2}, {3, 1}, {1, 1}, {1, 3}}};
    std::vector<std::int64_t> axes;
    if (program.mesh().axes().size() == 1) {
        axes.push_back(1 + static_cast<std::int64_t>(rng.below(5)));
    } else {
        const auto& mesh = kMeshes[rng.below(kMeshes.size())];
        axes.assign(mesh.begin(), mesh.end());
    }
    try {
        return tensor::at_sizes(program, axes,
                                {{"N", 1 + static_cast<std::int64_t>(rng.below(9))},
                                 {"M", 1 + static_cast<std::int64_t>(rng.below(7))},
                                 {"K", 1 + static_cast<std::int64_t>(rng.below(5))}});
    } catch (const tensor::Refusal&) {
        return std::nullopt;
    }
}

std::optional<io::Json> random_case(std::uint64_t seed) {
    Rng rng(seed);
    const Program drawn = random_tensor_program(rng, 8 + rng.below(24));
    const Program original = resized(drawn, rng).value_or(drawn);
    auto [form, steps] = random_form(original, rng);
    for (std::uint64_t more = rng.below(4); more > 0; --more) {
        RandomForm next = random_form(form, rng);
        form = std::move(next.program);
        steps.insert(steps.end(), next.steps.begin(), next.steps.end());
    }
    const RealNumbers exact(RealNumbers::Precision::F64, seed);
    const verify::Arrays inputs = verify::drawn_inputs(original, exact);
    const verify::Results meaning = verify::meaning_of(original, inputs, exact);
    const Shaken other(seed);
    const verify::Results shaken = verify::meaning_of(original, inputs, other);
    if (!other.fits() || !std::ranges::equal(meaning.outputs, shaken.outputs, agree)) return std::nullopt;
    io::Json mesh, sizes, given = io::Json::object(), outputs, names, layouts, changes = io::Json::array();
    for (const auto& axis : original.mesh().axes()) mesh[axis.name] = axis.size;
    for (const auto& [name, size] : original.sizes()) sizes[name] = size;
    for (const auto& [name, array] : inputs) given[name] = nested(array);
    for (std::size_t i = 0; i < meaning.outputs.size(); ++i) {
        outputs[original[original.outputs()[i]].name] = nested(meaning.outputs[i]);
        names.push_back(form[form.outputs()[i]].name);
        layouts.push_back(io::write_layouts(form[form.outputs()[i]].type.layout, form.mesh()));
    }
    for (const tensor::Step& step : steps) changes.push_back(io::write_tensor_step(step));
    return io::Json{
        {"name", fmt::format("seed {}", seed)},
        {"program", io::write_tensor_program(original)},
        {"steps", changes},
        {"numbers",
         {{"mesh", mesh}, {"sizes", sizes}, {"inputs", given}, {"outputs", outputs}, {"names", names}}},
        {"layouts", layouts}};
}

}  // namespace
}  // namespace tutti::test

int main(int argc, char** argv) {
    try {
        const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
        std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
        for (std::uint64_t written = 0; written < count; ++seed) {
            if (const auto made = tutti::test::random_case(seed)) {
                std::puts(tutti::io::json_line(*made).c_str());
                ++written;
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
