#include "tests/bench/plan_shapes.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>
#include <string_view>

namespace tutti::bench {
namespace {

using plan::Address;
using plan::Buffer;
using plan::StepType;
using test::maybe;

Address in(std::int32_t chunk) { return {Buffer::Input, test::id<plan::ChunkOffset>(chunk)}; }
Address out(std::int32_t chunk) { return {Buffer::Output, test::id<plan::ChunkOffset>(chunk)}; }
Address scratch(std::int32_t chunk) { return {Buffer::Scratch, test::id<plan::ChunkOffset>(chunk)}; }

plan::MscclPlan plan_of(std::string_view collective, std::int32_t ranks, std::int32_t chunks, bool in_place) {
    plan::MscclPlan plan;
    plan.name = "generated";
    plan.collective = collective;
    plan.ranks = ranks;
    plan.chunks_per_loop = chunks;
    plan.in_place = in_place;
    plan.out_of_place = !in_place;
    plan.min_bytes = plan.max_bytes = 0;
    for (const Rank g : plan::ranks_below(ranks)) plan.gpus.push_back({g, chunks, chunks, 0, {}, {}});
    return plan;
}

std::int32_t add_block(plan::Gpu& gpu, std::int32_t send, std::int32_t recv, std::int32_t channel) {
    const auto id = static_cast<std::int32_t>(gpu.blocks.size());
    gpu.blocks.push_back({test::id<plan::BlockId>(id),
                          maybe<Rank>(send),
                          maybe<Rank>(recv),
                          maybe<plan::ChannelId>(channel),
                          {}});
    return id;
}

/// A step by which others can find it.
struct StepName {
    std::int32_t block = -1, step = -1;
};

StepName add_step(plan::Gpu& gpu, std::int32_t block, StepType type, Address src, Address dst,
                  StepName after = {}) {
    auto& blocks = gpu.blocks;
    auto& steps = blocks[static_cast<std::size_t>(block)].steps;
    const auto number = static_cast<std::int32_t>(steps.size());
    steps.push_back({.number = plan::StepId(steps.size()),
                     .type = type,
                     .src = src,
                     .dst = dst,
                     .dep_block = maybe<plan::BlockId>(after.block),
                     .dep_step = maybe<plan::StepId>(after.step)});
    if (after.block >= 0) {
        blocks[static_cast<std::size_t>(after.block)].steps[static_cast<std::size_t>(after.step)].signals =
            true;
    }
    return {block, number};
}

}  // namespace

plan::MscclPlan ring_all_reduce(std::int32_t ranks, std::int32_t pieces) {
    plan::MscclPlan plan = plan_of("allreduce", ranks, ranks * pieces, true);
    plan.channels = std::min(pieces, 32);
    for (plan::Gpu& gpu : plan.gpus) {
        const std::int32_t g = test::number(gpu.id), next = (g + 1) % ranks,
                           previous = (g + ranks - 1) % ranks;
        for (std::int32_t c = 0; c < plan.channels; ++c) add_block(gpu, next, previous, c);
        for (std::int32_t piece = 0; piece < pieces; ++piece) {
            const std::int32_t block = piece % plan.channels;
            for (std::int32_t step = 0; step < 2 * ranks - 1; ++step) {
                const Address chunk = in(piece * ranks + (g + 2 * ranks - step) % ranks);
                const StepType type = step == 0              ? StepType::Send
                                      : step < ranks - 1     ? StepType::ReceiveReduceSend
                                      : step == ranks - 1    ? StepType::ReceiveReduceCopySend
                                      : step < 2 * ranks - 2 ? StepType::ReceiveCopySend
                                                             : StepType::Receive;
                add_step(gpu, block, type, chunk, chunk);
            }
        }
    }
    return plan;
}

plan::MscclPlan all_pairs_all_reduce(std::int32_t ranks, std::int32_t pieces) {
    plan::MscclPlan plan = plan_of("allreduce", ranks, ranks * pieces, true);
    for (plan::Gpu& gpu : plan.gpus) {
        const std::int32_t g = test::number(gpu.id);
        gpu.scratch_chunks = ranks * pieces;
        std::vector<std::int32_t> with(static_cast<std::size_t>(ranks), -1);
        for (std::int32_t peer = 0; peer < ranks; ++peer) {
            if (peer != g) with[static_cast<std::size_t>(peer)] = add_block(gpu, peer, peer, 0);
        }
        const std::int32_t adder = add_block(gpu, -1, -1, 0);
        for (std::int32_t piece = 0; piece < pieces; ++piece) {
            const auto share = [&](std::int32_t rank) { return in(piece * ranks + rank); };
            const auto arrived = [&](std::int32_t rank) { return scratch(piece * ranks + rank); };
            std::vector<StepName> received(with.size());
            for (std::int32_t peer = 0; peer < ranks; ++peer) {
                if (peer == g) continue;
                const std::int32_t block = with[static_cast<std::size_t>(peer)];
                add_step(gpu, block, StepType::Send, share(peer), arrived(g));
                received[static_cast<std::size_t>(peer)] =
                    add_step(gpu, block, StepType::Receive, share(g), arrived(peer));
            }
            StepName sum;
            for (std::int32_t peer = 0; peer < ranks; ++peer) {
                if (peer == g) continue;
                sum = add_step(gpu, adder, StepType::Reduce, arrived(peer), share(g),
                               received[static_cast<std::size_t>(peer)]);
            }
            for (std::int32_t peer = 0; peer < ranks; ++peer) {
                if (peer == g) continue;
                const std::int32_t block = with[static_cast<std::size_t>(peer)];
                add_step(gpu, block, StepType::Send, share(g), share(g), sum);
                add_step(gpu, block, StepType::Receive, share(peer), share(peer));
            }
        }
    }
    return plan;
}

plan::MscclPlan two_step_all_to_all(std::int32_t nodes, std::int32_t pieces) {
    constexpr std::int32_t kWide = 8;
    const std::int32_t ranks = nodes * kWide;
    plan::MscclPlan plan = plan_of("alltoall", ranks, ranks * pieces, false);
    plan.protocol = plan::Protocol::LL;  // each side sends eight messages before it receives
    for (plan::Gpu& gpu : plan.gpus) {
        const std::int32_t node = test::number(gpu.id) / kWide, local = test::number(gpu.id) % kWide;
        gpu.scratch_chunks = ranks * pieces;
        std::vector<std::int32_t> inside, outside;
        for (std::int32_t l = 0; l < kWide; ++l) {
            const std::int32_t peer = l == local ? -1 : node * kWide + l;
            inside.push_back(add_block(gpu, peer, peer, 0));
        }
        for (std::int32_t n = 0; n < nodes; ++n) {
            const std::int32_t peer = n == node ? -1 : n * kWide + local;
            outside.push_back(add_block(gpu, peer, peer, 0));
        }
        for (std::int32_t piece = 0; piece < pieces; ++piece) {
            const auto chunk = [&](std::int32_t rank) { return rank * pieces + piece; };
            // What local number l of this node has for (n, local) goes through here.
            const auto slot = [&](std::int32_t n, std::int32_t l) { return scratch(chunk(n * kWide + l)); };
            std::vector<StepName> here(static_cast<std::size_t>(ranks));
            for (std::int32_t l = 0; l < kWide; ++l) {
                const std::int32_t block = inside[static_cast<std::size_t>(l)];
                for (std::int32_t n = 0; n < nodes; ++n) {
                    if (l != local)
                        add_step(gpu, block, StepType::Send, in(chunk(n * kWide + l)), slot(n, local));
                }
                for (std::int32_t n = 0; n < nodes; ++n) {
                    StepName& made = here[static_cast<std::size_t>(n * kWide + l)];
                    const Address from = in(chunk(n * kWide + local));
                    made = add_step(gpu, block, l == local ? StepType::Copy : StepType::Receive, from,
                                    slot(n, l));
                }
            }
            for (std::int32_t n = 0; n < nodes; ++n) {
                const std::int32_t block = outside[static_cast<std::size_t>(n)];
                for (std::int32_t l = 0; l < kWide; ++l) {
                    const StepName& made = here[static_cast<std::size_t>(n * kWide + l)];
                    const Address to = out(chunk(node * kWide + l));
                    add_step(gpu, block, n == node ? StepType::Copy : StepType::Send, slot(n, l), to, made);
                }
                for (std::int32_t l = 0; l < kWide && n != node; ++l) {
                    const Address to = out(chunk(n * kWide + l));
                    add_step(gpu, block, StepType::Receive, to, to);
                }
            }
        }
    }
    return plan;
}

plan::MscclPlan acknowledged_broadcast(std::int32_t ranks, std::int32_t pieces) {
    plan::MscclPlan plan = plan_of("broadcast", ranks, pieces, false);
    plan.channels = 2;
    for (plan::Gpu& gpu : plan.gpus) {
        const std::int32_t g = test::number(gpu.id), next = g + 1 < ranks ? g + 1 : -1;
        gpu.scratch_chunks = 3;  // two slots, and one for acknowledgements
        const std::int32_t forward = add_block(gpu, next, -1, 0);
        const std::int32_t receive = g == 0 ? -1 : add_block(gpu, -1, g - 1, 0);
        const std::int32_t acknowledge = g == 0 ? -1 : add_block(gpu, g - 1, -1, 1);
        const std::int32_t acknowledged = next < 0 ? -1 : add_block(gpu, -1, next, 1);
        std::vector<StepName> free_again(2);
        for (std::int32_t piece = 0; piece < pieces; ++piece) {
            const Address slot = scratch(piece % 2);
            StepName& last_use = free_again[static_cast<std::size_t>(piece % 2)];
            if (g == 0) {
                add_step(gpu, forward, StepType::Copy, in(piece), out(piece));
                if (next >= 0) add_step(gpu, forward, StepType::Send, in(piece), slot, last_use);
            } else {
                const StepName here = add_step(gpu, receive, StepType::Receive, slot, slot, last_use);
                const StepName copied = add_step(gpu, forward, StepType::Copy, slot, out(piece), here);
                if (next >= 0) add_step(gpu, forward, StepType::Send, slot, slot);
                add_step(gpu, acknowledge, StepType::Send, slot, scratch(2), here);
                if (next < 0) last_use = copied;
            }
            if (next < 0) continue;
            const StepName known = add_step(gpu, acknowledged, StepType::Receive, scratch(2), scratch(2));
            last_use = known;
        }
    }
    return plan;
}

}  // namespace tutti::bench
