#include "io/tacos_csv.hpp"

#include "core/ticks.hpp"
#include "io/text_scanner.hpp"
#include "plan/plan_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

// The format of astra-sim/tacos, src/writer/csv_writer.cpp (October 2024, since removed). In TACOS 1 GB/s is
// 2^30 bytes per second, and a link carries one message at a time, busy for latency plus transmission.

namespace tutti::io {
namespace {

using plan::PlanError;
using plan::TacosPlan;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28U;
constexpr std::int64_t kMostTacosNodes = std::int64_t{1} << 20U;
constexpr std::int64_t kMostTacosChunks = std::int64_t{1} << 40U;
constexpr std::int64_t kMostChunkBytes = std::int64_t{1} << 40U;
constexpr std::string_view kHeader = "SrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks";

class CsvReader {
  public:
    explicit CsvReader(std::string_view text) : text_(text) {}

    TacosPlan read() {
        TacosPlan plan;
        plan.nodes = static_cast<std::int32_t>(read_count("NPUs Count,", "", 1, kMostTacosNodes));
        const std::int64_t links = read_count("Links Count,", "", 0, kMostTacosChunks);
        plan.chunks = read_count("Chunks Count,", "", 1, kMostTacosChunks);
        chunk_bytes_ = read_count("Chunk Size,", ",B", 1, kMostChunkBytes);
        read_header();
        while (next_line()) {
            if (!line_.empty()) read_link(plan);
        }
        if (static_cast<std::int64_t>(plan.links.size()) != links) {
            fail("bad-value", fmt::format("expected {} links as the second line says, found {}", links,
                                          plan.links.size()));
        }
        return plan;
    }

  private:
    [[noreturn]] void fail(const char* code, const std::string& message) const {
        throw PlanError(code, message, fmt::format("line {}", number_));
    }
    [[noreturn]] void fail_line(const std::string& expected) const {
        std::string found(line_.substr(0, 60));
        std::ranges::replace_if(
            found, [](char ch) { return ch < ' ' || ch > '~'; }, '?');
        fail("bad-line", fmt::format("expected \"{}\", found \"{}\"", expected, found));
    }

    bool next_line() {
        if (text_.empty()) return false;
        const auto end = std::min(text_.find('\n'), text_.size());
        line_ = text_.substr(0, end);
        text_.remove_prefix(std::min(end + 1, text_.size()));
        if (line_.ends_with('\r')) line_.remove_suffix(1);
        ++number_;
        return true;
    }

    std::int64_t read_count(std::string_view before, std::string_view after, std::int64_t least,
                            std::int64_t most) {
        if (!next_line()) line_ = {};
        TextScanner text(line_);
        std::int64_t count = 0;
        if (!text.take(before) || !text.take_number(count) || !text.take(after) || !text.at_end())
            fail_line(fmt::format("{}N{}", before, after));
        if (count < least) fail("bad-integer", fmt::format("expected at least {}, found {}", least, count));
        if (count > most) fail("too-large", fmt::format("expected at most {}, found {}", most, count));
        return count;
    }

    void read_header() {
        if (!next_line()) line_ = {};
        if (line_ == kHeader) return;
        if (line_.starts_with(kHeader) || line_.starts_with("Collective Time,")) {
            fail("bad-line",
                 "this is a variant of the format with a time for each chunk, which is not read; expected "
                 "chunks without times");
        }
        fail_line(std::string(kHeader));
    }

    std::int64_t integer(TextScanner& text, std::int64_t count, const char* what) const {
        std::int64_t value = 0;
        if (!text.take_number(value)) fail_line("source,destination,latency,bandwidth,chunk,... or None");
        if (value >= count)
            fail("bad-integer", fmt::format("expected {} from 0 to {}, found {}", what, count - 1, value));
        return value;
    }

    Decimal decimal(TextScanner& text) const {
        const auto end = std::min(text.rest().find(','), text.rest().size());
        const std::string_view digits = text.rest().substr(0, end);
        double value = 0;
        const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || stop != digits.data() + digits.size() || digits.starts_with('-') ||
            !text.take(digits)) {
            fail_line("source,destination,latency,bandwidth,chunk,... or None");
        }
        try {
            return decimal_from(value);
        } catch (const InputError& problem) {
            fail("bad-value", problem.message());
        }
    }

    /// Picoseconds that a chunk takes at `bandwidth` GiB/s, rounded down as TACOS does.
    std::int64_t beta(Decimal bandwidth) const {
        __extension__ using Wide = unsigned __int128;
        constexpr int kMostScale = 6;
        for (; bandwidth.scale > kMostScale; --bandwidth.scale) bandwidth.mantissa /= 10;
        if (bandwidth.mantissa == 0) fail("bad-value", "expected a bandwidth above 0");
        Wide numerator = static_cast<Wide>(chunk_bytes_) * 1'000'000'000'000U;
        for (int i = 0; i < bandwidth.scale; ++i) numerator *= 10;
        const Wide picoseconds = (numerator / static_cast<Wide>(bandwidth.mantissa)) >> 30U;
        if (picoseconds > static_cast<Wide>(kMaxLinkTicks.count())) fail("bad-value", "this link takes days");
        return static_cast<std::int64_t>(picoseconds);
    }

    void read_link(TacosPlan& plan) const {
        TextScanner text(line_);
        const auto comma = [&] {
            if (!text.take(",")) fail_line("source,destination,latency,bandwidth,chunk,... or None");
        };
        plan::TacosLink link;
        link.src = plan::id_of<plan::PlanNode>(integer(text, plan.nodes, "an NPU"));
        comma();
        link.dst = plan::id_of<plan::PlanNode>(integer(text, plan.nodes, "an NPU"));
        comma();
        if (link.src == link.dst) fail("bad-value", "a link must join two different NPUs");
        try {
            link.alpha = alpha_of(decimal(text)).count();
        } catch (const PlanError&) {
            throw;
        } catch (const InputError& problem) {
            fail("bad-value", problem.message());
        }
        comma();
        link.beta = beta(decimal(text));
        comma();
        if (plan.links.size() == std::numeric_limits<std::int32_t>::max())
            fail("too-large", "too many links");
        if (text.rest() != "None") {
            do {
                link.queue.push_back(integer(text, plan.chunks, "a chunk"));
            } while (text.take(","));
            if (!text.at_end()) fail_line("source,destination,latency,bandwidth,chunk,... or None");
        }
        plan.links.push_back(std::move(link));
    }

    std::string_view text_, line_;
    std::size_t number_ = 0;
    std::int64_t chunk_bytes_ = 0;
};

}  // namespace

TacosPlan read_tacos_csv(Source& source) {
    std::string text;
    try {
        text = read_text(source, kMostBytes);
    } catch (const InputError& error) {
        const bool large = error.message().starts_with("expected at most");
        throw PlanError(large ? "too-large" : "bad-line", error.message(), error.place(), source.name());
    }
    try {
        return CsvReader(text).read();
    } catch (const PlanError& error) {
        throw PlanError(error.code(), error.message(), error.place(), source.name());
    }
}

}  // namespace tutti::io
