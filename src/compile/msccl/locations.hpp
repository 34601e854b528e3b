#pragma once

#include "compile/msccl/draft.hpp"

namespace tutti::compile::msccl {

/// The places of one rank's memory as numbers. If the plan shall serve in-place calls too, places that are
/// one there have one number: then steps that are ordered wherever numbers meet are ordered in both modes.
class Locations {
  public:
    Locations(const Draft& draft, std::uint32_t rank);
    /// Of memory in which every place has one name only.
    Locations(std::int64_t inputs, std::int64_t outputs, std::int64_t scratch)
        : inputs_(inputs), outputs_(outputs), scratch_(scratch) {}

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(inputs_ + outputs_ + scratch_); }
    [[nodiscard]] std::size_t of(const plan::Address& address) const;

  private:
    std::int64_t inputs_, outputs_, scratch_;
    bool aliased_ = false;
    std::int64_t shift_ = 0;  ///< where aliased, o[c] is i[c + shift]
};

}  // namespace tutti::compile::msccl
