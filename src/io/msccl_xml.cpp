#include "io/msccl_xml.hpp"

#include "io/atomic_file.hpp"
#include "io/xml_attributes.hpp"
#include "io/xml_characters.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

namespace tutti::io {
namespace {

using plan::Gpu;
using plan::MscclPlan;
using plan::Step;
using plan::ThreadBlock;

// The attributes of each element, by index in its table.
enum AlgoAttribute : std::size_t {
    kName,
    kProto,
    kChannels,
    kChunks,
    kRanks,
    kColl,
    kInPlace,
    kOutOfPlace,
    kMinBytes,
    kMaxBytes
};
constexpr std::array<const char*, 10> kAlgo{"name", "proto",   "nchannels",  "nchunksperloop", "ngpus",
                                            "coll", "inplace", "outofplace", "minBytes",       "maxBytes"};
enum GpuAttribute : std::size_t { kGpuId, kInputs, kOutputs, kScratch };
constexpr std::array<const char*, 4> kGpu{"id", "i_chunks", "o_chunks", "s_chunks"};
enum CopyAttribute : std::size_t { kCopyFrom, kCopyTo };
constexpr std::array<const char*, 2> kCopy{"i_off", "o_off"};
enum BlockAttribute : std::size_t { kBlockId, kSend, kRecv, kChannel };
constexpr std::array<const char*, 4> kBlock{"id", "send", "recv", "chan"};
enum StepAttribute : std::size_t {
    kNumber,
    kType,
    kSrcBuf,
    kSrcOff,
    kDstBuf,
    kDstOff,
    kCount,
    kDepBlock,
    kDepStep,
    kSignals
};
constexpr std::array<const char*, 10> kStep{"s",      "type", "srcbuf", "srcoff", "dstbuf",
                                            "dstoff", "cnt",  "depid",  "deps",   "hasdep"};

/// Reads the tree from the root down. Each element is visited once, and none deeper than a step, however deep
/// unknown elements nest.
class MscclReader {
  public:
    explicit MscclReader(const XmlDocument& document) : document_(document) {}

    MscclPlan read() {
        const pugi::xml_node root = document_.root();
        if (std::string_view(root.name()) != "algo") {
            document_.fail("root", fmt::format("expected the root <algo>, found <{}>", root.name()), root);
        }
        MscclPlan plan = read_algo(root);
        for (const pugi::xml_node child : root.children()) {
            if (is(child, "gpu", "algo")) plan.gpus.push_back(read_gpu(child));
        }
        for (const auto& [what, times] : ignored_)
            plan.remarks.push_back(
                fmt::format("{} ignored{}", what, times > 1 ? fmt::format(" ({} times)", times) : ""));
        return plan;
    }

  private:
    /// Whether it is that element; anything else is noted as ignored.
    bool is(pugi::xml_node node, std::string_view name, const char* parent) {
        if (node.type() == pugi::node_element && node.name() == name) return true;
        ignore(node, parent);
        return false;
    }
    void ignore(pugi::xml_node node, const char* parent) {
        constexpr std::size_t kKinds = 16, kShown = 40;
        std::string what =
            node.type() == pugi::node_element
                ? fmt::format("<{}> inside <{}>", std::string_view(node.name()).substr(0, kShown), parent)
                : fmt::format("text inside <{}>", parent);
        if (ignored_.size() >= kKinds && !ignored_.contains(what)) what = "other elements";
        ++ignored_[what];
    }

    MscclPlan read_algo(pugi::xml_node element) {
        XmlAttributes attributes(document_, kAlgo);
        attributes.read(element);
        MscclPlan plan;
        if (const char* name = attributes.text(kName)) plan.name = name;
        if (const char* collective = attributes.text(kColl)) plan.collective = collective;
        plan.protocol = protocol_of(attributes);
        plan.channels = attributes.integer(kChannels, 0);
        plan.chunks_per_loop = counted(attributes, kChunks, kMostChunksPerLoop);
        plan.ranks = counted(attributes, kRanks, kMostRanks);
        if (attributes.text(kInPlace) != nullptr) plan.in_place = attributes.flag(kInPlace);
        if (attributes.text(kOutOfPlace) != nullptr) plan.out_of_place = attributes.flag(kOutOfPlace);
        plan.min_bytes = attributes.optional_integer<std::int64_t>(kMinBytes, 0);
        plan.max_bytes = attributes.optional_integer<std::int64_t>(kMaxBytes, 0);
        return plan;
    }

    using AlgoAttributes = XmlAttributes<kAlgo.size()>;
    static plan::Protocol protocol_of(const AlgoAttributes& attributes) {
        const std::string_view text = attributes.required(kProto);
        for (const auto protocol : {plan::Protocol::Simple, plan::Protocol::LL, plan::Protocol::LL128}) {
            if (name_of(protocol) == text) return protocol;
        }
        attributes.refuse("proto", kProto, "Simple, LL or LL128");
    }
    static std::int32_t counted(const AlgoAttributes& attributes, std::size_t attribute, std::int32_t most) {
        const std::int32_t value = attributes.integer(attribute, 1);
        if (value > most) attributes.refuse("too-large", attribute, fmt::format("at most {}", most));
        return value;
    }

    template <class Attributes>
    static std::size_t number(const Attributes& attributes, std::size_t attribute) {
        return static_cast<std::size_t>(attributes.integer(attribute, 0));
    }

    Gpu read_gpu(pugi::xml_node element) {
        gpu_.read(element);
        Gpu gpu;
        gpu.id = Rank(number(gpu_, kGpuId));
        gpu.input_chunks = gpu_.integer(kInputs, 0);
        gpu.output_chunks = gpu_.integer(kOutputs, 0);
        gpu.scratch_chunks = gpu_.integer(kScratch, 0);
        for (const pugi::xml_node child : element.children()) {
            if (child.type() == pugi::node_element && child.name() == std::string_view("copy")) {
                read_copy(child, gpu);
            } else if (is(child, "tb", "gpu")) {
                gpu.blocks.push_back(read_block(child));
            }
        }
        return gpu;
    }

    void read_copy(pugi::xml_node element, Gpu& gpu) {
        copy_.read(element);
        if (copy_.text(kCopyFrom) == nullptr || copy_.text(kCopyTo) == nullptr) return ignore(element, "gpu");
        gpu.copies.push_back({copy_.integer(kCopyFrom, 0), copy_.integer(kCopyTo, 0)});
    }

    ThreadBlock read_block(pugi::xml_node element) {
        block_.read(element);
        ThreadBlock block;
        block.id = plan::BlockId(number(block_, kBlockId));
        block.send_peer = plan::id_from_file<Rank>(block_.integer(kSend, -1));
        block.recv_peer = plan::id_from_file<Rank>(block_.integer(kRecv, -1));
        block.channel = plan::id_from_file<plan::ChannelId>(block_.integer(kChannel, -1));
        for (const pugi::xml_node child : element.children()) {
            if (is(child, "step", "tb")) block.steps.push_back(read_step(child));
        }
        return block;
    }

    Step read_step(pugi::xml_node element) {
        step_.read(element);
        Step step;
        step.number = plan::StepId(number(step_, kNumber));
        const auto type = plan::step_type(step_.required(kType));
        if (!type) step_.refuse("type", kType, "s, r, rcs, rrc, rrs, rrcs, cpy, re or nop");
        step.type = *type;
        step.src = {buffer_of(kSrcBuf), plan::id_from_file<plan::ChunkOffset>(step_.integer(kSrcOff, -1))};
        step.dst = {buffer_of(kDstBuf), plan::id_from_file<plan::ChunkOffset>(step_.integer(kDstOff, -1))};
        step.count = step_.integer_or(kCount, 1, 0);
        step.dep_block = plan::id_from_file<plan::BlockId>(step_.integer_or(kDepBlock, -1, -1));
        step.dep_step = plan::id_from_file<plan::StepId>(step_.integer_or(kDepStep, -1, -1));
        step.signals = step_.text(kSignals) != nullptr && step_.flag(kSignals);
        return step;
    }
    plan::Buffer buffer_of(std::size_t attribute) const {
        const std::string_view text = step_.required(attribute);
        for (const auto buffer : {plan::Buffer::Input, plan::Buffer::Output, plan::Buffer::Scratch}) {
            if (text.size() == 1 && text[0] == letter_of(buffer)) return buffer;
        }
        step_.refuse("buffer", attribute, "i, o or s");
    }

    const XmlDocument& document_;
    XmlAttributes<kGpu.size()> gpu_{document_, kGpu};
    XmlAttributes<kCopy.size()> copy_{document_, kCopy};
    XmlAttributes<kBlock.size()> block_{document_, kBlock};
    XmlAttributes<kStep.size()> step_{document_, kStep};
    std::map<std::string, std::size_t> ignored_;
};

}  // namespace

plan::MscclPlan read_msccl_xml(Source& source) {
    const XmlDocument document(source);
    return MscclReader(document).read();
}

namespace {

/// Escaped as the value of an attribute; characters that XML forbids become question marks.
std::string escaped(std::string text) {
    while (const auto bad = first_bad_character(text)) text[*bad] = '?';
    std::string value;
    for (const char c : text) {
        switch (c) {
            case '&':
                value += "&amp;";
                break;
            case '<':
                value += "&lt;";
                break;
            case '"':
                value += "&quot;";
                break;
            case '\t':
            case '\n':
            case '\r':
                value += fmt::format("&#{};", static_cast<int>(c));
                break;
            default:
                value += c;
        }
    }
    return text::printable_xml(value);
}

using Out = std::back_insert_iterator<std::string>;

void write_algo(Out out, const MscclPlan& plan) {
    fmt::format_to(out, R"(<algo name="{}" proto="{}" nchannels="{}" nchunksperloop="{}" ngpus="{}")",
                   escaped(plan.name), name_of(plan.protocol), plan.channels, plan.chunks_per_loop,
                   plan.ranks);
    if (plan.collective) fmt::format_to(out, R"( coll="{}")", escaped(*plan.collective));
    if (plan.in_place) fmt::format_to(out, R"( inplace="{:d}")", *plan.in_place);
    if (plan.out_of_place) fmt::format_to(out, R"( outofplace="{:d}")", *plan.out_of_place);
    if (plan.min_bytes) fmt::format_to(out, R"( minBytes="{}")", *plan.min_bytes);
    if (plan.max_bytes) fmt::format_to(out, R"( maxBytes="{}")", *plan.max_bytes);
    fmt::format_to(out, ">\n");
}

void write_step(Out out, const Step& step) {
    fmt::format_to(
        out,
        R"(      <step s="{}" type="{}" srcbuf="{}" srcoff="{}" dstbuf="{}" dstoff="{}" cnt="{}" depid="{}" deps="{}" hasdep="{:d}"/>)"
        "\n",
        step.number, name_of(step.type), letter_of(step.src.buffer), plan::file_number(step.src.offset),
        letter_of(step.dst.buffer), plan::file_number(step.dst.offset), step.count,
        plan::file_number(step.dep_block), plan::file_number(step.dep_step), step.signals);
}

void write_gpu(Out out, const Gpu& gpu) {
    fmt::format_to(out, "  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", gpu.id,
                   gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks);
    for (const auto& copy : gpu.copies)
        fmt::format_to(out, "    <copy i_off=\"{}\" o_off=\"{}\"/>\n", copy.input_offset, copy.output_offset);
    for (const ThreadBlock& block : gpu.blocks) {
        fmt::format_to(out, "    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", block.id,
                       plan::file_number(block.send_peer), plan::file_number(block.recv_peer),
                       plan::file_number(block.channel));
        for (const Step& step : block.steps) write_step(out, step);
        fmt::format_to(out, "    </tb>\n");
    }
    fmt::format_to(out, "  </gpu>\n");
}

}  // namespace

std::string msccl_xml_text(const plan::MscclPlan& plan) {
    std::string text;
    const Out out(text);
    write_algo(out, plan);
    for (const Gpu& gpu : plan.gpus) write_gpu(out, gpu);
    fmt::format_to(out, "</algo>\n");
    return text;
}

void write_msccl_xml(const std::string& path, const plan::MscclPlan& plan) {
    AtomicFile file(path);
    file.write(msccl_xml_text(plan));
    file.commit();
}

}  // namespace tutti::io
