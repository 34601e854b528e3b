#include "app/version.hpp"

namespace tutti::app {

std::string_view version() { return TUTTI_VERSION; }

}  // namespace tutti::app
