#pragma once

#include "io/atomic_file.hpp"
#include "io/source.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace tutti::io {

/// The compact binary format of docs/stream-format.md: a send takes a few bytes, and writer and reader hold
/// at most one block. Such files end in ".tsch".
inline constexpr std::string_view kStreamSuffix = ".tsch";

/// What a stream records about its instance.
struct StreamHeader {
    std::string instance;
    std::uint64_t chunks = 0;
    std::uint64_t links = 0;
    friend bool operator==(const StreamHeader&, const StreamHeader&) = default;
};

/// Writes a stream. The file appears when finish() returns; without finish() there is no file.
class StreamWriter {
  public:
    /// A path, or "-" for standard output.
    StreamWriter(const std::string& path, const StreamHeader& header);
    StreamWriter(const StreamWriter&) = delete;
    StreamWriter& operator=(const StreamWriter&) = delete;
    ~StreamWriter();

    /// In the order of starts_before, across calls too; anything else is an InternalError. The more sends at
    /// a time, the faster.
    void append(std::span<const Send> sends);
    void append(const Send& send) { append(std::span(&send, 1)); }
    void finish(Ticks makespan);

    [[nodiscard]] std::uint64_t sends() const { return sends_; }
    /// Bytes of all blocks before and after compression, for benchmarks.
    [[nodiscard]] std::uint64_t raw_bytes() const { return raw_bytes_; }
    [[nodiscard]] std::uint64_t stored_bytes() const { return file_.size(); }

  private:
    struct Compressor {
        void operator()(ZSTD_CCtx_s* context) const;
    };

    [[noreturn]] void refuse(const Send& before, const Send& send, std::uint64_t position) const;
    void check_order(std::span<const Send> sends);
    void write_group(std::span<const Send> sends);
    void end_group();
    void end_block();
    void write_record(std::string_view raw);

    AtomicFile file_;
    std::unique_ptr<ZSTD_CCtx_s, Compressor> compressor_;
    std::vector<Send> group_;  ///< of one start: the last sends, which more may follow
    std::string block_;        ///< as long as a block can become
    std::size_t filled_ = 0;   ///< bytes of the block so far; none between blocks
    std::string stored_;
    std::optional<Send> last_;
    Ticks block_start_;              ///< of the last group in the block
    std::uint32_t block_chunk_ = 0;  ///< of the last send in the block
    std::uint64_t sends_ = 0, blocks_ = 0, raw_bytes_ = 0;
    bool finished_ = false;
};

/// Reads a stream with a few megabytes of memory, whatever the file claims. Malformed, truncated or corrupt
/// data and trailing bytes are an InputError with the file and the byte at which the record begins.
class StreamSource final : public SendSource {
  public:
    explicit StreamSource(Source source);
    ~StreamSource() override;

    [[nodiscard]] const StreamHeader& header() const { return header_; }

    [[nodiscard]] std::span<const Send> next() override {
        decode_more();
        return decoded_;
    }
    [[nodiscard]] Ticks makespan() const override { return makespan_; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return before_ + i; }
    [[nodiscard]] bool consecutive() const override { return true; }

  private:
    struct Decompressor {
        void operator()(ZSTD_DCtx_s* context) const;
    };

    void read_magic();
    /// Puts the next record's content into raw_ and returns its kind.
    char read_record();
    void read_header();
    void read_end();
    bool begin_block();
    void begin_group();
    void decode_more();
    template <bool Mixed>
    void decode_sends(Op op);

    [[nodiscard]] std::uint64_t number();
    [[noreturn]] void fail(const std::string& message) const;

    Source source_;
    std::unique_ptr<ZSTD_DCtx_s, Decompressor> decompressor_;
    StreamHeader header_;
    Ticks makespan_;

    std::uint64_t record_offset_ = 0;
    std::string stored_;
    std::string raw_;  ///< with padding, so that a number can be read without asking at each byte
    const unsigned char* cursor_ = nullptr;
    const unsigned char* raw_end_ = nullptr;

    std::uint64_t blocks_ = 0;
    bool ended_ = false;
    bool first_group_ = false;
    std::uint64_t group_left_ = 0;
    unsigned mode_ = 0;
    std::int64_t start_ = 0;
    std::uint64_t link_ = 0, chunk_ = 0;

    std::vector<Send> decoded_;
    std::uint64_t before_ = 0;  ///< sends before decoded_
};

/// A schedule of any format, told apart by its first bytes.
struct OpenSchedule {
    std::string instance;
    std::optional<StreamHeader> stream;                    ///< where it is one
    std::unique_ptr<SendSource> sends;                     ///< none where it is in generator form
    std::optional<symmetry::SymmetricSchedule> symmetric;  ///< where it is
};
[[nodiscard]] OpenSchedule open_schedule(const std::string& path, const Stop& stop = {});

/// The same, read into memory.
[[nodiscard]] Schedule read_schedule(const std::string& path);

/// Writes a stream whatever the path's suffix. `chunks` and `links` are the instance's.
void write_schedule_stream(const std::string& path, const Schedule& schedule, std::uint64_t chunks,
                           std::uint64_t links);

/// As a stream if the path ends in ".tsch", else as JSON. `chunks` and `links` are the instance's.
void write_schedule(const std::string& path, const Schedule& schedule, std::uint64_t chunks,
                    std::uint64_t links);

}  // namespace tutti::io
