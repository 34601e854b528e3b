// The trace event format, as far as both viewers agree on it: complete events ("X") with a start and a
// duration in microseconds, metadata ("M") for names and order, counters ("C"), and flows ("s" to "f") that
// viewers draw as arrows. Processes are nodes, their threads the links that leave them.
//
// Perfetto keeps whole nanoseconds, rounds starts and durations separately, and drops an event that then
// begins before its predecessor on the track has ended. So times are whole nanoseconds here, and a duration
// is the difference of two such times; the exact ones are among the arguments. Process and thread numbers
// begin at 1 and never coincide, because viewers treat 0, and a thread with its process's number, specially.
//
// A flow must begin and end within events, so its ends are at the starts of two sends; Perfetto draws the
// arrow from the end of the first. An arrival is used by the next sends of the same chunk that leave its
// node. Where several arrivals are combined (a reduction), the first send onward has an arrow from each, the
// others only from the last. So there are at most twice as many arrows as sends.
//
// The share of busy links is counted in at most kMaxSlices slices, whose width doubles as time goes on.

#include "io/perfetto_json.hpp"

#include "core/error.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace tutti::io {
namespace {

constexpr std::size_t kMaxSlices = 1000;

std::string quoted(const std::string& text) { return json_line(Json(text)); }

struct Passer {
    Ticks at;  ///< at the node
    std::size_t send = 0;
};

/// The sends that bring a chunk to a node, and those that take it on.
struct Crossing {
    std::vector<Passer> arrivals{}, departures{};
};

using Crossings = std::map<std::pair<NodeId, ChunkId>, Crossing>;

Crossings crossings_of(const std::vector<TimedSend>& sends, const Topology& topology) {
    Crossings crossings;
    for (std::size_t i = 0; i < sends.size(); ++i) {
        const auto& [send, free, arrive] = sends[i];
        const Link& link = topology.link(send.link);
        // A cut-through switch forwards before the whole chunk has arrived.
        const Ticks at = topology.is_cut_through(link.dst) ? send.start + link.wire.alpha : arrive;
        crossings[{link.dst, send.chunk}].arrivals.push_back({at, i});
        crossings[{link.src, send.chunk}].departures.push_back({send.start, i});
    }
    return crossings;
}

/// The pairs of sends between which an arrow goes.
std::vector<std::pair<std::size_t, std::size_t>> arrows_of(Crossing& crossing) {
    std::vector<std::pair<std::size_t, std::size_t>> arrows;
    std::ranges::stable_sort(crossing.arrivals, {}, &Passer::at);
    std::ranges::stable_sort(crossing.departures, {}, &Passer::at);
    std::size_t next = 0;
    for (const Passer& departure : crossing.departures) {
        const std::size_t begin = next;
        while (next < crossing.arrivals.size() && crossing.arrivals[next].at <= departure.at) ++next;
        const std::size_t first = begin < next ? begin : next - std::min<std::size_t>(next, 1);
        for (std::size_t i = first; i < next; ++i)
            arrows.emplace_back(crossing.arrivals[i].send, departure.send);
    }
    return arrows;
}

}  // namespace

PerfettoWriter::PerfettoWriter(const std::string& path, const Instance& instance)
    : instance_(instance),
      file_(path),
      is_named_(instance.topology().nodes() + instance.topology().links().size()) {
    for (const Collective& collective : instance.collectives()) {
        const std::string& group = instance.groups()[collective.group.index()].name;
        names_.push_back(
            {quoted(std::string(name_of(collective.kind))),
             fmt::format(R"("group":{},"collective":{})", quoted(group), quoted(collective.id))});
    }
    text_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
}

void PerfettoWriter::append(std::span<const TimedSend> sends) {
    const bool held_all = held_.size() == sends_;
    sends_ += sends.size();
    if (held_all && sends_ <= kMaxArrowSends) {
        held_.insert(held_.end(), sends.begin(), sends.end());
    } else if (held_all) {
        held_ = {};
    }
    for (const TimedSend& timed : sends) {
        write_send(timed);
        count_busy(timed.send.start, timed.free);
    }
    file_.write(text_);
    text_.clear();
}

void PerfettoWriter::begin_event() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
}

std::int64_t PerfettoWriter::nanoseconds(Ticks ticks) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
    if (instance_.topology().units() == Units::Physical) return ticks.count() / 1000;
    if (ticks.count() > kMost) {
        throw InputError(
            fmt::format("a trace has at most {} ticks, each shown as 1 us; found {}", kMost, ticks.count()),
            {}, instance_.name());
    }
    return ticks.count() * 1000;
}

/// Written in microseconds, as the format requires.
void PerfettoWriter::add_nanoseconds(std::int64_t count) {
    fmt::format_to(std::back_inserter(text_), "{}", count / 1000);
    if (count % 1000 != 0) fmt::format_to(std::back_inserter(text_), ".{:03}", count % 1000);
}

void PerfettoWriter::add_time(Ticks ticks) { add_nanoseconds(nanoseconds(ticks)); }

void PerfettoWriter::add_track(LinkId link) {
    const Topology& topology = instance_.topology();
    fmt::format_to(std::back_inserter(text_), R"("pid":{},"tid":{})", topology.link(link).src.value() + 1,
                   topology.nodes() + 1 + link.index());
}

void PerfettoWriter::name_track(LinkId link) {
    const Topology& topology = instance_.topology();
    const NodeId node = topology.link(link).src;
    const auto out = std::back_inserter(text_);
    const std::size_t process = node.index() + 1, thread = topology.nodes() + 1 + link.index();
    if (!is_named_[node.index()]) {
        is_named_[node.index()] = true;
        begin_event();
        fmt::format_to(out, R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", process,
                       name_of(topology, node));
        begin_event();
        fmt::format_to(out, R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
                       process, process);
    }
    is_named_[topology.nodes() + link.index()] = true;
    begin_event();
    fmt::format_to(out, R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                   process, thread, name_of(topology, link));
    begin_event();
    fmt::format_to(out,
                   R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                   process, thread, thread);
}

void PerfettoWriter::write_send(const TimedSend& timed) {
    const Send& send = timed.send;
    const Topology& topology = instance_.topology();
    if (!is_named_[topology.nodes() + send.link.index()]) name_track(send.link);
    const Names& names = names_[instance_.demands().collective(send.chunk).index()];
    const auto out = std::back_inserter(text_);
    begin_event();
    fmt::format_to(out, R"({{"ph":"X","name":"chunk {}","cat":{},)", send.chunk.value(), names.category);
    add_track(send.link);
    text_ += R"(,"ts":)";
    add_time(send.start);
    text_ += R"(,"dur":)";
    add_nanoseconds(nanoseconds(timed.free) - nanoseconds(send.start));
    fmt::format_to(out,
                   R"(,"args":{{"chunk":{},{},"op":"{}","start_tick":{},"free_tick":{},"arrive_tick":{}}}}})",
                   send.chunk.value(), names.arguments, send.op == Op::Reduce ? "reduce" : "copy",
                   send.start.count(), timed.free.count(), timed.arrive.count());
}

void PerfettoWriter::write_arrows() {
    std::uint64_t number = 0;
    auto crossings = crossings_of(held_, instance_.topology());
    for (auto& [place, crossing] : crossings) {
        for (const auto& [from, to] : arrows_of(crossing)) {
            ++number;
            for (const std::size_t end : {from, to}) {
                begin_event();
                fmt::format_to(std::back_inserter(text_),
                               R"({{"ph":"{}",{}"id":{},"name":"onward","cat":"onward",)",
                               end == from ? "s" : "f", end == from ? "" : R"("bp":"e",)", number);
                add_track(held_[end].send.link);
                text_ += R"(,"ts":)";
                add_time(held_[end].send.start);
                text_ += "}";
            }
        }
        file_.write(text_);
        text_.clear();
    }
}

void PerfettoWriter::count_busy(Ticks from, Ticks to) {
    while (to.count() > slice_ * static_cast<std::int64_t>(kMaxSlices)) {
        for (std::size_t i = 0; i < busy_.size(); i += 2)
            busy_[i / 2] = busy_[i] + (i + 1 < busy_.size() ? busy_[i + 1] : 0);
        busy_.resize((busy_.size() + 1) / 2);
        slice_ *= 2;
    }
    if (const auto slices = static_cast<std::size_t>((to.count() - 1) / slice_) + 1; busy_.size() < slices)
        busy_.resize(slices);
    for (std::int64_t at = from.count(); at < to.count();) {
        const std::int64_t slice = at / slice_;
        const std::int64_t end = std::min(to.count(), (slice + 1) * slice_);
        busy_[static_cast<std::size_t>(slice)] += static_cast<double>(end - at);
        at = end;
    }
}

void PerfettoWriter::write_load() {
    const Topology& topology = instance_.topology();
    const std::size_t process = topology.nodes() + topology.links().size() + 1;
    const auto out = std::back_inserter(text_);
    begin_event();
    fmt::format_to(out, R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"all links"}}}})",
                   process);
    begin_event();
    fmt::format_to(out, R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":0}}}})",
                   process);
    busy_.push_back(0);
    for (std::size_t i = 0; i < busy_.size(); ++i) {
        if (i > 0 && busy_[i] == busy_[i - 1]) continue;
        begin_event();
        fmt::format_to(out, R"({{"ph":"C","name":"busy links","pid":{},"ts":)", process);
        add_time(Ticks(static_cast<std::int64_t>(i) * slice_));
        const double share =
            busy_[i] / static_cast<double>(slice_) / static_cast<double>(topology.links().size());
        fmt::format_to(out, R"(,"args":{{"share":{:.6g}}}}})", share);
    }
}

void PerfettoWriter::finish(Ticks makespan) {
    const bool draws_arrows = held_.size() == sends_;
    if (draws_arrows) write_arrows();
    if (sends_ > 0) write_load();
    const bool physical = instance_.topology().units() == Units::Physical;
    const Json about{{"made_by", "tutti"},
                     {"instance", instance_.name()},
                     {"tick", physical ? "1 ps" : "shown as 1 us; the instance has no physical units"},
                     {"makespan_ticks", makespan.count()},
                     {"sends", sends_},
                     {"arrows", draws_arrows}};
    text_ += "\n],\"otherData\":" + json_line(about) + "}\n";
    file_.write(text_);
    text_.clear();
    file_.commit();
}

}  // namespace tutti::io
