// The parts of a generated C++ source that no library has a say in. A source is a table of the steps of all
// ranks, round by round, and a loop of some sixty lines that runs it. Unrolled, a ring of 64 would be 24 000
// statements that nobody reads and compilers take minutes for.

#include "io/round_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::io {
namespace {

using plan::RoundPlace;
using plan::RoundPlan;
using plan::RoundStep;

/// "8 * count elements".
std::string elements_words(std::uint64_t blocks) {
    return blocks == 1 ? std::string("count elements") : fmt::format("{} * count elements", blocks);
}

/// The largest buffer, in words that hold for every rank.
std::string buffer_words(const RoundPlan& plan, const std::vector<std::uint32_t>& chunks) {
    const std::uint32_t most = *std::ranges::max_element(chunks);
    if (most == 0) return "is not used";
    const std::string most_words = elements_words(most / plan.block_chunks);
    const auto has_most = [&](std::uint32_t c) { return c == most; };
    if (std::ranges::all_of(chunks, has_most)) return most_words;
    if (plan.root && std::ranges::count(chunks, most) == 1)
        return fmt::format("{} at rank {}; of {} it is not used", most_words, *plan.root,
                           std::ranges::count(chunks, 0U) == 1 ? "the other rank" : "the other ranks");
    if (std::ranges::all_of(chunks, [&](std::uint32_t c) { return c == most || c == 0; }))
        return most_words + "; of ranks that have none it is not used";
    return fmt::format("kInputs or kOutputs of the rank (below) * count elements, at most {}", most_words);
}

std::string count_words(const RoundPlan& plan) {
    using enum CollectiveKind;
    switch (plan.kind) {
        case AllReduce:
        case Broadcast:
        case Reduce:
        case AllToNext:
        case SendRecv:
            return "elements of a buffer";
        case AllGather:
        case Gather:
            return "elements that each rank contributes";
        case ReduceScatter:
        case Scatter:
            return "elements that each rank gets";
        case AllToAll:
            return "elements that each rank sends to each";
        case AllToAllV:
        case Permute:
        case Custom:
            break;
    }
    return "elements of a chunk";
}

/// "rank 0 is NPU 3; …", in lines of a comment.
std::string ranks_words(const RoundPlan& plan) {
    if (plan.npus.empty()) return "";
    std::string text = "//\n// The ranks of comm by the NPUs of the instance that they stand for:";
    for (std::uint32_t r = 0; r < plan.ranks; ++r) {
        if (r % 8 == 0) text += "\n//  ";
        text += fmt::format(" {}: NPU {}{}{}", r, plan.npus[r].value(), r < plan.members ? "" : " (relay)",
                            r + 1 < plan.ranks ? "," : "");
    }
    text += "\n";
    if (plan.members < plan.ranks)
        text += "// Relays only pass on: they contribute and get nothing, and their buffers may be null.\n";
    return text;
}

std::string what_words(const RoundPlan& plan) {
    std::string what = fmt::format("{} among {} ranks", name_of(plan.kind), plan.members);
    if (plan.root) what += fmt::format(" with root {}", *plan.root);
    const std::uint32_t relays = plan.ranks - plan.members;
    if (relays > 0) what += fmt::format(" and {} relay{}", relays, relays == 1 ? "" : "s");
    return what;
}

std::string text_of(const RoundPlace& place) {
    constexpr std::string_view kNames[]{"in", "out", "tmp"};
    return fmt::format("{}({})", kNames[static_cast<int>(place.buffer)], place.chunk);
}

std::string text_of(const RoundStep& step) {
    std::string text;
    switch (step.kind) {
        case RoundStep::Kind::Send:
            text = fmt::format("send({}, {}, {}", step.round, step.peer, text_of(step.from));
            break;
        case RoundStep::Kind::Receive:
            text = fmt::format("receive({}, {}, {}", step.round, step.peer, text_of(step.to));
            break;
        case RoundStep::Kind::Copy:
            text = fmt::format("copy({}, {}, {}", step.round, text_of(step.to), text_of(step.from));
            break;
        case RoundStep::Kind::Add:
            text = fmt::format("add({}, {}, {}, {}", step.round, text_of(step.to), text_of(step.from),
                               text_of(step.with));
            break;
    }
    return fmt::format("{}, {}, {})", text, step.piece, step.chunks);
}

/// Numbers in lines that are not too long.
std::string listed_numbers(const auto& all) {
    std::string text;
    std::size_t length = 0;
    for (const auto number : all) {
        const std::string word = fmt::format("{}, ", number);
        length += word.size();
        if (length > 100) {
            text.back() = '\n';
            text += "    ";
            length = word.size();
        }
        text += word;
    }
    text.resize(text.size() - 2);
    return text;
}

constexpr std::string_view kStepTypes = R"(
// A place: a chunk of a rank's input, output or scratch.
enum Buffer : std::uint8_t { Input, Output, Scratch };
struct Place {
    Buffer buffer;
    std::uint32_t chunk;
};
[[maybe_unused]] constexpr Place in(std::uint32_t chunk) { return {Input, chunk}; }
[[maybe_unused]] constexpr Place out(std::uint32_t chunk) { return {Output, chunk}; }
[[maybe_unused]] constexpr Place tmp(std::uint32_t chunk) { return {Scratch, chunk}; }

// What a rank does in a round with chunks that are neighbours. Messages of a round are in flight together; then
// its local steps run, one after the other. `piece` says which part of a block the first chunk is.
enum Kind : std::uint8_t { Send, Receive, Copy, Add };
struct Step {
    Kind kind;
    std::uint32_t round, peer;
    Place to, from, with;
    std::uint32_t piece, chunks;
};
constexpr Step send(std::uint32_t round, std::uint32_t peer, Place from, std::uint32_t piece,
                    std::uint32_t chunks) {
    return {Send, round, peer, {}, from, {}, piece, chunks};
}
constexpr Step receive(std::uint32_t round, std::uint32_t peer, Place to, std::uint32_t piece,
                       std::uint32_t chunks) {
    return {Receive, round, peer, to, {}, {}, piece, chunks};
}
[[maybe_unused]] constexpr Step copy(std::uint32_t round, Place to, Place from, std::uint32_t piece,
                                     std::uint32_t chunks) {
    return {Copy, round, 0, to, from, {}, piece, chunks};
}
[[maybe_unused]] constexpr Step add(std::uint32_t round, Place to, Place from, Place with,
                                    std::uint32_t piece, std::uint32_t chunks) {
    return {Add, round, 0, to, from, with, piece, chunks};
}
)";

constexpr std::string_view kCallFunctions = R"(
// The buffers of one call.
struct Call {
    const char* in;
    char* out;
    char* scratch;
    std::size_t count;
    std::size_t bytes;  // of an element
};

// The first element of a chunk of an input or output.
std::size_t first_element(std::size_t chunk, std::size_t count) {
    return chunk / kBlock * count + chunk % kBlock * count / kBlock;
}
// How many elements the largest chunk has.
std::size_t largest(std::size_t count) { return count / kBlock + (count % kBlock != 0); }
// How many elements a step moves: none, if there are fewer elements than chunks.
std::size_t elements(const Step& step, std::size_t count) {
    return first_element(step.piece + step.chunks, count) - first_element(step.piece, count);
}
const char* source(const Call& call, Place place) {
    if (place.buffer == Scratch) return call.scratch + place.chunk * largest(call.count) * call.bytes;
    const char* const buffer = place.buffer == Input ? call.in : call.out;
    return buffer + first_element(place.chunk, call.count) * call.bytes;
}
char* target(const Call& call, Place place) {
    if (place.buffer == Scratch) return call.scratch + place.chunk * largest(call.count) * call.bytes;
    return call.out + first_element(place.chunk, call.count) * call.bytes;
}

// Bytes of scratch that a call needs.
std::size_t scratch_bytes(std::size_t count, std::size_t bytes) {
    return (kScratch * largest(count) + kSaved * count) * bytes;
}

enum class Buffers { Apart, InPlace, Overlapping };
// How the buffers of a rank lie.
Buffers buffers_of(std::size_t rank, const void* sendbuff, void* recvbuff, std::size_t count,
                   std::size_t bytes) {
    const std::uintptr_t in = reinterpret_cast<std::uintptr_t>(sendbuff);
    const std::uintptr_t out = reinterpret_cast<std::uintptr_t>(recvbuff);
    const std::size_t block = count * bytes;
    if (kInputs[rank] * block == 0 || kOutputs[rank] * block == 0) return Buffers::Apart;
    if (in + kInputs[rank] * block <= out || out + kOutputs[rank] * block <= in) return Buffers::Apart;
    const std::uintptr_t shift = static_cast<std::uintptr_t>(kInPlace[rank]) * block;
    return in == out + shift ? Buffers::InPlace : Buffers::Overlapping;
}
)";

}  // namespace

std::string function_name_of(const RoundPlan& plan) {
    std::string name = plan.name.starts_with("tutti_") ? "" : "tutti_";
    for (const char c : plan.name) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        name += plain ? c : '_';
    }
    return name;
}

std::string round_heading(const RoundPlan& plan, const RoundLibrary& library) {
    const std::string name = function_name_of(plan);
    std::string text = fmt::format("// {}: {} in {} round{} of {}.\n", name, what_words(plan), plan.rounds,
                                   plan.rounds == 1 ? "" : "s", library.messages);
    text +=
        "//\n"
        "// Written by tutti, which has verified the plan: however the messages of a round and its steps\n"
        "// interleave, no rank waits for ever, and every output is what the collective demands. The table "
        "of\n"
        "// steps below is the plan, and the functions behind it run it.\n//\n";
    text += fmt::format("//   {} {}(const void* sendbuff, void* recvbuff, size_t count,\n//       {});\n",
                        library.result, name, library.parameters);
    text +=
        fmt::format("//   size_t {}_scratch_bytes(size_t count, {} datatype);\n//\n", name, library.datatype);
    text +=
        fmt::format("// All {} ranks of comm call it, with the same arguments but buffers:\n", plan.ranks);
    text += fmt::format("//   sendbuff  {}; never changed\n", buffer_words(plan, plan.inputs));
    text += fmt::format("//   recvbuff  {}\n", buffer_words(plan, plan.outputs));
    text += fmt::format(
        "//   count     {}; any number{}\n", count_words(plan),
        plan.block_chunks == 1 ? "" : fmt::format(": it need not divide into {}", plan.block_chunks));
    text += library.descriptions;
    text += fmt::format("// {}\n//\n", library.results);
    text +=
        plan.in_place
            ? "// In place, sendbuff lies in recvbuff (or recvbuff in sendbuff) as NCCL has it; nothing is\n"
              "// copied then. Buffers that overlap otherwise are refused.\n"
            : "// In a call whose buffers overlap the input is copied to scratch first: this plan reads some "
              "of\n"
              "// it after it has written there.\n";
    text += ranks_words(plan);
    text += "//\n";
    text += library.usage;
    return text;
}

std::string round_tables(const RoundPlan& plan) {
    std::vector<std::size_t> first{0};
    for (const auto& of_rank : plan.steps) first.push_back(first.back() + of_rank.size());
    std::vector<std::uint64_t> inputs, outputs;
    std::vector<std::int64_t> shifts;
    for (std::uint32_t r = 0; r < plan.ranks; ++r) {
        inputs.push_back(plan.inputs[r] / plan.block_chunks);
        outputs.push_back(plan.outputs[r] / plan.block_chunks);
        const bool whole = plan.kind == CollectiveKind::AllReduce;
        const std::int64_t shift = plan.in_place_shift(r).value_or(0);
        shifts.push_back(whole ? 0 : shift / static_cast<std::int64_t>(plan.share));
    }
    const std::uint64_t saved = plan.in_place ? 0 : *std::ranges::max_element(inputs);
    std::string text = fmt::format("constexpr int kRanks = {};\n", plan.ranks);
    text += fmt::format(
        "constexpr std::size_t kBlock = {};    // chunks that count elements are cut into\n"
        "constexpr std::size_t kScratch = {};  // chunks of scratch that a rank needs at most\n"
        "constexpr std::size_t kSaved = {};    // times count elements: the input, if it has to be saved\n"
        "// By rank: the sizes of its buffers, and where its input begins in its output in a call in place, "
        "all\n"
        "// times count elements.\n",
        plan.block_chunks, *std::ranges::max_element(plan.scratch), saved);
    text += fmt::format("const std::size_t kInputs[kRanks] = {{{}}};\n", listed_numbers(inputs));
    text += fmt::format("const std::size_t kOutputs[kRanks] = {{{}}};\n", listed_numbers(outputs));
    text += fmt::format("const std::ptrdiff_t kInPlace[kRanks] = {{{}}};\n", listed_numbers(shifts));
    text += kStepTypes;
    text += "\n// Of all ranks, one after the other, each by rounds.\nconst Step kSteps[] = {\n";
    for (std::uint32_t r = 0; r < plan.ranks; ++r) {
        text += fmt::format("    // rank {}\n", r);
        for (const RoundStep& step : plan.steps[r]) text += fmt::format("    {},\n", text_of(step));
    }
    if (first.back() == 0) text += "    copy(0, out(0), out(0), 0, 0)  // nothing is to do\n";
    text += "};\n// The first step of each rank; one more at the end.\n";
    text += fmt::format("const std::size_t kFirst[kRanks + 1] = {{{}}};\n", listed_numbers(first));
    text += kCallFunctions;
    return text;
}

}  // namespace tutti::io
