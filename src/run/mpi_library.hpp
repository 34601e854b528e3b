#pragma once

#include "core/collective.hpp"
#include "run/element_type.hpp"
#include "run/message_transport.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::run {

/// What a MPI library does for calls of plans, for the processes that mpirun started. It is a module
/// (src/mpi) that is opened where it is found, so nothing else of tutti needs MPI. What MPI reports as an
/// error ends all processes, as MPI does by default.
class MpiLibrary : public MessageTransport {
  public:
    [[nodiscard]] virtual bool on_one_machine() const = 0;
    [[nodiscard]] virtual const char* version() const = 0;

    virtual void barrier() = 0;
    /// From process 0 to all.
    virtual void broadcast(void* data, std::size_t bytes) = 0;
    /// The sum over all processes, in all.
    [[nodiscard]] virtual std::uint64_t sum(std::uint64_t number) = 0;
    /// Ends all processes.
    virtual void abort() = 0;

    /// MPI's own collective of that kind; `count` elements are a share. In place if `input` is `output`.
    /// Returns false if MPI has none for this kind, type or operator.
    [[nodiscard]] virtual bool call(CollectiveKind kind, const std::byte* input, std::byte* output,
                                    std::size_t count, ElementType type, Operator op, std::uint32_t root) = 0;
};

}  // namespace tutti::run
