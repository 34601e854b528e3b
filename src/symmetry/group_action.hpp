#pragma once

#include "core/ids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::symmetry {

/// A symmetry of the NPUs: the image of each, and its order.
struct Generator {
    std::vector<NodeId> images;
    std::uint32_t order = 1;
    friend bool operator==(const Generator&, const Generator&) = default;
};

/// The finite abelian group spanned by some generators, acting freely on the NPUs: no element but the
/// identity fixes an NPU. Elements are numbered by their exponents, the first generator's varies fastest; 0
/// is the identity. Each orbit of NPUs has as many members as the group has elements, so an NPU is identified
/// by its orbit and an element.
class GroupAction {
  public:
    /// Throws InputError (place "/symmetry/…") when a generator is no permutation of the NPUs, two of them do
    /// not commute, an order is wrong, or the action is not free. O(NPUs * generators).
    GroupAction(std::span<const Generator> generators, std::uint32_t npus);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] std::uint32_t orbits() const { return orbits_; }
    [[nodiscard]] std::span<const std::uint32_t> orders() const { return orders_; }

    [[nodiscard]] NodeId npu(std::uint32_t orbit, std::uint32_t element) const {
        return at_[std::size_t{orbit} * size_ + element];
    }
    [[nodiscard]] std::uint32_t orbit_of(NodeId npu) const { return place_[npu.index()] / size_; }
    [[nodiscard]] std::uint32_t element_of(NodeId npu) const { return place_[npu.index()] % size_; }
    [[nodiscard]] NodeId image(std::uint32_t element, NodeId npu) const {
        return this->npu(orbit_of(npu), sum(element, element_of(npu)));
    }

    [[nodiscard]] std::uint32_t sum(std::uint32_t a, std::uint32_t b) const;
    [[nodiscard]] std::uint32_t inverse(std::uint32_t a) const;
    /// The sums of `a` with every element, in order of the elements.
    void sums(std::uint32_t a, std::vector<std::uint32_t>& result) const;

    /// Calls step(element, generator, before) for every element but 0, each after the one it is reached from:
    /// element = generator applied to before.
    template <class Step>
    void walk(Step&& step) const {
        std::uint32_t stride = 1;
        for (std::uint32_t g = 0; g < orders_.size(); ++g) {
            for (std::uint32_t e = stride; e < stride * orders_[g]; ++e) step(e, g, e - stride);
            stride *= orders_[g];
        }
    }

  private:
    std::vector<std::uint32_t> orders_;
    std::uint32_t size_ = 1;
    std::uint32_t orbits_ = 0;
    std::vector<NodeId> at_;            ///< by orbit, then element
    std::vector<std::uint32_t> place_;  ///< of an NPU in at_
};

}  // namespace tutti::symmetry
