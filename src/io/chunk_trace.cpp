// Trace files: a line for the program, then one for each verb, in the order in which they were called.
//
//     tutti_trace 1
//     program ring collective all_reduce ranks 2 chunks 2 in_place 1 protocol Simple instances 1 interleaved
//     1 policy auto fusion 1 copy   0 i 0  1 i 0  1  sendtb -1 recvtb -1 ch -1  @prog.py:12
//
// Words have no spaces; what is no plain character in a name is written as %XX. Buffers are i, o, s and
// s:NAME.

#include "io/chunk_trace.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace tutti::io {
namespace {

using lang::Trace;
using lang::Verb;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32U;
constexpr std::string_view kDefaultScratch = "scratch";

bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == '+' || c == ',' || c == '(' || c == ')' || c == '=';
}

std::string escaped(std::string_view name) {
    std::string text;
    for (const char c : name) {
        text += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return text.empty() ? "%" : text;
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    Trace read() {
        // A line for each verb, nearly: room that grows would take three times as much meanwhile.
        std::size_t lines = 0;
        for (std::size_t at = text_.find('\n'); at != text_.npos; at = text_.find('\n', at + 1)) ++lines;
        const std::size_t most = text_.size() / std::string_view("copy 0 i 0 0 i 0 1").size();
        trace_.verbs.reserve(std::min(most, lines));
        if (!next_line() || word() != "tutti_trace" || word() != "1") fail("expected \"tutti_trace 1\"");
        end_line();
        while (next_line()) {
            const std::string_view item = word();
            if (item.empty()) continue;
            if (item == "program") {
                program();
            } else if (trace_.shape.ranks == 0) {
                fail("expected a line \"program …\" first");
            } else if (item == "init") {
                initial();
            } else if (item == "copy" || item == "reduce") {
                verb(item == "copy" ? Verb::Kind::Copy : Verb::Kind::Reduce);
            } else {
                fail(fmt::format("expected program, init, copy or reduce, found '{}'", shown(item)));
            }
            end_line();
        }
        if (trace_.shape.ranks == 0) fail("expected a line \"program …\"");
        return std::move(trace_);
    }

  private:
    [[noreturn]] void fail(const std::string& message) const {
        // With the line of the program that the verb is from, if it says so.
        const auto at = whole_line_.rfind(" @");
        const std::string program =
            at == whole_line_.npos ? "" : ", " + shown(whole_line_.substr(at + 2), 200);
        throw InputError(message, fmt::format("line {}{}", std::max<std::size_t>(number_, 1), program));
    }
    static std::string shown(std::string_view word, std::size_t most = 40) {
        std::string text(word.substr(0, most));
        std::ranges::replace_if(
            text, [](char c) { return c < ' ' || c > '~'; }, '?');
        return text;
    }

    bool next_line() {
        if (text_.empty()) return false;
        const auto end = std::min(text_.find('\n'), text_.size());
        line_ = text_.substr(0, end);
        text_.remove_prefix(std::min(end + 1, text_.size()));
        if (line_.ends_with('\r')) line_.remove_suffix(1);
        whole_line_ = line_;
        ++number_;
        return true;
    }
    /// The next word of the line; empty at its end.
    std::string_view word() {
        line_.remove_prefix(std::min(line_.find_first_not_of(' '), line_.size()));
        const std::string_view found = line_.substr(0, line_.find(' '));
        line_.remove_prefix(found.size());
        return found;
    }
    void end_line() {
        if (const std::string_view rest = word(); !rest.empty()) {
            fail(fmt::format("expected the end of the line, found '{}'", shown(rest)));
        }
    }
    std::int64_t number(std::int64_t least, std::int64_t most) {
        const std::string_view found = word();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
        if (error != std::errc{} || end != found.data() + found.size() || value < least || value > most) {
            fail(fmt::format("expected a number from {} to {}, found '{}'", least, most, shown(found)));
        }
        return value;
    }
    std::uint32_t count(std::int64_t least = 0) {
        return static_cast<std::uint32_t>(number(least, std::int64_t{1} << 30));
    }
    bool flag() { return number(0, 1) == 1; }
    std::string name(std::string_view found) const {
        std::string text;
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != '%') {
                text += found[i];
                continue;
            }
            if (found.size() == 1) break;  // "%": no name
            unsigned value = 0;
            const char* const digits = found.data() + i + 1;
            const bool whole =
                i + 2 < found.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
            if (!whole) fail(fmt::format("expected %XX in '{}'", shown(found)));
            text += static_cast<char>(value);
            i += 2;
        }
        return text;
    }

    void program() {
        if (trace_.shape.ranks != 0) fail("expected one line \"program …\"");
        trace_.name = name(word());
        lang::Shape& shape = trace_.shape;
        for (std::string_view key = word(); !key.empty(); key = word()) {
            if (key == "collective") {
                const std::string_view found = word();
                const auto kind = kind_named(found);
                if (!kind) fail(fmt::format("there is no collective '{}'", shown(found)));
                shape.kind = *kind;
            } else if (key == "ranks") {
                shape.ranks = count(1);
            } else if (key == "chunks") {
                shape.chunks = count();
            } else if (key == "root") {
                shape.root = Rank(count());
            } else if (key == "in_place") {
                shape.in_place = flag();
            } else if (key == "inputs") {
                shape.custom_inputs = count();
            } else if (key == "outputs") {
                shape.custom_outputs = count();
            } else if (key == "protocol") {
                protocol(word());
            } else if (key == "instances") {
                trace_.instances = static_cast<std::uint32_t>(number(1, 1024));
            } else if (key == "interleaved") {
                trace_.interleaved = flag();
            } else if (key == "policy") {
                const std::string_view found = word();
                if (found != "auto" && found != "manual") {
                    fail(fmt::format("expected auto or manual, found '{}'", shown(found)));
                }
                trace_.policy = found == "auto" ? lang::BlockPolicy::Auto : lang::BlockPolicy::Manual;
            } else if (key == "fusion") {
                trace_.fusion = flag();
            } else {
                fail(fmt::format("'{}' is nothing that a program has", shown(key)));
            }
        }
        if (shape.ranks == 0) fail("expected ranks");
        if (shape.kind != CollectiveKind::Custom && (shape.custom_inputs > 0 || shape.custom_outputs > 0)) {
            fail("inputs and outputs are for custom collectives");
        }
    }
    void protocol(std::string_view found) {
        for (const auto protocol : {plan::Protocol::Simple, plan::Protocol::LL, plan::Protocol::LL128}) {
            if (name_of(protocol) == found) {
                trace_.protocol = protocol;
                return;
            }
        }
        fail(fmt::format("expected Simple, LL or LL128, found '{}'", shown(found)));
    }

    lang::Slot slot() {
        lang::Slot slot;
        slot.rank = static_cast<std::uint32_t>(number(0, std::int64_t{trace_.shape.ranks} - 1));
        const std::string_view buffer = word();
        if (buffer == "i" || buffer == "o") {
            slot.buffer = buffer == "i" ? lang::kInput : lang::kOutput;
        } else if (buffer == "s" || buffer.starts_with("s:")) {
            const std::string scratch = buffer == "s" ? std::string(kDefaultScratch) : name(buffer.substr(2));
            const auto [found, fresh] =
                scratch_.try_emplace(scratch, static_cast<std::uint32_t>(trace_.scratch.size()));
            if (fresh) trace_.scratch.push_back(scratch);
            slot.buffer = lang::kFirstScratch + found->second;
        } else {
            fail(fmt::format("expected a buffer i, o, s or s:NAME, found '{}'", shown(buffer)));
        }
        slot.index = count();
        return slot;
    }
    void initial() {
        if (trace_.shape.kind != CollectiveKind::Custom) fail("init is for custom collectives");
        lang::Initial initial;
        initial.slot = slot();
        if (initial.slot.buffer >= lang::kFirstScratch) fail("scratch buffers hold nothing at first");
        initial.value.rank = Rank(count());
        initial.value.chunk = count();
        trace_.shape.initial.push_back(initial);
    }
    void verb(Verb::Kind kind) {
        Verb verb{.kind = kind};
        verb.from = slot();
        verb.to = slot();
        verb.count = count(1);
        for (std::string_view key = word(); !key.empty(); key = word()) {
            if (key.starts_with('@')) {
                verb.place = place(key.substr(1));
            } else if (key == "sendtb" || key == "recvtb" || key == "ch") {
                auto& value = key == "sendtb"   ? verb.directive.send_block
                              : key == "recvtb" ? verb.directive.receive_block
                                                : verb.directive.channel;
                value = static_cast<std::int32_t>(number(-1, 1 << 20));
            } else {
                fail(fmt::format("expected sendtb, recvtb, ch or @FILE:LINE, found '{}'", shown(key)));
            }
        }
        trace_.verbs.push_back(verb);
    }
    std::uint32_t place(std::string_view text) {
        const auto colon = text.rfind(':');
        lang::ProgramPlace place;
        const std::string_view line = colon == text.npos ? "" : text.substr(colon + 1);
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), place.line);
        if (!line.empty() && error == std::errc{} && end == line.data() + line.size()) {
            place.file = name(text.substr(0, colon));
        }
        if (place.file.empty()) fail(fmt::format("expected @FILE:LINE, found '@{}'", shown(text)));
        // By what it says, not by how it is spelled: %61 is a, 07 is 7.
        const auto [found, fresh] =
            places_.try_emplace({place.file, place.line}, static_cast<std::uint32_t>(trace_.places.size()));
        if (fresh) trace_.places.push_back(std::move(place));
        return found->second;
    }

    std::string_view text_, line_, whole_line_;
    std::size_t number_ = 0;
    Trace trace_;
    std::map<std::string, std::uint32_t> scratch_;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> places_;
};

std::string slot_text(const Trace& trace, const lang::Slot& slot) {
    std::string buffer = slot.buffer == lang::kInput ? "i" : "o";
    if (slot.buffer >= lang::kFirstScratch) {
        const std::string& name = trace.scratch[slot.buffer - lang::kFirstScratch];
        buffer = name == kDefaultScratch ? "s" : "s:" + escaped(name);
    }
    return fmt::format("{} {} {}", slot.rank, buffer, slot.index);
}

}  // namespace

lang::Trace read_chunk_trace(Source& source) {
    const std::string text = read_text(source, kMostBytes);
    try {
        return Reader(text).read();
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

std::string chunk_trace_text(const Trace& trace) {
    const lang::Shape& shape = trace.shape;
    std::string text = "tutti_trace 1\n";
    text += fmt::format("program {} collective {} ranks {} chunks {} in_place {}", escaped(trace.name),
                        name_of(shape.kind), shape.ranks, shape.chunks, shape.in_place ? 1 : 0);
    if (shape.root) text += fmt::format(" root {}", shape.root->value());
    if (shape.kind == CollectiveKind::Custom) {
        text += fmt::format(" inputs {} outputs {}", shape.custom_inputs, shape.custom_outputs);
    }
    text += fmt::format(" protocol {} instances {} interleaved {} policy {} fusion {}\n",
                        name_of(trace.protocol), trace.instances, trace.interleaved ? 1 : 0,
                        trace.policy == lang::BlockPolicy::Auto ? "auto" : "manual", trace.fusion ? 1 : 0);
    for (const lang::Initial& initial : shape.initial) {
        text += fmt::format("init {} {} {}\n", slot_text(trace, initial.slot), initial.value.rank.value(),
                            initial.value.chunk);
    }
    for (const Verb& verb : trace.verbs) {
        text += fmt::format("{} {} {} {} sendtb {} recvtb {} ch {}",
                            verb.kind == Verb::Kind::Copy ? "copy" : "reduce", slot_text(trace, verb.from),
                            slot_text(trace, verb.to), verb.count, verb.directive.send_block,
                            verb.directive.receive_block, verb.directive.channel);
        const lang::ProgramPlace& place = trace.place_of(verb);
        if (!place.file.empty()) text += fmt::format(" @{}:{}", escaped(place.file), place.line);
        text += '\n';
    }
    return text;
}

}  // namespace tutti::io
