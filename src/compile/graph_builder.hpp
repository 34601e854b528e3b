#pragma once

#include "compile/graph.hpp"

#include <cstdint>
#include <vector>

namespace tutti::compile {

/// Puts a graph together, one instruction after the other: a read comes after the last writer of each of its
/// places, a write after the readers since (or the writer). O(chunks of all instructions).
class GraphBuilder {
  public:
    explicit GraphBuilder(std::vector<RankMemory> memory);

    /// Room for so many, and no more; they read so many places.
    void reserve(std::size_t instructions, std::size_t reads);
    /// `after`: another instruction that it comes after, or kNoInstruction. Returns its number.
    std::uint32_t append(const Instruction& instruction, std::uint32_t after);
    /// What was written there last is a result of the collective.
    void mark_result(std::uint32_t rank, plan::Buffer buffer, std::uint32_t offset);
    [[nodiscard]] std::uint32_t size() const { return graph_.size(); }
    [[nodiscard]] Graph take();

  private:
    /// Who touched a place last.
    struct Touched {
        std::uint32_t writer = kNoInstruction;
        std::uint32_t first_reader = kNoInstruction;  ///< of a list of those since
    };
    struct Reader {
        std::uint32_t instruction, next;
    };

    [[nodiscard]] Touched& touched(std::uint32_t rank, plan::Buffer buffer, std::uint32_t offset) {
        return touched_[first_[rank] + graph_.memory[rank].of(buffer, offset)];
    }
    void use(const Touched& place);
    void read(Touched& place, std::uint32_t number);
    void write(Touched& place, std::uint32_t number);

    Graph graph_;
    std::vector<std::size_t> first_;  ///< a rank's first place
    std::vector<Touched> touched_;
    std::vector<Reader> readers_;
};

}  // namespace tutti::compile
