#pragma once

#include "core/error.hpp"

#include <string>

namespace tutti::tensor {

/// Words of more than 300 bytes end in "…" there: a name from a file may have any length.
[[nodiscard]] std::string with_short_words(const std::string& text);

/// A program that is ill-typed, or a transformation that is not allowed. `code` is one word of
/// docs/tensor-programs.md, the same for the same reason everywhere; `words` say it to people.
class Refusal : public InputError {
  public:
    /// `value` is the value or kernel at fault; empty where there is none. Long names are cut.
    Refusal(std::string code, const std::string& words, std::string value = {}, const std::string& place = {},
            const std::string& file = {});

    [[nodiscard]] const std::string& code() const { return code_; }
    [[nodiscard]] const std::string& words() const { return words_; }
    [[nodiscard]] const std::string& value() const { return value_; }

    /// The same refusal with its value, place or file named, where it had none.
    [[nodiscard]] Refusal of_value(const std::string& value) const {
        return {code_, words_, value_.empty() ? value : value_, place(), file()};
    }
    [[nodiscard]] Refusal at_place(const std::string& place) const {
        return {code_, words_, value_, place, file()};
    }
    [[nodiscard]] Refusal of_file(const std::string& file) const {
        return {code_, words_, value_, place(), file};
    }

  private:
    std::string code_, words_, value_;
};

}  // namespace tutti::tensor
