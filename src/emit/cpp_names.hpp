#pragma once

#include "emit/unique_names.hpp"

#include <string>
#include <string_view>

namespace tutti::emit {

/// A string as C++ writes it, in double quotes and on one line, whatever is in it.
[[nodiscard]] std::string cpp_string(std::string_view text);

/// The text as it can stand behind "//": on one line, and not going on in the next.
[[nodiscard]] std::string cpp_comment(std::string_view text);

/// A number as C++ reads back exactly; infinities and NaN too.
[[nodiscard]] std::string cpp_number(double number);

/// Gives names that C++ takes: letters, digits and underscores, each once, no keyword, nothing that
/// rank_program.hpp or a standard header defines. None ends with an underscore.
class CppNames {
  public:
    CppNames();
    [[nodiscard]] std::string unique(std::string_view wanted);

  private:
    UniqueNames taken_;
};

}  // namespace tutti::emit
