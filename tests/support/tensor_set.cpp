#include "tests/support/tensor_set.hpp"

#include "io/tensor_json.hpp"
#include "source_dir.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tutti::test {
namespace {

/// TUTTI_TENSOR_SET names another set of the same form.
const std::string kTensorSet = [] {
    const char* other = std::getenv("TUTTI_TENSOR_SET");
    return other ? std::string(other) + "/" : std::string(TUTTI_SOURCE_DIR) + "/tests/data/tensor/";
}();

io::Json json_of_text(std::string text, const std::string& name) {
    io::Source source = io::Source::of_text(std::move(text), name);
    return io::parse_json(source);
}

}  // namespace

std::vector<io::Json> tensor_lines(const std::string& name) {
    std::vector<io::Json> lines;
    std::ifstream in(kTensorSet + name);
    for (std::string line; std::getline(in, line);) lines.push_back(json_of_text(line, name));
    return lines;
}

std::vector<std::string> tensor_program_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kTensorSet + "programs"))
        names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

tensor::Program tensor_program(const std::string& name) {
    return io::read_tensor_program(kTensorSet + "programs/" + name + ".json");
}

io::Json tensor_json(const std::string& name) {
    io::Source source(kTensorSet + name);
    return io::parse_json(source);
}

tensor::Program tensor_program_of(const std::string& text) {
    return io::parse_tensor_program(json_of_text(text, "text"));
}

}  // namespace tutti::test
