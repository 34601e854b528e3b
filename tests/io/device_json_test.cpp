#include "io/device_json.hpp"

#include "io/json_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tutti;

namespace {

tensor::Device device_of(const std::string& text) {
    io::Source source = io::Source::of_text(text, "device.json");
    const io::Json json = io::parse_json(source);
    return io::parse_device(io::JsonView(json));
}

std::string place_of_error(const std::string& text) {
    try {
        (void)device_of(text);
    } catch (const InputError& error) {
        return error.place();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a device's rates are numbers, or numbers by type") {
    const tensor::Device device = device_of(
        R"({"tutti_device": 1, "name": "v100", "matmul_tflops": {"f16": 80, "f32": 14.5}, "pointwise_tflops": 10, "memory_GBps": 800, "launch_us": 5})");
    CHECK(device.name == "v100");
    CHECK(device.matmul_tflops[static_cast<std::size_t>(tensor::DType::F16)] == 80);
    CHECK(device.matmul_tflops[static_cast<std::size_t>(tensor::DType::F32)] == 14.5);
    CHECK(device.matmul_tflops[static_cast<std::size_t>(tensor::DType::I8)] == 0);
    CHECK(device.memory_GBps[static_cast<std::size_t>(tensor::DType::Bool)] == 800);
    CHECK(device.launch_us == 5);
    CHECK(io::parse_device(io::JsonView(io::write_device(device))) == device);
}

TEST_CASE("a device may say what functions take, and what is in its cache") {
    const tensor::Device device = device_of(
        R"({"tutti_device": 1, "matmul_tflops": 1, "pointwise_tflops": 10, "function_tflops": {"f32": 0.5}, "exp_tflops": 2, "memory_GBps": 800, "cache_GBps": 3000, "cache_MB": 40, "launch_us": 5})");
    CHECK(device.function_tflops[static_cast<std::size_t>(tensor::DType::F32)] == 0.5);
    CHECK(device.function_tflops[static_cast<std::size_t>(tensor::DType::F64)] == 0);
    CHECK(device.exp_tflops[static_cast<std::size_t>(tensor::DType::F16)] == 2);
    CHECK(device.cache_GBps[static_cast<std::size_t>(tensor::DType::I8)] == 3000);
    CHECK(device.cache_MB == 40);
    CHECK(io::parse_device(io::JsonView(io::write_device(device))) == device);
}

TEST_CASE("a device file that is wrong is refused at its place") {
    const std::string rest = R"("pointwise_tflops": 10, "memory_GBps": 800, "launch_us": 5})";
    CHECK(place_of_error(R"({"tutti_device": 2, "matmul_tflops": 80, )" + rest) == "/tutti_device");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": -1, )" + rest) == "/matmul_tflops");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": {"f99": 1}, )" + rest) == "/matmul_tflops");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": {}, )" + rest) == "/matmul_tflops");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": "fast", )" + rest) == "/matmul_tflops");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": 80, "cache_MB": 40, )" + rest) ==
          "/cache_MB");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": 80, "cache_GBps": 40, )" + rest) == "/");
    CHECK(place_of_error(R"({"tutti_device": 1, )" + rest) == "/");
    CHECK(place_of_error(R"({"tutti_device": 1, "matmul_tflops": 80, "speed": 1, )" + rest) == "/");
}
