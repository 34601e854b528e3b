#include "core/crossover.hpp"

#include <algorithm>
#include <iterator>

namespace tutti {
namespace {

bool has(const std::vector<std::size_t>& all, std::size_t one) {
    return std::ranges::find(all, one) != all.end();
}

class Search {
  public:
    Search(const FastestAt& fastest_at, std::size_t questions) : fastest_at_(fastest_at), left_(questions) {}

    /// Divides what lies between two sizes with different answers, the smaller half first.
    void refine(const Crossover& between) {
        if (between.before == between.after) return;
        if (between.exact() || left_ == 0) {
            found_.push_back(between);
            return;
        }
        --left_;
        const std::int64_t middle = between.below + (between.from - between.below) / 2;
        const auto fastest = fastest_at_(middle);
        const std::size_t one = has(fastest, between.before)  ? between.before
                                : has(fastest, between.after) ? between.after
                                                              : fastest.front();
        refine({between.below, middle, between.before, one});
        refine({middle, between.from, one, between.after});
    }

    [[nodiscard]] std::vector<Crossover> found() && { return std::move(found_); }

  private:
    const FastestAt& fastest_at_;
    std::size_t left_;
    std::vector<Crossover> found_;
};

/// One of the fastest at each size, the same one for as long as there is one.
std::vector<std::size_t> one_for_each(std::span<const std::int64_t> sizes, const FastestAt& fastest_at) {
    std::vector<std::size_t> chosen, lasting;
    for (const std::int64_t size : sizes) {
        auto fastest = fastest_at(size);
        std::vector<std::size_t> still;
        std::ranges::copy_if(lasting, std::back_inserter(still),
                             [&](std::size_t one) { return has(fastest, one); });
        const bool changes = still.empty();
        lasting = changes ? std::move(fastest) : std::move(still);
        // Among equals the choice falls on one that lasts, also for the sizes since the last change.
        const std::size_t before = chosen.empty() ? 0 : chosen.back();
        for (auto at = chosen.rbegin(); !changes && at != chosen.rend() && *at == before; ++at)
            *at = lasting.front();
        chosen.push_back(lasting.front());
    }
    return chosen;
}

}  // namespace

std::vector<Crossover> listed_crossovers(std::span<const std::int64_t> sizes, const FastestAt& fastest_at) {
    return searched_crossovers(sizes, fastest_at, 0);
}

std::vector<Crossover> searched_crossovers(std::span<const std::int64_t> sizes, const FastestAt& fastest_at,
                                           std::size_t most_questions) {
    const auto fastest = one_for_each(sizes, fastest_at);
    Search search(fastest_at, most_questions);
    for (std::size_t i = 1; i < sizes.size(); ++i)
        search.refine({sizes[i - 1], sizes[i], fastest[i - 1], fastest[i]});
    return std::move(search).found();
}

}  // namespace tutti
