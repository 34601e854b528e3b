#pragma once

#include "run/local_tensor.hpp"
#include "run/program_stages.hpp"
#include "run/run_faults.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tutti::run {

/// Random numbers, constants: no kernel makes them, and no rank needs another for them.
[[nodiscard]] bool is_generated(const tensor::Value& value);

/// Where the values of a program are in a rank's memory: planned once, the same for all ranks. A state has
/// one place for its life; its new value is made right there where nothing needs the old one any more. A
/// gather's operand is made inside its result. Values that live at different times share memory.
class MemoryPlan {
  public:
    /// All must outlive this. `faults`: for tests.
    MemoryPlan(const tensor::Program& program, const std::vector<ProgramStage>& stages, Precision precision,
               const RunFaults* faults = nullptr);

    /// Bytes of a rank; a multiple of 64.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// Whether the value is in memory at all: not what only its loop reads. Of sources inputs only.
    [[nodiscard]] bool has(tensor::ValueId id) const { return is_stored_[id.index()]; }
    /// Where the rank's part of the value begins. Precondition: has(id).
    [[nodiscard]] std::size_t offset(tensor::ValueId id, std::int64_t rank) const;
    /// Whether it needs no work of its own: an update in place, other words for the same elements.
    [[nodiscard]] bool is_done(tensor::ValueId id) const { return is_done_[id.index()]; }

    /// Random numbers and constants that something reads from memory, each in the parts that are read of it.
    using Generated = std::pair<tensor::ValueId, tensor::Layouts>;
    [[nodiscard]] const std::map<Generated, std::size_t>& generated() const { return generated_; }

    /// What does not outlive a call.
    [[nodiscard]] std::size_t scratch_begin() const { return scratch_begin_; }

  private:
    /// Where a value is made.
    struct Place {
        std::size_t stage = 0, step = 0;
        const ProgramPart* part = nullptr;
    };
    struct Alias {
        tensor::ValueId of;
        bool is_inside = false;  ///< a part of it, by what each rank has
    };

    void find_places();
    void find_stored();
    void add_generated();
    void alias_words();
    void alias_gathers();
    void alias_updates();
    [[nodiscard]] bool is_output(tensor::ValueId id) const;
    [[nodiscard]] std::vector<tensor::ValueId> readers_of_memory(tensor::ValueId state) const;
    [[nodiscard]] bool may_overwrite(tensor::ValueId state, tensor::ValueId update) const;
    [[nodiscard]] bool may_copy(tensor::ValueId state, tensor::ValueId update) const;
    [[nodiscard]] bool reads_own_elements(tensor::ValueId reader, const std::vector<tensor::ValueId>& memory,
                                          const tensor::Type& loop) const;
    [[nodiscard]] tensor::ValueId root_of(tensor::ValueId id) const;
    [[nodiscard]] std::size_t bytes_of_part(const tensor::Type& type) const;
    void allocate();

    const tensor::Program& program_;
    const std::vector<ProgramStage>& stages_;
    tensor::Users users_;
    Precision precision_;
    const RunFaults* faults_;
    std::map<tensor::ValueId, Place> place_;
    std::map<tensor::ValueId, Alias> alias_;
    std::vector<bool> is_stored_, is_done_;
    std::vector<std::size_t> root_offset_;  ///< by value
    std::map<Generated, std::size_t> generated_;
    std::size_t bytes_ = 0, scratch_begin_ = 0;
};

}  // namespace tutti::run
