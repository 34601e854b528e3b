#include "batch/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::batch {
namespace {

std::string duration_text(std::chrono::duration<double> duration) {
    const auto seconds = static_cast<long>(duration.count());
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
    return fmt::format("{}:{:02} h", seconds / 3600, seconds / 60 % 60);
}

/// At most `columns` characters of the text.
std::string cut(const std::string& text, std::size_t columns) {
    std::size_t bytes = 0, width = 0;
    for (; bytes < text.size(); ++bytes) {
        const bool starts_character = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
        if (starts_character && ++width > columns) break;
    }
    return text.substr(0, bytes);
}

}  // namespace

Progress::Progress(ProgressView view, std::size_t total)
    : view_(std::move(view)), total_(total), begin_(view_.now()), last_(begin_) {
    if (view_.kind == ProgressView::Kind::Bar && view_.silent_for.count() == 0) draw();
}

Progress::~Progress() {
    if (drawn_) *view_.out << "\r\033[K" << std::flush;
}

void Progress::working_on(const std::string& what) {
    what_ = what;
    tick();
}

void Progress::done(bool failed) {
    ++done_;
    if (failed) ++failed_;
    tick();
}

void Progress::tick() {
    if (view_.kind == ProgressView::Kind::Silent || view_.now() - begin_ < view_.silent_for) return;
    const bool bar = view_.kind == ProgressView::Kind::Bar;
    const auto elapsed = view_.now() - last_;
    if (bar && (elapsed >= kBetweenDrawings || done_ == total_)) draw();
    if (!bar && elapsed >= kBetweenLines) say();
}

std::string Progress::line(std::size_t columns) const {
    const auto elapsed = view_.now() - begin_;
    std::string facts = fmt::format(" {}/{}", done_, total_);
    if (failed_ > 0) facts += fmt::format(", {} failed", failed_);
    facts += ", " + duration_text(elapsed);
    if (!what_.empty()) facts += "  " + what_;

    // The bar takes a third of the line: names are worth more than blocks.
    const std::size_t width = std::clamp<std::size_t>(columns / 3, 4, 40);
    const std::size_t full = total_ == 0 ? width : width * done_ / total_;
    const std::string bar = "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
    return cut(bar + facts, columns);
}

void Progress::draw() {
    // The last column stays free: some terminals break the line when it is written.
    const std::size_t columns = std::max<std::size_t>(view_.columns(), 2) - 1;
    *view_.out << '\r' << line(columns) << "\033[K" << std::flush;
    drawn_ = true;
    last_ = view_.now();
}

void Progress::say() {
    last_ = view_.now();
    *view_.out << fmt::format("{} of {} done{}, {}{}\n", done_, total_,
                              failed_ > 0 ? fmt::format(", {} failed", failed_) : "",
                              duration_text(last_ - begin_), what_.empty() ? "" : "; now " + what_)
               << std::flush;
}

}  // namespace tutti::batch
