#pragma once

#include "core/huge_pages.hpp"
#include "run/binding.hpp"
#include "run/test_data.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

using HugeBytes = std::vector<std::byte, HugePages<std::byte>>;

/// Bytes of the memories of all ranks, with scratch.
[[nodiscard]] std::size_t bytes_of_call(const Executable& executable, const Layout& layout, ElementType type);

/// The memories of all ranks of a call in this process, and the addresses in them.
class LocalMemories {
  public:
    /// `given`: by memory of the executable, the caller's own, which must outlive this; null or none: one is
    /// allocated.
    LocalMemories(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                  std::span<std::byte* const> given = {});
    LocalMemories(const LocalMemories&) = delete;
    LocalMemories& operator=(const LocalMemories&) = delete;

    void fill(const TestData& data);
    [[nodiscard]] TestData::Check check(const TestData& data) const;
    /// By memory of the executable.
    [[nodiscard]] const std::vector<std::byte*>& memories() const { return memories_; }
    [[nodiscard]] const Binding& binding() const { return *binding_; }
    /// The bytes of all outputs, by rank.
    [[nodiscard]] std::vector<std::byte> outputs() const;
    /// Of an average: divides all results, once a call is done whose engine did not.
    void divide() const;

  private:
    std::vector<HugeBytes> owned_;
    std::vector<std::byte*> memories_, spares_;
    std::optional<Binding> binding_;
};

}  // namespace tutti::run
