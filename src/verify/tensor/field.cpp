#include "verify/tensor/field.hpp"

#include "core/rng.hpp"
#include "verify/tensor/field_numbers.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace tutti::verify {
namespace {

using tensor::Program;

/// Both programs at the same sizes; nothing where one of them does not type there.
std::optional<std::pair<Program, Program>> at(const Program& original, const Program& changed,
                                              const std::vector<std::int64_t>& axes,
                                              const std::map<std::string, std::int64_t>& sizes) {
    try {
        return std::pair(tensor::at_sizes(original, axes, sizes), tensor::at_sizes(changed, axes, sizes));
    } catch (const tensor::Refusal&) {
        return std::nullopt;
    }
}

class Runs {
  public:
    Runs(const Program& original, const Program& changed, const RunOptions& options)
        : original_(original), changed_(changed), options_(options), rng_(options.seed) {}

    RunReport run(const std::function<std::unique_ptr<Numbers>(std::uint64_t)>& numbers,
                  const std::optional<Tolerance>& tolerance, const RankRunner& runner = {}) {
        for (std::size_t run = 0; run < options_.salts; ++run) {
            const auto programs = sized(run);
            if (!programs) continue;
            const std::uint64_t salt = mixed(options_.seed, run);
            const std::unique_ptr<Numbers> kind = numbers(salt);
            const auto& [original, changed] = *programs;
            const Arrays inputs = drawn_inputs(original, *kind);
            const Results meaning = meaning_of(original, inputs, *kind);
            ++report_.runs;
            const RankResults results =
                runner ? runner(changed, inputs, salt) : run_ranks(changed, inputs, *kind);
            report_.difference = difference(changed.mesh(), results, meaning, tolerance);
            if (report_.difference) break;
        }
        return std::move(report_);
    }

  private:
    /// The programs for the run of that number: other sizes are tried where they do not type.
    std::optional<std::pair<Program, Program>> sized(std::size_t run) {
        constexpr int kTries = 24;
        for (int attempt = 0; attempt < kTries; ++attempt) {
            // The first runs have 1, 2, 3, 5 and 4 ranks on every axis, the others any number on each.
            constexpr std::int64_t kRanks[] = {2, 3, 1, 5, 4};
            report_.axes = options_.axes;
            if (report_.axes.empty()) {
                for (std::size_t a = 0; a < original_.mesh().axes().size(); ++a) {
                    const bool first = run < std::size(kRanks) && attempt < kTries / 2;
                    report_.axes.push_back(first ? kRanks[run]
                                                 : 1 + static_cast<std::int64_t>(rng_.below(5)));
                }
            }
            // Small, so that parts are short or empty; multiples of the ranks where others do not type.
            const std::int64_t unit = attempt < kTries / 4 ? 1 : *std::ranges::max_element(report_.axes);
            report_.sizes.clear();
            for (const auto& [name, size] : original_.sizes())
                report_.sizes[name] = unit * (1 + static_cast<std::int64_t>(rng_.below(unit == 1 ? 9 : 2)));
            if (attempt == kTries - 1 && options_.axes.empty()) {
                report_.axes.clear();
                for (const auto& axis : original_.mesh().axes()) report_.axes.push_back(axis.size);
                report_.sizes = original_.sizes();
            }
            for (const auto& [name, size] : options_.sizes) report_.sizes[name] = size;
            if (auto programs = at(original_, changed_, report_.axes, report_.sizes)) return programs;
            ++report_.not_typed;
        }
        return std::nullopt;
    }

    const Program& original_;
    const Program& changed_;
    const RunOptions& options_;
    Rng rng_;
    RunReport report_{};
};

}  // namespace

RunReport field_run(const Program& original, const Program& changed, const RunOptions& options,
                    const RankRunner& runner) {
    return Runs(original, changed, options)
        .run([](std::uint64_t salt) { return std::make_unique<FieldNumbers>(salt); }, std::nullopt, runner);
}

RunReport real_run(const Program& original, const Program& changed, const RunOptions& options) {
    return Runs(original, changed, options)
        .run(
            [](std::uint64_t seed) {
                return std::make_unique<RealNumbers>(RealNumbers::Precision::F64, seed);
            },
            Tolerance{0, 1e-9});
}

}  // namespace tutti::verify
