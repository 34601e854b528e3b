#pragma once

#include "app/instance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/program_options/variables_map.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

using Names = std::vector<std::string_view>;

[[noreturn]] inline void fail(const std::string& message, std::string_view command) {
    throw InputError(
        fmt::format("{} (see 'tutti{}{} --help')", message, command.empty() ? "" : " ", command));
}

/// The shortest name that begins with these letters.
inline std::optional<std::string_view> begun_by(std::string_view letters, const Names& names) {
    constexpr std::size_t kLeast = 3;
    std::optional<std::string_view> best;
    for (const std::string_view name : names) {
        const bool fits = letters.size() >= kLeast && name.starts_with(letters);
        if (fits && (!best || name.size() < best->size())) best = name;
    }
    return best;
}

inline std::string suggestion(std::string_view name, const Names& names) {
    auto guess = io::nearest(name, names);
    if (!guess) guess = begun_by(name, names);
    return guess ? fmt::format("; did you mean '{}'?", *guess) : "";
}

/// The values of a command's options. Each accessor returns a checked value or throws an InputError.
class Values {
  public:
    /// Free fields are options that the command does not list, with their values.
    using Fields = std::vector<std::pair<std::string, std::string>>;
    Values(std::string_view command, boost::program_options::variables_map map, Fields free_fields)
        : command_(command), map_(std::move(map)), free_fields_(std::move(free_fields)) {}

    [[nodiscard]] bool flag(const char* name) const { return map_.count(name) > 0; }

    [[nodiscard]] std::optional<std::string> text(const char* name) const {
        if (!flag(name)) return std::nullopt;
        std::string value = list(name).back();
        if (value.empty()) fail(fmt::format("option --{} has an empty value", name), command_);
        return value;
    }

    [[nodiscard]] std::vector<std::string> list(const char* name) const {
        return flag(name) ? map_[name].as<std::vector<std::string>>() : std::vector<std::string>();
    }

    template <class Number>
    [[nodiscard]] Number number(const char* name, Number otherwise, Number least,
                                Number most = std::numeric_limits<Number>::max()) const {
        const auto value = text(name);
        if (!value) return otherwise;
        Number result{};
        const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
        if (error != std::errc() || end != value->data() + value->size() || result < least || result > most) {
            fail(fmt::format("option --{}: expected a whole number from {} to {}, found '{}'", name, least,
                             most, *value),
                 command_);
        }
        return result;
    }

    [[nodiscard]] std::optional<double> seconds(const char* name) const {
        const auto value = text(name);
        if (!value) return std::nullopt;
        double result = 0;
        const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
        if (error != std::errc() || end != value->data() + value->size() || !std::isfinite(result) ||
            result <= 0) {
            fail(fmt::format("option --{}: expected a positive number of seconds, found '{}'", name, *value),
                 command_);
        }
        return result;
    }

    [[nodiscard]] std::size_t choice(const char* name, const Names& choices) const {
        const std::string value = text(name).value_or(std::string(choices.front()));
        const auto found = std::ranges::find(choices, value);
        if (found == choices.end()) {
            fail(fmt::format("option --{}: expected {}, found '{}'{}", name, fmt::join(choices, " or "),
                             value, suggestion(value, choices)),
                 command_);
        }
        return static_cast<std::size_t>(found - choices.begin());
    }

    [[nodiscard]] std::string one_positional(const char* name, std::string_view what) const {
        const auto all = list(name);
        if (all.empty()) fail(fmt::format("expected {}", what), command_);
        if (all.size() > 1)
            fail(fmt::format("expected one argument, {}; found also '{}'", what, all[1]), command_);
        return all.front();
    }

    [[nodiscard]] const Fields& free_fields() const { return free_fields_; }

    [[noreturn]] void refuse(const std::string& message) const { fail(message, command_); }

  private:
    std::string_view command_;
    boost::program_options::variables_map map_;
    Fields free_fields_;
};

/// "1,2,4": what stands between the commas, each read by `read`.
template <class T>
std::vector<T> comma_list(const Values& values, const char* name, std::string_view expected,
                          const std::function<std::optional<T>(std::string_view)>& read,
                          const Names& names = {}) {
    std::vector<T> list;
    const auto text = values.text(name);
    if (!text) return list;
    for (std::size_t begin = 0; begin <= text->size();) {
        const std::size_t end = std::min(text->find(',', begin), text->size());
        const std::string item = text->substr(begin, end - begin);
        const auto value = read(item);
        if (!value)
            values.refuse(fmt::format("option --{}: expected {}, found '{}'{}", name, expected, item,
                                      suggestion(item, names)));
        list.push_back(*value);
        begin = end + 1;
    }
    return list;
}

template <class Number>
std::function<std::optional<Number>(std::string_view)> whole_number(Number least, Number most) {
    return [least, most](std::string_view text) -> std::optional<Number> {
        Number value{};
        const char* const last = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), last, value);
        if (error != std::errc() || stop != last || value < least || value > most) return std::nullopt;
        return value;
    };
}

inline constexpr unsigned kMostThreads = 1024;

/// The largest size that an option may have.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

/// What was expected where an option is no size (text/size.hpp).
[[nodiscard]] std::string size_expected();

/// "8388608", "8M", "8MiB": see text/size.hpp.
[[nodiscard]] std::optional<std::int64_t> byte_size(const Values& values, const char* name,
                                                    std::int64_t least);
/// Several of them with commas, each at least 1. "1K:1G" is all from 1K on, each twice the one before, up to
/// 1G; "1K:1G:4" each four times.
[[nodiscard]] std::vector<std::int64_t> byte_sizes(const Values& values, const char* name);
/// --chunks: several with commas.
[[nodiscard]] std::vector<std::uint64_t> chunk_counts(const Values& values);
/// --bytes and --chunks of a command that takes one of each.
[[nodiscard]] Variation one_variation(const Values& values);

/// --memory-limit, in bytes.
[[nodiscard]] std::optional<std::uint64_t> memory_limit(const Values& values);

}  // namespace tutti::cli
