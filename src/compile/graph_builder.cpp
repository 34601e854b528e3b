#include "compile/graph_builder.hpp"

#include <algorithm>
#include <utility>

namespace tutti::compile {

GraphBuilder::GraphBuilder(std::vector<RankMemory> memory) {
    graph_.memory = std::move(memory);
    std::size_t places = 0;
    for (const RankMemory& of : graph_.memory) {
        first_.push_back(places);
        places += of.size();
    }
    touched_.resize(places);
}

void GraphBuilder::reserve(std::size_t instructions, std::size_t reads) {
    graph_.instructions.reserve(instructions);
    graph_.first_before.reserve(instructions + 1);
    graph_.reads_of.reserve(instructions);
    readers_.reserve(reads);
}

std::uint32_t GraphBuilder::append(const Instruction& i, std::uint32_t after) {
    const std::uint32_t number = graph_.size();
    graph_.instructions.push_back(i);
    graph_.reads_of.push_back(0);
    const std::size_t begin = graph_.befores.size();
    if (after != kNoInstruction) graph_.befores.push_back(after);
    for (std::uint32_t k = 0; k < i.count && i.reads(); ++k) {
        read(touched(i.rank, i.source_buffer, i.source + k), number);
    }
    // What a receive adds to mostly is where it stores the sum.
    const bool adds_apart =
        i.adds_to_source() && (i.source_buffer != i.target_buffer || i.source != i.target);
    for (std::uint32_t k = 0; k < i.count && adds_apart; ++k) {
        read(touched(i.rank, i.source_buffer, i.source + k), number);
    }
    const bool adds_in_place = i.reduces && i.writes() && !adds_apart;
    for (std::uint32_t k = 0; k < i.count && i.writes(); ++k) {
        Touched& place = touched(i.rank, i.target_buffer, i.target + k);
        if (adds_in_place) use(place);
        write(place, number);
    }
    const auto first = graph_.befores.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, graph_.befores.end());
    graph_.befores.erase(std::unique(first, graph_.befores.end()), graph_.befores.end());
    graph_.first_before.push_back(static_cast<std::uint32_t>(graph_.befores.size()));
    return number;
}

void GraphBuilder::use(const Touched& place) {
    if (place.writer == kNoInstruction) return;
    graph_.befores.push_back(place.writer);
    ++graph_.reads_of[place.writer];
}

void GraphBuilder::read(Touched& place, std::uint32_t number) {
    use(place);
    readers_.push_back({number, place.first_reader});
    place.first_reader = static_cast<std::uint32_t>(readers_.size() - 1);
}

void GraphBuilder::write(Touched& place, std::uint32_t number) {
    bool read_since = false;
    for (std::uint32_t r = place.first_reader; r != kNoInstruction; r = readers_[r].next) {
        if (readers_[r].instruction == number) continue;  // it reads before it writes
        graph_.befores.push_back(readers_[r].instruction);
        read_since = true;
    }
    if (!read_since && place.writer != kNoInstruction) graph_.befores.push_back(place.writer);
    place = {number, kNoInstruction};
}

void GraphBuilder::mark_result(std::uint32_t rank, plan::Buffer buffer, std::uint32_t offset) {
    graph_.leaves_result.resize(graph_.instructions.size(), false);
    const std::uint32_t writer = touched(rank, buffer, offset).writer;
    if (writer != kNoInstruction) graph_.leaves_result[writer] = true;
}

Graph GraphBuilder::take() {
    graph_.leaves_result.resize(graph_.instructions.size(), false);
    return std::move(graph_);
}

}  // namespace tutti::compile
