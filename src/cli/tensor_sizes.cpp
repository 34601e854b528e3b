#include "cli/tensor_sizes.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace tutti::cli {
namespace {

std::map<std::string, std::int64_t> named_numbers(const Values& values, const char* option,
                                                  const char* expected, std::int64_t most) {
    using Named = std::pair<std::string, std::int64_t>;
    const auto whole = whole_number<std::int64_t>(1, most);
    const auto found =
        comma_list<Named>(values, option, expected, [&](std::string_view text) -> std::optional<Named> {
            const std::size_t equals = text.find('=');
            if (equals == 0 || equals == text.npos) return std::nullopt;
            const auto number = whole(text.substr(equals + 1));
            if (!number) return std::nullopt;
            return Named(std::string(text.substr(0, equals)), *number);
        });
    return {found.begin(), found.end()};
}

}  // namespace

std::map<std::string, std::int64_t> tensor_mesh(const Values& values) {
    return named_numbers(values, "mesh", "axes and their ranks, as data=3,tensor=2", std::int64_t{1} << 24);
}

app::TensorSizes tensor_sizes(const Values& values) {
    return {named_numbers(values, "sizes", "names and sizes, as N=1000,B=8", std::int64_t{1} << 40),
            tensor_mesh(values)};
}

}  // namespace tutti::cli
