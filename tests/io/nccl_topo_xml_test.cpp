// The machines here are written by the test itself, in the form of real dumps: a DGX-1, an 8-GPU board with
// NVSwitches, virtual machines as clouds describe them.

#include "io/nccl_topo_xml.hpp"

#include "core/generators/dgx.hpp"
#include "core/rng.hpp"
#include "scratch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

using namespace tutti;
using io::Source;
using test::contains;

namespace {

TopologyParts read(const std::string& text) {
    Source source = Source::of_text(text, "topo.xml");
    return io::read_nccl_topology(source);
}

InputError error_of(const std::string& text) {
    return test::refusal([&] { (void)read(text); });
}

std::string system_of(const std::string& inside) { return "<system version=\"1\">" + inside + "</system>"; }

std::string cpu_of(const std::string& inside, const std::string& more = R"(vendor="AuthenticAMD")") {
    return fmt::format(R"(<cpu numaid="0" arch="x86_64" {}>{}</cpu>)", more, inside);
}

std::string gpu_bus(std::size_t gpu) { return fmt::format("0000:{:02x}:00.0", 16 + gpu); }

/// A GPU of PCIe 4 x16, with what stands inside <gpu>.
std::string gpu_of(std::size_t rank, const std::string& cables = "", int sm = 80) {
    return fmt::format(
        R"(<pci busid="{}" class="0x030200" vendor="0x10de" link_speed="16.0 GT/s PCIe" link_width="16">)"
        R"(<gpu dev="{}" sm="{}" rank="{}" gdr="1">{}</gpu></pci>)",
        gpu_bus(rank), rank, sm, rank, cables);
}

std::string bridge_of(const std::string& bus, const std::string& inside) {
    return fmt::format(
        R"(<pci busid="{}" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">{}</pci>)", bus,
        inside);
}

std::string nvlink(const std::string& target, int count, const std::string& type = "0x068000") {
    return fmt::format(R"(<nvlink target="{}" count="{}" tclass="{}"/>)", target, count, type);
}

/// What links from `src` to `dst` carry together, in GB/s; 0 if there is none.
double bandwidth(const TopologyParts& parts, std::size_t src, std::size_t dst) {
    double sum = 0;
    for (const Link& link : parts.links) {
        if (link.src == NodeId(src) && link.dst == NodeId(dst)) sum += to_double(link.wire.bandwidth);
    }
    return sum;
}

constexpr SwitchRule kCutThrough{.copy = false, .reduce = false, .cut_through = true, .buffer = {}};

}  // namespace

TEST_CASE("a DGX-1 in NCCL's XML has the NVLinks of the generated DGX-1") {
    const auto known = generators::dgx1({Ticks(0), Ticks(0), Decimal{20, 0}}, generators::Bonding::Bonded);
    std::vector<std::string> cables(8);
    for (const Link& link : known.links) {
        const auto count = static_cast<int>(to_double(link.wire.bandwidth) / 20);
        cables[link.src.index()] += nvlink(gpu_bus(link.dst.index()), count, "0x030200");
    }
    std::string halves[2];
    for (std::size_t half : {0U, 1U}) {
        for (std::size_t pair : {0U, 1U}) {
            const std::size_t gpu = 4 * half + 2 * pair;
            halves[half] += bridge_of(fmt::format("0000:0{}:00.0", 2 * half + pair + 1),
                                      gpu_of(gpu, cables[gpu], 70) + gpu_of(gpu + 1, cables[gpu + 1], 70));
        }
    }
    const std::string broadwell = R"(vendor="GenuineIntel" familyid="6" modelid="79")";
    const Topology topology(read(system_of(cpu_of(halves[0], broadwell) + cpu_of(halves[1], broadwell))));

    CHECK(topology.npus() == 8);
    CHECK(topology.parts().switches == std::vector<SwitchRule>(6, kCutThrough));
    for (std::size_t a = 0; a < 8; ++a) {
        for (std::size_t b = 0; b < 8; ++b) {
            if (a != b) CHECK(bandwidth(topology.parts(), a, b) == bandwidth(known, a, b));
        }
    }
    // CPU, its two PCIe switches, the other CPU, its two: 8 to 13.
    CHECK(bandwidth(topology.parts(), 0, 9) == 24);
    CHECK(bandwidth(topology.parts(), 9, 8) == 24);
    CHECK(bandwidth(topology.parts(), 8, 11) == 6);
    CHECK(bandwidth(topology.parts(), 11, 8) == 6);
    CHECK(bandwidth(topology.parts(), 9, 10) == 0);
}

TEST_CASE("all NVSwitches of NCCL's XML are one switch with all the NVLinks") {
    std::string gpus;
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
        gpus += gpu_of(gpu,
                       nvlink("0000:f5:00.0", 5) + nvlink("0000:f4:00.0", 5) + nvlink("0000:f3:00.0", 4) +
                           nvlink("0000:f6:00.0", 4),
                       90);
    }
    const auto parts = read(system_of(cpu_of(gpus)));
    CHECK(parts.npus == 8);
    CHECK(parts.switches.size() == 2);
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
        CHECK(bandwidth(parts, gpu, 8) == doctest::Approx(18 * 20.6));
        CHECK(bandwidth(parts, 8, gpu) == doctest::Approx(18 * 20.6));
        CHECK(bandwidth(parts, gpu, 9) == 24);
    }
    // A virtual machine does not see the switches, only that there are some.
    const auto hidden = read(system_of(
        cpu_of(gpu_of(0, nvlink("fffffff:ff:ff.0", 18), 90) + gpu_of(1, nvlink("fffffff:ff:ff.0", 18), 90))));
    CHECK(bandwidth(hidden, 0, 2) == doctest::Approx(18 * 20.6));
}

TEST_CASE("the bandwidth of an NVLink follows from the compute capability") {
    const auto per_link = [](int sm) {
        return bandwidth(read(system_of(cpu_of(gpu_of(0, nvlink("0000:f5:00.0", 1), sm)))), 0, 1);
    };
    CHECK(per_link(60) == 18);
    CHECK(per_link(70) == 20);
    CHECK(per_link(80) == 20);
    CHECK(per_link(86) == 12);
    CHECK(per_link(90) == doctest::Approx(20.6));
    CHECK(per_link(103) == doctest::Approx(40.1));
}

TEST_CASE("PCIe links of NCCL's XML have the speed of their generation and width") {
    const auto speed = [](const std::string& attributes) {
        return bandwidth(read(system_of(cpu_of(
                             fmt::format(R"(<pci busid="0000:1b:00.0" class="0x030200" {}/>)", attributes)))),
                         0, 1);
    };
    CHECK(speed(R"(link_speed="2.5 GT/s PCIe" link_width="1")") == doctest::Approx(0.1875));
    CHECK(speed(R"(link_speed="5 GT/s" link_width="8")") == 3);
    CHECK(speed(R"(link_speed="8 GT/s" link_width="16")") == 12);
    CHECK(speed(R"(link_speed="8.0 GT/s PCIe" link_width="16")") == 12);
    CHECK(speed(R"(link_speed="16 GT/s" link_width="16")") == 24);
    CHECK(speed(R"(link_speed="32.0 GT/s PCIe" link_width="16")") == 48);
    CHECK(speed(R"(link_speed="64.0 GT/s PCIe" link_width="16")") == 96);
    // Hypervisors hide both.
    CHECK(speed(R"(link_speed="" link_width="0")") == 12);
    CHECK(speed("") == 12);
}

TEST_CASE("CPUs of one host are joined, by the speed of their kind; hosts are not") {
    const auto speed = [](const std::string& about) {
        const std::string one = fmt::format(R"(<cpu numaid="0" {}>{}</cpu>)", about, gpu_of(0));
        const std::string two = fmt::format(R"(<cpu numaid="1" {}>{}</cpu>)", about, gpu_of(1));
        return bandwidth(read(system_of(one + two)), 2, 3);
    };
    const std::string intel = R"(arch="x86_64" vendor="GenuineIntel" familyid="6" modelid=)";
    CHECK(speed(R"(arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="1")") == 16);
    CHECK(speed(intel + R"("79")") == 6);
    CHECK(speed(intel + R"("85")") == 10);
    CHECK(speed(intel + R"("143")") == 22);
    CHECK(speed(intel + R"("207")") == 40);
    CHECK(speed(R"(arch="arm64")") == 6);
    CHECK(speed(R"(arch="ppc64")") == 32);

    const auto hosts =
        read(system_of(cpu_of(gpu_of(0, nvlink("fffffff:ff:ff.0", 18), 100), R"(host_hash="0x1")") +
                       cpu_of(gpu_of(1, nvlink("fffffff:ff:ff.0", 18), 100), R"(host_hash="0x2")")));
    CHECK(hosts.switches.size() == 3);
    CHECK(bandwidth(hosts, 3, 4) == 0);
    CHECK(bandwidth(hosts, 0, 2) == doctest::Approx(18 * 40.1));
    CHECK(bandwidth(hosts, 1, 2) == doctest::Approx(18 * 40.1));
}

TEST_CASE("NPUs are numbered by rank, and GPUs without a rank are not of the job") {
    const auto npu_of_class = [](const std::string& text) {
        // The width of its PCIe link tells a GPU apart.
        const auto parts = read(text);
        std::vector<double> speeds;
        for (std::size_t npu = 0; npu < parts.npus; ++npu)
            speeds.push_back(bandwidth(parts, npu, parts.npus));
        return speeds;
    };
    const auto gpu = [](int bus, int width, const std::string& about) {
        return fmt::format(
            R"(<pci busid="0000:{:02x}:00.0" class="0x030200" link_speed="16 GT/s" link_width="{}">{}</pci>)",
            bus, width, about.empty() ? "" : "<gpu sm=\"80\" " + about + "/>");
    };
    using Speeds = std::vector<double>;
    CHECK(npu_of_class(system_of(cpu_of(gpu(1, 16, R"(rank="3" dev="0")") + gpu(2, 8, R"(dev="1")") +
                                        gpu(3, 4, R"(rank="1" dev="2")")))) == Speeds{6, 24});
    CHECK(npu_of_class(system_of(cpu_of(gpu(1, 16, R"(dev="1")") + gpu(2, 8, R"(dev="0")")))) ==
          Speeds{12, 24});
    CHECK(npu_of_class(system_of(cpu_of(gpu(7, 16, "") + gpu(2, 8, "")))) == Speeds{12, 24});
    const auto twice =
        error_of(system_of(cpu_of("\n" + gpu(1, 16, R"(rank="0")") + "\n" + gpu(2, 8, R"(rank="0")"))));
    CHECK(contains(twice.message(), "rank 0 is given twice; first at 2:"));
    CHECK(twice.place().starts_with("3:"));
}

TEST_CASE("devices in NCCL's XML that no collective can use are left out") {
    const std::string nic =
        R"(<pci busid="0000:07:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">)"
        R"(<nic><net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x1" maxconn="9" gdr="1"/></nic></pci>)";
    // Behind three bridges, the second of which is slow.
    const std::string behind = bridge_of(
        "0000:01:00.0", R"(<pci busid="0000:02:00.0" class="0x060400" link_speed="8 GT/s" link_width="8">)" +
                            bridge_of("0000:03:00.0", gpu_of(0)) + "</pci>");
    const auto parts =
        read(system_of(cpu_of(behind + gpu_of(1) + nic) + cpu_of(nic) +
                       R"(<cpu numaid="3" arch="x86_64"><nic><net name="eth0" dev="1"/></nic></cpu>)"));
    CHECK(parts.npus == 2);
    CHECK(parts.switches.size() == 1);
    CHECK(parts.links.size() == 4);
    CHECK(bandwidth(parts, 0, 2) == 6);
    CHECK(bandwidth(parts, 1, 2) == 24);
}

TEST_CASE("variants of NCCL's XML that are in use are read") {
    SUBCASE("GPUs as their own peers") {
        const auto parts = read(system_of(cpu_of(gpu_of(0, nvlink(gpu_bus(0), 12, "0x030200")) + gpu_of(1))));
        CHECK(parts.links.size() == 4);
    }
    SUBCASE("NVLinks to GPUs that are not of the job") {
        const auto parts =
            read(system_of(cpu_of(gpu_of(0, nvlink("0000:99:00.0", 4, "0x030200")) + gpu_of(1))));
        CHECK(parts.links.size() == 4);
    }
    SUBCASE("NVLinks without a class, listed one by one, with a longer address") {
        const std::string one = R"(<nvlink target="00000000:11:00.0" count="1"/>)";
        CHECK(bandwidth(read(system_of(cpu_of(gpu_of(0, one + one) + gpu_of(1)))), 0, 1) == 40);
    }
    SUBCASE("NVLinks to the CPU, and chip to chip") {
        const auto parts = read(system_of(cpu_of(gpu_of(0, nvlink("0000:04:00.0", 3, "0x068001"), 70) +
                                                 gpu_of(1, R"(<c2c bw="44712" count="5"/>)", 103))));
        CHECK(bandwidth(parts, 0, 2) == 24 + 60);
        CHECK(bandwidth(parts, 2, 0) == 24 + 60);
        CHECK(bandwidth(parts, 1, 2) == doctest::Approx(24 + 223.56));
    }
    SUBCASE("several ranks on one GPU share its cables") {
        const std::string link = nvlink("0000:f5:00.0", 18);
        const auto parts = read(system_of(
            cpu_of(R"(<pci busid="0000:10:00.0" class="0x030200" link_speed="32 GT/s" link_width="16">)"
                   R"(<gpu dev="0" sm="90" rank="0">)" +
                   link + R"(</gpu><gpu dev="0" sm="90" rank="1">)" + link + "</gpu></pci>")));
        CHECK(parts.npus == 2);
        CHECK(parts.switches.size() == 3);  // NVSwitch, CPU, the GPU that both are
        CHECK(bandwidth(parts, 0, 4) == 5000);
        CHECK(bandwidth(parts, 1, 4) == 5000);
        CHECK(bandwidth(parts, 4, 2) == doctest::Approx(18 * 20.6));
        CHECK(bandwidth(parts, 4, 3) == 48);
    }
    SUBCASE("xGMI, as RCCL writes it") {
        const auto amd = [](const std::string& gcn) {
            const std::string text =
                R"(<pci busid="0000:0c:00.0" class="0x120000" link_speed="32.0 GT/s PCIe" link_width="16">)"
                R"(<gpu dev="0" sm="304" gcn=")" +
                gcn +
                R"(" arch="38911" rank="0" gdr="1"><xgmi target="0000:15:00.0" count="2" tclass="0x120000"/></gpu></pci>)"
                R"(<pci busid="0000:15:00.0" class="0x120000" link_speed="32.0 GT/s PCIe" link_width="16">)"
                R"(<gpu dev="1" sm="304" rank="1" gdr="1"/></pci>)";
            return bandwidth(read("<system version=\"2\">" + cpu_of(text) + "</system>"), 0, 1);
        };
        CHECK(amd("gfx942") == 96);
        CHECK(amd("gfx90a") == 72);
        CHECK(amd("910") == 72);
        CHECK(amd("908") == 48);
    }
    SUBCASE("comments, and a comment before the root") {
        CHECK(read("<!-- p4d -->\n" + system_of(cpu_of("<!-- GPU 0 -->" + gpu_of(0)))).npus == 1);
    }
}

TEST_CASE("errors in NCCL's XML name line and column") {
    CHECK(contains(error_of("<algo/>").message(), "MSCCL"));
    CHECK(contains(error_of("<graphs/>").message(), "NCCL_GRAPH_DUMP_FILE"));
    CHECK(contains(error_of(system_of("")).message(), "<gpu>"));
    CHECK(contains(error_of(system_of(cpu_of(R"(<pci busid="0000:00:16.0"/>)"))).message(), "<gpu>"));
    CHECK(error_of("<system>\n <cpu>\n  <pci class=\"0x03\"/>\n </cpu>\n</system>").place() == "3:3");
    CHECK(
        contains(error_of(system_of(cpu_of(R"(<pci busid="zz" class="0x03"/>)"))).message(), "0000:1b:00.0"));
    CHECK(contains(error_of(system_of(cpu_of(gpu_of(0, nvlink("0000:f5:00.0", -1))))).message(), "count"));
    CHECK(contains(error_of(system_of(cpu_of(gpu_of(0, R"(<c2c bw="1"/>)")))).message(), "count"));
    CHECK(contains(error_of(system_of(cpu_of(gpu_of(0) + gpu_of(0)))).message(), "twice"));
    CHECK(error_of("<!DOCTYPE x [<!ENTITY a \"b\">]>" + system_of(cpu_of(gpu_of(0)))).file() == "topo.xml");
    CHECK(error_of(system_of(cpu_of(gpu_of(0)).substr(0, 100))).file() == "topo.xml");
}

TEST_CASE("NCCL's XML with more than any machine has is refused") {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "<pci busid=\"1\">";
    for (int i = 0; i < 100'000; ++i) deep += "</pci>";
    CHECK(contains(error_of(system_of(cpu_of(gpu_of(0) + deep))).message(), "64 deep"));
    std::string many;
    for (int i = 0; i < 5000; ++i) many += fmt::format(R"(<pci busid="{:x}" class="0x03"/>)", i);
    CHECK(contains(error_of(system_of(cpu_of(many))).message(), "4096 GPUs"));
    std::string cpus;
    for (int i = 0; i < 1100; ++i) cpus += cpu_of(gpu_of(static_cast<std::size_t>(i)));
    CHECK(contains(error_of(system_of(cpus)).message(), "1024 CPUs"));
}

TEST_CASE("randomly damaged NCCL XML is read or refused without a crash") {
    const std::string good =
        system_of(cpu_of(bridge_of("0000:01:00.0", gpu_of(0, nvlink(gpu_bus(1), 4, "0x030200")) +
                                                       gpu_of(1, nvlink(gpu_bus(0), 4, "0x030200")))) +
                  cpu_of(gpu_of(2, nvlink("0000:f5:00.0", 2)) + gpu_of(3)));
    const std::string letters = "<>/\"= 0159af:.-x&";
    constexpr std::uint64_t kSeed = 20240612;
    CAPTURE(kSeed);
    Rng rng(kSeed);
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string text = good;
        for (int edits = 1 + static_cast<int>(rng.below(4)); edits > 0; --edits) {
            const std::size_t at = rng.below(text.size());
            const std::uint64_t how = rng.below(3);
            if (how == 0) text[at] = letters[rng.below(letters.size())];
            if (how == 1) text.insert(at, 1, letters[rng.below(letters.size())]);
            if (how == 2) text.erase(at, 1 + rng.below(20));
        }
        try {
            (void)Topology(read(text));
        } catch (const InputError&) {
            ++refused;
        }
    }
    CHECK(refused > 500);
    CHECK(refused < 3000);
}
