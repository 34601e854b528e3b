// Einsums and matrix products: exact on whole numbers whichever way they are done, and the same bits by
// parts.

#include "run/contraction.hpp"

#include "core/rng.hpp"
#include "run/matrix_product.hpp"
#include "run/rank_kernels.hpp"
#include "tensor/infer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

using namespace tutti;
using run::Arithmetic, run::Blas, run::LocalTensor, run::Matrix, run::MemoryView, run::Precision;
using tensor::DType;

namespace {

/// sgemm and dgemm of a library, as Fortran has them, in the simplest way.
template <class T, class Integer>
void fortran_product(const char* a_order, const char* b_order, const Integer* rows, const Integer* columns,
                     const Integer* inner, const T* alpha, const T* a, const Integer* a_leading, const T* b,
                     const Integer* b_leading, const T* beta, T* c, const Integer* c_leading) {
    const auto at = [](char order, Integer row, Integer column, Integer leading) {
        return order == 'N' ? row + column * leading : column + row * leading;
    };
    for (Integer i = 0; i < *rows; ++i) {
        for (Integer j = 0; j < *columns; ++j) {
            T sum = 0;
            for (Integer p = 0; p < *inner; ++p)
                sum += a[at(*a_order, i, p, *a_leading)] * b[at(*b_order, p, j, *b_leading)];
            T& to = c[i + j * *c_leading];
            to = *alpha * sum + *beta * to;
        }
    }
}

template <class Integer>
Blas plain_library() {
    return Blas({reinterpret_cast<void*>(fortran_product<float, Integer>),
                 reinterpret_cast<void*>(fortran_product<double, Integer>), sizeof(Integer) == 8});
}

/// A tensor of small whole numbers, whose dimensions lie in memory in any order.
struct Stored {
    LocalTensor tensor{};
    MemoryView view{};
};
Stored stored(Rng& rng, const std::vector<std::int64_t>& shape, DType dtype, Precision precision) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    if (rng.below(2) == 0) rng.shuffle(order);
    Stored made{LocalTensor(dtype, precision, {run::product(shape)}), {}};
    made.view = run::memory_of(made.tensor);
    made.view.shape = shape;
    made.view.strides.assign(shape.size(), 1);
    std::int64_t step = 1;
    for (std::size_t d = order.size(); d-- > 0;) {
        made.view.strides[order[d]] = step;
        step *= shape[order[d]];
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(run::product(shape)); ++i) {
        const std::uint64_t number = rng.below(4);
        if (auto* field = std::get_if<2>(&made.tensor.data)) {
            (*field)[i] = {number};
        } else {
            made.tensor.set(i, static_cast<double>(number));
        }
    }
    return made;
}

std::int64_t number_at(const Stored& stored, std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    if (const auto* field = std::get_if<2>(&stored.tensor.data))
        return static_cast<std::int64_t>((*field)[i].bits);
    return static_cast<std::int64_t>(stored.tensor.at(i));
}

/// The einsum in whole numbers: for every index of all letters a product.
std::vector<std::int64_t> expected(const tensor::EinsumSpec& spec, const std::map<char, std::int64_t>& sizes,
                                   std::span<const Stored> operands, const MemoryView& result) {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(run::product(result.shape)), 0);
    std::map<char, std::int64_t> index;
    for (const auto& [letter, size] : sizes) index[letter] = 0;
    const auto offset = [&](const std::string& letters, const std::vector<std::int64_t>& strides) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < letters.size(); ++d) at += index[letters[d]] * strides[d];
        return at;
    };
    while (true) {
        std::int64_t product = 1;
        for (std::size_t k = 0; k < operands.size(); ++k)
            product *= number_at(operands[k], offset(spec.operands[k], operands[k].view.strides));
        sums[static_cast<std::size_t>(offset(spec.result, result.strides))] += product;
        auto at = index.begin();
        while (at != index.end() && ++at->second == sizes.at(at->first)) (at++)->second = 0;
        if (at == index.end()) return sums;
    }
}

}  // namespace

TEST_CASE("einsums are exact on whole numbers, in any storage, by loops, blocks and a library") {
    Rng rng(3);
    const Blas none, narrow = plain_library<std::int32_t>(), wide = plain_library<std::int64_t>();
    const char* const specs[] = {"bk,kh->bh",       "kb,hk->hb", "bik,bkj->bij", "bhik,bhjk->bhij", "ik,k->i",
                                 "i,j->ij",         "ijk,ijk->", "ijk,kjl->il",  "ik,kj,jl->il",    "ij->ji",
                                 "abcd,cdef->abef", "ij->",      "ik,jk->jik",   "bij,bjk->bki"};
    for (const char* text : specs) {
        const tensor::EinsumSpec spec = tensor::parse_einsum(text);
        for (int round = 0; round < 12; ++round) {
            std::map<char, std::int64_t> sizes;
            const std::uint64_t most =
                spec.operands.size() == 2 && spec.result.size() == 2 && round < 4 ? 60 : 7;
            const auto size_of = [&](char letter) {
                if (!sizes.contains(letter)) sizes[letter] = static_cast<std::int64_t>(1 + rng.below(most));
                return sizes[letter];
            };
            const Precision precision = round % 3 == 0 ? Precision::Field : Precision::Declared;
            const DType dtype = round % 3 == 1 ? DType::F64 : DType::F32;
            std::vector<Stored> operands;
            std::vector<MemoryView> views;
            for (const std::string& letters : spec.operands) {
                std::vector<std::int64_t> shape;
                for (const char letter : letters) shape.push_back(size_of(letter));
                operands.push_back(stored(rng, shape, dtype, precision));
                operands.back().view.first = static_cast<std::byte*>(operands.back().tensor.first());
            }
            for (Stored& operand : operands) {
                operand.view.first = static_cast<std::byte*>(operand.tensor.first());
                views.push_back(operand.view);
            }
            std::vector<std::int64_t> shape;
            for (const char letter : spec.result) shape.push_back(size_of(letter));
            Stored result = stored(rng, shape, dtype, precision);
            result.view.first = static_cast<std::byte*>(result.tensor.first());
            tensor::Value value;
            value.spec = text;
            value.type.dtype = dtype;
            const Blas* const libraries[] = {&none, &narrow, &wide};
            run::EinsumMemory memory;
            if (const auto k = rng.below(3); k < spec.operands.size()) memory.kept = k;
            const Blas* const library = libraries[rng.below(3)];
            for (std::size_t times = memory.kept ? 2 : 1; times > 0; --times)
                run::einsum(value, views, result.view, Arithmetic(precision, 1), memory, library);
            const std::vector<std::int64_t> right = expected(spec, sizes, operands, result.view);
            INFO(text, ", round ", round);
            for (std::size_t i = 0; i < right.size(); ++i)
                REQUIRE(number_at(result, static_cast<std::int64_t>(i)) == right[i]);
        }
    }
}

TEST_CASE("products have the bits of three plain loops, and so has every part of one") {
    Rng rng(5);
    run::ProductMemory memory;
    for (int round = 0; round < 30; ++round) {
        const auto below = [&](std::uint64_t most) { return static_cast<std::int64_t>(1 + rng.below(most)); };
        const run::ProductSizes sizes{below(150), below(60), below(round < 5 ? 700 : 60)};
        const auto count = [](std::int64_t rows, std::int64_t columns) {
            return static_cast<std::size_t>(rows * columns);
        };
        const auto drawn = [&](std::size_t elements) {
            std::vector<float> numbers(elements);
            for (float& number : numbers) number = static_cast<float>(rng.below(1000)) / 777.0F - 0.5F;
            return numbers;
        };
        const std::vector<float> a = drawn(count(sizes.rows, sizes.inner)),
                                 b = drawn(count(sizes.inner, sizes.columns));
        Matrix<const float> left = rng.below(2) == 0 ? Matrix<const float>{a.data(), sizes.inner, 1}
                                                     : Matrix<const float>{a.data(), 1, sizes.rows},
                            right = rng.below(2) == 0 ? Matrix<const float>{b.data(), sizes.columns, 1}
                                                      : Matrix<const float>{b.data(), 1, sizes.inner};
        std::vector<float> plain(count(sizes.rows, sizes.columns), 0), blocks = plain, parts = plain;
        for (std::int64_t i = 0; i < sizes.rows; ++i) {
            for (std::int64_t j = 0; j < sizes.columns; ++j) {
                for (std::int64_t p = 0; p < sizes.inner; ++p)
                    plain[static_cast<std::size_t>(i * sizes.columns + j)] +=
                        left.first[i * left.row_step + p * left.column_step] *
                        right.first[p * right.row_step + j * right.column_step];
            }
        }
        memory.keeps_b = false;
        run::multiply(sizes, left, right, Matrix<float>{blocks.data(), sizes.columns, 1}, memory);
        CHECK(blocks == plain);
        const std::int64_t cut = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(sizes.rows)));
        memory.keeps_b = rng.below(2) == 0;
        memory.has_b = false;
        run::multiply({cut, sizes.columns, sizes.inner}, left, right,
                      Matrix<float>{parts.data(), sizes.columns, 1}, memory);
        if (memory.has_b) right.first = nullptr;  // it is not read again
        run::multiply({sizes.rows - cut, sizes.columns, sizes.inner},
                      {left.first + cut * left.row_step, left.row_step, left.column_step}, right,
                      Matrix<float>{parts.data() + cut * sizes.columns, sizes.columns, 1}, memory);
        CHECK(parts == plain);
    }
}

TEST_CASE("what a library cannot take is refused, and nothing is done") {
    std::vector<double> numbers(64, 1), result(16, 0);
    const Matrix<const double> strided{numbers.data(), 16, 2}, dense{numbers.data(), 4, 1};
    const Matrix<double> to{result.data(), 4, 1};
    CHECK_FALSE(run::multiply_by(plain_library<std::int32_t>(), {4, 4, 4}, strided, dense, to));
    CHECK(result == std::vector<double>(16, 0));
    CHECK(run::multiply_by(plain_library<std::int32_t>(), {4, 4, 4}, dense, dense, to));
    CHECK(result == std::vector<double>(16, 4));
}

TEST_CASE("sums of long rows of f32 are added up in f64") {
    constexpr std::int64_t kElements = 3'000'001;
    LocalTensor numbers(DType::F32, Precision::Declared, {kElements}),
        sum(DType::F32, Precision::Declared, {});
    for (std::size_t i = 0; i < static_cast<std::size_t>(kElements); ++i) numbers.set(i, 0.1);
    tensor::Value value;
    value.op = tensor::Op::Reduce;
    value.dims = {0};
    run::reduce(value, run::memory_of(numbers), run::memory_of(sum), Precision::Declared);
    CHECK(sum.at(0) == static_cast<float>(static_cast<double>(0.1F) * static_cast<double>(kElements)));
}
