// What the options of `verify` and `convert` come to.

#include "cli/option_values.hpp"

#include <array>
#include <cctype>
#include <functional>

namespace tutti::cli {

/// "8388608", or as nccl-tests has it "8M": K, M and G are powers of 1024.
std::optional<std::int64_t> byte_size(const Values& values, const char* name, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    std::int64_t bytes = -1;
    const char* const last = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), last, bytes);
    const std::string_view suffix(stop, last);
    const std::size_t power = suffix.empty() ? 0 : std::string_view("KMG").find(suffix) + 1;
    const bool known = suffix.empty() || (suffix.size() == 1 && power > 0);
    const int shift = static_cast<int>(10 * power);
    if (error != std::errc() || !known || bytes < least || bytes > kMost >> shift) {
        values.refuse(fmt::format(
            "option --{}: expected a number of bytes like 1048576 or 1M (at most 2^50), found '{}'", name,
            *text));
    }
    return bytes << shift;
}

namespace {

/// "0,8,16,24": different NPUs, by rank.
std::vector<std::int32_t> group_in(const std::string& text, const Values& values) {
    std::vector<std::int32_t> group;
    const char* const last = text.data() + text.size();
    for (const char* at = text.data();; ++at) {
        std::int32_t npu = -1;
        const auto [stop, error] = std::from_chars(at, last, npu);
        const bool fine = error == std::errc() && npu >= 0 && (stop == last || *stop == ',');
        if (!fine || std::ranges::find(group, npu) != group.end()) {
            values.refuse(fmt::format(
                "option --group: expected different NPUs by rank, like 0,8,16,24; found '{}'", text));
        }
        group.push_back(npu);
        if (stop == last) return group;
        at = stop;
    }
}

PlanOptions plan_options(const Values& values) {
    PlanOptions options;
    options.operand_is_destination = values.choice("operand", {"src", "dst"}) == 1;
    options.copies_first = values.choice("copy", {"ignore", "first"}) == 1;
    if (const auto name = values.text("as")) {
        options.goal = kind_in_plan(*name);
        if (!options.goal) (void)values.choice("as", plan_kind_names());
    }
    if (values.flag("root"))
        options.root = Rank(static_cast<std::size_t>(values.number<std::int32_t>("root", 0, 0)));
    options.strict_dependencies = values.flag("strict-dependencies");
    options.strict_descriptors = values.flag("strict-descriptors");
    options.condition = values.text("condition");
    if (values.flag("target"))
        options.target = static_cast<plan::Target>(values.choice("target", plan::target_names()));
    for (const std::string& group : values.list("group")) options.groups.push_back(group_in(group, values));
    options.topology = values.text("topology");
    options.bytes = byte_size(values, "bytes", 1);
    if (options.bytes && !options.topology)
        values.refuse("--bytes is the size of a call on a network; expected --topology FILE too");
    if (options.condition && options.goal)
        values.refuse("--as and --condition both say what a plan is for; expected one of them");
    return options;
}

}  // namespace

VerifyOptions verify_options(const Values& values) {
    VerifyOptions options;
    options.files = values.list("files");
    options.instance = values.text("instance");
    options.max_violations = values.number<std::size_t>("max-violations", 20, 1);
    options.expand = values.flag("expand");
    options.plan = plan_options(values);
    options.threads = values.number<unsigned>("threads", 0, 1, kMostThreads);
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.files.empty())
        values.refuse("expected a plan, a folder, or an instance and at least one schedule");
    const auto inputs = std::ranges::count(options.files, "-") + (options.instance == "-" ? 1 : 0) +
                        (options.plan.condition == "-" ? 1 : 0) + (options.plan.topology == "-" ? 1 : 0);
    if (inputs > 1) values.refuse("only one file can be standard input (-)");
    return options;
}

namespace {

ConvertFormat convert_format(const Values& values, const ConvertOptions& options) {
    if (values.flag("to")) {
        return static_cast<ConvertFormat>(values.choice(
            "to", {"json", "stream", "msccl-xml", "mscclpp-json", "sccl-json", "chakra", "perfetto"}));
    }
    if (!options.folder.empty() || options.output.ends_with(".xml")) return ConvertFormat::MscclXml;
    return options.output.ends_with(io::kStreamSuffix) ? ConvertFormat::Stream : ConvertFormat::Json;
}

/// Options that mean nothing for the format are refused: who gives one expects it to count.
void check_convert_format(const Values& values, const ConvertOptions& options) {
    const bool is_msccl = options.format == ConvertFormat::MscclXml;
    for (const char* name : {"target", "protocol", "directory"}) {
        if (values.flag(name) && !is_msccl) values.refuse(fmt::format("--{} is for --to msccl-xml", name));
    }
    const bool is_mscclpp = options.format == ConvertFormat::MscclppJson;
    for (const char* name : {"mode", "min-bytes", "max-bytes", "collective"}) {
        if (values.flag(name) && !is_msccl && !is_mscclpp) {
            values.refuse(fmt::format("--{} is for --to msccl-xml and --to mscclpp-json", name));
        }
    }
    if (options.format == ConvertFormat::Chakra && options.output == "-") {
        values.refuse("a Chakra trace is a file for each NPU; expected --output PREFIX");
    }
    const bool wrong_range = options.min_bytes && options.max_bytes && *options.max_bytes != 0 &&
                             *options.min_bytes > *options.max_bytes;
    if (wrong_range) values.refuse("--min-bytes is above --max-bytes");
}

}  // namespace

ConvertOptions convert_options(const Values& values) {
    ConvertOptions options;
    options.files = values.list("files");
    options.output = values.text("output").value_or("");
    options.folder = values.text("directory").value_or("");
    options.format = convert_format(values, options);
    options.collective = values.text("collective");
    if (values.flag("target")) {
        options.target = static_cast<plan::Target>(values.choice("target", plan::msccl_target_names()));
    }
    options.protocol = static_cast<plan::Protocol>(values.choice("protocol", {"Simple", "LL", "LL128"}));
    options.mode = static_cast<CallMode>(values.choice("mode", {"both", "in-place", "out-of-place"}));
    options.min_bytes = byte_size(values, "min-bytes", 0);
    options.max_bytes = byte_size(values, "max-bytes", 0);
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.folder.empty()) {
        if (options.files.size() != 2) values.refuse("expected an instance and a schedule");
        if (options.output.empty()) values.refuse("expected --output FILE, where the schedule shall go");
    } else {
        if (options.files.empty()) {
            values.refuse("expected instances, each with its schedule, or a folder with results");
        }
        if (!options.output.empty()) values.refuse("expected one of --output and --directory");
    }
    if (std::ranges::count(options.files, "-") > 1) values.refuse("only one file can be standard input (-)");
    if (options.json && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    check_convert_format(values, options);
    return options;
}

}  // namespace tutti::cli
