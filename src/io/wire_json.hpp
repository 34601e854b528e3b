#pragma once

#include "core/topology.hpp"
#include "io/json_view.hpp"

#include <cstdint>
#include <vector>

/// The small pieces of which topologies are written: wires, switch rules, exact decimals.
namespace tutti::io {

/// Field names, for JsonView::only.
inline constexpr std::string_view kWireFields[] = {"alpha", "beta", "latency_ns", "bandwidth_GBps"};
inline constexpr std::string_view kSwitchFields[] = {"copy", "reduce", "buffer", "cut_through"};

/// The wire of an object that says nothing about it: abstract units, alpha 0, beta 1.
inline constexpr Wire kPlainWire{Ticks(0), Ticks(1), Decimal{}};

[[nodiscard]] Ticks read_alpha(const JsonView& alpha);
[[nodiscard]] Ticks read_beta(const JsonView& beta);
[[nodiscard]] Ticks read_latency(const JsonView& latency_ns);
[[nodiscard]] Decimal read_bandwidth(const JsonView& bandwidth_GBps);
/// A number that is kept as it is written; see decimal_from.
[[nodiscard]] Decimal read_decimal(const JsonView& number, double least, double most);

/// The wire that an object gives by its fields alpha (0 unless given) and beta (1 unless given), or
/// latency_ns (0) and bandwidth_GBps. An object with none of them has the wire `otherwise`; if that is
/// physical, its bandwidth also serves an object that gives only a latency.
[[nodiscard]] Wire read_wire(const JsonView& object, const Wire& otherwise = kPlainWire);
/// The same where each field may be an array of `count` values, one for each dimension: one wire, or `count`
/// of them.
[[nodiscard]] std::vector<Wire> read_wires(const JsonView& object, std::size_t count);
/// Adds the two fields of a wire.
void write_wire(Json& object, const Wire& wire);

/// The rule that an object gives by its fields copy, reduce, buffer and cut_through.
[[nodiscard]] SwitchRule read_switch_rule(const JsonView& object);
/// Only what differs from the plain rule.
[[nodiscard]] Json write_switch_rule(const SwitchRule& rule);

}  // namespace tutti::io
