#pragma once

#include "lang/tracer.hpp"

#include <string>
#include <vector>

namespace tutti::lang {

class Program;

/// Neighbouring chunks of a buffer of a rank, as they were when the reference was made. A reference whose
/// chunks were written through another one since is stale, and using it is refused.
class Ref {
  public:
    [[nodiscard]] std::uint32_t rank() const { return first_.rank; }
    [[nodiscard]] std::uint32_t buffer() const { return first_.buffer; }
    [[nodiscard]] std::uint32_t index() const { return first_.index; }
    [[nodiscard]] std::uint32_t size() const { return size_; }

    /// Its values become those of as many places of another rank, or of the same. Returns these.
    Ref copy(std::uint32_t rank, std::uint32_t buffer, std::uint32_t index,
             const Directive& directive = {}) const;
    /// To the same place of another rank.
    Ref copy(std::uint32_t rank, const Directive& directive = {}) const {
        return copy(rank, buffer(), index(), directive);
    }
    /// `other` is added to it.
    Ref reduce(const Ref& other, const Directive& directive = {}) const;

  private:
    friend class Program;
    Ref(Program& program, Slot first, std::uint32_t size);
    void check_fresh() const;

    Program* program_;
    Slot first_;
    std::uint32_t size_;
    std::vector<std::uint32_t> versions_;  ///< of its places
};

/// The C++ face of chunk programs:
///
///     Program p(header);
///     Ref x = p.chunk(0, kInput, 0);
///     p.chunk(1, kInput, 0).reduce(x).copy(0);
class Program {
  public:
    explicit Program(Trace header) : tracer_(std::move(header)) {}

    [[nodiscard]] std::uint32_t ranks() const { return tracer_.trace().shape.ranks; }
    [[nodiscard]] const Shape& shape() const { return tracer_.trace().shape; }
    /// Throws InputError where a place is outside of its buffer or holds nothing.
    [[nodiscard]] Ref chunk(std::uint32_t rank, std::uint32_t buffer, std::uint32_t index,
                            std::uint32_t size = 1);
    [[nodiscard]] std::uint32_t scratch(const std::string& name) { return tracer_.scratch_buffer(name); }
    [[nodiscard]] Tracer& tracer() { return tracer_; }
    [[nodiscard]] const Trace& trace() const { return tracer_.trace(); }

    /// The verbs from here on are called by that line of the program (Tracer::place); what is refused names
    /// it.
    void at(std::uint32_t place) { place_ = place; }
    [[nodiscard]] std::uint32_t place() const { return place_; }
    /// Throws InputError with the line.
    [[noreturn]] void refuse(const std::string& message) const;

  private:
    Tracer tracer_;
    std::uint32_t place_ = 0;
};

}  // namespace tutti::lang
