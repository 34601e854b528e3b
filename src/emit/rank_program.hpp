#pragma once

/// What a C++ program that `tutti convert --to cpp` writes stands on: arrays that a rank holds, ranks as
/// threads of one process, and the collectives between them. The standard library is all that it needs.
///
/// A collective reads what the other ranks of its group have published, between two meetings of the group;
/// sums are added in the order of ranks, so an all-reduce has the bits of a reduce-scatter with a gather.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// What kernels of GPUs call, too (gpu_program.hpp).
#ifdef __CUDACC__
#define TUTTI_ON_GPU __host__ __device__
#else
#define TUTTI_ON_GPU
#endif

namespace tutti::ranks {

using Size = std::int64_t;
using Shape = std::vector<Size>;

// The types of elements. Halves are computed in float and rounded after every operation; with TUTTI_F64 every
// floating value is a double, to compare with.
#ifdef TUTTI_F64
using f64 = double;
using f32 = double;
using f16 = double;
using bf16 = double;
#else
using f64 = double;
using f32 = float;
using f16 = float;
using bf16 = float;
#endif
using i64 = std::int64_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i8 = std::int8_t;
using u8 = std::uint8_t;
using truth = char8_t;  // 0 or 1; a type of its own, so that functions can tell it from u8

/// The nearest number with so many digits (ties to even), whose smallest step is 2^least.
inline float nearest(float x, int digits, int least, float largest) {
    if (!std::isfinite(x) || x == 0) return x;
    const int step = std::max(std::ilogb(x) - digits + 1, least);
    const float rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
    return std::fabs(rounded) > largest ? std::copysign(HUGE_VALF, rounded) : rounded;
}
inline float rounded_f16(float x) { return nearest(x, 11, -24, 65504.0F); }
inline float rounded_bf16(float x) { return nearest(x, 8, -133, 0x1.fep127F); }
inline double rounded_f16(double x) { return x; }
inline double rounded_bf16(double x) { return x; }

/// Who has what of a value, on each axis of the mesh: a dimension that the axis slices, or one of these. Only
/// rank r has it: root(r).
inline constexpr int kReplicated = -1, kLocal = -2;
constexpr int root(int rank) { return -3 - rank; }
struct Type {
    Shape shape{};
    std::vector<int> layout{};
};

inline Size product(const Shape& shape) {
    Size elements = 1;
    for (const Size size : shape) elements *= size;
    return elements;
}

/// Row-major.
template <class T>
struct Array {
    Shape shape{};
    std::vector<T> elements{};
    Array() = default;
    explicit Array(Shape of, T value = T{})
        : shape(std::move(of)), elements(static_cast<std::size_t>(product(shape)), value) {}
    const T* at(Size i) const { return elements.data() + i; }
    T* at(Size i) { return elements.data() + i; }
};

inline Shape strides_of(const Shape& shape) {
    Shape strides(shape.size());
    Size next = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = next;
        next *= shape[d];
    }
    return strides;
}
/// Of an array that is broadcast to a shape: 0 where it has one element.
template <class T>
Shape strides(const Shape& shape, const Array<T>& array) {
    const Shape own = strides_of(array.shape);
    Shape result(shape.size(), 0);
    const std::size_t ahead = shape.size() - own.size();
    for (std::size_t d = 0; d < own.size(); ++d)
        if (array.shape[d] == shape[d + ahead]) result[d + ahead] = own[d];
    return result;
}

/// Walks the rows of a shape: where each begins, in several arrays at once.
class Rows {
  public:
    Rows(const Shape& shape, std::vector<Shape> steps)
        : steps_(std::move(steps)), at_(steps_.size(), 0), shape_(shape) {
        width_ = shape_.empty() ? 1 : shape_.back();
        rows_ = width_ == 0 ? 0 : product(shape_) / width_;
        index_.assign(shape_.size(), 0);
    }
    explicit operator bool() const { return row_ < rows_; }
    Size width() const { return width_; }
    Size first() const { return row_ * width_; }  ///< of the row, in an array of this shape
    Size begin(std::size_t k) const { return at_[k]; }
    Size step(std::size_t k) const { return shape_.empty() ? 0 : steps_[k].back(); }
    Rows& operator++() {
        ++row_;
        for (std::size_t d = shape_.size() < 2 ? 0 : shape_.size() - 1; d-- > 0;) {
            for (std::size_t k = 0; k < at_.size(); ++k) at_[k] += steps_[k][d];
            if (++index_[d] < shape_[d]) break;
            for (std::size_t k = 0; k < at_.size(); ++k) at_[k] -= shape_[d] * steps_[k][d];
            index_[d] = 0;
        }
        return *this;
    }

  private:
    std::vector<Shape> steps_;
    std::vector<Size> at_;
    Shape shape_, index_;
    Size width_ = 1, rows_ = 1, row_ = 0;
};

enum class Reduction { sum, prod, max, min };
template <class T>
TUTTI_ON_GPU T reduced(Reduction kind, T a, T b) {
    if constexpr (std::is_same_v<T, truth>)  // a sum is true if one of both is
        return static_cast<T>(kind == Reduction::sum || kind == Reduction::max ? a | b : a & b);
    switch (kind) {
        case Reduction::prod:
            return static_cast<T>(a * b);
        case Reduction::max:
            return a < b ? b : a;
        case Reduction::min:
            return b < a ? b : a;
        default:
            return static_cast<T>(a + b);
    }
}
template <class T>
T neutral(Reduction kind) {
    using Limits = std::numeric_limits<T>;
    if (std::is_same_v<T, truth>) return static_cast<T>(kind == Reduction::prod || kind == Reduction::min);
    if (kind == Reduction::max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    if (kind == Reduction::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
    return static_cast<T>(kind == Reduction::prod ? 1 : 0);
}
/// Of whole numbers, rounded towards zero; what is divided by 0 has no meaning, and is 0.
template <class T>
TUTTI_ON_GPU T quotient(T a, T b) {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return static_cast<T>(0 - static_cast<std::uint64_t>(a));
    return static_cast<T>(a / b);
}
/// Of whole numbers, whose products wrap: 0 where it is no whole number, or has no meaning.
template <class T>
TUTTI_ON_GPU T power(T a, T b) {
    if (std::is_signed_v<T> && b < 0) {
        const bool is_even = b % 2 == 0;
        return static_cast<T>(a == 1 ? 1 : a != static_cast<T>(-1) ? 0 : is_even ? 1 : -1);
    }
    std::uint64_t result = 1;
    for (auto square = static_cast<std::uint64_t>(a); b != 0; square *= square, b = static_cast<T>(b / 2))
        if (b % 2 != 0) result *= square;
    return static_cast<T>(result);
}

/// Philox4x32-10: counter = number / 4, word = number mod 4, key = seed.
TUTTI_ON_GPU inline double philox(std::uint64_t number, std::uint64_t seed) {
    const std::uint64_t counter = number / 4;
    std::uint32_t x[4] = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32U), 0,
                          0};
    std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
        const std::uint32_t next[4] = {
            static_cast<std::uint32_t>(b >> 32U) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
            static_cast<std::uint32_t>(a >> 32U) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
        for (int word = 0; word < 4; ++word) x[word] = next[word];
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return static_cast<double>(x[number % 4] >> 8U) * 0x1p-24;
}

struct Interval {
    Size begin = 0, end = 0;
};
using Box = std::vector<Interval>;

struct Mesh {
    std::vector<std::pair<std::string, Size>> axes{};
    Size ranks() const {
        Size count = 1;
        for (const auto& axis : axes) count *= axis.second;
        return count;
    }
};

/// What all ranks share.
struct Team {
    explicit Team(Mesh of)
        : mesh(std::move(of)), published(static_cast<std::size_t>(mesh.ranks())), meeting(mesh.ranks()) {}
    Mesh mesh;
    std::vector<const void*> published;
    std::barrier<> meeting;
};

/// One rank, on a thread of its own. All ranks make the same calls in the same order.
class Rank {
  public:
    Rank(Team& team, Size number) : team_(team), number_(number), coordinates_(coordinates_of(number)) {}

    Size number() const { return number_; }
    Size at(std::size_t axis) const { return coordinates_[axis]; }
    const Mesh& mesh() const { return team_.mesh; }

    /// What it has of a value; a sliced dimension has parts of ceil(size / n), the last shorter or empty.
    Box box(const Type& type) const { return box_of(type, coordinates_); }
    Shape local(const Type& type) const { return sizes(box(type)); }
    bool holds(const Type& type) const {
        for (std::size_t a = 0; a < type.layout.size(); ++a)
            if (type.layout[a] < kLocal && root(static_cast<int>(at(a))) != type.layout[a]) return false;
        return true;
    }

    template <class T>
    Array<T> all_reduce(const Array<T>& in, const std::vector<std::size_t>& axes, Reduction kind) {
        return collected(in, axes, in.shape, [&](Array<T>& out, const Array<T>& theirs, Size place, Size) {
            for (std::size_t i = 0; i < out.elements.size(); ++i)
                out.elements[i] =
                    place == 0 ? theirs.elements[i] : reduced(kind, out.elements[i], theirs.elements[i]);
        });
    }
    template <class T>
    Array<T> reduce_scatter(const Array<T>& in, const Type& from, const Type& to,
                            const std::vector<std::size_t>& axes, Reduction kind) {
        const Box whole = box(from), mine = box(to);
        return collected(in, axes, sizes(mine), [&](Array<T>& out, const Array<T>& theirs, Size place, Size) {
            combine(out, mine, theirs, whole, [&](T a, T b) { return place == 0 ? b : reduced(kind, a, b); });
        });
    }
    /// all_gather, and all_to_all from slices to slices: every element that another rank of the group has.
    template <class T>
    Array<T> moved(const Array<T>& in, const Type& from, const Type& to,
                   const std::vector<std::size_t>& axes) {
        const Box mine = box(to);
        return collected(in, axes, sizes(mine), [&](Array<T>& out, const Array<T>& theirs, Size, Size rank) {
            combine(out, mine, theirs, box_of(from, coordinates_of(rank)), [](T, T b) { return b; });
        });
    }
    /// all_to_all between ranks' own values.
    template <class T>
    Array<T> exchanged(const Array<T>& in, std::size_t axis, std::size_t split, std::size_t concat) {
        const Size count = team_.mesh.axes[axis].second, part = in.shape[split] / count;
        Shape shape = in.shape, piece = in.shape;
        shape[split] = piece[split] = part;
        shape[concat] *= count;
        return collected(in, {axis}, shape, [&](Array<T>& out, const Array<T>& theirs, Size place, Size) {
            Box here = whole_box(piece), there = here;
            there[split] = {at(axis) * part, (at(axis) + 1) * part};
            here[concat].begin = place * piece[concat];
            here[concat].end = here[concat].begin + piece[concat];
            copy(out, here, theirs, there);
        });
    }
    template <class T>
    Array<T> shifted(const Array<T>& in, std::size_t axis, Size by) {
        return collected(in, {axis}, in.shape, [&](Array<T>& out, const Array<T>& theirs, Size place, Size) {
            if (place == at(axis) - by) out = theirs;
        });
    }
    template <class T>
    Array<T> broadcast_from(const Array<T>& in, const std::vector<std::size_t>& axes, Size position) {
        return collected(in, axes, in.shape, [&](Array<T>& out, const Array<T>& theirs, Size, Size rank) {
            const std::vector<Size> place = coordinates_of(rank);
            if (std::all_of(axes.begin(), axes.end(),
                            [&](std::size_t axis) { return place[axis] == position; }))
                out = theirs;
        });
    }

    /// The part that it has of `to`, out of its part of `from`.
    template <class T>
    Array<T> cut(const Array<T>& in, const Type& from, const Type& to) const {
        const Box mine = box(to);
        Array<T> out(sizes(mine));
        combine(out, mine, in, box(from), [](T, T b) { return b; });
        return out;
    }

    /// Random numbers, numbered by the element's place in the whole.
    template <class T>
    Array<T> uniform(const Type& type, std::uint64_t seed) const {
        return made<T>(type, [&](const std::vector<Size>& index) {
            Size number = 0;
            for (std::size_t d = 0; d < index.size(); ++d) number = number * type.shape[d] + index[d];
            return static_cast<T>(philox(static_cast<std::uint64_t>(number), seed));
        });
    }
    template <class T>
    Array<T> iota(const Type& type, std::size_t dim) const {
        return made<T>(type, [&](const std::vector<Size>& index) { return static_cast<T>(index[dim]); });
    }

  private:
    std::vector<Size> coordinates_of(Size rank) const {
        std::vector<Size> places(team_.mesh.axes.size());
        for (std::size_t a = places.size(); a-- > 0;) {
            places[a] = rank % team_.mesh.axes[a].second;
            rank /= team_.mesh.axes[a].second;
        }
        return places;
    }
    Box box_of(const Type& type, const std::vector<Size>& coordinates) const {
        Box box;
        for (std::size_t d = 0; d < type.shape.size(); ++d) {
            Interval own{0, type.shape[d]};
            Size nominal = type.shape[d];
            for (std::size_t a = 0; a < type.layout.size(); ++a) {
                if (type.layout[a] != static_cast<int>(d)) continue;
                const Size count = team_.mesh.axes[a].second;
                nominal = (nominal + count - 1) / count;
                own.begin = std::min(own.begin + nominal * coordinates[a], own.end);
                own.end = std::min(own.begin + nominal, own.end);
            }
            box.push_back(own);
        }
        return box;
    }
    static Shape sizes(const Box& box) {
        Shape shape;
        for (const Interval& interval : box) shape.push_back(interval.end - interval.begin);
        return shape;
    }
    static Box whole_box(const Shape& shape) {
        Box box;
        for (const Size size : shape) box.push_back({0, size});
        return box;
    }

    /// Two arrays that are boxes of one whole: each element of both.
    template <class T, class F>
    static void combine(Array<T>& out, const Box& mine, const Array<T>& in, const Box& theirs, const F& f) {
        Box to, from;
        for (std::size_t d = 0; d < mine.size(); ++d) {
            const Size begin = std::max(mine[d].begin, theirs[d].begin),
                       end = std::max(begin, std::min(mine[d].end, theirs[d].end));
            to.push_back({begin - mine[d].begin, end - mine[d].begin});
            from.push_back({begin - theirs[d].begin, end - theirs[d].begin});
        }
        copy(out, to, in, from, f);
    }
    template <class T>
    static void copy(Array<T>& out, const Box& to, const Array<T>& in, const Box& from) {
        copy(out, to, in, from, [](T, T b) { return b; });
    }
    template <class T, class F>
    static void copy(Array<T>& out, const Box& to, const Array<T>& in, const Box& from, const F& f) {
        const Shape out_steps = strides_of(out.shape), in_steps = strides_of(in.shape);
        Size first_out = 0, first_in = 0;
        for (std::size_t d = 0; d < to.size(); ++d) {
            first_out += to[d].begin * out_steps[d];
            first_in += from[d].begin * in_steps[d];
        }
        for (Rows rows(sizes(to), {out_steps, in_steps}); rows; ++rows) {
            T* const a = out.at(first_out + rows.begin(0));
            const T* const b = in.at(first_in + rows.begin(1));
            for (Size j = 0; j < rows.width(); ++j) a[j] = f(a[j], b[j]);
        }
    }

    /// Publishes an array, and lets `f` read those of the group, in the order of its ranks.
    template <class T, class F>
    Array<T> collected(const Array<T>& in, const std::vector<std::size_t>& axes, const Shape& shape,
                       const F& f) {
        team_.published[static_cast<std::size_t>(number_)] = &in;
        team_.meeting.arrive_and_wait();
        Array<T> out(shape);
        Size place = 0;
        for (Size rank = 0; rank < team_.mesh.ranks(); ++rank) {
            const std::vector<Size> other = coordinates_of(rank);
            bool is_member = true;
            for (std::size_t a = 0; a < other.size(); ++a)
                is_member = is_member && (other[a] == coordinates_[a] ||
                                          std::find(axes.begin(), axes.end(), a) != axes.end());
            if (is_member)
                f(out, *static_cast<const Array<T>*>(team_.published[static_cast<std::size_t>(rank)]),
                  place++, rank);
        }
        team_.meeting.arrive_and_wait();
        return out;
    }

    template <class T, class F>
    Array<T> made(const Type& type, const F& f) const {
        const Box mine = box(type);
        Array<T> out(sizes(mine));
        std::vector<Size> index;
        for (const Interval& interval : mine) index.push_back(interval.begin);
        for (T& element : out.elements) {
            element = f(index);
            for (std::size_t d = index.size(); d-- > 0;) {
                if (++index[d] < mine[d].end) break;
                index[d] = mine[d].begin;
            }
        }
        return out;
    }

    Team& team_;
    Size number_;
    std::vector<Size> coordinates_;
};

/// An einsum: "bk,kh->bh". The innermost loop is along the result's last letter.
template <class T, class... Arrays>
Array<T> einsum(const std::string& spec, const Arrays&... in) {
    const std::vector<const Array<T>*> operands{&in...};
    std::map<char, Size> size;
    std::vector<std::map<char, Size>> step(operands.size() + 1);
    std::size_t k = 0, d = 0, arrow = spec.find("->");
    for (std::size_t i = 0; i < arrow; ++i) {
        if (spec[i] == ',') {
            ++k, d = 0;
            continue;
        }
        size[spec[i]] = operands[k]->shape[d];
        step[k + 1][spec[i]] += strides_of(operands[k]->shape)[d++];
    }
    const std::string result = spec.substr(arrow + 2);
    Shape shape;
    for (const char letter : result) shape.push_back(size[letter]);
    Array<T> out(shape);
    for (std::size_t i = 0; i < result.size(); ++i) step[0][result[i]] = strides_of(shape)[i];
    std::string order = result.empty() ? "" : result.substr(0, result.size() - 1);
    for (const auto& letter : size)
        if (result.find(letter.first) == std::string::npos) order += letter.first;
    if (!result.empty()) order += result.back();
    Shape loops;
    std::vector<Shape> steps(step.size());
    for (const char letter : order) {
        loops.push_back(size[letter]);
        for (std::size_t i = 0; i < step.size(); ++i)
            steps[i].push_back(step[i].count(letter) ? step[i][letter] : 0);
    }
    for (Rows rows(loops, steps); rows; ++rows) {
        for (Size j = 0; j < rows.width(); ++j) {
            T factor = *operands[0]->at(rows.begin(1) + j * rows.step(1));
            for (std::size_t i = 1; i < operands.size(); ++i)
                factor *= *operands[i]->at(rows.begin(i + 1) + j * rows.step(i + 1));
            T& element = *out.at(rows.begin(0) + j * rows.step(0));
            element = reduced(Reduction::sum, element, factor);
        }
    }
    return out;
}

template <class T>
Array<T> reduce(const Array<T>& in, const std::vector<std::size_t>& dims, Reduction kind, bool keepdims) {
    Shape kept = in.shape, shape;
    for (const std::size_t dim : dims) kept[dim] = 1;
    Array<T> out(kept, neutral<T>(kind));
    Shape to = strides_of(kept);
    for (const std::size_t dim : dims) to[dim] = 0;
    for (Rows rows(in.shape, {to}); rows; ++rows) {
        for (Size j = 0; j < rows.width(); ++j) {
            T& element = *out.at(rows.begin(0) + j * rows.step(0));
            element = reduced(kind, element, *in.at(rows.first() + j));
        }
    }
    for (std::size_t d = 0; d < kept.size(); ++d)
        if (keepdims || std::find(dims.begin(), dims.end(), d) == dims.end()) shape.push_back(kept[d]);
    out.shape = shape;
    return out;
}

/// `to`: its shape; dimension d of the operand is dimension dims[d] there.
template <class T>
Array<T> arranged(const Array<T>& in, const Shape& to, const std::vector<std::size_t>& dims) {
    Array<T> out(to);
    const Shape own = strides_of(in.shape);
    Shape from(to.size(), 0);
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (in.shape[d] == to[dims[d]]) from[dims[d]] = own[d];
    for (Rows rows(to, {from}); rows; ++rows)
        for (Size j = 0; j < rows.width(); ++j)
            *out.at(rows.first() + j) = *in.at(rows.begin(0) + j * rows.step(0));
    return out;
}

template <class T>
Array<T> reshaped(Array<T> in, Shape shape) {
    in.shape = std::move(shape);
    return in;
}

/// Where a program's arrays come from and go to: a folder with a file NAME.f64 for each input, doubles in the
/// machine's order: one dimension for each axis of the mesh (its size where the value is local there, else
/// 1), then those of the whole tensor. Each rank's part of an output goes to NAME.RANK.f64. Without a folder
/// inputs are drawn, from 0.1 to 1.
class Files {
  public:
    explicit Files(std::string folder) : folder_(std::move(folder)) {}

    template <class T>
    Array<T> input(const Rank& rank, const std::string& name, const Type& type) const {
        if (!rank.holds(type)) return Array<T>(rank.local(type));
        Shape ahead, shape;
        Size first = 0;
        for (std::size_t a = 0; a < type.layout.size(); ++a) {
            const Size count = type.layout[a] == kLocal ? rank.mesh().axes[a].second : 1;
            first = first * count + (count > 1 ? rank.at(a) : 0);
        }
        const Size elements = product(type.shape);
        std::vector<double> numbers(static_cast<std::size_t>(elements));
        if (folder_.empty()) {
            std::uint64_t state = static_cast<std::uint64_t>(first) + 1;
            for (const char letter : name) state = state * 131 + static_cast<unsigned char>(letter);
            for (double& number : numbers) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                number = 0.1 + 0.9 * static_cast<double>(state >> 11U) * 0x1p-53;
            }
        } else {
            std::ifstream file(folder_ + "/" + name + ".f64", std::ios::binary);
            const auto bytes = static_cast<std::streamsize>(numbers.size() * sizeof(double));
            file.seekg(static_cast<std::streamoff>(first * elements * static_cast<Size>(sizeof(double))));
            if (!file.read(reinterpret_cast<char*>(numbers.data()), bytes))
                throw std::runtime_error(folder_ + "/" + name + ".f64: cannot be read, or is too short");
        }
        Array<T> whole(type.shape);
        std::transform(numbers.begin(), numbers.end(), whole.elements.begin(),
                       [](double number) { return static_cast<T>(number); });
        return rank.cut(whole, {type.shape, {}}, type);
    }

    template <class T>
    void output(const Rank& rank, const std::string& name, const Type& type, const Array<T>& array) const {
        if (folder_.empty() || !rank.holds(type)) return;
        std::ofstream file(folder_ + "/" + name + "." + std::to_string(rank.number()) + ".f64",
                           std::ios::binary);
        for (const T element : array.elements) {
            const auto number = static_cast<double>(element);
            file.write(reinterpret_cast<const char*>(&number), sizeof number);
        }
        if (!file.flush()) throw std::runtime_error(folder_ + ": " + name + " cannot be written");
    }

  private:
    std::string folder_;
};

/// PROGRAM [FOLDER [CALLS]]: runs every rank on a thread; `body` reads its inputs, calls the step that it is
/// given to time, and writes its outputs. Prints the time of the last call.
inline int main(int argc, char** argv, const Mesh& mesh,
                const std::function<void(Rank&, const Files&,
                                         const std::function<void(const std::function<void()>&)>&)>& body) {
    const Files files(argc > 1 ? argv[1] : "");
    const int calls = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1;
    Team team(mesh);
    double seconds = 0;
    bool failed = false;
    const auto work = [&](Size number) {
        Rank rank(team, number);
        try {
            body(rank, files, [&](const std::function<void()>& step) {
                for (int call = 0; call < calls; ++call) {
                    team.meeting.arrive_and_wait();
                    const auto begin = std::chrono::steady_clock::now();
                    step();
                    team.meeting.arrive_and_wait();
                    if (number == 0)
                        seconds =
                            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
                }
            });
        } catch (const std::exception& error) {
            std::fprintf(stderr, "rank %lld: %s\n", static_cast<long long>(number), error.what());
            failed = true;
            std::exit(2);  // the others would wait for it
        }
    };
    std::vector<std::thread> threads;
    for (Size number = 0; number < mesh.ranks(); ++number) threads.emplace_back(work, number);
    for (std::thread& thread : threads) thread.join();
    std::printf("%lld ranks: %.6f s\n", static_cast<long long>(mesh.ranks()), seconds);
    return failed ? 1 : 0;
}

}  // namespace tutti::ranks
