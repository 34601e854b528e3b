#pragma once

#include "core/error.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::io {

using Json = nlohmann::ordered_json;

/// A JSON value and its path. Every accessor either returns a value or throws an InputError that names the
/// path, what was expected and what was found. So readers are lists of accesses and format no errors.
class JsonView {
  public:
    explicit JsonView(const Json& value, std::string path = {}) : value_(&value), path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const Json& json() const { return *value_; }
    [[nodiscard]] bool is_array() const { return value_->is_array(); }
    [[nodiscard]] bool is_object() const { return value_->is_object(); }
    [[nodiscard]] bool is_string() const { return value_->is_string(); }
    [[nodiscard]] bool is_number() const { return value_->is_number(); }

    /// Objects. `only` refuses any other field, with a suggestion when a known name is close.
    void only(std::initializer_list<std::string_view> fields) const;
    void only(const std::vector<std::string_view>& fields) const;
    [[nodiscard]] JsonView at(std::string_view field) const;
    [[nodiscard]] std::optional<JsonView> find(std::string_view field) const;
    [[nodiscard]] std::vector<std::pair<std::string, JsonView>> fields() const;

    /// Arrays.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] JsonView operator[](std::size_t index) const;
    [[nodiscard]] std::vector<JsonView> elements() const;

    /// Scalars. An integer may be written 8 or 8.0, never 8.5 or "8".
    [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
    /// A number of bytes, which may also be a string with a unit: "64KB" (text/size.hpp).
    [[nodiscard]] std::int64_t bytes(std::int64_t least, std::int64_t most) const;
    [[nodiscard]] double number(double least, double most) const;
    [[nodiscard]] std::string string() const;
    [[nodiscard]] bool boolean() const;
    /// The position of the string in `choices`; otherwise an error that lists them, nearest first.
    [[nodiscard]] std::size_t choice(const std::vector<std::string_view>& choices) const;

    /// "expected …, found 3.5".
    [[noreturn]] void fail_expecting(const std::string& expectation) const;
    /// Any other complaint about this place.
    [[noreturn]] void fail(const std::string& message) const;

  private:
    const Json* value_;
    std::string path_;
};

/// The candidate nearest to `name` by edit distance, if it is near enough to be what was meant.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view name,
                                                      const std::vector<std::string_view>& candidates);

}  // namespace tutti::io
