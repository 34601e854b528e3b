#include "app/calibrate.hpp"

#include "app/output_check.hpp"
#include "io/atomic_file.hpp"
#include "io/device_json.hpp"
#include "io/json_text.hpp"
#include "run/calibrate.hpp"

#include <unistd.h>

#include <array>

namespace tutti::app {

tensor::Device calibrate(const CalibrateOptions& options, const Watch& watch) {
    check_output(options.output, "", "the device");
    tensor::Device device = run::calibrate(options.threads, watch.stop());
    std::array<char, 256> host{};
    device.name = gethostname(host.data(), host.size() - 1) == 0 && host[0] != 0 ? host.data() : "here";
    io::write_file(options.output, io::json_page(io::write_device(device)));
    return device;
}

}  // namespace tutti::app
