#pragma once

#include "core/schedule.hpp"
#include "io/schedule_stream.hpp"

namespace tutti::io {

/// Forwards a schedule and also writes it to a stream, so that a schedule too large for memory is verified
/// and written in one pass:
///
///     StreamWriter writer(path, header);
///     TeeSource tee(generated, writer);
///     const Verdict verdict = verify::verify(instance, tee);
///     if (verdict.valid()) writer.finish(verdict.makespan);   // else no file appears
class TeeSource final : public SendSource {
  public:
    /// Both must outlive this. The source must give its sends in the order of starts_before: otherwise the
    /// writer throws InternalError from next().
    TeeSource(SendSource& from, StreamWriter& to) : from_(from), to_(to) {}

    [[nodiscard]] std::span<const Send> next() override {
        const auto sends = from_.next();
        to_.append(sends);
        return sends;
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] bool consecutive() const override { return from_.consecutive(); }

  private:
    SendSource& from_;
    StreamWriter& to_;
};

}  // namespace tutti::io
