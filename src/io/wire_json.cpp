#include "io/wire_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace tutti::io {
namespace {

// Limits that keep all arithmetic on decimals within 128 bits: from 1 kB/s to 10^18 bytes/s.
constexpr double kLeastBandwidth = 1e-6, kMostBandwidth = 1e9;
// Up to 2^43 ns a double still distinguishes picoseconds, so every latency can be written and read back.
constexpr double kMostLatency = 8e12;

/// The value of a per-dimension field for one dimension.
JsonView value_for(const JsonView& field, std::size_t dimension) {
    return field.is_array() ? field[dimension] : field;
}

/// The fields of a wire that are given.
struct WireFields {
    explicit WireFields(const JsonView& object)
        : alpha(object.find("alpha")),
          beta(object.find("beta")),
          latency(object.find("latency_ns")),
          bandwidth(object.find("bandwidth_GBps")) {
        if ((alpha || beta) && (latency || bandwidth)) {
            (latency ? latency : bandwidth)
                ->fail(
                    "alpha and beta are abstract units, latency_ns and bandwidth_GBps physical ones; use one "
                    "kind");
        }
    }

    [[nodiscard]] Wire wire(const JsonView& object, const Wire& otherwise, std::size_t dimension) const {
        Wire wire = otherwise;
        if (alpha || beta) {
            wire = kPlainWire;
            if (alpha) wire.alpha = read_alpha(value_for(*alpha, dimension));
            if (beta) wire.beta = read_beta(value_for(*beta, dimension));
        }
        if (latency || bandwidth) {
            wire = {Ticks(0), Ticks(0), otherwise.bandwidth};
            if (latency) wire.alpha = read_latency(value_for(*latency, dimension));
            if (bandwidth) wire.bandwidth = read_bandwidth(value_for(*bandwidth, dimension));
            if (wire.bandwidth.mantissa == 0) {
                object.fail("expected a field 'bandwidth_GBps' beside 'latency_ns'");
            }
        }
        return wire;
    }

    std::optional<JsonView> alpha, beta, latency, bandwidth;
};

/// An integer where the value is one; otherwise the double nearest to the decimal, which prints as that
/// decimal.
Json json_number(Decimal value) {
    while (value.scale > 0 && value.mantissa % 10 == 0) {
        value.mantissa /= 10;
        --value.scale;
    }
    if (value.scale == 0) return value.mantissa;
    const std::string text = fmt::format("{}e-{}", value.mantissa, value.scale);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

Ticks read_alpha(const JsonView& alpha) { return Ticks(alpha.integer(0, kMaxLinkTicks.count())); }

Ticks read_beta(const JsonView& beta) { return Ticks(beta.integer(1, kMaxLinkTicks.count())); }

Ticks read_latency(const JsonView& latency_ns) { return alpha_of(read_decimal(latency_ns, 0, kMostLatency)); }

Decimal read_bandwidth(const JsonView& bandwidth_GBps) {
    return read_decimal(bandwidth_GBps, kLeastBandwidth, kMostBandwidth);
}

Decimal read_decimal(const JsonView& number, double least, double most) {
    const double value = number.number(least, most);
    try {
        return decimal_from(value);
    } catch (const InputError& error) {
        number.fail(error.message());
    }
}

Wire read_wire(const JsonView& object, const Wire& otherwise) {
    const WireFields fields(object);
    for (const auto& field : {fields.alpha, fields.beta, fields.latency, fields.bandwidth}) {
        if (field && field->is_array()) field->fail_expecting("a single number");
    }
    return fields.wire(object, otherwise, 0);
}

std::vector<Wire> read_wires(const JsonView& object, std::size_t count) {
    const WireFields fields(object);
    bool per_dimension = false;
    for (const auto& field : {fields.alpha, fields.beta, fields.latency, fields.bandwidth}) {
        if (!field || !field->is_array()) continue;
        if (field->size() != count) field->fail_expecting(fmt::format("a number, or an array of {}", count));
        per_dimension = true;
    }
    std::vector<Wire> wires;
    for (std::size_t i = 0; i < (per_dimension ? count : 1); ++i) {
        wires.push_back(fields.wire(object, kPlainWire, i));
    }
    return wires;
}

void write_wire(Json& object, const Wire& wire) {
    if (wire.units() == Units::Abstract) {
        object["alpha"] = wire.alpha.count();
        object["beta"] = wire.beta.count();
    } else {
        object["latency_ns"] = json_number({wire.alpha.count(), 3});
        object["bandwidth_GBps"] = json_number(wire.bandwidth);
    }
}

SwitchRule read_switch_rule(const JsonView& object) {
    SwitchRule rule;
    if (const auto copy = object.find("copy")) rule.copy = copy->boolean();
    if (const auto reduce = object.find("reduce")) rule.reduce = reduce->boolean();
    if (const auto cut_through = object.find("cut_through")) rule.cut_through = cut_through->boolean();
    if (const auto buffer = object.find("buffer")) {
        rule.buffer = static_cast<std::uint32_t>(buffer->integer(0, std::int64_t{1} << 30));
    }
    return rule;
}

Json write_switch_rule(const SwitchRule& rule) {
    Json object = Json::object();
    if (rule.copy) object["copy"] = true;
    if (rule.reduce) object["reduce"] = true;
    if (rule.buffer) object["buffer"] = *rule.buffer;
    if (rule.cut_through) object["cut_through"] = true;
    return object;
}

}  // namespace tutti::io
