#pragma once

#include "tensor/program.hpp"
#include "verify/tensor/meaning.hpp"

#include <optional>
#include <string>

namespace tutti::verify {

/// What every rank holds of a value in the end, in arrays of the whole shape; poison where it holds nothing.
struct RankValue {
    std::string name{};
    tensor::Type type{};
    std::vector<std::vector<Element>> of_rank{};
};
struct RankResults {
    std::vector<RankValue> outputs{};
    std::vector<RankValue> states{};  ///< that were updated
};

/// Runs a program on simulated ranks, kernel after kernel, each rank on its own elements only: what it does
/// not have is poison, and an update overwrites the state. Precondition: inputs as for meaning_of.
[[nodiscard]] RankResults run_ranks(const tensor::Program& program, const Arrays& inputs,
                                    const Numbers& numbers);

/// An element that a rank should hold and has otherwise.
struct Difference {
    std::string value{};
    bool state = false;  ///< the next value of that state, else an output
    std::int64_t rank = 0;
    std::vector<std::int64_t> index{};
    bool poison = false;  ///< the rank has nothing there
    Element found = 0, expected = 0;
};

/// How far elements may differ: not at all, or relative to the element or to the largest of its array.
struct Tolerance {
    double relative = 0, of_largest = 0;
};

/// Compares what ranks hold with what a program means, output by output; numbers are compared bit by bit, or
/// as real numbers where there is a tolerance.
[[nodiscard]] std::optional<Difference> difference(const tensor::Mesh& mesh, const RankResults& ranks,
                                                   const Results& meaning,
                                                   const std::optional<Tolerance>& tolerance = {});

}  // namespace tutti::verify
