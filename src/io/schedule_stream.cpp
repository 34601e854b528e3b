#include "io/schedule_stream.hpp"

#include "io/schedule_json.hpp"
#include "io/symmetric_json.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

// docs/stream-format.md defines the format; this comment gives the reasons.
//
// A schedule of 10^9 sends takes 65 GB as JSON and 24 GB in memory. In order of start most sends of a tick go
// over neighbouring links, so the difference to the previous link takes one byte, and the difference to the
// previous chunk one to three: for an all-gather with randomly ordered chunks, 2.8 bytes per send on a 32x32
// torus and 3.0 on 64x64. zstd reduces them to 1.8 and 2.1, and regular schedules far more. Reading runs at
// 80 to 120 million sends a second, writing at 35 to 45, if many sends are given per call.
//
// The zstd level is 1. On the 64x64 torus level 3 doubles the time of all writing for files 1.3 % smaller;
// negative levels skip entropy coding: they write 15 % faster, but files are a third larger or more. Numbers
// are written into the block without a loop over their bytes (put_short); the sends of a tick are copied only
// where a call ends within the tick.
//
// The sends of a tick form groups that give start, count and op once; a send has a bit for its op only where
// copies and reductions mix. Differences restart at each block and blocks are numbered, so a lost, repeated
// or swapped block is detected, and a block can be read alone. zstd's checksum (XXH64) protects the content.
//
// The reader decodes a thousand sends at a time into a buffer that fits the cache.

namespace tutti::io {
namespace {

constexpr std::string_view kMagic = "TUTTISCH";
constexpr char kVersion = 1;
constexpr char kHeaderKind = 'H', kBlockKind = 'B', kEndKind = 'E';
constexpr unsigned kAllCopy = 0, kAllReduce = 1, kMixed = 2;

constexpr std::size_t kBlockTarget = std::size_t{1} << 20;
constexpr std::size_t kMaxGroup = std::size_t{1} << 14;
constexpr std::size_t kMaxRaw = std::size_t{1} << 21;
constexpr std::size_t kMaxStored = std::size_t{1} << 22;
constexpr int kLevel = 1;
/// In a zstd frame (RFC 8878, 3.1.1.1): the byte that says what the frame has, and its bit for a checksum.
constexpr std::size_t kFrameDescriptor = 4;
constexpr unsigned kChecksumBit = 0x04;

constexpr std::size_t kBatch = 1024;
constexpr std::size_t kMaxNumber = 10;  ///< bytes of a 64-bit number
constexpr std::size_t kMaxShort = 5;    ///< bytes of the numbers of a send, at most 35 bits
/// The capacity of a block: the target, then the head of a group and its sends, and the bytes that put_short
/// writes too many.
constexpr std::size_t kBlockRoom = kBlockTarget + 4 * kMaxNumber + 2 * kMaxShort * kMaxGroup + 8;
static_assert(kBlockRoom <= kMaxRaw);
/// The reader checks for the end only after each send or two numbers of a head.
constexpr std::size_t kPadding = 2 * kMaxNumber;
constexpr std::uint64_t kMost32Bits = std::numeric_limits<std::uint32_t>::max();

/// Writes at most kMaxNumber bytes; returns where the next number goes.
char* put_number(char* out, std::uint64_t value) {
    while (value >= 0x80) {
        *out++ = static_cast<char>(value | 0x80);
        value >>= 7;
    }
    *out++ = static_cast<char>(value);
    return out;
}

void put_number(std::string& out, std::uint64_t value) {
    char bytes[kMaxNumber];
    out.append(bytes, put_number(bytes, value));
}

/// The same for a number of at most 35 bits, but may write up to 8 bytes. The length of a chunk difference is
/// hard to predict, so only the shortest has a branch.
inline char* put_short(char* out, std::uint64_t value) {
    if (value < 0x80) {
        *out = static_cast<char>(value);
        return out + 1;
    }
    const auto top_bit = 63U - static_cast<unsigned>(__builtin_clzll(value));
    const unsigned more = top_bit / 7;  // bytes before the last
    std::uint64_t bytes = (value & 0x7F) | (value & 0x3F80) << 1 | (value & 0x1FC000) << 2 |
                          (value & 0xFE00000) << 3 | (value & 0x7F0000000) << 4;
    bytes |= 0x8080808080808080U & ((std::uint64_t{1} << (8 * more)) - 1);
    for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<char>(bytes >> (8 * i));
    return out + more + 1;
}

/// 0, -1, 1, -2 … as 0, 1, 2, 3 …
std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// A number of at most `Longest` bytes and 64 bits; false if it has more.
template <std::size_t Longest>
inline bool get_number(const unsigned char*& cursor, std::uint64_t& value) {
    std::uint64_t byte = *cursor++;
    value = byte & 0x7F;
    for (unsigned shift = 7; byte >= 0x80; shift += 7) {
        if (shift == 7 * Longest) return false;
        byte = *cursor++;
        if (shift == 63 && byte > 1) return false;
        value |= (byte & 0x7F) << shift;
    }
    return true;
}

unsigned mode_of(std::span<const Send> group) {
    const Op first = group.front().op;
    const bool same = std::ranges::all_of(group, [&](const Send& send) { return send.op == first; });
    return !same ? kMixed : first == Op::Copy ? kAllCopy : kAllReduce;
}

}  // namespace

void StreamWriter::Compressor::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void StreamSource::Decompressor::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

StreamWriter::StreamWriter(const std::string& path, const StreamHeader& header)
    : file_(path), compressor_(ZSTD_createCCtx()) {
    if (path == "-" && ::isatty(STDOUT_FILENO) == 1)
        throw InputError("a stream is binary, and standard output is a terminal; expected a file or a pipe");
    if (!compressor_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_checksumFlag, 1);
    file_.write(kMagic);
    file_.write(std::string_view(&kVersion, 1));
    std::string raw(1, kHeaderKind);
    put_number(raw, header.instance.size());
    raw += header.instance;
    put_number(raw, header.chunks);
    put_number(raw, header.links);
    write_record(raw);
}

StreamWriter::~StreamWriter() = default;

void StreamWriter::refuse(const Send& before, const Send& send, std::uint64_t position) const {
    throw InternalError(
        fmt::format("a stream's sends must be in order: send {} (start {}, link {}, chunk {}) is "
                    "before its predecessor (start {}, link {}, chunk {})",
                    position, send.start.count(), send.link.value(), send.chunk.value(), before.start.count(),
                    before.link.value(), before.chunk.value()));
}

void StreamWriter::check_order(std::span<const Send> sends) {
    if (finished_) throw InternalError("a send was appended to a finished stream");
    if (last_ && starts_before(sends.front(), *last_)) refuse(*last_, sends.front(), sends_);
    for (std::size_t i = 1; i < sends.size(); ++i) {
        if (starts_before(sends[i], sends[i - 1])) refuse(sends[i - 1], sends[i], sends_ + i);
    }
}

void StreamWriter::append(std::span<const Send> sends) {
    if (sends.empty()) return;
    check_order(sends);
    sends_ += sends.size();
    last_ = sends.back();
    while (!sends.empty()) {
        if (!group_.empty() && (group_.front().start != sends.front().start || group_.size() == kMaxGroup))
            end_group();
        std::size_t alike = 1;
        const std::size_t room = std::min(sends.size(), kMaxGroup - group_.size());
        while (alike < room && sends[alike].start == sends.front().start) ++alike;
        // These sends end their group, so it can be written without waiting for more.
        if (group_.empty() && (alike < sends.size() || alike == kMaxGroup)) {
            write_group(sends.first(alike));
        } else {
            group_.insert(group_.end(), sends.begin(), sends.begin() + static_cast<std::ptrdiff_t>(alike));
        }
        sends = sends.subspan(alike);
    }
}

void StreamWriter::write_group(std::span<const Send> sends) {
    block_.resize(kBlockRoom);
    char* cursor = block_.data() + filled_;
    const Ticks start = sends.front().start;
    if (filled_ == 0) {
        *cursor++ = kBlockKind;
        cursor = put_number(cursor, blocks_);
        cursor = put_number(cursor, zigzag(start.count()));
        block_chunk_ = 0;
    } else {
        cursor = put_number(cursor, static_cast<std::uint64_t>(start.count()) -
                                        static_cast<std::uint64_t>(block_start_.count()));
    }
    block_start_ = start;
    const unsigned mode = mode_of(sends);
    cursor = put_number(cursor, sends.size() * 4 + mode);
    std::uint32_t link = 0, chunk = block_chunk_;
    for (const Send& send : sends) {
        cursor = put_short(cursor, send.link.value() - link);
        std::uint64_t distance = zigzag(std::int64_t{send.chunk.value()} - chunk);
        if (mode == kMixed) distance = distance * 2 + (send.op == Op::Reduce ? 1 : 0);
        cursor = put_short(cursor, distance);
        link = send.link.value();
        chunk = send.chunk.value();
    }
    block_chunk_ = chunk;
    filled_ = static_cast<std::size_t>(cursor - block_.data());
    if (filled_ >= kBlockTarget) end_block();
}

void StreamWriter::end_group() {
    if (!group_.empty()) write_group(group_);
    group_.clear();
}

void StreamWriter::end_block() {
    if (filled_ == 0) return;
    write_record(std::string_view(block_).substr(0, filled_));
    filled_ = 0;
    ++blocks_;
}

void StreamWriter::write_record(std::string_view raw) {
    raw_bytes_ += raw.size();
    stored_.resize(ZSTD_compressBound(raw.size()));
    const std::size_t size =
        ZSTD_compress2(compressor_.get(), stored_.data(), stored_.size(), raw.data(), raw.size());
    if (ZSTD_isError(size) != 0) throw InternalError(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
    const char length[4] = {static_cast<char>(size), static_cast<char>(size >> 8),
                            static_cast<char>(size >> 16), static_cast<char>(size >> 24)};
    file_.write(std::string_view(length, sizeof length));
    file_.write(std::string_view(stored_).substr(0, size));
}

void StreamWriter::finish(Ticks makespan) {
    if (finished_) throw InternalError("a stream was finished twice");
    end_group();
    end_block();
    std::string raw(1, kEndKind);
    put_number(raw, sends_);
    put_number(raw, blocks_);
    put_number(raw, zigzag(makespan.count()));
    write_record(raw);
    file_.commit();
    finished_ = true;
}

StreamSource::StreamSource(Source source) : source_(std::move(source)), decompressor_(ZSTD_createDCtx()) {
    if (!decompressor_) throw std::bad_alloc();
    read_magic();
    read_header();
}

StreamSource::~StreamSource() = default;

void StreamSource::fail(const std::string& message) const {
    source_.fail(message, fmt::format("byte {}", record_offset_));
}

void StreamSource::read_magic() {
    char start[kMagic.size() + 1] = {};
    const std::size_t count = source_.read(start);
    const std::string_view found(start, std::min(count, kMagic.size()));
    if (!kMagic.starts_with(found)) fail("expected a schedule stream, which starts with TUTTISCH");
    if (count < sizeof start) fail("the file ends inside its first bytes: it was cut off");
    const auto version = static_cast<unsigned char>(start[kMagic.size()]);
    if (version != kVersion) {
        fail(fmt::format("this stream is format {}, this tutti reads {}", version, int{kVersion}));
    }
}

char StreamSource::read_record() {
    record_offset_ = source_.offset();
    unsigned char length[4] = {};
    const std::size_t count = source_.read(std::span(reinterpret_cast<char*>(length), sizeof length));
    if (count == 0)
        fail("the stream ends without its end record: it was cut off, or its writer did not finish");
    if (count < sizeof length) fail("the stream ends inside a record: it was cut off");
    const std::size_t size =
        length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
    if (size == 0 || size > kMaxStored) {
        fail(fmt::format("expected a record of 1 to {} bytes, found {}: the file is corrupt", kMaxStored,
                         size));
    }
    stored_.resize(size);
    if (const std::size_t got = source_.read(stored_); got < size) {
        fail(fmt::format("the stream ends after {} of the {} bytes of a record: it was cut off", got, size));
    }
    const auto raw_size = ZSTD_getFrameContentSize(stored_.data(), size);
    if (raw_size == ZSTD_CONTENTSIZE_ERROR || raw_size == ZSTD_CONTENTSIZE_UNKNOWN || raw_size == 0 ||
        raw_size > kMaxRaw || ZSTD_findFrameCompressedSize(stored_.data(), size) != size) {
        fail("expected a record compressed by zstd, found something else: the file is corrupt");
    }
    if ((static_cast<unsigned char>(stored_[kFrameDescriptor]) & kChecksumBit) == 0) {
        fail(
            "expected a record with zstd's checksum, found one without (zstd's ZSTD_c_checksumFlag writes "
            "it)");
    }
    raw_.assign(raw_size + kPadding, '\0');
    const std::size_t done =
        ZSTD_decompressDCtx(decompressor_.get(), raw_.data(), raw_size, stored_.data(), size);
    if (ZSTD_isError(done) != 0 || done != raw_size) {
        fail(fmt::format("the record is corrupt (zstd: {})",
                         ZSTD_isError(done) != 0 ? ZSTD_getErrorName(done) : "another size than it says"));
    }
    cursor_ = reinterpret_cast<const unsigned char*>(raw_.data()) + 1;
    raw_end_ = cursor_ + raw_size - 1;
    return raw_[0];
}

std::uint64_t StreamSource::number() {
    std::uint64_t value = 0;
    if (cursor_ >= raw_end_ || !get_number<kMaxNumber>(cursor_, value) || cursor_ > raw_end_) {
        fail("expected another number in the record");
    }
    return value;
}

void StreamSource::read_header() {
    if (read_record() != kHeaderKind) fail("expected the stream's header");
    const std::uint64_t length = number();
    if (length > static_cast<std::uint64_t>(raw_end_ - cursor_)) fail("expected the name of an instance");
    header_.instance.assign(reinterpret_cast<const char*>(cursor_), length);
    cursor_ += length;
    header_.chunks = number();
    header_.links = number();
    if (cursor_ != raw_end_) fail("expected nothing more in the stream's header");
}

void StreamSource::read_end() {
    const std::uint64_t sends = number();
    const std::uint64_t blocks = number();
    makespan_ = Ticks(unzigzag(number()));
    if (cursor_ != raw_end_) fail("expected nothing more in the end record");
    if (sends != before_ || blocks != blocks_) {
        fail(fmt::format("expected {} sends in {} blocks, as the end record says, found {} in {}", sends,
                         blocks, before_, blocks_));
    }
    if (!source_.peek(1).empty()) {
        record_offset_ = source_.offset();
        fail("expected the end of the file after the end record");
    }
    ended_ = true;
}

bool StreamSource::begin_block() {
    if (ended_) return false;
    const char kind = read_record();
    if (kind == kEndKind) {
        read_end();
        return false;
    }
    if (kind != kBlockKind) fail("expected a block or the end record");
    if (const std::uint64_t index = number(); index != blocks_) {
        fail(fmt::format("expected block {}, found block {}: a block is lost or misplaced", blocks_, index));
    }
    ++blocks_;
    first_group_ = true;
    chunk_ = 0;
    return true;
}

void StreamSource::begin_group() {
    const std::uint64_t distance = number();
    if (first_group_) {
        start_ = unzigzag(distance);
    } else {
        const auto room = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) -
                          static_cast<std::uint64_t>(start_);
        if (distance > room) fail("a start of more than 63 bits");
        start_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(start_) + distance);
    }
    first_group_ = false;
    const std::uint64_t head = number();
    group_left_ = head / 4;
    mode_ = static_cast<unsigned>(head % 4);
    if (group_left_ == 0 || mode_ > kMixed) fail("expected a group of sends");
    link_ = 0;
}

template <bool Mixed>
void StreamSource::decode_sends(Op op) {
    const unsigned char* cursor = cursor_;
    std::uint64_t link = link_, chunk = chunk_;
    for (Send& send : decoded_) {
        std::uint64_t link_distance = 0, chunk_distance = 0;
        const bool complete =
            get_number<kMaxShort>(cursor, link_distance) && get_number<kMaxShort>(cursor, chunk_distance);
        if (!complete || cursor > raw_end_) fail("expected another send in the block");
        if constexpr (Mixed) {
            op = (chunk_distance & 1) == 0 ? Op::Copy : Op::Reduce;
            chunk_distance >>= 1;
        }
        link += link_distance;
        // A negative sum wraps to a number larger than any chunk's.
        chunk += static_cast<std::uint64_t>(unzigzag(chunk_distance));
        if (link > kMost32Bits || chunk > kMost32Bits) fail("a link or chunk of more than 32 bits");
        send = {ChunkId(chunk), LinkId(link), Ticks(start_), op};
    }
    cursor_ = cursor;
    link_ = link;
    chunk_ = chunk;
}

void StreamSource::decode_more() {
    before_ += decoded_.size();
    decoded_.clear();
    if (group_left_ == 0) {
        if (cursor_ == raw_end_ && !begin_block()) return;
        begin_group();
    }
    decoded_.resize(std::min<std::uint64_t>(group_left_, kBatch));
    group_left_ -= decoded_.size();
    if (mode_ == kMixed) {
        decode_sends<true>(Op::Copy);
    } else {
        decode_sends<false>(mode_ == kAllCopy ? Op::Copy : Op::Reduce);
    }
}

namespace {

/// A source that owns its schedule.
class HeldSchedule final : public SendSource {
  public:
    explicit HeldSchedule(Schedule schedule) : schedule_(std::move(schedule)), source_(schedule_) {}
    [[nodiscard]] std::span<const Send> next() override { return source_.next(); }
    [[nodiscard]] Ticks makespan() const override { return source_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return source_.position(i); }
    [[nodiscard]] bool consecutive() const override { return source_.consecutive(); }

  private:
    Schedule schedule_;
    ScheduleSource source_;
};

bool is_stream(Source& source) {
    // No JSON starts with a T, so a stream that is cut off in its first bytes is still recognised.
    return source.peek(1) == kMagic.substr(0, 1);
}

}  // namespace

OpenSchedule open_schedule(const std::string& path, const Stop& stop) {
    Source source(path, stop);
    if (is_stream(source)) {
        auto stream = std::make_unique<StreamSource>(std::move(source));
        const StreamHeader header = stream->header();
        return {header.instance, header, std::move(stream), std::nullopt};
    }
    if (looks_symmetric(source)) {
        symmetry::SymmetricSchedule schedule = read_symmetric_json(source);
        std::string instance = schedule.instance;
        return {std::move(instance), std::nullopt, nullptr, std::move(schedule)};
    }
    Schedule schedule = read_schedule_json(source);
    std::string instance = schedule.instance;
    return {std::move(instance), std::nullopt, std::make_unique<HeldSchedule>(std::move(schedule)),
            std::nullopt};
}

Schedule read_schedule(const std::string& path) {
    Source source(path);
    if (!is_stream(source)) return read_schedule_json(source);
    StreamSource stream(std::move(source));
    Schedule schedule{stream.header().instance, Ticks(0), {}};
    for (auto sends = stream.next(); !sends.empty(); sends = stream.next()) {
        schedule.sends.insert(schedule.sends.end(), sends.begin(), sends.end());
    }
    schedule.makespan = stream.makespan();
    return schedule;
}

void write_schedule_stream(const std::string& path, const Schedule& schedule, std::uint64_t chunks,
                           std::uint64_t links) {
    StreamWriter writer(path, {schedule.instance, chunks, links});
    if (std::ranges::is_sorted(schedule.sends, starts_before)) {
        writer.append(schedule.sends);
    } else {
        for (const std::uint32_t i : writing_order(schedule)) writer.append(schedule.sends[i]);
    }
    writer.finish(schedule.makespan);
}

void write_schedule(const std::string& path, const Schedule& schedule, std::uint64_t chunks,
                    std::uint64_t links) {
    if (!path.ends_with(kStreamSuffix)) return write_schedule_json(path, schedule);
    write_schedule_stream(path, schedule, chunks, links);
}

}  // namespace tutti::io
