#pragma once

#include "text/safe_text.hpp"

#include <ostream>

namespace tutti::text {

/// Where a command writes for people and programs. It takes SafeText only, which strings become by being
/// escaped; so this is the one way out, and it is closed to terminal escapes.
class Output {
  public:
    /// Which must outlive this.
    Output(std::ostream& to) : to_(&to) {}

    const Output& operator<<(const SafeText& text) const {
        *to_ << text.str();
        return *this;
    }

    /// As safe_text(); a newline is only written where the format has one.
    template <class... Args>
    void print(fmt::format_string<SafeFormat::Shown<Args>...> format, const Args&... args) const {
        *this << safe_text<Args...>(format, args...);
    }

    void flush() const { to_->flush(); }
    /// Whether everything could be written so far.
    [[nodiscard]] bool good() const { return to_->good(); }

  private:
    std::ostream* to_;
};

}  // namespace tutti::text
