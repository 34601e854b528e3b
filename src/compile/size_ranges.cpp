#include "compile/size_ranges.hpp"

#include "core/expects.hpp"

#include <cmath>

namespace tutti::compile {
namespace {

/// floor(sqrt(a * b)). Precondition: both positive.
std::int64_t geometric_mean(std::int64_t a, std::int64_t b) {
    expects(a > 0 && b > 0);
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
    auto root =
        static_cast<std::int64_t>(std::sqrt(static_cast<double>(a)) * std::sqrt(static_cast<double>(b)));
    while (static_cast<Wide>(root) * static_cast<Wide>(root) > product) --root;
    while (static_cast<Wide>(root + 1) * static_cast<Wide>(root + 1) <= product) ++root;
    return root;
}

}  // namespace

std::vector<SizeRange> size_ranges(std::span<const std::int64_t> sizes, std::int64_t first, std::int64_t last,
                                   bool inclusive) {
    std::vector<SizeRange> ranges;
    std::int64_t begin = first;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i + 1 == sizes.size()) {
            ranges.push_back({begin, last});
            break;
        }
        const std::int64_t end = geometric_mean(sizes[i], sizes[i + 1]);
        ranges.push_back({begin, inclusive ? end : end + 1});
        begin = end + 1;
    }
    return ranges;
}

}  // namespace tutti::compile
