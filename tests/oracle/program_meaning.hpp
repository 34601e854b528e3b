#pragma once

#include "lang/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tutti::oracle {

/// How often each input chunk, by rank and number, is in a place. Empty: the place holds nothing.
using Ingredients = std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t>;

/// What a chunk program means: its verbs run one after the other on lists of contributions. Written from
/// docs/chunk-programs.md and the table of collectives in docs/msccl-xml.md; of lang it takes the program as
/// it was read, with places by any of their names.
class ProgramMeaning {
  public:
    explicit ProgramMeaning(const lang::Trace& program);

    /// The first verb that cannot be meant; what follows was not run.
    [[nodiscard]] std::optional<std::size_t> refused() const { return refused_; }
    [[nodiscard]] const Ingredients& at(const lang::Slot& slot) const;
    /// Rank and number of the output chunks that are not what the collective wants; of a custom one, those
    /// that hold something twice.
    [[nodiscard]] std::set<std::pair<std::uint32_t, std::uint32_t>> wrong_outputs() const;

  private:
    struct Cell {
        std::uint32_t rank = 0, memory = 0, index = 0;
        friend auto operator<=>(const Cell&, const Cell&) = default;
    };
    [[nodiscard]] std::int64_t size(std::uint32_t rank, std::uint32_t buffer) const;
    [[nodiscard]] Cell cell(const lang::Slot& slot) const;
    [[nodiscard]] bool run(const lang::Verb& verb);
    [[nodiscard]] std::optional<Ingredients> wanted(std::uint32_t rank, std::uint32_t output) const;

    const lang::Trace& program_;
    std::map<Cell, Ingredients> cells_;
    std::optional<std::size_t> refused_;
};

}  // namespace tutti::oracle
