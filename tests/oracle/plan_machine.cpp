// Looks everything up that a plan names, by sections 2, 4 and 6 of the format page. Sizes and aliases follow
// from the collective and not from what the file declares; a rooted collective is looked at for one root at a
// time, because which memory exists and what lies on what depends on it.

#include "tests/oracle/plan_machine.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tutti::oracle {
namespace {

using plan::Buffer;
using plan::StepType;
using test::number;

bool is_root(const plan::Gpu& gpu, const PlanCall& call) { return call.root && *call.root == number(gpu.id); }

class Builder {
  public:
    Builder(const plan::MscclPlan& plan, const PlanCall& call) : plan_(plan), call_(call) {}

    Machine build() {
        for (const plan::Gpu& gpu : plan_.gpus) fill(gpu);
        for (const plan::Gpu& gpu : plan_.gpus) {
            for (const plan::ThreadBlock& block : gpu.blocks) {
                numbers_[{number(gpu.id), number(block.id)}] = static_cast<int>(machine_.blocks.size());
                machine_.blocks.push_back({number(gpu.id), number(block.id), {}});
            }
        }
        for (const plan::Gpu& gpu : plan_.gpus) {
            for (const plan::ThreadBlock& block : gpu.blocks) add_steps(gpu, block);
        }
        bind_messages();
        for (const plan::Gpu& gpu : plan_.gpus) want(gpu);
        return std::move(machine_);
    }

  private:
    int place(const Location& location) {
        const auto [found, is_new] = places_.try_emplace(location, static_cast<int>(machine_.places.size()));
        if (is_new) {
            machine_.places.push_back(location);
            machine_.start.push_back(Values::kUndefined);
        }
        return found->second;
    }
    int place(const plan::Gpu& gpu, Buffer buffer, std::int64_t chunk) {
        return place(location_of(plan_, gpu, call_, buffer, chunk));
    }

    [[nodiscard]] bool is_defined(const plan::Gpu& gpu, std::int64_t chunk) const {
        if ((call_.goal == CollectiveKind::Broadcast || call_.goal == CollectiveKind::Scatter) &&
            !is_root(gpu, call_)) {
            return false;
        }
        if (!call_.condition) return true;
        const auto given = call_.condition->inputs.find(gpu.id);
        if (given == call_.condition->inputs.end()) return true;
        return std::ranges::find(given->second, chunk) != given->second.end();
    }

    void fill(const plan::Gpu& gpu) {
        for (std::int64_t c = 0; c < input_chunks(plan_, gpu, call_); ++c) {
            if (!is_defined(gpu, c)) continue;
            const int at = place(gpu, Buffer::Input, c);
            machine_.start[static_cast<std::size_t>(at)] = machine_.values.of(number(gpu.id), c);
        }
        if (!call_.copies_first) return;
        for (const plan::LocalCopy& copy : gpu.copies) {
            const int from = place(gpu, Buffer::Input, copy.input_offset);
            const int to = place(gpu, Buffer::Output, copy.output_offset);
            machine_.start[static_cast<std::size_t>(to)] = machine_.start[static_cast<std::size_t>(from)];
        }
    }

    std::vector<int> places(const plan::Gpu& gpu, const plan::Address& address, int count) {
        std::vector<int> all;
        for (int k = 0; k < count; ++k) all.push_back(place(gpu, address.buffer, number(address.offset) + k));
        return all;
    }

    void add_steps(const plan::Gpu& gpu, const plan::ThreadBlock& block) {
        auto& steps =
            machine_.blocks[static_cast<std::size_t>(numbers_.at({number(gpu.id), number(block.id)}))].steps;
        for (const plan::Step& step : block.steps) {
            MachineStep made;
            made.type = step.type;
            made.count = step.type == StepType::Nop ? 0 : step.count;
            const plan::Address& operand = call_.operand_is_destination ? step.dst : step.src;
            switch (step.type) {
                case StepType::Send:
                    made.sources = places(gpu, step.src, made.count);
                    break;
                case StepType::Receive:
                case StepType::ReceiveCopySend:
                    made.targets = places(gpu, step.dst, made.count);
                    break;
                case StepType::ReceiveReduceCopy:
                case StepType::ReceiveReduceCopySend:
                    made.sources = places(gpu, operand, made.count);
                    made.targets = places(gpu, step.dst, made.count);
                    break;
                case StepType::ReceiveReduceSend:
                    made.sources = places(gpu, operand, made.count);
                    break;
                case StepType::Copy:
                    made.sources = places(gpu, step.src, made.count);
                    made.targets = places(gpu, step.dst, made.count);
                    if (made.sources == made.targets) made.sources.clear(), made.targets.clear();
                    break;
                case StepType::Reduce:
                    made.sources = places(gpu, step.src, made.count);
                    made.accumulators = made.targets = places(gpu, step.dst, made.count);
                    break;
                case StepType::Nop:
                    break;
            }
            if (puts(step.type))
                made.out_connection =
                    connection(number(gpu.id), number(block.send_peer), number(block.channel));
            if (takes(step.type))
                made.in_connection =
                    connection(number(block.recv_peer), number(gpu.id), number(block.channel));
            const bool is_redundant = step.dep_block == block.id && number(step.dep_step) < std::ssize(steps);
            if (step.dep_block && !is_redundant) {
                made.wait_block = numbers_.at({number(gpu.id), number(step.dep_block)});
                made.wait_step = number(step.dep_step);
            }
            made.signals = step.signals && step.type != StepType::Nop;
            steps.push_back(std::move(made));
        }
    }

    int connection(std::int32_t from, std::int32_t to, std::int32_t channel) {
        return connections_.try_emplace({from, to, channel}, machine_.connections).second
                   ? machine_.connections++
                   : connections_.at({from, to, channel});
    }

    /// The k-th send of a connection has the slots of its k-th receive.
    void bind_messages() {
        std::map<std::pair<int, int>, int> slots;
        std::map<int, int> sent, received;
        for (MachineBlock& block : machine_.blocks) {
            for (MachineStep& step : block.steps) {
                if (step.out_connection < 0) continue;
                step.out = machine_.slots;
                slots[{step.out_connection, sent[step.out_connection]++}] = step.out;
                machine_.slots += step.count;
            }
        }
        for (MachineBlock& block : machine_.blocks) {
            for (MachineStep& step : block.steps) {
                if (step.in_connection < 0) continue;
                step.in = slots.at({step.in_connection, received[step.in_connection]++});
            }
        }
    }

    void want(const plan::Gpu& gpu) {
        for (std::int64_t c = 0; c < output_chunks(plan_, gpu, call_); ++c) {
            const std::optional<std::vector<plan::Contribution>> sum = wanted(gpu, c);
            if (!sum) continue;
            Wanted output{number(gpu.id), c, place(gpu, Buffer::Output, c), {}};
            if (!sum->empty()) output.value = machine_.values.of(*sum);
            machine_.outputs.push_back(output);
        }
    }

    /// The sum that must be there; an empty one: any, but always the same; none: it does not matter.
    [[nodiscard]] std::optional<std::vector<plan::Contribution>> wanted(const plan::Gpu& gpu,
                                                                        std::int64_t c) const {
        const std::int32_t ranks = plan_.ranks, id = number(gpu.id);
        const std::int64_t per_rank = plan_.chunks_per_loop / ranks;
        const auto from_all = [&](std::int64_t chunk) {
            std::vector<plan::Contribution> sum;
            for (std::int32_t r = 0; r < ranks; ++r) sum.push_back({test::id<Rank>(r), chunk});
            return sum;
        };
        const auto from = [](std::int64_t rank, std::int64_t chunk) {
            return std::vector<plan::Contribution>{{test::id<Rank>(rank), chunk}};
        };
        switch (call_.goal) {
            case CollectiveKind::AllReduce:
                return from_all(c);
            case CollectiveKind::AllGather:
                return from(c / per_rank, c % per_rank);
            case CollectiveKind::ReduceScatter:
                return from_all(id * per_rank + c);
            case CollectiveKind::AllToAll:
                return from(c / per_rank, id * per_rank + c % per_rank);
            case CollectiveKind::Broadcast:
                return from(*call_.root, c);
            case CollectiveKind::Reduce:
                if (is_root(gpu, call_)) return from_all(c);
                return std::nullopt;
            case CollectiveKind::Gather:
                return from(c / plan_.chunks_per_loop, c % plan_.chunks_per_loop);
            case CollectiveKind::Scatter:
                return from(*call_.root, id * plan_.chunks_per_loop + c);
            case CollectiveKind::AllToNext:
                if (id > 0) return from(id - 1, c);
                return std::nullopt;
            case CollectiveKind::SendRecv:
                return from((id + ranks - 1) % ranks, c);
            case CollectiveKind::AllToAllV:
            case CollectiveKind::Permute:
            case CollectiveKind::Custom:
                break;
        }
        if (!call_.condition) return std::vector<plan::Contribution>{};
        const auto rank = call_.condition->outputs.find(gpu.id);
        if (rank == call_.condition->outputs.end()) return std::nullopt;
        const auto chunk = rank->second.find(c);
        if (chunk == rank->second.end()) return std::nullopt;
        return chunk->second;
    }

    const plan::MscclPlan& plan_;
    const PlanCall& call_;
    Machine machine_{};
    std::map<Location, int> places_{};
    std::map<std::pair<std::int32_t, std::int32_t>, int> numbers_{};
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, int> connections_{};
};

}  // namespace

bool puts(StepType type) {
    return type == StepType::Send || type == StepType::ReceiveCopySend ||
           type == StepType::ReceiveReduceSend || type == StepType::ReceiveReduceCopySend;
}

bool takes(StepType type) {
    return type != StepType::Send && type != StepType::Copy && type != StepType::Reduce &&
           type != StepType::Nop;
}

std::int64_t input_chunks(const plan::MscclPlan& plan, const plan::Gpu& gpu, const PlanCall& call) {
    const std::int64_t n = plan.chunks_per_loop;
    switch (call.goal) {
        case CollectiveKind::AllGather:
            return n / plan.ranks;
        case CollectiveKind::Scatter:
            return is_root(gpu, call) ? n * plan.ranks : 0;
        case CollectiveKind::Custom:
            return call.in_place ? std::max(gpu.input_chunks, gpu.output_chunks) : gpu.input_chunks;
        default:
            return n;
    }
}

std::int64_t output_chunks(const plan::MscclPlan& plan, const plan::Gpu& gpu, const PlanCall& call) {
    const std::int64_t n = plan.chunks_per_loop;
    switch (call.goal) {
        case CollectiveKind::ReduceScatter:
            return n / plan.ranks;
        case CollectiveKind::Gather:
            return is_root(gpu, call) ? n * plan.ranks : 0;
        case CollectiveKind::Custom:
            return call.in_place ? std::max(gpu.input_chunks, gpu.output_chunks) : gpu.output_chunks;
        default:
            return n;
    }
}

Location location_of(const plan::MscclPlan& plan, const plan::Gpu& gpu, const PlanCall& call, Buffer buffer,
                     std::int64_t chunk) {
    const std::int32_t id = number(gpu.id);
    const Location itself{id, buffer, chunk};
    if (!call.in_place || buffer == Buffer::Scratch) return itself;
    const std::int64_t n = plan.chunks_per_loop;
    const bool is_input = buffer == Buffer::Input;
    switch (call.goal) {
        case CollectiveKind::AllGather:
            return is_input ? Location{id, Buffer::Output, id * (n / plan.ranks) + chunk} : itself;
        case CollectiveKind::ReduceScatter:
            return is_input ? itself : Location{id, Buffer::Input, id * (n / plan.ranks) + chunk};
        case CollectiveKind::Gather:
            if (!is_input || !is_root(gpu, call)) return itself;
            return {id, Buffer::Output, id * n + chunk};
        case CollectiveKind::Scatter:
            if (is_input || !is_root(gpu, call)) return itself;
            return {id, Buffer::Input, id * n + chunk};
        default:
            return {id, Buffer::Input, chunk};
    }
}

std::optional<int> Machine::block(std::int32_t gpu, std::int32_t id) const {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].gpu == gpu && blocks[b].id == id) return static_cast<int>(b);
    }
    return std::nullopt;
}

std::optional<int> Machine::place(const Location& location) const {
    for (std::size_t p = 0; p < places.size(); ++p) {
        if (places[p] == location) return static_cast<int>(p);
    }
    return std::nullopt;
}

Machine machine_of(const plan::MscclPlan& plan, const PlanCall& call) { return Builder(plan, call).build(); }

}  // namespace tutti::oracle
