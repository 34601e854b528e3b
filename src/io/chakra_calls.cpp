#include "io/chakra_calls.hpp"

#include "io/call_names.hpp"
#include "io/chakra_trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_map>

namespace tutti::io {
namespace {

using plan::Call;
using plan::CallKind;
using plan::CallList;

constexpr std::uint32_t kMostTraceRanks = 1U << 20;

/// The last number in the name: 3 of "trace.3.et" and of "rank3.json".
std::optional<std::uint32_t> rank_of(const std::string& path) {
    const std::string stem = std::filesystem::path(path).stem().string();
    const std::size_t end = stem.find_last_of("0123456789");
    if (end == std::string::npos) return std::nullopt;
    const std::size_t before = stem.find_last_not_of("0123456789", end);
    const std::string digits = stem.substr(before + 1, end - before);
    if (digits.size() > 7) return std::nullopt;
    const unsigned long rank = std::stoul(digits);
    if (rank >= kMostTraceRanks) return std::nullopt;
    return static_cast<std::uint32_t>(rank);
}

/// Collects the traces of the ranks, then makes their calls.
class TraceCalls {
  public:
    explicit TraceCalls(CallList& list) : list_(list), names_(list) {}

    void add(const std::string& path, TraceFile file) {
        if (file.format == "groups") {
            for (auto& [name, members] : file.groups) declare(name, std::nullopt, members);
            return;
        }
        const auto rank = rank_of(path);
        if (!rank)
            throw InputError("expected a file name with the rank, as trace.3.et or rank3.json", {}, path);
        if (list_.ranks.size() <= *rank) list_.ranks.resize(*rank + 1);
        plan::RankCalls& calls = list_.ranks[*rank];
        if (calls.known)
            throw InputError(fmt::format("there is a trace of rank {} already", *rank), {}, path);
        calls.known = true;
        calls.place = path + ": node ";
        list_.format = file.format;
        left_out_ += file.left_out;
        for (auto& [name, members] : file.groups) declare(name, *rank, members);
        add_nodes(*rank, std::move(file.nodes), path);
    }

    void finish() {
        add_peers();
        for (plan::CallGroup& group : list_.groups) end_group(group);
        const auto unknown = std::ranges::count(list_.ranks, false, &plan::RankCalls::known);
        if (unknown > 0)
            list_.notes.push_back(
                fmt::format("of {} of {} ranks there is no trace; they are taken to do what "
                            "the others need",
                            unknown, list_.ranks.size()));
        if (left_out_ > 0)
            list_.notes.push_back(fmt::format("{} calls of unknown kinds were left out", left_out_));
    }

  private:
    void declare(const std::string& name, std::optional<std::uint32_t> rank,
                 const std::vector<std::uint32_t>& members) {
        plan::CallGroup& group = list_.groups[names_.group(name)];
        if (members.empty()) {
            whole_.insert(name);
        } else if (group.guessed) {
            group.members = members;
            group.guessed = false;
        } else if (group.members != members && rank) {
            group.others.emplace_back(*rank, members);
        }
    }

    void add_nodes(std::uint32_t rank, std::vector<TraceNode> nodes, const std::string& path) {
        std::ranges::stable_sort(nodes, {}, &TraceNode::id);
        std::unordered_map<std::uint64_t, std::uint32_t> index;
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            if (!index.emplace(nodes[i].id, i).second)
                throw InputError(fmt::format("there are two nodes {}", nodes[i].id), {}, path);
        }
        plan::RankCalls& calls = list_.ranks[rank];
        for (const TraceNode& node : nodes) {
            Call call;
            call.place = node.id;
            call.after_begin = static_cast<std::uint32_t>(calls.after.size());
            for (const std::uint64_t id : node.after) {
                // Nodes that were cut off the trace are over.
                if (const auto found = index.find(id); found != index.end())
                    calls.after.push_back(found->second);
            }
            call.after_end = static_cast<std::uint32_t>(calls.after.size());
            if (node.type != TraceNode::Type::Other) set_call(call, node, rank, path);
            calls.calls.push_back(call);
        }
    }

    void set_call(Call& call, const TraceNode& node, std::uint32_t rank, const std::string& path) {
        const auto refuse = [&](const std::string& message) {
            throw InputError(message, fmt::format("node {}", node.id), path);
        };
        if (node.type == TraceNode::Type::Collective) {
            if (node.collective.empty()) return;  // the host's side of it; the device's has a type
            const auto kind = plan::call_kind(node.collective);
            if (!kind || !is_collective(*kind)) {
                ++left_out_;
                return;
            }
            call.kind = *kind;
            if (has_root(call.kind)) call.peer = static_cast<std::int32_t>(node.root);
        } else {
            const bool sends = node.type == TraceNode::Type::Send;
            const std::int64_t own = sends ? node.source : node.destination;
            const std::int64_t peer = sends ? node.destination : node.source;
            if (peer < 0) {
                ++left_out_;
                return;
            }
            if (peer >= static_cast<std::int64_t>(kMostTraceRanks) || (own >= 0 && own != rank))
                refuse(fmt::format("expected a message of rank {}, found one from {} to {}", rank,
                                   node.source, node.destination));
            call.kind = sends ? CallKind::Send : CallKind::Receive;
            call.peer = static_cast<std::int32_t>(peer);
            call.tag = node.tag;
        }
        call.group = names_.group(node.group.empty() ? "world" : node.group);
        call.count = node.size;
        if (!node.dtype.empty()) call.dtype = names_.type(node.dtype);
        // Nothing orders messages but their dependencies; collectives are issued one after the other.
        if (!node.stream.empty()) {
            call.stream = names_.name(node.stream);
        } else if (is_message(call.kind)) {
            call.stream = names_.name(fmt::format("{} {}", name_of(call.kind), node.id));
        }
    }

    /// Ranks that only appear in groups or at the other end of messages.
    void add_peers() {
        std::size_t ranks = list_.ranks.size();
        for (const plan::CallGroup& group : list_.groups) {
            for (const std::uint32_t rank : group.members) ranks = std::max<std::size_t>(ranks, rank + 1);
        }
        for (const plan::RankCalls& rank : list_.ranks) {
            for (const Call& call : rank.calls)
                ranks = std::max(ranks, static_cast<std::size_t>(call.peer + 1));
        }
        list_.ranks.resize(ranks);
    }

    void end_group(plan::CallGroup& group) {
        if (!group.guessed) return;
        group.guessed = false;
        if (group.name == "world" || whole_.contains(group.name)) {
            for (std::uint32_t r = 0; r < list_.ranks.size(); ++r) group.members.push_back(r);
            return;
        }
        const auto number = static_cast<std::uint32_t>(&group - list_.groups.data());
        for (std::uint32_t r = 0; r < list_.ranks.size(); ++r) {
            const auto on_it = [&](const Call& call) {
                return is_collective(call.kind) && call.group == number;
            };
            if (std::ranges::any_of(list_.ranks[r].calls, on_it)) group.members.push_back(r);
        }
        list_.notes.push_back(
            fmt::format("nobody says who is in group {}; those that call on it are taken", group.name));
    }

    CallList& list_;
    CallNames names_;
    std::set<std::string> whole_{};  ///< groups of all ranks
    std::uint64_t left_out_ = 0;
};

}  // namespace

CallList read_chakra_calls(const std::vector<std::string>& files, const Stop& stop) {
    CallList list;
    TraceCalls calls(list);
    for (const std::string& file : files) {
        Source source(file, stop);
        calls.add(file, read_trace_file(source));
    }
    if (list.ranks.empty()) throw InputError("expected execution traces, found none", {}, files.front());
    calls.finish();
    return list;
}

}  // namespace tutti::io
