#include "io/json_view.hpp"

#include "text/size.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::io {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

/// The text if short, else a prefix of whole UTF-8 characters.
std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 60;
    if (text.size() <= kMost) return text;
    std::size_t end = kMost - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end) + "…";
}

/// A value as quoted in messages: the value if short, its kind and size otherwise.
std::string described(const Json& value) {
    switch (value.type()) {
        case Json::value_t::object:
            return value.empty() ? "an empty object" : "an object";
        case Json::value_t::array:
            return fmt::format("an array of {}", value.size());
        case Json::value_t::null:
            return "null";
        default:
            break;
    }
    return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view name,
                                        const std::vector<std::string_view>& candidates) {
    if (name.size() > 64) return std::nullopt;
    std::optional<std::string_view> best;
    std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best_distance && distance < candidate.size()) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

void JsonView::fail(const std::string& message) const {
    throw InputError(message, path_.empty() ? "/" : path_);
}

void JsonView::fail_expecting(const std::string& expectation) const {
    fail(fmt::format("expected {}, found {}", expectation, described(*value_)));
}

void JsonView::only(std::initializer_list<std::string_view> fields) const { only(std::vector(fields)); }

void JsonView::only(const std::vector<std::string_view>& fields) const {
    if (!value_->is_object()) fail_expecting("an object");
    for (const auto& [key, unused] : value_->items()) {
        if (std::ranges::find(fields, key) != fields.end()) continue;
        const auto guess = nearest(key, fields);
        const std::string hint = guess ? fmt::format("did you mean '{}'?", *guess)
                                       : fmt::format("known here: {}", fmt::join(fields, ", "));
        fail(fmt::format("unknown field '{}'; {}", shortened(key), hint));
    }
}

JsonView JsonView::at(std::string_view field) const {
    if (auto found = find(field)) return *found;
    fail(fmt::format("expected a field '{}', found none", field));
}

std::optional<JsonView> JsonView::find(std::string_view field) const {
    if (!value_->is_object()) fail_expecting("an object");
    const auto found = value_->find(std::string(field));
    if (found == value_->end()) return std::nullopt;
    return JsonView(*found, path_ + "/" + path_token(field));
}

std::vector<std::pair<std::string, JsonView>> JsonView::fields() const {
    if (!value_->is_object()) fail_expecting("an object");
    std::vector<std::pair<std::string, JsonView>> result;
    for (const auto& [key, value] : value_->items())
        result.emplace_back(key, JsonView(value, path_ + "/" + path_token(key)));
    return result;
}

std::size_t JsonView::size() const {
    if (!value_->is_array()) fail_expecting("an array");
    return value_->size();
}

JsonView JsonView::operator[](std::size_t index) const {
    if (index >= size()) fail(fmt::format("expected at least {} elements, found {}", index + 1, size()));
    return JsonView((*value_)[index], fmt::format("{}/{}", path_, index));
}

std::vector<JsonView> JsonView::elements() const {
    std::vector<JsonView> result;
    result.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) result.push_back((*this)[i]);
    return result;
}

std::int64_t JsonView::integer(std::int64_t least, std::int64_t most) const {
    const auto fail_range = [&] { fail_expecting(fmt::format("an integer from {} to {}", least, most)); };
    if (value_->is_number_unsigned()) {
        const auto value = value_->get<std::uint64_t>();
        if (most < 0 || value > static_cast<std::uint64_t>(most)) fail_range();
        if (static_cast<std::int64_t>(value) < least) fail_range();
        return static_cast<std::int64_t>(value);
    }
    if (value_->is_number_integer()) {
        const auto value = value_->get<std::int64_t>();
        if (value < least || value > most) fail_range();
        return value;
    }
    if (value_->is_number_float()) {
        const double value = value_->get<double>();
        // Beyond 2^53 a double does not determine one integer.
        if (std::trunc(value) != value || std::abs(value) > 9007199254740992.0) fail_range();
        const auto whole = static_cast<std::int64_t>(value);
        if (whole < least || whole > most) fail_range();
        return whole;
    }
    fail_range();
    return 0;
}

std::int64_t JsonView::bytes(std::int64_t least, std::int64_t most) const {
    if (!value_->is_string()) return integer(least, most);
    const auto size = text::size_in(string());
    if (!size || *size < least || *size > most)
        fail_expecting(fmt::format("{} (from {} to {})", text::kSizeExpected, least, most));
    return *size;
}

double JsonView::number(double least, double most) const {
    const double value = value_->is_number() ? value_->get<double>() : std::nan("");
    if (!(value >= least && value <= most))
        fail_expecting(fmt::format("a number from {} to {}", least, most));
    return value;
}

std::string JsonView::string() const {
    if (!value_->is_string()) fail_expecting("a string");
    return value_->get<std::string>();
}

bool JsonView::boolean() const {
    if (!value_->is_boolean()) fail_expecting("true or false");
    return value_->get<bool>();
}

std::size_t JsonView::choice(const std::vector<std::string_view>& choices) const {
    const std::string text = string();
    const auto found = std::ranges::find(choices, text);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    const auto guess = nearest(text, choices);
    fail_expecting(fmt::format("one of {}{}", fmt::join(choices, ", "),
                               guess ? fmt::format(" (did you mean '{}'?)", *guess) : ""));
}

}  // namespace tutti::io
