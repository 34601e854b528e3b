#include "app/instance.hpp"

#include "io/instance_json.hpp"
#include "io/verdict_json.hpp"

namespace tutti::app {

Instance read_instance(const std::string& path, const Variation& variation, const Stop& stop) {
    return io::read_instance(path, variation, stop);
}

io::Json malformed_json(const std::string& file, const InputError& error) {
    return io::malformed_json(file, error);
}

}  // namespace tutti::app
