#include "batch/progress.hpp"

#include "core/outcome.hpp"
#include "text/format.hpp"
#include "text/terminal_codes.hpp"

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

/// As much of the text as fits.
std::string cut(const std::string& text, std::size_t columns) {
    if (text::width_of(text) <= columns) return text;
    std::size_t bytes = text.size();
    while (bytes > 0 && text::width_of(std::string_view(text).substr(0, bytes)) > columns) {
        do --bytes;
        while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U);
    }
    return text.substr(0, bytes);
}

/// The parts one after the other, until one does not fit whole: half a number is another number.
std::string fitting(const std::vector<std::string>& parts, std::size_t columns) {
    std::string text;
    for (const std::string& part : parts) {
        if (text::width_of(text) + text::width_of(part) > columns) break;
        text += part;
    }
    return text;
}

std::string ticks_or_dash(const std::optional<Ticks>& ticks) {
    return ticks ? std::to_string(ticks->count()) : "-";
}

}  // namespace

Progress::Progress(ProgressView view, std::size_t total)
    : view_(std::move(view)), total_(total), begin_(view_.now()), last_(begin_) {
    if (view_.kind == ProgressView::Kind::Bar && view_.silent_for.count() == 0) draw();
}

Progress::~Progress() { wipe(); }

void Progress::working_on(const std::string& what) {
    what_ = text::printable(what);
    tick();
}

void Progress::done(bool failed) {
    ++done_;
    if (failed) ++failed_;
    tick();
}

void Progress::begin(std::size_t task, const std::string& name) {
    running_.insert_or_assign(task, Running{text::printable(name), view_.now()});
    tick();
}

void Progress::found(std::size_t task, std::optional<Ticks> makespan, std::optional<Ticks> bound) {
    const auto running = running_.find(task);
    if (running == running_.end()) return;
    running->second.makespan = makespan;
    running->second.bound = bound;
}

void Progress::end(std::size_t task, const std::string& error) {
    const auto running = running_.find(task);
    if (!error.empty() && view_.kind == ProgressView::Kind::Lines && running != running_.end()) {
        view_.out->print("failed: {}: {}\n", running->second.name, error);
        view_.out->flush();
    }
    if (running != running_.end()) running_.erase(running);
    done(!error.empty());
}

void Progress::kept(std::size_t count, std::size_t failed) {
    kept_ += count;
    done_ += count;
    failed_ += failed;
}

void Progress::tick() {
    if (view_.kind == ProgressView::Kind::Silent || view_.now() - begin_ < view_.silent_for) return;
    const bool bar = view_.kind == ProgressView::Kind::Bar;
    const auto elapsed = view_.now() - last_;
    if (bar && (elapsed >= kBetweenDrawings || done_ == total_)) draw();
    if (!bar && elapsed >= kBetweenLines) say();
}

/// As if what is left were like what is done. Nothing before there is something to go by.
std::string Progress::time_left() const {
    const std::size_t mine = done_ - kept_;
    const std::chrono::duration<double> elapsed = view_.now() - begin_;
    if (running_.empty() || mine == 0 || elapsed < std::chrono::seconds(2)) return {};
    const auto left = elapsed * (static_cast<double>(total_ - done_) / static_cast<double>(mine));
    return fmt::format(", about {} left", duration_text(left));
}

std::vector<std::string> Progress::facts() const {
    std::vector<std::string> parts{fmt::format(" {}/{}", done_, total_)};
    if (failed_ > 0) parts.push_back(fmt::format(", {} failed", failed_));
    if (!running_.empty()) parts.push_back(fmt::format(", {} running", running_.size()));
    parts.push_back(fmt::format(", {}", duration_text(view_.now() - begin_)));
    parts.push_back(time_left());
    return parts;
}

std::string Progress::bar_line(std::size_t columns) const {
    // The bar takes a third of the line: names are worth more than blocks.
    const std::size_t width = std::clamp<std::size_t>(columns / 3, 4, 40);
    const std::size_t full = total_ == 0 ? width : width * done_ / total_;
    const std::string bar = "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
    const std::string text = bar + fitting(facts(), columns - std::min(columns, bar.size()));
    return cut(what_.empty() ? text : text + "  " + what_, columns);
}

/// "  ring/a   12 s   makespan 40, bound 38, gap 5.3 %"; a name that is too long loses its end.
std::string Progress::task_line(const Running& running, std::size_t columns) const {
    std::vector<std::string> figures{fmt::format("  {:>8}", duration_text(view_.now() - running.begin))};
    if (running.makespan || running.bound) {
        figures.push_back(fmt::format("  makespan {}", ticks_or_dash(running.makespan)));
        figures.push_back(fmt::format(", bound {}", ticks_or_dash(running.bound)));
        if (running.makespan && running.bound)
            figures.push_back(", gap " + text::gap_text(tutti::gap(*running.makespan, *running.bound)));
    }
    // The same width for all of them, so that the figures stand in columns.
    const std::size_t width = std::clamp<std::size_t>(columns / 2, 13, 45) - 5;
    std::string name = "  " + cut(running.name, width);
    name += std::string(width + 2 - text::width_of(name), ' ');
    return cut(name + fitting(figures, columns - std::min(columns, width + 2)), columns);
}

void Progress::draw() {
    // The last column stays free: some terminals break the line when it is written.
    const std::size_t columns = std::max<std::size_t>(view_.columns(), 2) - 1;
    const std::size_t rows = std::max<std::size_t>(view_.rows(), 2);
    text::SafeText text = text::line_start(drawn_ > 1 ? drawn_ - 1 : 0);
    text += bar_line(columns) + text::clear_line();
    std::size_t lines = 1;
    for (const auto& [number, running] : running_) {
        if (lines + 1 >= rows) break;
        text += text::safe_text("\n{}{}", task_line(running, columns), text::clear_line());
        ++lines;
    }
    if (lines < drawn_) text += text::clear_below();
    // At once, so that no half of it is seen.
    *view_.out << text;
    view_.out->flush();
    drawn_ = lines;
    last_ = view_.now();
}

void Progress::wipe() {
    if (drawn_ == 0) return;
    *view_.out << text::line_start(drawn_ - 1) << (drawn_ > 1 ? text::clear_below() : text::clear_line());
    view_.out->flush();
    drawn_ = 0;
}

void Progress::say() {
    last_ = view_.now();
    std::string now = what_;
    if (!running_.empty()) now = running_.begin()->second.name;
    if (running_.size() > 1) now += fmt::format(" and {} more", running_.size() - 1);
    view_.out->print("{} of {} done{}, {}{}{}\n", done_, total_,
                     failed_ > 0 ? fmt::format(", {} failed", failed_) : "", duration_text(last_ - begin_),
                     time_left(), now.empty() ? "" : "; now " + now);
    view_.out->flush();
}

}  // namespace tutti::batch
