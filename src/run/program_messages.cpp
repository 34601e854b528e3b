#include "run/program_messages.hpp"

#include "core/error.hpp"
#include "run/exchange.hpp"
#include "tensor/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

namespace tutti::run {

using tensor::Interval, tensor::ValueId;

namespace {

constexpr std::chrono::microseconds kBetweenLooks{20};

/// In order, and as few as there can be.
std::vector<Interval> joined(std::vector<Interval> runs) {
    std::ranges::sort(runs, {}, &Interval::begin);
    std::vector<Interval> result;
    for (const Interval& run : runs) {
        if (run.begin >= run.end) continue;
        if (!result.empty() && run.begin <= result.back().end) {
            result.back().end = std::max(result.back().end, run.end);
        } else {
            result.push_back(run);
        }
    }
    return result;
}

std::size_t size_of(const std::vector<Interval>& runs) {
    std::size_t size = 0;
    for (const Interval& run : runs) size += static_cast<std::size_t>(run.size());
    return size;
}

}  // namespace

ProgramMessages::ProgramMessages(const tensor::Program& program, const RankMemory& memory,
                                 MessageTransport& transport)
    : program_(program), memory_(memory), transport_(transport) {
    if (static_cast<std::int64_t>(transport.processes()) <= program.mesh().ranks()) return;
    throw InputError(fmt::format("its {} ranks cannot be spread over the {} processes of MPI",
                                 program.mesh().ranks(), transport.processes()));
}

std::uint32_t ProgramMessages::process_of(std::int64_t rank) const {
    return static_cast<std::uint32_t>(rank * transport_.processes() / program_.mesh().ranks());
}

std::vector<ProgramMessages::Transfer> ProgramMessages::add(
    ValueId collective, const std::function<std::vector<Interval>(std::int64_t)>& elements) {
    const std::uint32_t here = transport_.process();
    const ValueId operand = program_[collective].args[0];
    const auto element_bytes = static_cast<std::int64_t>(bytes_of(memory_.storage(program_[operand].type)));
    struct Need {
        std::vector<Interval> runs{};
        std::vector<std::int64_t> readers{};
    };
    std::map<std::pair<std::int64_t, std::uint32_t>, Need> needs;  // by source, and process that reads
    for (std::int64_t reader = 0; reader < program_.mesh().ranks(); ++reader) {
        const std::vector<Interval> wanted = elements(reader);
        if (wanted.empty()) continue;
        const Exchange exchange = Exchange::reading(program_, collective, reader);
        for (std::size_t s = 0; s < exchange.sides().size(); ++s) {
            const std::int64_t source = exchange.sides()[s].rank;
            if (process_of(source) == process_of(reader)) continue;
            if (process_of(source) != here && process_of(reader) != here) continue;
            Need& need = needs[{source, process_of(reader)}];
            const std::vector<Interval> runs = exchange.read_of(s, wanted);
            need.runs.insert(need.runs.end(), runs.begin(), runs.end());
            need.readers.push_back(reader);
        }
    }
    std::vector<Transfer> transfers;
    for (auto& [key, need] : needs) {
        const auto& [source, process] = key;
        std::vector<Interval> runs = joined(std::move(need.runs));
        if (runs.empty()) continue;
        for (Interval& run : runs) run = {run.begin * element_bytes, run.end * element_bytes};
        if (size_of(runs) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw LimitError("messages of more than 2 GB");
        std::uint32_t& tag = next_tag_[{process_of(source), process}];
        if (tag == transport_.most_tags())
            throw LimitError(fmt::format("more than {} messages between two processes in a call", tag));
        const bool sends = process_of(source) == here;
        transfers.push_back({messages_.size(), source, sends, std::move(need.readers)});
        Message& message = messages_.emplace_back(Message{.sends = sends,
                                                          .other = sends ? process : process_of(source),
                                                          .tag = tag++,
                                                          .first = memory_.address(operand, source),
                                                          .bytes = std::move(runs)});
        if (message.bytes.size() > 1) message.packed.resize(size_of(message.bytes));
    }
    return transfers;
}

void ProgramMessages::pack(Message& message) const {
    std::byte* to = message.packed.data();
    for (const Interval& run : message.bytes) to = std::copy_n(message.first + run.begin, run.size(), to);
}

void ProgramMessages::unpack(const Message& message) const {
    const std::byte* from = message.packed.data();
    for (const Interval& run : message.bytes) {
        std::copy_n(from, run.size(), message.first + run.begin);
        from += run.size();
    }
}

void ProgramMessages::start(TransferId transfer) {
    Message& message = messages_[transfer];
    const bool is_packed = !message.packed.empty();
    if (is_packed && message.sends) pack(message);
    std::byte* const data = is_packed ? message.packed.data() : message.first + message.bytes.front().begin;
    const std::size_t bytes = size_of(message.bytes);
    {
        const std::lock_guard lock(mutex_);
        active_.push_back({message.sends ? transport_.send(data, bytes, message.other, message.tag)
                                         : transport_.receive(data, bytes, message.other, message.tag),
                           transfer});
    }
    run_->wake_all();  // somebody has to look at it
}

std::optional<TaskClock::Time> ProgramMessages::poll() {
    std::vector<TransferId> over;
    bool any = false;
    {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return std::chrono::steady_clock::now() + kBetweenLooks;
        std::erase_if(active_, [&](const Active& active) {
            if (!transport_.done(active.request)) return false;
            over.push_back(active.transfer);
            return true;
        });
        any = !active_.empty();
    }
    for (const TransferId transfer : over) {
        const Message& message = messages_[transfer];
        if (!message.sends && !message.packed.empty()) unpack(message);
        for (const TaskGraph::TaskId task : message.told) run_->signal(task);
    }
    if (!over.empty()) return std::chrono::steady_clock::now();
    if (!any) return std::nullopt;
    return std::chrono::steady_clock::now() + kBetweenLooks;
}

void ProgramMessages::send_now(std::span<const std::byte> bytes, std::uint32_t to,
                               const std::function<void()>& check) {
    const auto request = transport_.send(bytes.data(), bytes.size(), to, 0);
    while (!transport_.done(request)) {
        check();
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

void ProgramMessages::receive_now(std::span<std::byte> bytes, std::uint32_t from,
                                  const std::function<void()>& check) {
    const auto request = transport_.receive(bytes.data(), bytes.size(), from, 0);
    while (!transport_.done(request)) {
        check();
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace tutti::run
