#include "io/device_json.hpp"

#include "io/json_text.hpp"
#include "io/source.hpp"

namespace tutti::io {
namespace {

using tensor::Device;

/// What no device does: a rate that is written in another unit.
constexpr double kLeastRate = 1e-9, kMostRate = 1e9;

Device::Rates read_rates(const JsonView& view) {
    Device::Rates rates{};
    if (!view.is_object()) {
        rates.fill(view.number(kLeastRate, kMostRate));
        return rates;
    }
    view.only(std::vector<std::string_view>(tensor::kDTypeNames.begin(), tensor::kDTypeNames.end()));
    for (const auto& [name, rate] : view.fields()) {
        rates[static_cast<std::size_t>(*tensor::dtype_named(name))] = rate.number(kLeastRate, kMostRate);
    }
    if (rates == Device::Rates{}) view.fail_expecting("a number, or one for each of some types");
    return rates;
}

Json rates_json(const Device::Rates& rates) {
    bool is_one = true;
    for (const double rate : rates) is_one = is_one && rate == rates.front();
    if (is_one) return number_json(rates.front());
    Json json = Json::object();
    for (std::size_t type = 0; type < rates.size(); ++type) {
        if (rates[type] > 0) json[std::string(tensor::kDTypeNames[type])] = number_json(rates[type]);
    }
    return json;
}

}  // namespace

Device parse_device(const JsonView& device) {
    device.only({"tutti_device", "name", "about", "matmul_tflops", "pointwise_tflops", "function_tflops",
                 "exp_tflops", "memory_GBps", "cache_GBps", "cache_MB", "launch_us"});
    (void)device.at("tutti_device").integer(kDeviceFormat, kDeviceFormat);
    Device made;
    if (const auto name = device.find("name")) made.name = name->string();
    if (const auto about = device.find("about")) (void)about->string();
    made.matmul_tflops = read_rates(device.at("matmul_tflops"));
    made.pointwise_tflops = read_rates(device.at("pointwise_tflops"));
    made.memory_GBps = read_rates(device.at("memory_GBps"));
    made.launch_us = device.at("launch_us").number(0, kMostRate);
    if (const auto functions = device.find("function_tflops")) made.function_tflops = read_rates(*functions);
    if (const auto exponentials = device.find("exp_tflops")) made.exp_tflops = read_rates(*exponentials);
    if (const auto cache = device.find("cache_GBps")) {
        made.cache_GBps = read_rates(*cache);
        made.cache_MB = device.at("cache_MB").number(kLeastRate, kMostRate);
    } else if (const auto size = device.find("cache_MB")) {
        size->fail_expecting("cache_GBps beside it");
    }
    return made;
}

Device read_device(const std::string& path) {
    constexpr std::uint64_t kMostBytes = 1 << 20;
    Source source(path);
    const Json json = parse_json(source, {.bytes = kMostBytes});
    try {
        return parse_device(JsonView(json));
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

Json write_device(const Device& device) {
    Json json{{"tutti_device", kDeviceFormat},
              {"name", device.name},
              {"matmul_tflops", rates_json(device.matmul_tflops)},
              {"pointwise_tflops", rates_json(device.pointwise_tflops)},
              {"memory_GBps", rates_json(device.memory_GBps)},
              {"launch_us", number_json(device.launch_us)}};
    if (device.function_tflops != Device::Rates{})
        json["function_tflops"] = rates_json(device.function_tflops);
    if (device.exp_tflops != Device::Rates{}) json["exp_tflops"] = rates_json(device.exp_tflops);
    if (device.cache_MB > 0) {
        json["cache_GBps"] = rates_json(device.cache_GBps);
        json["cache_MB"] = number_json(device.cache_MB);
    }
    return json;
}

}  // namespace tutti::io
