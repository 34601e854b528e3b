#pragma once

#include "emit/unique_names.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti::emit {

/// A string as Python writes it, in double quotes and on one line, whatever is in it.
[[nodiscard]] std::string python_string(std::string_view text);

/// A number as Python reads back exactly; infinities and NaN too.
[[nodiscard]] std::string python_number(double number);

/// "(1, 2)", "(1,)", "()".
[[nodiscard]] std::string python_tuple(std::span<const std::string> items);

/// Gives names that Python takes: letters, digits and underscores, no keyword, each once.
class PythonNames {
  public:
    PythonNames();
    [[nodiscard]] std::string unique(std::string_view wanted);

  private:
    UniqueNames taken_;
};

}  // namespace tutti::emit
