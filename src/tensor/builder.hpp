#pragma once

#include "tensor/program.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::tensor {

class Builder;

/// A value of a program that is being built. Operators and functions make further values, named after
/// their operation ("mul1", "mul2", …); `named` gives another name.
class Expr {
  public:
    [[nodiscard]] ValueId id() const { return id_; }
    [[nodiscard]] const Type& type() const;
    [[nodiscard]] Builder& builder() const { return *builder_; }

    Expr named(const std::string& name) const;

    [[nodiscard]] Expr cast(DType dtype) const;
    [[nodiscard]] Expr reduce(Reduction reduction, std::vector<std::int64_t> dims,
                              bool keepdims = false) const;
    [[nodiscard]] Expr transpose(std::vector<std::int64_t> perm) const;
    [[nodiscard]] Expr slice(const std::string& axis, std::int64_t dim) const;
    [[nodiscard]] Expr all_reduce(const std::vector<std::string>& axes,
                                  Reduction reduction = Reduction::Sum) const;
    [[nodiscard]] Expr all_reduce(const std::string& axis) const {
        return all_reduce(std::vector<std::string>{axis});
    }
    [[nodiscard]] Expr reduce_scatter(const std::vector<std::string>& axes, std::int64_t dim,
                                      Reduction reduction = Reduction::Sum) const;
    [[nodiscard]] Expr all_gather(const std::vector<std::string>& axes) const;
    [[nodiscard]] Expr all_to_all(const std::string& axis, std::int64_t split, std::int64_t concat) const;
    [[nodiscard]] Expr shift(const std::string& axis, std::int64_t by) const;

  private:
    friend class Builder;
    Expr(Builder& builder, ValueId id) : builder_(&builder), id_(id) {}
    Builder* builder_;
    ValueId id_;
};

/// Builds programs in C++:
///
///     Builder b("adam", {{"data", 8}}, {{"N", 340'000'000}});
///     const Expr g = b.input("g", {"N"}, DType::F32, {{"data", Layout::local()}});
///     const Expr w = b.state("w", {"N"}, DType::F32, Builder::Fixed), m = b.state("m", {"N"});
///     const Expr a = g.all_reduce("data") / 8, m1 = 0.9 * m + 0.1 * a;
///     b.update(w, w - 1e-3 * m1);
///     b.update(m, m1);
///     const Program program = b.program();
///
/// Every call throws Refusal at once where the rules refuse the value.
class Builder {
  public:
    /// A size or its name.
    struct Extent : Size {
        Extent(const char* size_name) : Size{0, size_name} {}             // NOLINT
        Extent(std::string size_name) : Size{0, std::move(size_name)} {}  // NOLINT
        Extent(int number) : Size{number, {}} {}                          // NOLINT
        Extent(std::int64_t number) : Size{number, {}} {}                 // NOLINT
    };
    using Shape = std::vector<Extent>;
    using AxisLayouts = std::vector<std::pair<std::string, Layout>>;
    enum Storage { Free, Fixed };

    Builder(std::string name, std::vector<Mesh::Axis> axes, std::map<std::string, std::int64_t> sizes = {});

    Expr input(const std::string& name, const Shape& shape, DType dtype = DType::F32,
               const AxisLayouts& layout = {});
    Expr state(const std::string& name, const Shape& shape, DType dtype = DType::F32, Storage storage = Free,
               const AxisLayouts& layout = {});
    Expr constant(double number, DType dtype = DType::F32);
    Expr uniform(const Shape& shape, std::int64_t seed, DType dtype = DType::F32);
    Expr iota(const Shape& shape, std::int64_t dim, DType dtype = DType::I32);
    Expr einsum(const std::string& spec, const std::vector<Expr>& operands);
    /// Any pointwise operation.
    Expr apply(Op op, const std::vector<Expr>& operands);
    /// The next value of the state; an output of the program.
    Expr update(Expr state, Expr value);
    void output(Expr value);

    /// Any value; `value.name` may be empty.
    Expr add(Value value);
    [[nodiscard]] std::vector<AxisId> axes(const std::vector<std::string>& names) const;

    [[nodiscard]] Program program() const { return Program(parts_); }

  private:
    friend class Expr;
    [[nodiscard]] std::vector<Size> sizes_of(const Shape& shape) const;
    Expr make_input(const std::string& name, const Shape& shape, DType dtype, const AxisLayouts& layout,
                    bool is_state, bool is_fixed);

    ProgramParts parts_;
    std::map<std::string, std::size_t> numbers_;  ///< the last number in a name of each operation
    std::set<std::string> names_;
};

[[nodiscard]] Expr operator-(Expr a);
[[nodiscard]] Expr operator+(Expr a, Expr b);
[[nodiscard]] Expr operator-(Expr a, Expr b);
[[nodiscard]] Expr operator*(Expr a, Expr b);
[[nodiscard]] Expr operator/(Expr a, Expr b);
[[nodiscard]] Expr operator+(Expr a, double b);
[[nodiscard]] Expr operator-(Expr a, double b);
[[nodiscard]] Expr operator*(Expr a, double b);
[[nodiscard]] Expr operator/(Expr a, double b);
[[nodiscard]] Expr operator+(double a, Expr b);
[[nodiscard]] Expr operator-(double a, Expr b);
[[nodiscard]] Expr operator*(double a, Expr b);
[[nodiscard]] Expr operator/(double a, Expr b);
[[nodiscard]] Expr sqrt(Expr a);
[[nodiscard]] Expr exp(Expr a);
[[nodiscard]] Expr tanh(Expr a);
[[nodiscard]] Expr max(Expr a, Expr b);
[[nodiscard]] Expr select(Expr condition, Expr a, Expr b);

}  // namespace tutti::tensor
