// Converts a tree of PCI devices under CPUs, with NVLinks between them, to a graph of NPUs and switches.
//
// Left out are subtrees without a GPU, bridges with a single child (their two links become one, as fast as
// the slower), and NICs. Such bridges are how the ports of a PCIe switch appear in the list of devices; with
// them a GPU would be three hops from its switch.
//
// All switches cut through: NVSwitches, PCIe switches and CPUs pass on what arrives before it is complete.
// All NVSwitches are one, as in NCCL, because NVLinks of a GPU share every message. Latencies are 0: the file
// has none.

#include "io/nccl_machine.hpp"

#include "core/expects.hpp"
#include "core/generators/build.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::io {
namespace {

constexpr SwitchRule kCutThrough{.copy = false, .reduce = false, .cut_through = true, .buffer = {}};
constexpr Decimal kWithinDevice{5000, 0};  ///< between GPUs that share one device

Wire wire_of(Decimal bandwidth) { return {Ticks(0), Ticks(0), bandwidth}; }

bool slower(Decimal a, Decimal b) { return to_double(a) < to_double(b); }

/// The tree without subtrees that have no GPU and without bridges with a single child: which devices remain,
/// and their parents.
class PrunedTree {
  public:
    explicit PrunedTree(NcclMachine& machine)
        : devices_(machine.devices), kept_(devices_.size()), below_(devices_.size()) {
        used_cpus_.assign(machine.cpus.size(), false);
        // Children come after their parents, so in reverse order a device's subtree is known when it is
        // visited.
        for (std::size_t i = devices_.size(); i-- > 0;) settle(i);
    }

    [[nodiscard]] bool keeps(std::size_t device) const { return kept_[device]; }
    [[nodiscard]] bool uses_cpu(std::size_t cpu) const { return used_cpus_[cpu]; }

  private:
    void settle(std::size_t i) {
        NcclDevice& device = devices_[i];
        if (device.gpus.empty() && below_[i].empty()) return;
        used_cpus_[device.cpu] = true;
        std::size_t stays = i;
        if (device.gpus.empty() && below_[i].size() == 1) {
            stays = below_[i].front();
            devices_[stays].parent = device.parent;
            devices_[stays].bandwidth = std::min(devices_[stays].bandwidth, device.bandwidth, slower);
        }
        kept_[stays] = true;
        if (device.parent) below_[*device.parent].push_back(stays);
    }

    std::vector<NcclDevice>& devices_;
    std::vector<bool> kept_, used_cpus_;
    std::vector<std::vector<std::size_t>> below_;
};

class MachineBuilder {
  public:
    explicit MachineBuilder(NcclMachine& machine) : machine_(machine), tree_(machine) {}

    TopologyParts build() && {
        number_npus();
        number_switches();
        join_gpus();
        for (std::size_t i = 0; i < machine_.devices.size(); ++i) join_device(i);
        join_cpus();
        return std::move(parts_);
    }

  private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    struct Placed {
        std::size_t device, gpu;
    };

    /// By rank; without ranks by host and number, or by host and bus.
    void number_npus() {
        for (std::size_t i = 0; i < machine_.devices.size(); ++i) {
            for (std::size_t g = 0; g < machine_.devices[i].gpus.size(); ++g) order_.push_back({i, g});
        }
        const bool numbered =
            std::ranges::all_of(order_, [&](const Placed& at) { return gpu(at).number.has_value(); });
        const auto key = [&](const Placed& at) {
            const NcclDevice& device = machine_.devices[at.device];
            const std::size_t host = machine_.cpus[device.cpu].host;
            return std::tuple(gpu(at).rank.value_or(0), host, numbered ? *gpu(at).number : 0, device.bus);
        };
        std::ranges::stable_sort(order_, {}, key);
        parts_.npus = static_cast<std::uint32_t>(order_.size());
    }

    [[nodiscard]] const NcclGpu& gpu(const Placed& at) const {
        return machine_.devices[at.device].gpus[at.gpu];
    }

    std::size_t add_switch() {
        parts_.switches.push_back(kCutThrough);
        return parts_.nodes() - 1;
    }

    /// The NVSwitch; then CPU by CPU, each before its bridges, in the order of the file.
    void number_switches() {
        const auto uses_switch = [](const NcclDevice& device) {
            return std::ranges::any_of(
                device.cables, [](const NcclCable& cable) { return cable.to == NcclCable::To::Switch; });
        };
        if (std::ranges::any_of(machine_.devices, uses_switch)) nvswitch_ = add_switch();
        node_of_cpu_.assign(machine_.cpus.size(), kNone);
        node_of_device_.assign(machine_.devices.size(), kNone);
        for (std::size_t npu = 0; npu < order_.size(); ++npu) {
            const NcclDevice& device = machine_.devices[order_[npu].device];
            if (device.gpus.size() == 1) node_of_device_[order_[npu].device] = npu;
        }
        for (std::size_t i = 0; i < machine_.devices.size(); ++i) {
            std::size_t& cpu = node_of_cpu_[machine_.devices[i].cpu];
            if (cpu == kNone && tree_.uses_cpu(machine_.devices[i].cpu)) cpu = add_switch();
            if (tree_.keeps(i) && node_of_device_[i] == kNone) node_of_device_[i] = add_switch();
        }
    }

    /// NVLinks, NPU by NPU; both directions of those to a switch or CPU, and of those to a GPU the one away
    /// from here.
    void join_gpus() {
        std::vector<bool> done(machine_.devices.size(), false);
        for (std::size_t npu = 0; npu < order_.size(); ++npu) {
            const std::size_t index = order_[npu].device;
            const std::size_t here = node_of_device_[index];
            const NcclDevice& device = machine_.devices[index];
            if (here != npu) generators::add_pair(parts_.links, npu, here, wire_of(kWithinDevice));
            if (done[index]) continue;
            done[index] = true;
            for (const NcclCable& cable : device.cables) join_cable(here, device, cable);
        }
    }

    void join_cable(std::size_t here, const NcclDevice& device, const NcclCable& cable) {
        const Wire wire = wire_of(cable.bandwidth);
        switch (cable.to) {
            case NcclCable::To::Gpu:
                parts_.links.push_back({NodeId(here), NodeId(node_of_device_[cable.device]), wire});
                break;
            case NcclCable::To::Switch:
                generators::add_pair(parts_.links, here, nvswitch_, wire);
                break;
            case NcclCable::To::Cpu:
                generators::add_pair(parts_.links, here, node_of_cpu_[device.cpu], wire);
                break;
        }
    }

    /// Joins a device to its parent.
    void join_device(std::size_t i) {
        if (!tree_.keeps(i)) return;
        const NcclDevice& device = machine_.devices[i];
        const std::size_t cpu = node_of_cpu_[device.cpu];
        generators::add_pair(parts_.links, node_of_device_[i],
                             device.parent ? node_of_device_[*device.parent] : cpu,
                             wire_of(device.bandwidth));
        if (device.to_cpu.mantissa > 0) {
            generators::add_pair(parts_.links, node_of_device_[i], cpu, wire_of(device.to_cpu));
        }
    }

    void join_cpus() {
        std::vector<std::size_t> used;
        for (std::size_t cpu = 0; cpu < machine_.cpus.size(); ++cpu) {
            if (tree_.uses_cpu(cpu)) used.push_back(cpu);
        }
        for (const std::size_t a : used) {
            for (const std::size_t b : used) {
                if (a == b || machine_.cpus[a].host != machine_.cpus[b].host) continue;
                parts_.links.push_back(
                    {NodeId(node_of_cpu_[a]), NodeId(node_of_cpu_[b]), wire_of(machine_.cpus[a].to_others)});
            }
        }
    }

    NcclMachine& machine_;
    PrunedTree tree_;
    TopologyParts parts_;
    std::vector<Placed> order_;  ///< by NPU
    std::vector<std::size_t> node_of_cpu_, node_of_device_;
    std::size_t nvswitch_ = kNone;
};

}  // namespace

TopologyParts topology_of(NcclMachine machine) {
    expects(
        std::ranges::any_of(machine.devices, [](const NcclDevice& device) { return !device.gpus.empty(); }));
    return MachineBuilder(machine).build();
}

}  // namespace tutti::io
