#include "bounds/bounds.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/result_jsonl.hpp"
#include "io/schedule_json.hpp"
#include "io/schedule_stream.hpp"
#include "io/symmetric_json.hpp"
#include "report/judged_view.hpp"
#include "report/page_file.hpp"
#include "report/report.hpp"
#include "report/sample.hpp"
#include "synth/synthesize.hpp"
#include "tests/batch/scratch.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>

namespace tutti::report {
namespace {

using io::Json;

Json json_in(const std::string& text) {
    io::Source source = io::Source::of_text(text, "test");
    return io::parse_json(source);
}

Instance instance_in(const std::string& text) { return io::parse_instance(json_in(text), "test"); }

Schedule greedy(const Instance& instance) {
    synth::Request request;
    request.method = "greedy";
    return synth::synthesize(instance, request).schedule;
}

constexpr const char* kTwoGroups = R"({"tutti": 1, "name": "two",
    "topology": {"busy": "alpha+beta", "generate": {"kind": "mesh", "dims": [3, 4], "alpha": 3, "beta": 2}},
    "groups": {"left": [0, 1, 4, 5, 8], "idle": [2, 3], "right": [10, 11, 6, 7]},
    "collectives": [{"id": "a", "kind": "all_gather", "group": "left", "chunks": 3},
                    {"id": "b", "kind": "all_to_all", "group": "right"}]})";

/// The data of a page.
Json data_of(const std::string& page) {
    const std::string open = R"(<script id="tutti-data" type="application/json">)";
    const std::size_t begin = page.find(open) + open.size();
    return json_in(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("a view's figures are those of a recount, however the schedule is stored") {
    const Instance instance = instance_in(kTwoGroups);
    const Schedule schedule = greedy(instance);
    const test::ScratchTree scratch;
    const std::string text = scratch.at("a.schedule.json"), stream = scratch.at("a.tsch");
    io::write_schedule(text, schedule, instance.chunks(), instance.topology().links().size());
    io::write_schedule(stream, schedule, instance.chunks(), instance.topology().links().size());
    const JudgedView judged = judged_view(instance, text, {});
    REQUIRE(judged.verdict.valid());
    const Json& view = judged.view;
    CHECK(judged_view(instance, stream, {}).view == view);

    const std::size_t links = instance.topology().links().size();
    CHECK(view["name"] == "two");
    CHECK(view["units"] == "abstract");
    CHECK(view["makespan"] == schedule.makespan.count());
    CHECK(view["npus"] == 12);
    CHECK(view["x"].size() == 12);
    CHECK(view["y"].size() == 12);
    REQUIRE(view["links"]["src"].size() == links);
    std::vector<std::int64_t> sends(links), busy(links);
    for (const Send& send : schedule.sends) {
        ++sends[send.link.index()];
        busy[send.link.index()] += 5;  // alpha + beta of every link
    }
    double all = 0;
    for (std::size_t i = 0; i < links; ++i) {
        const Link& link = instance.topology().link(LinkId(i));
        CHECK(view["links"]["src"][i] == link.src.value());
        CHECK(view["links"]["dst"][i] == link.dst.value());
        CHECK(view["links"]["sends"][i] == sends[i]);
        CHECK(view["links"]["busy"][i] == busy[i]);
        const double share = static_cast<double>(busy[i]) / static_cast<double>(schedule.makespan.count());
        CHECK(view["links"]["utilisation"][i].get<double>() == doctest::Approx(share).epsilon(1e-3));
        all += share;
    }
    double load = 0;
    for (const Json& slice : view["load"]) load += slice.get<double>();
    CHECK(view["load"].size() == 200);
    CHECK(load / 200 == doctest::Approx(all / static_cast<double>(links)).epsilon(1e-3));
    CHECK(view["link_load"].is_null());

    REQUIRE(view["groups"].size() == 2);
    CHECK(view["groups"][0] ==
          Json{{"name", "left"}, {"members", {0, 1, 4, 5, 8}}, {"collective", "all_gather"}});
    CHECK(view["groups"][1]["name"] == "right");
    CHECK(view["groups"][1]["members"] == Json{10, 11, 6, 7});

    const Json& shown = view["sends"];
    CHECK(shown["total"] == schedule.sends.size());
    REQUIRE(shown["shown"] == schedule.sends.size());
    CHECK(shown["note"].is_null());
    using Key = std::array<std::int64_t, 3>;
    std::multiset<Key> expected, found;
    for (const Send& send : schedule.sends) {
        expected.insert({send.chunk.value(), send.link.value(), send.start.count()});
    }
    for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
        const std::int64_t start = shown["start"][i], chunk = shown["chunk"][i];
        found.insert({chunk, shown["link"][i], start});
        CHECK(shown["free"][i] == start + 5);
        CHECK(shown["arrive"][i] == start + 5);
        CHECK(shown["group"][i] == (chunk < 15 ? 0 : 1));
        if (i > 0) CHECK(shown["start"][i - 1] <= start);
    }
    CHECK(found == expected);
}

TEST_CASE("slices of the load are nonzero exactly where sends are") {
    // One link of two, busy from 0 to 2 and from 4 to 6 of 10.
    Slices slices(Ticks(10), 1);
    slices.add(0, Ticks(0), Ticks(2));
    slices.add(0, Ticks(4), Ticks(6));
    const auto load = slices.load(0, 2);
    for (std::size_t i = 0; i < Slices::kCount; ++i) {
        const std::size_t tick = i * 10 / Slices::kCount;
        CHECK(load[i] == doctest::Approx(tick < 2 || tick == 4 || tick == 5 ? 0.5 : 0.0));
    }
}

TEST_CASE("the view of a large schedule shows whole chunks of every group and says that it is a sample") {
    const Instance instance = instance_in(kTwoGroups);
    const Schedule schedule = greedy(instance);
    const test::ScratchTree scratch;
    const std::string file = scratch.at("a.tsch");
    io::write_schedule(file, schedule, instance.chunks(), instance.topology().links().size());
    const std::uint64_t most = schedule.sends.size() / 2;
    ViewOptions options;
    options.most_sends = most;
    const Json view = judged_view(instance, file, options).view;
    const Json& shown = view["sends"];
    const std::uint64_t count = shown["shown"];
    CHECK(count <= most);
    CHECK(count > most / 2);
    std::map<std::uint32_t, std::size_t> of_chunk, shown_of;
    for (const Send& send : schedule.sends) ++of_chunk[send.chunk.value()];
    std::set<int> groups;
    for (std::size_t i = 0; i < count; ++i) {
        ++shown_of[shown["chunk"][i].get<std::uint32_t>()];
        groups.insert(shown["group"][i].get<int>());
    }
    for (const auto& [chunk, sends] : shown_of) CHECK(sends == of_chunk[chunk]);
    CHECK(groups == std::set<int>{0, 1});
    CHECK(shown["total"] == schedule.sends.size());
    CHECK(shown["note"] == std::to_string(count) + " of " + std::to_string(schedule.sends.size()) +
                               " sends are shown: all sends of " + std::to_string(shown_of.size()) + " of " +
                               std::to_string(of_chunk.size()) + " chunks");
    // The sums are still those of all sends, and the load tells of the links what the sends cannot.
    std::uint64_t sum = 0;
    for (const Json& sends : view["links"]["sends"]) sum += sends.get<std::uint64_t>();
    CHECK(sum == schedule.sends.size());
    const Json& load = view["link_load"];
    REQUIRE(load["links"].size() == instance.topology().links().size());
    for (std::size_t i = 0; i < load["links"].size(); ++i) {
        double mean = 0;
        for (const Json& slice : load["load"][i]) mean += slice.get<double>() / 200;
        const std::size_t link = load["links"][i];
        CHECK(mean == doctest::Approx(view["links"]["utilisation"][link].get<double>()).epsilon(1e-3));
    }
}

TEST_CASE("of a single chunk that is too large the first sends are shown") {
    const Instance instance =
        instance_in(R"({"tutti": 1, "topology": {"generate": {"kind": "line", "npus": 9}},
        "collectives": [{"kind": "broadcast", "root": 0}]})");
    const test::ScratchTree scratch;
    io::write_schedule_json(scratch.at("a.json"), greedy(instance));
    ViewOptions options;
    options.most_sends = 3;
    const Json view = judged_view(instance, scratch.at("a.json"), options).view;
    CHECK(view["sends"]["shown"] == 3);
    CHECK(view["sends"]["link"].size() == 3);
    CHECK(view["sends"]["note"] == "3 of 8 sends are shown: the first ones of chunk 0, which has 8");
}

TEST_CASE("the view of a symmetric schedule is that of its expansion") {
    const Instance instance = instance_in(R"({"tutti": 1, "name": "ring3",
        "topology": {"npus": 3, "links": [{"src": 0, "dst": 1}, {"src": 1, "dst": 2}, {"src": 2, "dst": 0}]},
        "collectives": [{"kind": "all_gather"}]})");
    const test::ScratchTree scratch;
    const std::string form = scratch.put("form.json", R"({"tutti_symmetric_schedule": 1, "instance": "ring3",
        "makespan": 2, "symmetry": [{"order": 3, "images": [1, 2, 0]}],
        "sends": [{"chunk": 0, "link": 0, "start": 0, "op": "copy"}, {"chunk": 0, "link": 1, "start": 1, "op": "copy"}]})");
    io::Source source(form);
    const Schedule written_out = expanded(instance, io::read_symmetric_json(source));
    REQUIRE(written_out.sends.size() == 6);
    io::write_schedule_json(scratch.at("out.json"), written_out);
    CHECK(judged_view(instance, form, {}).view == judged_view(instance, scratch.at("out.json"), {}).view);
}

TEST_CASE("a cut is drawn by the nodes that its sentence names, and the links into or out of them") {
    const Instance instance = test::on_all(test::line(4), {test::collective(CollectiveKind::AllToAll)});
    const auto topology = instance.topology();
    CutCertificate cut;
    cut.inside = test::nodes({0, 1});
    cut.transfers = 4;
    for (const bool complement : {false, true}) {
        cut.complement = complement;
        const Json view = bound_view(instance, {{"cut", Ticks(4), cut, 0}}, std::nullopt);
        CHECK(view["lower_bound"] == 4);
        CHECK(view["bound_kind"] == "cut");
        CHECK(view["path"].is_null());
        CHECK(view["cut"]["inside"] == Json{0, 1});
        CHECK(view["cut"]["out"] == complement);
        REQUIRE(view["cut"]["links"].size() == 1);
        const Link& link = topology.link(LinkId(view["cut"]["links"][0].get<std::size_t>()));
        CHECK(link.src == NodeId(complement ? 1U : 2U));
        const std::string text = view["bound_text"];
        CHECK(text == (complement
                           ? "4 chunks must pass out of 2 nodes (0, 1) over 1 link: that takes 4 ticks."
                           : "4 chunks must pass into 2 nodes (0, 1) over 1 link: that takes 4 ticks."));
    }
}

TEST_CASE("a bound proven by a solver is marked apart from bounds that can be drawn") {
    const Instance instance = test::on_all(test::line(3), {test::collective(CollectiveKind::AllGather)});
    const auto bounds = bounds::simple_bounds(instance);
    const BoundClaim claim{bounds.front().value + Ticks(1), "solver", "CP-SAT found none shorter"};
    const Json view = bound_view(instance, bounds, claim);
    CHECK(view["lower_bound"] == claim.value.count());
    CHECK(view["bound_kind"] == "solver");
    CHECK(view["bound_text"].get<std::string>().starts_with(
        "CP-SAT found none shorter. What is drawn proves less: "));
    CHECK(view["bound_weaker"] == true);
    CHECK(bound_view(instance, bounds, std::nullopt)["bound_weaker"] == false);
    const BoundClaim weaker{Ticks(1), "latency", ""};
    CHECK(bound_view(instance, bounds, weaker)["lower_bound"] == bounds.front().value.count());
}

TEST_CASE("the reason for a missing optimality proof is not shown as a proof of the bound") {
    const Instance instance = test::on_all(test::line(3), {test::collective(CollectiveKind::AllGather)});
    io::ResultLine line;
    CHECK_FALSE(claim_of(line));
    line.lower_bound = Ticks(1000);
    line.bound_kind = "solver";
    line.status = Status::Feasible;
    line.proof = "no proof before the search was stopped";
    const Json view = bound_view(instance, bounds::simple_bounds(instance), claim_of(line));
    CHECK(view["bound_text"].get<std::string>().starts_with(
        "No schedule takes less than 1000 ticks: a solver has proven it. What is drawn proves less: "));
    line.status = Status::Optimal;
    CHECK(claim_of(line)->proof == line.proof);
}

TEST_CASE("a page shows the escapes of what it would obey or not show") {
    const Json data{{"k\n", "a\x1b\xc2\x9b\xe2\x80\xae \"q\" \\ \\n é"}};
    const Json shown = json_in(script_safe_json(data));
    CHECK(shown == Json{{"k\\n", "a\\u001b\\u009b\\u202e \"q\" \\ \\n é"}});
}

TEST_CASE("no string of the data can end its script") {
    const Json data = page_data("</script><!--<script>", Json::array(), Json::array(), "now");
    const std::string safe = script_safe_json(data);
    CHECK(safe.find('<') == safe.npos);
    CHECK(json_in(safe) == data);
    const PageParts parts{"<a>{{style}}|{{echarts}}|{{script}}|{{data}}|{{other}}", "S", "{{data}}", ""};
    const std::string page = page_text(parts, {{"t", "{{style}}"}});
    CHECK(page ==
          "<a>S|/* built without ECharts: see scripts/setup */|{{data}}|{\"t\":\"{{style}}\"}|{{other}}");
}

TEST_CASE("a page holds all its parts and loads nothing") {
    const PageParts parts = page_parts();
    for (const char* place : {"{{style}}", "{{echarts}}", "{{script}}", "{{data}}"}) {
        CHECK(parts.html.find(place) != parts.html.npos);
    }
    const std::string page = page_text(parts, page_data("title", Json::array(), Json::array()));
    CHECK(page.find("{{") == page.npos);
    for (const std::string_view part : {parts.style, parts.script, parts.charts}) {
        CHECK(page.find(part) != page.npos);
    }
    // Nothing within a script may look like its end; the page has three scripts and the data's.
    for (const std::string_view part : {parts.script, parts.charts}) {
        CHECK(part.find("</script") == part.npos);
    }
    CHECK(data_of(page)["title"] == "title");
    // Of our own files, not a single address besides the names of XML; of the library, none that is loaded.
    const std::string own = std::string(parts.html) + std::string(parts.style) + std::string(parts.script);
    static const std::regex kAddress(R"re((https?:)?//[a-z0-9-]+\.[a-z0-9./-]+)re");
    for (std::sregex_iterator at(own.begin(), own.end(), kAddress), end; at != end; ++at) {
        INFO(at->str());
        CHECK(at->str().starts_with("http://www.w3.org/"));
    }
    static const std::regex kLoads(R"re((src|href)\s*=\s*["'](https?:)?//|@import|url\(["']?(https?:)?//)re");
    CHECK_FALSE(std::regex_search(own, kLoads));
    for (const char* call : {"fetch(", "XMLHttpRequest", "importScripts", "WebSocket", "sendBeacon"}) {
        INFO(call);
        CHECK(own.find(call) == own.npos);
    }
}

TEST_CASE("a report has a row for every key and a view for every schedule that can be shown") {
    const test::ScratchTree scratch;
    const std::string ring = R"({"tutti": 1, "name": "ring",
        "topology": {"generate": {"kind": "ring", "npus": 4}}, "collectives": [{"kind": "all_gather"}]})";
    const std::string file = scratch.put("ring.json", ring);
    const Instance instance = instance_in(ring);
    const Schedule schedule = greedy(instance);
    const auto put = [&](const std::string& name) {
        std::filesystem::create_directories(scratch.at("run/schedules"));
        io::write_schedule_json(scratch.at("run/schedules/" + name), schedule);
        return scratch.at("run/schedules/" + name);
    };
    io::ResultJournal journal(scratch.put("run/results.jsonl", ""));
    io::ResultLine line;
    line.instance = "ring";
    line.file = file;
    line.makespan = schedule.makespan;
    line.lower_bound = Ticks(1);
    line.bound_kind = "latency";
    const auto add = [&](const std::string& key, const std::string& path) {
        line.key = key;
        line.schedule = path;
        journal.append(line);
    };
    add("good", "gone/before/resume.json");
    add("missing", scratch.at("run/schedules/missing.json"));
    add("good", put("good.json"));
    // As a run names it that was started elsewhere.
    put("moved.json");
    add("moved", "elsewhere/run/schedules/moved.json");
    add("broken", scratch.put("run/schedules/broken.json", "{\"tutti_schedule\": 1,"));
    add("no schedule", "");
    add("invalid", scratch.put("run/schedules/invalid.json",
                               R"({"tutti_schedule": 1, "instance": "ring", "makespan": 0, "sends": []})"));
    line.makespan = schedule.makespan + Ticks(1);
    add("other run", put("other.json"));
    line.makespan = schedule.makespan;
    line.file = scratch.at("nowhere.json");
    add("no instance", put("alone.json"));

    const Report made = write_report(scratch.at("run"));
    CHECK(made.path == scratch.at("run/report.html"));
    CHECK(made.rows == 8);
    CHECK(made.views == 2);
    const std::string page = scratch.get("run/report.html");
    CHECK(made.bytes == page.size());
    const Json data = data_of(page);
    CHECK(data["title"] == "run");
    REQUIRE(data["rows"].size() == 8);
    std::map<std::string, Json> rows;
    for (const Json& row : data["rows"]) rows[row["key"]] = row;
    for (const auto& [key, row] : rows) {
        INFO(key, ": ", row.dump());
        const bool shown = key == "good" || key == "moved";
        CHECK(row["view"].is_null() != shown);
        CHECK(row.contains("why_no_view") != shown);
        if (shown) {
            const Json& view = data["views"].at(row["view"].get<std::size_t>());
            CHECK(view["key"] == key);
            CHECK(view["makespan"] == row["makespan"]);
        } else {
            CHECK(row["why_no_view"].get<std::string>().size() > 10);
        }
    }

    // A run that varies its instances says how to make them.
    ReportOptions options;
    options.instance = [&](const io::ResultLine&) { return instance_in(ring); };
    CHECK(write_report(scratch.at("run"), scratch.at("other.html"), options).views == 3);
    CHECK_THROWS_AS(write_report(scratch.at("run/schedules")), InputError);
}

}  // namespace tutti::report
