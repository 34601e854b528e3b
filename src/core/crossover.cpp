#include "core/crossover.hpp"

namespace tutti {
namespace {

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
        const std::size_t fastest = fastest_at_(middle);
        refine({between.below, middle, between.before, fastest});
        refine({middle, between.from, fastest, between.after});
    }

    [[nodiscard]] std::vector<Crossover> found() && { return std::move(found_); }

  private:
    const FastestAt& fastest_at_;
    std::size_t left_;
    std::vector<Crossover> found_;
};

}  // namespace

std::vector<Crossover> listed_crossovers(std::span<const std::int64_t> sizes, const FastestAt& fastest_at) {
    return searched_crossovers(sizes, fastest_at, 0);
}

std::vector<Crossover> searched_crossovers(std::span<const std::int64_t> sizes, const FastestAt& fastest_at,
                                           std::size_t most_questions) {
    Search search(fastest_at, most_questions);
    std::vector<std::size_t> fastest;
    for (const std::int64_t size : sizes) fastest.push_back(fastest_at(size));
    for (std::size_t i = 1; i < sizes.size(); ++i)
        search.refine({sizes[i - 1], sizes[i], fastest[i - 1], fastest[i]});
    return std::move(search).found();
}

}  // namespace tutti
