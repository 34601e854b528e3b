#pragma once

#include "core/topology.hpp"
#include "io/json_view.hpp"

#include <cstdint>
#include <vector>

/// Parts of topologies in JSON: wires, switch rules, exact decimals.
namespace tutti::io {

/// Field names, for JsonView::only.
inline constexpr std::string_view kWireFields[] = {"alpha", "beta", "latency_ns", "bandwidth_GBps"};
inline constexpr std::string_view kSwitchFields[] = {"copy", "reduce", "buffer", "cut_through"};

/// The default wire: abstract units, alpha 0, beta 1.
inline constexpr Wire kPlainWire{Ticks(0), Ticks(1), Decimal{}};

[[nodiscard]] Ticks read_alpha(const JsonView& alpha);
[[nodiscard]] Ticks read_beta(const JsonView& beta);
[[nodiscard]] Ticks read_latency(const JsonView& latency_ns);
[[nodiscard]] Decimal read_bandwidth(const JsonView& bandwidth_GBps);
/// A number kept exactly as written; see decimal_from.
[[nodiscard]] Decimal read_decimal(const JsonView& number, double least, double most);

/// The wire given by the fields alpha (default 0) and beta (default 1), or latency_ns (default 0) and
/// bandwidth_GBps. An object with none of them has the wire `otherwise`; if that is physical, its bandwidth
/// is also the default for an object that gives only a latency.
[[nodiscard]] Wire read_wire(const JsonView& object, const Wire& otherwise = kPlainWire);
/// The same where each field may be an array of `count` values, one for each dimension: one wire, or `count`
/// of them.
[[nodiscard]] std::vector<Wire> read_wires(const JsonView& object, std::size_t count);
/// Adds the two fields of a wire.
void write_wire(Json& object, const Wire& wire);

/// The rule given by the fields copy, reduce, buffer and cut_through.
[[nodiscard]] SwitchRule read_switch_rule(const JsonView& object);
/// Only the fields that differ from the default rule.
[[nodiscard]] Json write_switch_rule(const SwitchRule& rule);

}  // namespace tutti::io
