#include "symmetry/group_action.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

namespace tutti::symmetry {
namespace {

[[noreturn]] void refuse(std::size_t generator, const std::string& message) {
    throw InputError(message, fmt::format("/symmetry/{}", generator));
}

void check_permutation(const Generator& generator, std::size_t g, std::uint32_t npus) {
    if (generator.images.size() != npus) {
        refuse(g, fmt::format("expected the images of {} NPUs, found {}", npus, generator.images.size()));
    }
    if (generator.order < 2)
        refuse(g, fmt::format("expected an order of at least 2, found {}", generator.order));
    std::vector<bool> seen(npus, false);
    for (const NodeId image : generator.images) {
        if (image.value() >= npus)
            refuse(g, fmt::format("expected an NPU below {}, found {}", npus, image.value()));
        if (seen[image.index()]) refuse(g, fmt::format("NPU {} is the image of two NPUs", image.value()));
        seen[image.index()] = true;
    }
}

}  // namespace

GroupAction::GroupAction(std::span<const Generator> generators, std::uint32_t npus) {
    std::uint64_t size = 1;
    for (std::size_t g = 0; g < generators.size(); ++g) {
        check_permutation(generators[g], g, npus);
        size *= generators[g].order;
        if (size > npus) refuse(g, fmt::format("the orders' product exceeds the number of NPUs, {}", npus));
        orders_.push_back(generators[g].order);
        for (std::size_t h = 0; h < g; ++h) {
            for (std::size_t n = 0; n < npus; ++n) {
                const NodeId gh = generators[g].images[generators[h].images[n].index()];
                if (gh != generators[h].images[generators[g].images[n].index()])
                    refuse(g, fmt::format("it does not commute with generator {} at NPU {}", h, n));
            }
        }
    }
    size_ = static_cast<std::uint32_t>(size);
    constexpr std::uint32_t kNowhere = ~0U;
    place_.assign(npus, kNowhere);
    at_.reserve(npus);
    for (std::uint32_t first = 0; first < npus; ++first) {
        if (place_[first] != kNowhere) continue;
        const std::size_t base = at_.size();
        at_.resize(base + size_, NodeId(first));
        if (at_.size() > npus) throw InputError("the group does not act freely on the NPUs", "/symmetry");
        place_[first] = static_cast<std::uint32_t>(base);
        walk([&](std::uint32_t element, std::uint32_t g, std::uint32_t before) {
            const NodeId npu = generators[g].images[at_[base + before].index()];
            if (place_[npu.index()] != kNowhere) {
                refuse(g, fmt::format(
                              "NPU {} is met twice in the orbit of NPU {}: the group does not act freely",
                              npu.value(), first));
            }
            at_[base + element] = npu;
            place_[npu.index()] = static_cast<std::uint32_t>(base + element);
        });
        // With commuting generators an order holds in a whole orbit if it holds at one of its members.
        std::uint32_t stride = 1;
        for (std::size_t g = 0; g < generators.size(); ++g) {
            const NodeId last = at_[base + std::size_t{stride} * (orders_[g] - 1)];
            if (generators[g].images[last.index()] != NodeId(first))
                refuse(g, fmt::format("NPU {} is not back after {} applications", first, orders_[g]));
            stride *= orders_[g];
        }
        ++orbits_;
    }
}

std::uint32_t GroupAction::sum(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t result = 0, stride = 1;
    for (const std::uint32_t order : orders_) {
        std::uint32_t digit = a % order + b % order;
        if (digit >= order) digit -= order;
        result += digit * stride;
        a /= order;
        b /= order;
        stride *= order;
    }
    return result;
}

void GroupAction::sums(std::uint32_t a, std::vector<std::uint32_t>& result) const {
    result.resize(size_);
    result[0] = a;
    std::uint32_t stride = 1;
    for (const std::uint32_t order : orders_) {
        const std::uint32_t block = stride * order;
        // The digit of this generator is that of `a` in all sums so far, then one more in each further copy.
        std::uint32_t digit = a / stride % order;
        for (std::uint32_t copy = stride; copy < block; copy += stride) {
            const bool wraps = ++digit == order;
            if (wraps) digit = 0;
            for (std::uint32_t e = copy; e < copy + stride; ++e)
                result[e] = wraps ? result[e - stride] - (block - stride) : result[e - stride] + stride;
        }
        stride = block;
    }
}

std::uint32_t GroupAction::inverse(std::uint32_t a) const {
    std::uint32_t result = 0, stride = 1;
    for (const std::uint32_t order : orders_) {
        const std::uint32_t digit = a % order;
        result += (digit == 0 ? 0 : order - digit) * stride;
        a /= order;
        stride *= order;
    }
    return result;
}

}  // namespace tutti::symmetry
