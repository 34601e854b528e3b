#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tensor {

/// Who holds which elements of a value, along one axis of the mesh.
class Layout {
  public:
    enum class Kind : std::uint8_t {
        Replicated,  ///< every rank has all of it
        Sliced,      ///< rank i has the i-th part of dimension dim()
        Local,       ///< every rank has a value of its own, of the whole shape
        Root         ///< only rank root() has it
    };

    constexpr Layout() = default;
    [[nodiscard]] static constexpr Layout local() { return {Kind::Local, 0}; }
    [[nodiscard]] static constexpr Layout sliced(std::size_t dim) {
        return {Kind::Sliced, static_cast<std::uint32_t>(dim)};
    }
    [[nodiscard]] static constexpr Layout root(std::int64_t rank) {
        return {Kind::Root, static_cast<std::uint32_t>(rank)};
    }

    [[nodiscard]] constexpr Kind kind() const { return kind_; }
    [[nodiscard]] constexpr bool is_replicated() const { return kind_ == Kind::Replicated; }
    [[nodiscard]] constexpr bool is_local() const { return kind_ == Kind::Local; }
    [[nodiscard]] constexpr bool is_sliced() const { return kind_ == Kind::Sliced; }
    [[nodiscard]] constexpr bool is_sliced(std::size_t dim) const { return is_sliced() && at_ == dim; }
    [[nodiscard]] constexpr bool is_root() const { return kind_ == Kind::Root; }
    /// Preconditions: is_sliced(), is_root().
    [[nodiscard]] constexpr std::size_t dim() const { return at_; }
    [[nodiscard]] constexpr std::uint32_t root() const { return at_; }

    friend constexpr auto operator<=>(Layout, Layout) = default;

  private:
    constexpr Layout(Kind kind, std::uint32_t at) : kind_(kind), at_(at) {}

    Kind kind_ = Kind::Replicated;
    std::uint32_t at_ = 0;
};

/// One for each axis of the mesh.
using Layouts = std::vector<Layout>;

/// "replicated", "sliced 0", "local", "root 2".
[[nodiscard]] inline std::string text_of(Layout layout) {
    switch (layout.kind()) {
        case Layout::Kind::Sliced:
            return "sliced " + std::to_string(layout.dim());
        case Layout::Kind::Local:
            return "local";
        case Layout::Kind::Root:
            return "root " + std::to_string(layout.root());
        case Layout::Kind::Replicated:
            break;
    }
    return "replicated";
}

}  // namespace tutti::tensor
