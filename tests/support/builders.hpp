#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tutti::test {

/// A topology in abstract units, written down link by link:
///     Net net(2);
///     const auto hub = net.add_switch({.copy = true});
///     net.link(0, hub, 1, 2).link(hub, 1, 1, 2);
class Net {
  public:
    explicit Net(std::uint32_t npus) { parts_.npus = npus; }

    /// Returns the new switch's node number.
    std::size_t add_switch(const SwitchRule& rule = {});
    /// Links are numbered in the order of these calls.
    Net& link(std::size_t src, std::size_t dst, std::int64_t alpha = 0, std::int64_t beta = 1);
    /// There, then back.
    Net& both(std::size_t a, std::size_t b, std::int64_t alpha = 0, std::int64_t beta = 1);
    /// "busy": "alpha+beta".
    Net& one_in_flight();

    [[nodiscard]] const TopologyParts& parts() const { return parts_; }

  private:
    TopologyParts parts_;
};

/// 0 -> 1 -> … -> npus-1 and back; the links there have even numbers, those back odd ones.
[[nodiscard]] Net line(std::uint32_t npus, std::int64_t alpha = 0, std::int64_t beta = 1);
/// Every NPU has a link to the switch (link 2i) and one from it (link 2i+1).
[[nodiscard]] Net star(std::uint32_t npus, const SwitchRule& rule, std::int64_t alpha = 0,
                       std::int64_t beta = 1);

/// A collective of `kind` on group 0; change the other fields as needed.
[[nodiscard]] Collective collective(CollectiveKind kind, std::string id = "c");
/// One demand on group 0, outright.
[[nodiscard]] Collective custom(std::initializer_list<std::size_t> holders,
                                std::initializer_list<std::size_t> receivers, bool reduction = false);

/// Group 0 is every NPU.
[[nodiscard]] Instance on_all(const Net& net, std::vector<Collective> collectives);
[[nodiscard]] Instance on_group(const Net& net, std::vector<std::size_t> members,
                                std::vector<Collective> collectives);

[[nodiscard]] std::vector<NodeId> nodes(const std::vector<std::size_t>& numbers);

[[nodiscard]] Send copy(std::size_t chunk, std::size_t link, std::int64_t start);
[[nodiscard]] Send reduce(std::size_t chunk, std::size_t link, std::int64_t start);
[[nodiscard]] Schedule schedule(std::int64_t makespan, std::vector<Send> sends);

/// One send to a line, for messages: "copy chunk 0 link 3 (0 -> 1) at 5".
[[nodiscard]] std::string text_of(const Instance& instance, const Schedule& schedule);

}  // namespace tutti::test
