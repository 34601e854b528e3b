#include "cli/algorithm_options.hpp"

#include <charconv>

namespace tutti::cli {

lang::AlgorithmRequest algorithm_request(const Values& values) {
    lang::AlgorithmRequest request;
    request.ranks = values.number<std::uint32_t>("ranks", 2, 2, 4096);
    request.root = values.number<std::uint32_t>("root", 0, 0, 4095);
    if (values.flag("mode")) request.in_place = values.choice("mode", {"in-place", "out-of-place"}) == 0;
    if (values.flag("collective")) {
        const Names names = collective_kind_names();
        request.kind = static_cast<CollectiveKind>(values.choice("collective", names));
    }
    for (const std::string& setting : values.list("set")) {
        const auto equals = setting.find('=');
        std::int64_t value = 0;
        const char* const end = setting.data() + setting.size();
        const char* const digits = equals == setting.npos ? end : setting.data() + equals + 1;
        if (digits == end || std::from_chars(digits, end, value).ptr != end) {
            values.refuse(fmt::format("option --set: expected NAME=NUMBER, found '{}'", setting));
        }
        request.parameters[setting.substr(0, equals)] = value;
    }
    return request;
}

}  // namespace tutti::cli
