#include "io/instance_json.hpp"
#include "io/schedule_json.hpp"
#include "io/schedule_stream.hpp"
#include "scratch.hpp"
#include "source_dir.hpp"

#include <map>
#include <set>

// Every file below tests/data/bad is named after its fault, and has its line here: what the message must say,
// and where. "syntax": not even JSON. "shape": refused by the schema too (schema_test.cpp). "meaning": only a
// reader that understands the whole instance can tell.

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

struct Expectation {
    std::string place;
    std::string message;  ///< a part of it
};
using Expectations = std::map<std::string, Expectation>;

const Expectations kInstances{
    {"syntax/blank", {"3:1", "unexpected end of input"}},
    {"syntax/byte_order_mark", {"1:1", "byte order mark"}},
    {"syntax/comment", {"1:1", "invalid literal"}},
    {"syntax/empty", {"", "expected JSON, found an empty file"}},
    {"syntax/field_twice", {"/tutti", "given twice"}},
    {"syntax/group_twice", {"/groups/pair", "given twice"}},
    {"syntax/invalid_utf8", {"6:12", "ill-formed UTF-8"}},
    {"syntax/lone_surrogate", {"6:18", "U+D800"}},
    {"syntax/nested_field_twice", {"/collectives/0/kind", "given twice"}},
    {"syntax/nested_too_deep", {"4:84", "at most 64 levels"}},
    {"syntax/nul_byte", {"3:5", "NUL byte"}},
    {"syntax/nul_byte_at_the_end", {"7:1", "NUL byte"}},
    {"syntax/number_overflow", {"4:30", "number overflow parsing '1e999'"}},
    {"syntax/number_with_leading_zero", {"4:27", "expected ']'"}},
    {"syntax/only_brackets", {"1:65", "at most 64 levels"}},
    {"syntax/single_quotes", {"2:3", "invalid literal"}},
    {"syntax/trailing_comma", {"2:14", "expected string literal"}},
    {"syntax/trailing_garbage", {"7:1", "expected end of input"}},
    {"syntax/truncated", {"4:10", "missing closing quote"}},
    {"syntax/two_documents", {"7:1", "expected end of input"}},
    {"syntax/utf16", {"1:1", "UTF-16"}},
    {"syntax/yaml", {"1:2", "invalid literal"}},

    {"shape/a_list", {"/", "expected an instance, which is an object, found an array"}},
    {"shape/a_schedule", {"/", "this is a schedule, expected an instance"}},
    {"shape/about_is_a_list", {"/about", "expected a string"}},
    {"shape/chunk_bytes_beyond_2_53", {"/collectives/0/chunk_bytes", "from 1 to 9007199254740992"}},
    {"shape/chunk_bytes_zero", {"/collectives/0/chunk_bytes", "found 0"}},
    {"shape/chunks_a_fraction", {"/collectives/0/chunks", "found 1.5"}},
    {"shape/chunks_a_string", {"/collectives/0/chunks", "found \"2\""}},
    {"shape/chunks_beyond_64_bits", {"/collectives/0/chunks", "from 1 to 67108864"}},
    {"shape/chunks_negative", {"/collectives/0/chunks", "found -3"}},
    {"shape/chunks_on_all_to_all_v", {"/collectives/0/chunks", "does not belong to all_to_all_v"}},
    {"shape/chunks_on_custom", {"/collectives/0/chunks", "does not belong to custom"}},
    {"shape/chunks_zero", {"/collectives/0/chunks", "found 0"}},
    {"shape/collective_field_misspelt", {"/collectives/0", "did you mean 'chunks'?"}},
    {"shape/collective_forwarding_is_a_boolean", {"/collectives/0/forwarding", "expected a string"}},
    {"shape/collective_is_a_string", {"/collectives/0", "expected an object"}},
    {"shape/collectives_empty", {"/collectives", "at least one collective"}},
    {"shape/collectives_is_an_object", {"/collectives", "expected an array"}},
    {"shape/collectives_missing", {"/", "expected a field 'collectives'"}},
    {"shape/count_negative", {"/collectives/0/counts/0/1", "found -1"}},
    {"shape/counts_flat", {"/collectives/0/counts/0", "expected an array"}},
    {"shape/counts_missing", {"/collectives/0", "expected a field 'counts'"}},
    {"shape/counts_on_broadcast", {"/collectives/0/counts", "it belongs to all_to_all_v"}},
    {"shape/demand_bytes_zero", {"/collectives/0/demands/0/bytes", "found 0"}},
    {"shape/demand_field_misspelt", {"/collectives/0/demands/0", "did you mean 'receivers'?"}},
    {"shape/demand_holder_twice", {"/collectives/0/demands/0/holders", "listed twice"}},
    {"shape/demand_reduce_is_a_number",
     {"/collectives/0/demands/0/reduce", "expected true or false, found 1"}},
    {"shape/demand_without_holders", {"/collectives/0/demands/0/holders", "at least one NPU"}},
    {"shape/demand_without_receivers", {"/collectives/0/demands/0", "expected a field 'receivers'"}},
    {"shape/demands_missing", {"/collectives/0", "expected a field 'demands'"}},
    {"shape/demands_on_gather", {"/collectives/0/demands", "it belongs to custom"}},
    {"shape/family_along_a_number",
     {"/groups/tp/along", "the name of an axis, or a list of such names, found 1"}},
    {"shape/family_along_nothing", {"/groups/tp/along", "the name of an axis"}},
    {"shape/family_along_twice", {"/groups/tp/along/1", "the axis 'tp' is there twice"}},
    {"shape/family_axis_a_name", {"/groups/tp/mesh/axes/0", "like [\"tp\", 8], found \"tp\""}},
    {"shape/family_axis_name_empty", {"/groups/tp/mesh/axes/0/0", "a name of 1 to 255 bytes"}},
    {"shape/family_axis_of_size_1e9", {"/groups/tp/mesh/axes/0/1", "from 1 to 16777216, found 1000000000"}},
    {"shape/family_axis_of_size_zero", {"/groups/tp/mesh/axes/0/1", "found 0"}},
    {"shape/family_mesh_and_split", {"/groups/tp", "unknown field 'mesh'"}},
    {"shape/family_mesh_without_along", {"/groups/tp", "expected a field 'along'"}},
    {"shape/family_mesh_without_axes", {"/groups/tp/mesh/axes", "at least one axis"}},
    {"shape/family_of_nothing", {"/groups/tp", "a list of NPUs, or an object with 'mesh' or 'split'"}},
    {"shape/family_split_a_number", {"/groups/tp/split", "expected a string, found 2"}},
    {"shape/family_split_by_zero", {"/groups/tp/split", "AND, OR, MOD or DIV"}},
    {"shape/family_split_octal", {"/groups/tp/split", "a number like 8, 0x7 or 0b111, found \"DIV 02\""}},
    {"shape/family_split_unknown", {"/groups/tp/split", "found \"XOR 0x7\""}},
    {"shape/forwarding_unknown", {"/forwarding", "one of any, group"}},
    {"shape/group_empty", {"/groups/pair", "at least one member"}},
    {"shape/group_is_a_number", {"/groups/pair", "expected an array"}},
    {"shape/group_member_a_string", {"/groups/pair/1", "found \"2\""}},
    {"shape/group_member_negative", {"/groups/pair/1", "found -2"}},
    {"shape/group_member_twice", {"/groups/pair/2", "NPU 0 is listed twice"}},
    {"shape/group_name_empty", {"/groups/", "expected a name"}},
    {"shape/group_of_a_collective_is_a_list", {"/collectives/0/group", "expected a string"}},
    {"shape/groups_is_a_list", {"/groups", "expected an object"}},
    {"shape/kind_misspelt", {"/collectives/0/kind", "did you mean 'all_gather'?"}},
    {"shape/kind_missing", {"/collectives/0", "expected a field 'kind'"}},
    {"shape/kind_unknown", {"/collectives/0/kind", "found \"sort\""}},
    {"shape/misspelt_field", {"/", "did you mean 'collectives'?"}},
    {"shape/name_empty", {"/name", "expected a name"}},
    {"shape/name_is_a_number", {"/name", "expected a string, found 7"}},
    {"shape/name_with_newline", {"/name", "without control characters"}},
    {"shape/null", {"/", "expected an instance, which is an object, found null"}},
    {"shape/pair_of_three", {"/collectives/0/pairs/0", "a pair of ranks"}},
    {"shape/pairs_missing", {"/collectives/0", "expected a field 'pairs'"}},
    {"shape/pairs_on_all_reduce", {"/collectives/0/pairs", "it belongs to permute"}},
    {"shape/release_a_string", {"/collectives/0/release", "expected a number of ticks, or a list of them"}},
    {"shape/release_by_rank_a_fraction", {"/collectives/0/release/1", "found 1.5"}},
    {"shape/release_by_rank_a_string", {"/collectives/0/release/1", "expected an integer"}},
    {"shape/release_by_rank_beyond_2_53", {"/collectives/0/release/1", "found 9007199254741992"}},
    {"shape/release_by_rank_negative", {"/collectives/0/release/2", "found -1"}},
    {"shape/release_negative", {"/collectives/0/release", "found -1"}},
    {"shape/root_negative", {"/collectives/0/root", "found -1"}},
    {"shape/root_on_all_gather", {"/collectives/0/root", "does not belong to all_gather"}},
    {"shape/topology_is_a_string", {"/topology", "expected an object"}},
    {"shape/topology_missing", {"/", "expected a field 'topology'"}},
    {"shape/unknown_field", {"/", "unknown field 'colour'; known here: tutti, name"}},
    {"shape/version_is_a_string", {"/tutti", "expected 1, the version of the format, found \"1\""}},
    {"shape/version_missing", {"/", "expected a field 'tutti'"}},
    {"shape/version_other", {"/tutti", "this file is format 2, this tutti reads 1"}},

    {"meaning/all_redefined", {"/groups/all", "'all' is every NPU in order"}},
    {"meaning/chunk_bytes_missing", {"/collectives/0/chunk_bytes", "physical units"}},
    {"meaning/collective_id_twice", {"/collectives/1/id", "used twice"}},
    {"meaning/counts_ragged", {"/collectives/0/counts/1", "expected 2 numbers"}},
    {"meaning/counts_too_few_rows", {"/collectives/0/counts", "expected 2 rows"}},
    {"meaning/demand_bytes_missing", {"/collectives/0/demands/1/bytes", "bytes of at least 1"}},
    {"meaning/demand_holder_not_a_member",
     {"/collectives/0/demands/0/holders/0", "a member of group 'pair'"}},
    {"meaning/family_axes_of_1e14_ranks",
     {"/groups/tp/mesh/axes", "16777216 x 16777216 make more than 16777216"}},
    {"meaning/family_axes_of_other_ranks",
     {"/groups/tp/mesh/axes", "expected axes that make 4 ranks, one for each NPU; 2 x 4 make 8"}},
    {"meaning/family_axis_twice", {"/groups/tp/mesh/axes/1/0", "the axis 'tp' is there twice"}},
    {"meaning/family_axis_unknown", {"/groups/tp/along", "one of dp, tp"}},
    {"meaning/family_called_all", {"/groups/all", "'all' is every NPU in order"}},
    {"meaning/family_clashes_with_a_group", {"/groups/tp", "two groups 'tp[1]'"}},
    {"meaning/family_clashes_with_a_later_group", {"/groups/tp[1]", "two groups 'tp[1]'"}},
    {"meaning/family_counts_of_another_size", {"/collectives/1/counts", "expected 2 rows"}},
    {"meaning/family_has_no_such_group",
     {"/collectives/0/group", "a group ('tp' has 2: tp[0] to tp[1]), found \"tp[2]\""}},
    {"meaning/family_id_twice", {"/collectives/1/id", "'ag[1]' is used twice"}},
    {"meaning/family_of_custom_demands", {"/collectives/0/group", "expected one group, found a family"}},
    {"meaning/family_of_too_many_collectives", {"/collectives/1", "1000000 collectives"}},
    {"meaning/family_of_too_many_groups", {"/groups/tp", "more than 1048576 groups"}},
    {"meaning/family_root_beyond_its_smallest_group", {"/collectives/0/root", "from 0 to 0, found 1"}},
    {"meaning/group_member_a_switch", {"/groups/pair/1", "found 4, which is a switch"}},
    {"meaning/group_member_unknown", {"/groups/pair/1", "from 0 to 3, found 9"}},
    {"meaning/group_misspelt", {"/collectives/0/group", "did you mean 'pair'?"}},
    {"meaning/group_unknown", {"/collectives/0/group", "expected a group (all, pair)"}},
    {"meaning/rank_beyond_the_group", {"/collectives/0/pairs/1/1", "from 0 to 1, found 2"}},
    {"meaning/release_by_rank_of_an_uneven_family", {"/collectives/0/release", "different numbers of ranks"}},
    {"meaning/release_by_rank_of_another_group",
     {"/collectives/0/release", "expected 2 releases, one for each rank of the group, found 4"}},
    {"meaning/release_by_rank_too_short",
     {"/collectives/0/release", "expected 4 releases, one for each rank of the group, found 2"}},
    {"meaning/root_beyond_the_group", {"/collectives/0/root", "from 0 to 1, found 2"}},
    {"meaning/too_many_chunks", {"/collectives/0/chunks", "more than 67108864 chunks"}},
    {"meaning/transfer_beyond_2_53_ticks", {"/topology", "more than 2^53 ticks"}},
};

const Expectations kSchedules{
    {"syntax/empty", {"", "empty file"}},
    {"syntax/field_twice", {"/makespan", "given twice"}},
    {"syntax/invalid_utf8", {"3:21", "ill-formed UTF-8"}},
    {"syntax/nul_byte", {"4:13", "NUL byte"}},
    {"syntax/number_overflow", {"5:101", "number overflow"}},
    {"syntax/only_brackets", {"/", "expected a schedule, which is an object, found an array"}},
    {"syntax/send_field_twice", {"/sends/1/start", "given twice"}},
    {"syntax/sends_twice", {"/sends", "given twice"}},
    {"syntax/trailing_garbage", {"7:1", "expected end of input"}},
    {"syntax/truncated_after_a_send", {"5:113", "unexpected end of input; expected ']'"}},
    {"syntax/truncated_in_a_send", {"5:92", "missing closing quote"}},

    {"shape/a_list", {"/", "expected a schedule, which is an object, found an array"}},
    {"shape/a_number", {"/", "expected a schedule, which is an object, found 1"}},
    {"shape/an_instance", {"/", "this is an instance, expected a schedule"}},
    {"shape/instance_a_number", {"/instance", "expected a string, found 4"}},
    {"shape/instance_missing", {"/", "expected a field 'instance'"}},
    {"shape/makespan_a_fraction", {"/makespan", "found 6.5"}},
    {"shape/makespan_missing", {"/", "expected a field 'makespan'"}},
    {"shape/makespan_null", {"/makespan", "found null"}},
    {"shape/misspelt_field", {"/", "did you mean 'makespan'?"}},
    {"shape/send_a_number", {"/sends/0", "expected a send, which is an object, found 0"}},
    {"shape/send_chunk_beyond_32_bits", {"/sends/1/chunk", "from 0 to 4294967295, found 4294967296"}},
    {"shape/send_chunk_missing", {"/sends/1", "expected a field 'chunk'"}},
    {"shape/send_chunk_negative", {"/sends/1/chunk", "found -1"}},
    {"shape/send_link_a_list", {"/sends/1/link", "found an array"}},
    {"shape/send_link_an_object", {"/sends/1/link", "found an object"}},
    {"shape/send_link_missing", {"/sends/1", "expected a field 'link'"}},
    {"shape/send_link_negative", {"/sends/1/link", "found -1"}},
    {"shape/send_misspelt_field", {"/sends/0", "did you mean 'chunk'?"}},
    {"shape/send_op_a_number", {"/sends/1/op", "expected a string, found 0"}},
    {"shape/send_op_misspelt", {"/sends/1/op", "did you mean 'copy'?"}},
    {"shape/send_op_unknown", {"/sends/1/op", "one of copy, reduce"}},
    {"shape/send_start_a_fraction", {"/sends/1/start", "found 3.5"}},
    {"shape/send_start_a_string", {"/sends/1/start", "found \"3\""}},
    {"shape/send_start_beyond_64_bits", {"/sends/1/start", "expected an integer"}},
    {"shape/send_start_missing", {"/sends/1", "expected a field 'start'"}},
    {"shape/send_unknown_field", {"/sends/1", "unknown field 'src'"}},
    {"shape/sends_a_number", {"/sends", "expected an array of sends, found 2"}},
    {"shape/sends_an_object", {"/sends", "expected an array of sends, found an object"}},
    {"shape/sends_missing", {"/", "expected a field 'sends'"}},
    {"shape/sends_nested", {"/sends/0", "expected a send, which is an object, found an array"}},
    {"shape/unknown_field", {"/", "unknown field 'author'"}},
    {"shape/version_a_string", {"/tutti_schedule", "found \"1\""}},
    {"shape/version_missing", {"/", "expected a field 'tutti_schedule'"}},
    {"shape/version_other", {"/tutti_schedule", "this schedule is format 2, this tutti reads 1"}},
};

template <class Reader>
void check_all(const std::string& directory, const Expectations& expectations, Reader read) {
    std::set<std::string> met;
    for (const std::string& file : files_below(directory, ".json")) {
        const auto root = std::filesystem::path(TUTTI_SOURCE_DIR) / directory;
        const std::string name = std::filesystem::relative(file, root).replace_extension().string();
        CAPTURE(name);
        met.insert(name);
        REQUIRE(expectations.contains(name));
        const InputError error = refusal([&] { read(file); });
        CAPTURE(std::string(error.what()));
        CHECK(error.file() == file);
        CHECK(error.place() == expectations.at(name).place);
        CHECK(contains(error.message(), expectations.at(name).message));
    }
    CHECK(met.size() == expectations.size());
}

}  // namespace

TEST_CASE("each bad instance is refused with the file, the place and what was expected") {
    check_all("tests/data/bad/instance", kInstances,
              [](const std::string& path) { (void)read_instance(path); });
}

TEST_CASE("each bad schedule is refused with the file, the place and what was expected") {
    check_all("tests/data/bad/schedule", kSchedules,
              [](const std::string& path) { (void)open_schedule(path); });
}
