#include "cli/version.hpp"

namespace tutti::cli {

std::string_view version() { return TUTTI_VERSION; }

}  // namespace tutti::cli
