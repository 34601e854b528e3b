// Reads <system><cpu><pci>…<gpu><nvlink/></gpu>…</pci></cpu></system>. The file has bus ids, classes and
// counts but few speeds. The speeds below are NCCL's own constants (src/graph/topo.h and topo.cc of NCCL
// 2.30; xGMI: RCCL's topo.h): what a kernel achieves, not the cable's peak.
//
// The format has two uses. A dump has a <gpu rank="…"> for every GPU of the job; GPUs without a rank are not
// part of it. A file for NCCL_TOPO_FILE, as cloud providers ship, may have no <gpu> at all: then PCI devices
// of a GPU's class are the GPUs, and NVLinks are not known.

#include "io/nccl_topo_xml.hpp"

#include "io/nccl_machine.hpp"
#include "io/xml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace tutti::io {
namespace {

// A rack of 72 GPUs takes about 200 kB.
constexpr std::uint64_t kMaxDump = std::uint64_t{1} << 24;
constexpr std::size_t kMaxGpus = 4096, kMaxCpus = 1024;
constexpr int kMaxPciDepth = 64;

using Bus = std::pair<std::size_t, std::uint64_t>;  ///< host and number

Decimal times(Decimal one, std::int64_t count) { return {one.mantissa * count, one.scale}; }

/// What one NVLink moves each way, by the GPU's compute capability.
Decimal nvlink_bandwidth(std::int64_t sm) {
    if (sm >= 100) return {401, 1};
    if (sm >= 90) return {206, 1};
    if (sm == 86) return {12, 0};
    if (sm >= 60 && sm < 70) return {18, 0};
    return {20, 0};
}

/// What one xGMI link moves each way, by the GPU's architecture; old dumps leave out "gfx".
Decimal xgmi_bandwidth(std::string_view gcn) {
    if (gcn.starts_with("gfx")) gcn.remove_prefix(3);
    if (gcn.starts_with("90a") || gcn == "910") return {36, 0};
    if (gcn.starts_with("94")) return {48, 0};
    return {24, 0};
}

/// The speed of one lane, in units of 100 Mbit/s. An unknown speed counts as the third generation.
std::int64_t lane_speed(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kSpeeds{
        {{"2.5", 15}, {"5", 30}, {"8", 60}, {"16", 120}, {"32", 240}, {"64", 480}}};
    std::string_view number = text.substr(0, text.find(' '));
    if (number.ends_with(".0")) number.remove_suffix(2);
    const auto found = std::ranges::find(kSpeeds, number, [](const auto& row) { return row.first; });
    return found == kSpeeds.end() ? 60 : found->second;
}

class Reader {
  public:
    explicit Reader(const XmlDocument& document) : document_(document) {}

    NcclMachine read() && {
        const pugi::xml_node system = document_.root();
        check_root(system);
        bare_ = !system.find_node([](pugi::xml_node node) { return is(node, "gpu"); });
        ranked_ =
            !system.find_node([](pugi::xml_node node) { return is(node, "gpu") && node.attribute("rank"); })
                 .empty();
        for (const pugi::xml_node cpu : system.children("cpu")) read_cpu(cpu);
        if (gpus_ == 0) {
            document_.fail("no-gpu", "expected a <gpu> in some <pci>, or a <pci> of a GPU's class (0x03…)",
                           system);
        }
        for (const auto& [device, gpu] : cabled_) read_cables(machine_.devices[device], gpu);
        return std::move(machine_);
    }

  private:
    static bool is(pugi::xml_node node, std::string_view name) { return node.name() == name; }

    void check_root(pugi::xml_node root) const {
        if (is(root, "system")) return;
        const std::string_view hint = is(root, "algo")     ? ": that is an MSCCL plan"
                                      : is(root, "graphs") ? ": that is what NCCL_GRAPH_DUMP_FILE writes"
                                                           : "";
        document_.fail("not-a-topology",
                       fmt::format("expected <system>, the root of an NCCL topology, found <{}>{}",
                                   std::string_view(root.name()).substr(0, 40), hint),
                       root);
    }

    [[nodiscard]] std::int64_t integer(pugi::xml_node element, const char* name, std::int64_t least,
                                       std::int64_t most, std::optional<std::int64_t> otherwise = {}) const {
        const pugi::xml_attribute attribute = element.attribute(name);
        const std::string_view text = attribute.value();
        if (!attribute && otherwise) return *otherwise;
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (!attribute || error != std::errc() || end != text.data() + text.size() || value < least ||
            value > most) {
            document_.fail("bad-integer",
                           fmt::format("expected {} of <{}> to be an integer from {} to {}, found \"{}\"",
                                       name, element.name(), least, most, text.substr(0, 40)),
                           element);
        }
        return value;
    }

    /// "0000:1b:00.0" as a number; the domain may have more digits or fewer.
    [[nodiscard]] std::uint64_t bus_number(pugi::xml_node element, const char* name) const {
        const std::string_view text = element.attribute(name).value();
        std::string digits;
        for (const char c : text.substr(0, 40)) {
            if (c != ':' && c != '.') digits += c;
        }
        std::uint64_t bus = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bus, 16);
        if (error != std::errc() || end != digits.data() + digits.size() || text.size() > 40) {
            document_.fail(
                "bad-bus",
                fmt::format("expected {} of <{}> to be a PCI address like 0000:1b:00.0, found \"{}\"", name,
                            element.name(), text.substr(0, 40)),
                element);
        }
        return bus;
    }

    void read_cpu(pugi::xml_node element) {
        if (machine_.cpus.size() == kMaxCpus) {
            document_.fail("too-large", fmt::format("expected at most {} CPUs", kMaxCpus), element);
        }
        const auto host = hosts_.try_emplace(element.attribute("host_hash").value(), hosts_.size()).first;
        machine_.cpus.push_back({host->second, between_cpus(element)});
        for (const pugi::xml_node pci : element.children("pci")) read_pci(pci, std::nullopt, 1);
    }

    [[nodiscard]] Decimal between_cpus(pugi::xml_node cpu) const {
        const std::string_view arch = cpu.attribute("arch").value();
        const std::string_view vendor = cpu.attribute("vendor").value();
        if (arch == "ppc64") return {32, 0};
        if (arch == "arm64") return {6, 0};
        const std::int64_t family = integer(cpu, "familyid", -1, 1 << 20, 0);
        const std::int64_t model = integer(cpu, "modelid", -1, 1 << 20, 0);
        if (vendor == "AuthenticAMD") return {16, 0};
        if (vendor == "GenuineIntel") {
            if (family == 6 && model >= 0xCF) return {40, 0};
            if (family == 6 && model >= 0x8F) return {22, 0};
            if (family == 6 && model >= 0x55) return {10, 0};
            return {6, 0};
        }
        if (vendor == "CentaurHauls" || vendor == "  Shanghai  ")
            return {family == 7 && model == 0x5B ? 9 : 6, 0};
        return {5000, 0};
    }

    void read_pci(pugi::xml_node element, std::optional<std::size_t> parent, int depth) {
        if (depth > kMaxPciDepth) {
            document_.fail("too-deep", fmt::format("<pci> is nested more than {} deep", kMaxPciDepth),
                           element);
        }
        const std::size_t cpu = machine_.cpus.size() - 1;
        const std::size_t self = machine_.devices.size();
        NcclDevice device;
        device.cpu = cpu;
        device.parent = parent;
        device.bus = bus_number(element, "busid");
        std::int64_t width = integer(element, "link_width", 0, 1024, 0);
        if (width == 0) width = 16;
        // 100 Mbit/s are 1/80 GB/s.
        device.bandwidth = {width * lane_speed(element.attribute("link_speed").value()) * 125, 4};
        read_gpus(element, device);
        const bool holds_gpus = !device.gpus.empty();
        if (holds_gpus && !by_bus_.emplace(Bus{machine_.cpus[cpu].host, device.bus}, self).second) {
            document_.fail("bus-twice", "two devices with GPUs have this busid", element);
        }
        machine_.devices.push_back(std::move(device));
        if (holds_gpus) return;
        for (const pugi::xml_node pci : element.children("pci")) read_pci(pci, self, depth + 1);
    }

    void read_gpus(pugi::xml_node element, NcclDevice& device) {
        const std::string_view type = element.attribute("class").value();
        if (bare_ && (type.starts_with("0x03") || type.starts_with("0x12"))) {
            device.gpus.emplace_back();
        }
        for (const pugi::xml_node gpu : element.children("gpu")) {
            if (ranked_ && !gpu.attribute("rank")) continue;
            NcclGpu found;
            if (ranked_) found.rank = rank_of(gpu);
            if (gpu.attribute("dev")) found.number = integer(gpu, "dev", 0, 1 << 30);
            // Ranks that share a device list the same cables.
            if (device.gpus.empty()) cabled_.emplace_back(machine_.devices.size(), gpu);
            device.gpus.push_back(found);
        }
        gpus_ += device.gpus.size();
        if (gpus_ > kMaxGpus) {
            document_.fail("too-large", fmt::format("expected at most {} GPUs", kMaxGpus), element);
        }
    }

    std::int64_t rank_of(pugi::xml_node gpu) {
        const std::int64_t rank = integer(gpu, "rank", 0, 1 << 30);
        const auto [first, is_new] = by_rank_.emplace(rank, gpu);
        if (!is_new) {
            document_.fail(
                "rank-twice",
                fmt::format("rank {} is given twice; first at {}", rank, document_.place(first->second)),
                gpu);
        }
        return rank;
    }

    /// Called after all devices are read, because a cable may lead to a later device.
    void read_cables(NcclDevice& device, pugi::xml_node gpu) const {
        for (const pugi::xml_node cable : gpu.children()) {
            if (is(cable, "c2c")) {
                const std::int64_t count = integer(cable, "count", 1, 1024);
                device.to_cpu = {integer(cable, "bw", 1, 1 << 30) * count, 3};
            }
            if (is(cable, "nvlink")) {
                read_cable(device, cable, nvlink_bandwidth(integer(gpu, "sm", 0, 1 << 20, 0)));
            }
            if (is(cable, "xgmi")) read_cable(device, cable, xgmi_bandwidth(gpu.attribute("gcn").value()));
        }
    }

    void read_cable(NcclDevice& device, pugi::xml_node element, Decimal one) const {
        const std::string_view type = element.attribute("tclass").value();
        const Decimal bandwidth = times(one, integer(element, "count", 0, 1024));
        const auto target = by_bus_.find({machine_.cpus[device.cpu].host, bus_number(element, "target")});
        NcclCable cable{NcclCable::To::Switch, 0, bandwidth};
        if (target != by_bus_.end()) {
            cable.to = NcclCable::To::Gpu;
            cable.device = target->second;
            // Some providers' files list GPUs as their own peers.
            if (&machine_.devices[cable.device] == &device) return;
        } else if (type.starts_with("0x03") || type.starts_with("0x12")) {
            return;  // a GPU that is not part of the job
        } else if (type.starts_with("0x068001")) {
            cable.to = NcclCable::To::Cpu;
        }
        if (bandwidth.mantissa == 0) return;
        const auto same = std::ranges::find_if(device.cables, [&](const NcclCable& other) {
            return other.to == cable.to && other.device == cable.device;
        });
        if (same == device.cables.end()) {
            device.cables.push_back(cable);
        } else {
            same->bandwidth.mantissa += bandwidth.mantissa;
        }
    }

    const XmlDocument& document_;
    NcclMachine machine_;
    std::map<std::string, std::size_t> hosts_;
    std::map<Bus, std::size_t> by_bus_;  ///< devices with GPUs
    std::map<std::int64_t, pugi::xml_node> by_rank_;
    std::vector<std::pair<std::size_t, pugi::xml_node>> cabled_;
    std::size_t gpus_ = 0;
    bool bare_ = false;    ///< there is no <gpu>
    bool ranked_ = false;  ///< some <gpu> has a rank
};

}  // namespace

TopologyParts read_nccl_topology(Source& source) {
    const XmlDocument document(source, kMaxDump);
    return topology_of(Reader(document).read());
}

}  // namespace tutti::io
