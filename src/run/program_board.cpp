#include "run/program_board.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

namespace tutti::run {

// SharedMemory is zeros, and aligned to a page; all parts are multiples of 8 bytes.
ProgramBoard::ProgramBoard(std::size_t ranks, std::size_t kernels, std::size_t calls)
    : ranks_(ranks),
      kernels_(kernels),
      calls_(calls),
      memory_(SharedMemory::create(sizeof(Reason) + (2 + ranks) * sizeof(std::int64_t) +
                                   ranks * (kernels + 1) * sizeof(KernelSpan) +
                                   calls * (1 + 2 * kernels) * sizeof(double))),
      reason_(new(memory_.data()) Reason{}),
      start_(reinterpret_cast<std::int64_t*>(memory_.data() + sizeof(Reason))),
      count_(start_ + 1),
      ends_(start_ + 2),
      spans_(reinterpret_cast<KernelSpan*>(ends_ + ranks)),
      numbers_(reinterpret_cast<double*>(spans_ + ranks * (kernels + 1)), calls * row()) {}

std::int64_t ProgramBoard::now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

void ProgramBoard::begin() {
    std::fill_n(spans_, ranks_ * (kernels_ + 1), KernelSpan{});
    std::fill_n(ends_, ranks_, 0);
    *start_ = now();
    for (std::size_t rank = 0; rank < ranks_; ++rank) spans_[(rank + 1) * (kernels_ + 1) - 1].end = *start_;
}

void ProgramBoard::record() {
    const auto call = static_cast<std::size_t>(*count_);
    if (call == calls_) return;
    ++*count_;
    const std::span<double> row = numbers_.subspan(call * this->row(), this->row());
    row[0] = static_cast<double>(*std::max_element(ends_, ends_ + ranks_) - *start_) / 1e9;
    for (std::size_t k = 0; k < kernels_; ++k) {
        double &begin = row[1 + 2 * k], &seconds = row[2 + 2 * k];
        begin = std::numeric_limits<double>::infinity();
        seconds = 0;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const KernelSpan& span = spans_[rank * (kernels_ + 1) + k];
            if (span.end == 0) continue;
            begin = std::min(begin, static_cast<double>(span.begin - *start_) / 1e9);
            seconds = std::max(seconds, static_cast<double>(span.end - span.begin) / 1e9);
        }
    }
}

std::vector<ProgramBoard::Record> ProgramBoard::records() const {
    std::vector<Record> records;
    for (std::size_t call = 0; call < static_cast<std::size_t>(*count_); ++call) {
        const std::span<const double> row = numbers_.subspan(call * this->row(), this->row());
        Record& record = records.emplace_back(Record{row[0], {}});
        for (std::size_t k = 0; k < kernels_; ++k) record.kernels.push_back({row[1 + 2 * k], row[2 + 2 * k]});
    }
    return records;
}

void ProgramBoard::merge(std::span<const double> others) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
        const std::size_t place = i % row();
        const bool is_begin = place % 2 == 1;
        numbers_[i] = is_begin ? std::min(numbers_[i], others[i]) : std::max(numbers_[i], others[i]);
    }
}

void ProgramBoard::fail(std::string_view reason) {
    std::uint32_t nothing = 0;
    if (!reason_->state.compare_exchange_strong(nothing, 1)) return;
    reason_->text[reason.copy(reason_->text, sizeof(reason_->text) - 1)] = '\0';
    reason_->state.store(2, std::memory_order_release);
}

std::string ProgramBoard::failure() const {
    return reason_->state.load(std::memory_order_acquire) == 2 ? reason_->text : "";
}

}  // namespace tutti::run
