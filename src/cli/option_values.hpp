#pragma once

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/error.hpp"
#include "core/search_options.hpp"
#include "io/json_view.hpp"
#include "synth/synthesize.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/program_options/variables_map.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
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

inline std::string suggestion(std::string_view name, const Names& names) {
    const auto guess = io::nearest(name, names);
    return guess ? fmt::format("; did you mean '{}'?", *guess) : "";
}

/// The values of a command's options, and questions about them that either answer or complain.
class Values {
  public:
    Values(const Command& command, boost::program_options::variables_map map)
        : command_(command.name), map_(std::move(map)) {}

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

    /// Given in megabytes, as people think of memory.
    [[nodiscard]] std::optional<std::size_t> megabytes(const char* name) const {
        if (!flag(name)) return std::nullopt;
        return number<std::size_t>(name, 1, 1, std::size_t{1} << 40) * 1'000'000;
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

    [[nodiscard]] std::optional<ScheduleFormat> schedule_format(const char* name) const {
        if (!flag(name)) return std::nullopt;
        return choice(name, {"json", "stream"}) == 0 ? ScheduleFormat::Json : ScheduleFormat::Stream;
    }

    [[nodiscard]] std::string method() const {
        Names names;
        for (const synth::Method& method : synth::methods()) names.push_back(method.name);
        return std::string(names[choice("method", names)]);
    }

    [[nodiscard]] std::string heuristic() const {
        const auto all = synth::heuristics();
        Names names;
        for (const synth::Method& heuristic : all) names.push_back(heuristic.name);
        return flag("heuristic") ? std::string(names[choice("heuristic", names)]) : std::string();
    }

    /// What --option NAME=VALUE says, in the order given.
    [[nodiscard]] std::vector<std::pair<std::string, double>> search_options() const {
        std::vector<std::pair<std::string, double>> options;
        for (const std::string& given : list("option")) {
            const std::size_t equals = given.find('=');
            if (equals == given.npos)
                refuse(fmt::format("option --option: expected NAME=VALUE, found '{}'", given));
            const std::string name = given.substr(0, equals), value = given.substr(equals + 1);
            const SearchOption* option = find_search_option(name);
            if (option == nullptr) {
                Names names;
                for (const SearchOption& each : search_option_table()) names.push_back(each.name);
                refuse(
                    fmt::format("option --option: there is no search option '{}'{}; 'tutti doctor "
                                "--options' lists them",
                                name, suggestion(name, names)));
            }
            double number = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
            if (error != std::errc() || end != value.data() + value.size() || !option->allows(number))
                refuse(
                    fmt::format("option --option {}: expected {}, found '{}'", name, option->range(), value));
            options.emplace_back(name, number);
        }
        return options;
    }

    [[nodiscard]] std::string one_positional(const char* name, std::string_view what) const {
        const auto all = list(name);
        if (all.empty()) fail(fmt::format("expected {}", what), command_);
        if (all.size() > 1)
            fail(fmt::format("expected one argument, {}; found also '{}'", what, all[1]), command_);
        return all.front();
    }

    [[noreturn]] void refuse(const std::string& message) const { fail(message, command_); }

  private:
    std::string_view command_;
    boost::program_options::variables_map map_;
};

inline constexpr unsigned kMostThreads = 1024;

/// "8388608", or as nccl-tests has it "8M": K, M and G are powers of 1024.
[[nodiscard]] std::optional<std::int64_t> byte_size(const Values& values, const char* name,
                                                    std::int64_t least);

/// What the options of these commands come to; the others are in options.cpp.
[[nodiscard]] VerifyOptions verify_options(const Values& values);
[[nodiscard]] ConvertOptions convert_options(const Values& values);
[[nodiscard]] BatchOptions batch_options(const Values& values);
[[nodiscard]] ResultsOptions results_options(const Values& values);
[[nodiscard]] ViewOptions view_options(const Values& values);

}  // namespace tutti::cli
