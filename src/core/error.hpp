#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti {

/// A name escaped for a JSON path (RFC 6901), so that the path can be pasted into other tools.
[[nodiscard]] inline std::string path_token(std::string_view name) {
    std::string token;
    for (const char c : name) token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return token;
}

/// The input is wrong and the user can correct it. Exit code 2.
/// `place` is a JSON path ("/topology/links/3/beta"), a "line:column", or empty.
class InputError : public std::runtime_error {
  public:
    explicit InputError(std::string message, std::string place = {}, std::string file = {})
        : std::runtime_error(compose(message, place, file)),
          message_(std::move(message)),
          place_(std::move(place)),
          file_(std::move(file)) {}

    [[nodiscard]] const std::string& message() const { return message_; }
    [[nodiscard]] const std::string& place() const { return place_; }
    [[nodiscard]] const std::string& file() const { return file_; }

    /// The same error with the file named.
    [[nodiscard]] InputError in_file(const std::string& file) const {
        return InputError(message_, place_, file);
    }
    /// The same error with another place.
    [[nodiscard]] InputError at(const std::string& place) const { return InputError(message_, place, file_); }

  private:
    static std::string compose(const std::string& message, const std::string& place,
                               const std::string& file) {
        std::string text;
        if (!file.empty()) text += file + ": ";
        if (!place.empty()) text += "at " + place + ": ";
        return text + message;
    }
    std::string message_, place_, file_;
};

/// Something cannot be written: the disk is full, or permission is missing. The input is not at fault.
class OutputError : public InputError {
    using InputError::InputError;
};

/// No schedule can satisfy the instance; `what()` names the node that cannot be reached. Exit code 4.
class InfeasibleError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A limit (time, memory) was reached before any answer was found. Exit code 3.
class LimitError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A bug in tutti. Exit code 70, with a file that reproduces it.
class InternalError : public std::logic_error {
    using std::logic_error::logic_error;
};

}  // namespace tutti
