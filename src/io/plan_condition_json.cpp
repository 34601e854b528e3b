#include "io/plan_condition_json.hpp"

#include "io/json_text.hpp"
#include "plan/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace tutti::io {
namespace {

constexpr std::string_view kConditionField = "tutti_condition";
constexpr std::int64_t kLastRank = (1 << 20) - 1;
constexpr std::int64_t kLastChunk = std::numeric_limits<std::int32_t>::max();
/// Ranges can describe large conditions in few bytes; this limits the chunks and contributions in total.
constexpr std::int64_t kMostEntries = std::int64_t{1} << 24;

/// A whole decimal number of at most `most`, without leading zeros, so that no two fields mean the same.
std::optional<std::int64_t> number_in(std::string_view digits, std::int64_t most) {
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    const bool plain = whole && digits[0] != '-' && (digits[0] != '0' || digits.size() == 1);
    return plain && value <= most ? std::optional(value) : std::nullopt;
}

/// Both ends are included.
struct ChunkRange {
    std::int64_t first = 0, last = 0;
};

/// "7" or "4-7".
ChunkRange range_in(std::string_view text, const JsonView& place) {
    const std::size_t dash = text.find('-');
    const auto first = number_in(text.substr(0, dash), kLastChunk);
    const auto last = dash == text.npos ? first : number_in(text.substr(dash + 1), kLastChunk);
    if (!first || !last || *last < *first)
        place.fail(fmt::format(R"(expected a chunk like "7" or a range like "4-7", found "{}")", text));
    return {*first, *last};
}

class ConditionReader {
  public:
    plan::Condition read(const JsonView& view) {
        if (!view.is_object()) view.fail_expecting("a condition, which is an object");
        check_format(view.at(kConditionField));
        view.only({kConditionField, "comment", "inputs", "outputs"});
        plan::Condition condition;
        if (const auto inputs = view.find("inputs")) {
            for (const auto& [rank, chunks] : inputs->fields())
                condition.inputs[rank_in(rank, *inputs)] = read_chunks(chunks);
        }
        const JsonView outputs = view.at("outputs");
        for (const auto& [rank, chunks] : outputs.fields())
            condition.outputs[rank_in(rank, outputs)] = read_outputs(chunks);
        const bool asks =
            std::ranges::any_of(condition.outputs, [](const auto& rank) { return !rank.second.empty(); });
        if (!asks) outputs.fail_expecting("the output chunks of at least one rank");
        for (const auto& [rank, chunks] : condition.outputs) check_inputs(condition, rank, outputs);
        return condition;
    }

  private:
    static void check_format(const JsonView& version) {
        if (version.json() != kConditionFormat)
            version.fail_expecting(fmt::format("{}, the version of the format", kConditionFormat));
    }

    static Rank rank_in(std::string_view key, const JsonView& place) {
        const auto rank = number_in(key, kLastRank);
        if (!rank)
            place.fail(fmt::format("expected ranks (0 to {}) as fields, found \"{}\"", kLastRank, key));
        return Rank(static_cast<std::size_t>(*rank));
    }

    void count(std::int64_t entries, const JsonView& place) {
        entries_ += entries;
        if (entries_ > kMostEntries)
            place.fail(
                fmt::format("expected a condition of at most {} chunks and contributions", kMostEntries));
    }

    std::vector<std::int64_t> read_chunks(const JsonView& view) {
        std::vector<std::int64_t> chunks;
        for (const JsonView& element : view.elements()) {
            const ChunkRange range = element.is_string() ? range_in(element.string(), element)
                                                         : just(element.integer(0, kLastChunk));
            count(range.last - range.first + 1, element);
            for (std::int64_t chunk = range.first; chunk <= range.last; ++chunk) chunks.push_back(chunk);
        }
        std::ranges::sort(chunks);
        if (std::ranges::adjacent_find(chunks) != chunks.end()) view.fail("a chunk is there twice");
        return chunks;
    }
    static ChunkRange just(std::int64_t chunk) { return {chunk, chunk}; }

    /// No output can contain an input chunk that is undefined at the start.
    static void check_inputs(const plan::Condition& condition, Rank rank, const JsonView& outputs) {
        for (const auto& [chunk, parts] : condition.outputs.at(rank)) {
            for (const plan::Contribution& part : parts) {
                const auto given = condition.inputs.find(part.rank);
                if (given == condition.inputs.end() || std::ranges::binary_search(given->second, part.chunk))
                    continue;
                outputs.fail(
                    fmt::format("output chunk {} of rank {} wants ({},{}), but \"inputs\" does not list "
                                "chunk {} of rank {}",
                                chunk, rank, part.rank, part.chunk, part.chunk, part.rank));
            }
        }
    }

    std::map<std::int64_t, std::vector<plan::Contribution>> read_outputs(const JsonView& view) {
        std::map<std::int64_t, std::vector<plan::Contribution>> outputs;
        for (const auto& [key, sum] : view.fields()) {
            const ChunkRange range = range_in(key, view);
            const auto contributions = read_sum(sum);
            count((range.last - range.first + 1) * static_cast<std::int64_t>(contributions.size() + 1), sum);
            for (std::int64_t chunk = range.first; chunk <= range.last; ++chunk) {
                auto moved = contributions;
                for (auto& contribution : moved) contribution.chunk += chunk - range.first;
                if (!outputs.emplace(chunk, std::move(moved)).second)
                    sum.fail(fmt::format("chunk {} is there twice", chunk));
            }
        }
        return outputs;
    }

    static std::vector<plan::Contribution> read_sum(const JsonView& view) {
        std::vector<plan::Contribution> sum;
        for (const JsonView& pair : view.elements()) {
            if (pair.size() != 2) pair.fail_expecting("[rank, chunk]");
            sum.push_back({Rank(static_cast<std::size_t>(pair[0].integer(0, kLastRank))),
                           pair[1].integer(0, kLastChunk)});
        }
        if (sum.empty()) view.fail_expecting("at least one [rank, chunk]; leave out chunks that are free");
        std::ranges::sort(sum);
        return sum;
    }

    std::int64_t entries_ = 0;
};

std::string range_text(std::int64_t first, std::int64_t last) {
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

Json chunks_json(const std::vector<std::int64_t>& chunks) {
    Json list = Json::array();
    for (std::size_t i = 0; i < chunks.size();) {
        std::size_t next = i + 1;
        while (next < chunks.size() && chunks[next] == chunks[next - 1] + 1) ++next;
        if (next == i + 1) {
            list.push_back(chunks[i]);
        } else {
            list.push_back(range_text(chunks[i], chunks[next - 1]));
        }
        i = next;
    }
    return list;
}

/// Whether `sum` is `first` shifted by that many chunks.
bool moves_along(const std::vector<plan::Contribution>& sum, std::vector<plan::Contribution> first,
                 std::int64_t by) {
    for (plan::Contribution& contribution : first) contribution.chunk += by;
    return sum == first;
}

Json outputs_json(const std::map<std::int64_t, std::vector<plan::Contribution>>& outputs) {
    Json fields = Json::object();
    for (auto first = outputs.begin(); first != outputs.end();) {
        auto last = first;
        for (auto next = std::next(first); next != outputs.end(); last = next++) {
            const bool goes_on = next->first == last->first + 1 &&
                                 moves_along(next->second, first->second, next->first - first->first);
            if (!goes_on) break;
        }
        Json sum = Json::array();
        for (const plan::Contribution& c : first->second)
            sum.push_back(Json::array({c.rank.value(), c.chunk}));
        fields[range_text(first->first, last->first)] = std::move(sum);
        first = std::next(last);
    }
    return fields;
}

}  // namespace

std::string plan_condition_text(const plan::Condition& condition, const std::string& comment) {
    Json inputs = Json::object(), outputs = Json::object();
    for (const auto& [rank, chunks] : condition.inputs) inputs[fmt::format("{}", rank)] = chunks_json(chunks);
    for (const auto& [rank, chunks] : condition.outputs)
        outputs[fmt::format("{}", rank)] = outputs_json(chunks);
    Json page{{kConditionField, kConditionFormat}};
    if (!comment.empty()) page["comment"] = comment;
    page["inputs"] = inputs;
    page["outputs"] = outputs;
    return json_page(page);
}

plan::Condition read_plan_condition(Source& source) {
    constexpr JsonLimits kLimits{.bytes = std::uint64_t{1} << 28, .values = std::size_t{1} << 25};
    const Json document = parse_json(source, kLimits);
    try {
        return ConditionReader().read(JsonView(document));
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

}  // namespace tutti::io
