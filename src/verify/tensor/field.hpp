#pragma once

#include "tensor/program.hpp"
#include "verify/tensor/rank_machine.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::verify {

/// At which sizes programs are run. Nothing given: eight runs with a salt each, with one to five ranks on
/// every axis and small sizes that mostly do not divide.
struct RunOptions {
    std::vector<std::int64_t> axes{};             ///< ranks of each axis; empty: several
    std::map<std::string, std::int64_t> sizes{};  ///< of the named sizes; the others vary
    std::size_t salts = 8;
    std::uint64_t seed = 1;
};

struct RunReport {
    std::size_t runs = 0;
    std::size_t not_typed = 0;  ///< sizes that were tried and at which one of the programs does not type
    std::optional<Difference> difference{};
    /// Of the last run: where the difference is, if there is one.
    std::vector<std::int64_t> axes{};
    std::map<std::string, std::int64_t> sizes{};
};

/// What the ranks of a program end with, in the field of that salt.
using RankRunner =
    std::function<RankResults(const tensor::Program& program, const Arrays& inputs, std::uint64_t salt)>;

/// Runs the second program on simulated ranks (or by `runner`) and compares it with what the first means, in
/// the field: no difference is tolerated.
[[nodiscard]] RunReport field_run(const tensor::Program& original, const tensor::Program& changed,
                                  const RunOptions& options = {}, const RankRunner& runner = {});
/// The same in f64, within 1e-9 of the largest element.
[[nodiscard]] RunReport real_run(const tensor::Program& original, const tensor::Program& changed,
                                 const RunOptions& options = {});

}  // namespace tutti::verify
