#pragma once

#include "app/tune.hpp"
#include "tune/collective_cost.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tutti::app {

/// Throws OutputError where it cannot be made.
void make_folder(const std::filesystem::path& folder);

/// Writes each call's instance, its schedule and the schedule's page into the folder, and enters their paths
/// as seen from the folder's own: `link` stands for it.
void write_calls(const std::filesystem::path& folder, const std::string& link, tune::CallSchedules& calls,
                 std::vector<TunedCall>& list, const Stop& stop);

/// Writes the page of the first schedule's timeline; returns its size.
std::uint64_t write_timeline_page(const std::string& page, const TuneAnswer& answer);

}  // namespace tutti::app
