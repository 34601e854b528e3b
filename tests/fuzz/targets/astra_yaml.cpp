#include "io/astra_yaml.hpp"
#include "core/topology.hpp"
#include "tests/fuzz/reading.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::reading(data, size,
                         [](io::Source& source) { (void)Topology(io::read_astra_network(source)); });
}
