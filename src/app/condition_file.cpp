#include "app/condition_file.hpp"

#include "io/plan_condition_json.hpp"

#include <filesystem>

namespace tutti::app {

std::string condition_beside(const std::string& plan) {
    return std::filesystem::path(plan).replace_extension(".condition.json").string();
}

NamedCondition read_condition(const std::string& file) {
    io::Source source(file);
    return {file, std::make_shared<const plan::Condition>(io::read_plan_condition(source))};
}

}  // namespace tutti::app
