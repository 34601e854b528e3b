// A million tasks are mostly few lists multiplied. So nothing here is kept for each task but what cannot be
// computed again: the numbers of those whose names clash.
//
// Names clash only where a file has a name that looks like ours. A key is a label and details; the labels
// differ and so do the details (" seed=2"), so two keys can be equal only if a label holds a '='. Of stems
// the same holds, provided that what is left of the labels as names of files differs too. Where neither is
// the case, which is nearly always, no key has to be looked at.

#include "batch/plan.hpp"

#include "batch/distinct_names.hpp"
#include "batch/fnv.hpp"
#include "core/error.hpp"
#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tutti::batch {
namespace {

template <class T>
void remove_repetitions(std::vector<T>& values) {
    std::unordered_set<T> seen;
    std::erase_if(values, [&](const T& value) { return !seen.insert(value).second; });
}

void remove_repetitions(std::vector<Bytes>& sizes) {
    std::unordered_set<std::int64_t> seen;
    std::erase_if(sizes, [&](Bytes size) { return !seen.insert(size.count).second; });
}

/// An empty list has one choice: what is usual.
template <class T>
std::size_t choices(const std::vector<T>& values) {
    return std::max<std::size_t>(values.size(), 1);
}

std::size_t product_of(std::initializer_list<std::size_t> factors) {
    std::uint64_t product = 1;
    for (const std::size_t factor : factors) {
        if (factor == 0) return 0;
        if (product > Plan::kMostTasks / factor)
            throw InputError(fmt::format("the run has more than {} tasks", Plan::kMostTasks));
        product *= factor;
    }
    return static_cast<std::size_t>(product);
}

/// Takes the last digit of `index` in the base of the list's length: which of its values is meant.
template <class T>
std::optional<T> digit(const std::vector<T>& values, std::size_t& index) {
    if (values.empty()) return std::nullopt;
    const T& value = values[index % values.size()];
    index /= values.size();
    return value;
}

}  // namespace

Plan::Plan(std::vector<Job> jobs, const Matrix& matrix, Shard shard)
    : jobs_(std::move(jobs)), matrix_(matrix), shard_{shard.part % shard.of, shard.of} {
    remove_repetitions(matrix_.methods);
    remove_repetitions(matrix_.heuristics);
    remove_repetitions(matrix_.chunks);
    remove_repetitions(matrix_.bytes);
    remove_repetitions(matrix_.seeds);
    variants_ = product_of({choices(matrix_.methods), choices(matrix_.heuristics), choices(matrix_.chunks),
                            choices(matrix_.bytes), choices(matrix_.seeds)});
    const std::size_t all = product_of({jobs_.size(), variants_});
    if (all > shard_.part) size_ = (all - shard_.part - 1) / shard_.of + 1;
    told_ = {matrix_.methods.size() > 1, matrix_.chunks.size() > 1,     matrix_.bytes.size() > 1,
             matrix_.seeds.size() > 1,   matrix_.heuristics.size() > 1, false};
    Variant usual;
    usual.options = matrix_.options;
    option_details_ = details_of(usual);
    if (may_clash()) number_clashes();
}

std::size_t Plan::place(std::size_t number) const {
    expects(number < size_);
    return shard_.part + number * shard_.of;
}

Variant Plan::variant(std::size_t index) const {
    Variant variant = varied(index);
    variant.options = matrix_.options;
    return variant;
}

// The same as details_of(variant(index)), which would look at every option again.
std::string Plan::details(std::size_t index) const {
    const Variant variant = varied(index);
    Told told = unusual_in(variant);
    told.options = false;
    return name_with("", variant, told) + option_details_;
}

/// The variant, with the options as usual.
Variant Plan::varied(std::size_t index) const {
    expects(index < variants_);
    Variant variant;
    // Seeds vary fastest, methods slowest.
    variant.seed = digit(matrix_.seeds, index).value_or(variant.seed);
    variant.bytes = digit(matrix_.bytes, index);
    variant.chunks = digit(matrix_.chunks, index);
    variant.heuristic = digit(matrix_.heuristics, index).value_or(variant.heuristic);
    variant.method = digit(matrix_.methods, index).value_or(variant.method);
    variant.threads = matrix_.threads;
    return variant;
}

const Job& Plan::job(std::size_t number) const { return jobs_[place(number) / variants_]; }

Task Plan::operator[](std::size_t number) const {
    Task task{job(number), variant(place(number) % variants_), {}, {}};
    const std::string details = details_of(task.variant);
    const auto clash = clashes_.find(place(number));
    const Numbers numbers = clash == clashes_.end() ? Numbers() : clash->second;
    task.key = numbered(task.job.label() + details, numbers.key);
    task.stem = numbered(stem_of(task.job, details), numbers.stem);
    return task;
}

std::string Plan::key(std::size_t number) const {
    const auto clash = clashes_.find(place(number));
    return numbered(job(number).label() + details(place(number) % variants_),
                    clash == clashes_.end() ? 1 : clash->second.key);
}

std::string Plan::name(std::size_t number) const {
    return name_with(job(number).label(), varied(place(number) % variants_), told_);
}

bool Plan::may_clash() const {
    std::vector<std::uint64_t> stems;
    stems.reserve(jobs_.size());
    for (const Job& job : jobs_) {
        if (job.family.find('=') != std::string::npos || job.name.find('=') != std::string::npos) return true;
        stems.push_back(fnv(stem_of(job, {})));
    }
    std::ranges::sort(stems);
    return std::ranges::adjacent_find(stems) != stems.end();
}

void Plan::number_clashes() {
    DistinctNames keys, stems;
    std::unordered_map<std::string, std::size_t> first;  // of each key that is wanted
    std::vector<std::string> all;
    for (std::size_t i = 0; i < variants_; ++i) all.push_back(details(i));
    for (std::size_t i = 0; i < jobs_.size() * variants_; ++i) {
        const Job& job = jobs_[i / variants_];
        const std::string& end = all[i % variants_];
        const std::string wanted = job.label() + end;
        const Numbers numbers{keys.number_for(wanted), stems.number_for(stem_of(job, end))};
        const auto [earlier, is_first] = first.try_emplace(wanted, i);
        // Whoever looks for a key by its parts must be told of both.
        if (!is_first) clashes_.try_emplace(earlier->second);
        if (!is_first || numbers.key > 1 || numbers.stem > 1) clashes_[i] = numbers;
    }
}

}  // namespace tutti::batch
