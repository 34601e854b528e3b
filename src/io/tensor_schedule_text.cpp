#include "io/tensor_schedule_text.hpp"

#include "tensor/refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti::io {
namespace {

using tensor::Refusal;
using tensor::Schedule;

/// The words of one line.
class Line {
  public:
    Line(const std::string& text, std::size_t number) : place_(fmt::format("{}:1", number)) {
        std::istringstream words(text.substr(0, text.find('#')));
        for (std::string word; words >> word;) words_.push_back(word);
    }

    [[nodiscard]] const std::string& place() const { return place_; }
    [[nodiscard]] bool at_end() const { return next_ == words_.size(); }
    [[noreturn]] void fail(const std::string& expected) const {
        throw Refusal("malformed",
                      fmt::format("expected {}, found {}", expected,
                                  at_end() ? "the end of the line" : "'" + words_[next_] + "'"),
                      {}, place_);
    }
    std::string word(const char* expected) {
        if (at_end()) fail(expected);
        return words_[next_++];
    }
    /// Whether the next word is that one; it is taken then.
    bool takes(std::string_view word) {
        if (at_end() || words_[next_] != word) return false;
        ++next_;
        return true;
    }
    std::int64_t integer() {
        if (at_end()) fail("a number");
        const std::string& word = words_[next_];
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size()) fail("a number");
        ++next_;
        return value;
    }
    /// Words up to the end, or to one of these.
    std::vector<std::string> names(std::string_view stop = {}, std::string_view other = {}) {
        std::vector<std::string> list;
        while (!at_end() && (stop.empty() || words_[next_] != stop) &&
               (other.empty() || words_[next_] != other))
            list.push_back(words_[next_++]);
        return list;
    }
    /// The name before a colon, if the next word ends in one.
    std::string label() {
        if (at_end() || !words_[next_].ends_with(':')) return {};
        const std::string& word = words_[next_++];
        return word.substr(0, word.size() - 1);
    }

  private:
    std::string place_;
    std::vector<std::string> words_;
    std::size_t next_ = 0;
};

tensor::Split split_of(Line& line) {
    tensor::Split step{.op = line.word("an all_reduce")};
    if (line.takes("reduce_broadcast")) {
        step.into = tensor::Split::Into::ReduceBroadcast;
        if (line.takes("root")) step.root = line.integer();
    } else if (line.takes("axes")) {
        step.into = tensor::Split::Into::Axes;
        step.axes = line.names();
    } else if (line.takes("rs_ag")) {
        // "dim" may be left out, as may the word: split sum rs_ag 1
        if (line.takes("dim") || !line.at_end()) step.dim = line.integer();
    } else {
        line.fail("rs_ag, reduce_broadcast or axes");
    }
    return step;
}

tensor::Reorder reorder_of(Line& line) {
    tensor::Reorder step{.gather = line.word("a gather")};
    if (!line.takes("past")) line.fail("past");
    if (!line.takes("all")) step.ops = line.names();
    return step;
}

tensor::Distribute distribute_of(Line& line) {
    tensor::Distribute step{.value = line.word("a value")};
    if (line.takes("dim")) step.dim = line.integer();
    if (!line.takes("axes")) line.fail("axes");
    step.axes = line.names();
    return step;
}

/// Several states are several steps.
void add_as_slice(Line& line, std::vector<tensor::Step>& steps) {
    const std::vector<std::string> tensors = line.names("dim", "axes");
    if (tensors.empty()) line.fail("a state");
    std::optional<std::int64_t> dim;
    std::optional<std::vector<std::string>> axes;
    if (line.takes("dim")) dim = line.integer();
    if (line.takes("axes")) axes = line.names();
    for (const std::string& tensor : tensors) steps.emplace_back(tensor::AsSlice{tensor, dim, axes});
}

void add_steps(Line& line, Schedule& schedule) {
    std::vector<tensor::Step>& steps = schedule.steps;
    const std::string verb = line.word("a step");
    if (verb == "program") {
        schedule.program = line.word("the name of a program");
    } else if (verb == "split") {
        steps.emplace_back(split_of(line));
    } else if (verb == "reorder") {
        steps.emplace_back(reorder_of(line));
    } else if (verb == "distribute") {
        steps.emplace_back(distribute_of(line));
    } else if (verb == "as_slice") {
        add_as_slice(line, steps);
    } else if (verb == "fuse" || verb == "coalesce") {
        const std::string name = line.label();
        std::vector<std::string> ops = line.names();
        if (verb == "fuse") {
            steps.emplace_back(tensor::Fuse{std::move(ops), name});
        } else {
            steps.emplace_back(tensor::Coalesce{std::move(ops), name});
        }
    } else if (verb == "overlap") {
        tensor::OverlapStep step{.chain = line.names("pieces")};
        if (!line.takes("pieces")) line.fail("pieces");
        step.pieces = line.integer();
        steps.emplace_back(std::move(step));
    } else {
        throw Refusal("transformation", fmt::format("there is no step '{}'", verb.substr(0, 60)), {},
                      line.place());
    }
    if (!line.at_end()) line.fail("the end of the line");
}

struct StepText {
    std::string operator()(const tensor::Split& step) const {
        switch (step.into) {
            case tensor::Split::Into::ReduceBroadcast:
                return fmt::format("split {} reduce_broadcast root {}", step.op, step.root);
            case tensor::Split::Into::Axes:
                return fmt::format("split {} axes {}", step.op, fmt::join(step.axes, " "));
            case tensor::Split::Into::ReduceScatterGather:
                break;
        }
        return fmt::format("split {} rs_ag{}", step.op,
                           step.dim == 0 ? "" : fmt::format(" dim {}", step.dim));
    }
    std::string operator()(const tensor::Reorder& step) const {
        return fmt::format("reorder {} past {}", step.gather,
                           step.ops ? fmt::format("{}", fmt::join(*step.ops, " ")) : "all");
    }
    std::string operator()(const tensor::Distribute& step) const {
        return fmt::format("distribute {} dim {} axes {}", step.value, step.dim, fmt::join(step.axes, " "));
    }
    std::string operator()(const tensor::AsSlice& step) const {
        return fmt::format("as_slice {}{}{}", step.tensor, step.dim ? fmt::format(" dim {}", *step.dim) : "",
                           step.axes ? fmt::format(" axes {}", fmt::join(*step.axes, " ")) : "");
    }
    std::string operator()(const tensor::Fuse& step) const { return grouped("fuse", step.name, step.ops); }
    std::string operator()(const tensor::Coalesce& step) const {
        return grouped("coalesce", step.name, step.ops);
    }
    std::string operator()(const tensor::OverlapStep& step) const {
        return fmt::format("overlap {} pieces {}", fmt::join(step.chain, " "), step.pieces);
    }

  private:
    static std::string grouped(const char* verb, const std::string& name,
                               const std::vector<std::string>& ops) {
        return fmt::format("{} {}{}", verb, name.empty() ? "" : name + ": ", fmt::join(ops, " "));
    }
};

}  // namespace

Schedule parse_tensor_schedule_text(const std::string& text) {
    Schedule schedule;
    std::istringstream in(text);
    std::size_t number = 0;
    for (std::string content; std::getline(in, content);) {
        Line line(content, ++number);
        if (!line.at_end()) add_steps(line, schedule);
    }
    return schedule;
}

std::string tensor_step_text(const tensor::Step& step) { return std::visit(StepText{}, step); }

std::string tensor_schedule_text(const Schedule& schedule) {
    std::string text;
    if (!schedule.program.empty()) text += fmt::format("program {}\n", schedule.program);
    for (const tensor::Step& step : schedule.steps) text += tensor_step_text(step) + "\n";
    return text;
}

}  // namespace tutti::io
