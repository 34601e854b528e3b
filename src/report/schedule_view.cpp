#include "report/schedule_view.hpp"

#include "core/expects.hpp"
#include "report/layout.hpp"
#include "report/sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::report {
namespace {

/// Links whose load is drawn where their sends are not.
constexpr std::size_t kMostLoadedLinks = 200;
constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

/// Few digits: a page holds many of these, and smaller differences are invisible.
double brief(double value) { return std::round(value * 1e4) / 1e4; }
double place(double value) { return std::round(value * 1e5) / 1e5; }

std::vector<double> brief(std::vector<double> values) {
    for (double& value : values) value = brief(value);
    return values;
}

/// Groups that communicate, and each group's number among them.
struct Speakers {
    explicit Speakers(const Instance& instance) : number(instance.groups().size(), kNoRow) {
        std::vector<std::vector<std::string_view>> kinds(instance.groups().size());
        for (const Collective& collective : instance.collectives()) {
            auto& names = kinds[collective.group.index()];
            const std::string_view kind = name_of(collective.kind);
            if (std::ranges::find(names, kind) == names.end()) names.push_back(kind);
        }
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (kinds[i].empty()) continue;
            number[i] = static_cast<std::uint32_t>(json.size());
            std::vector<std::uint32_t> members;
            for (const NodeId node : instance.groups()[i].members) members.push_back(node.value());
            json.push_back({{"name", instance.groups()[i].name},
                            {"members", std::move(members)},
                            {"collective", fmt::format("{}", fmt::join(kinds[i], ", "))}});
        }
    }
    std::vector<std::uint32_t> number;
    io::Json json = io::Json::array();
};

/// The numbers of the busiest links, in order of number.
std::vector<std::uint32_t> busiest(const Tally& tally) {
    std::vector<std::uint32_t> links(tally.link_busy.size());
    std::iota(links.begin(), links.end(), 0U);
    const auto most = static_cast<std::ptrdiff_t>(std::min(kMostLoadedLinks, links.size()));
    std::ranges::partial_sort(links, links.begin() + most, [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(tally.link_busy[b], a) < std::pair(tally.link_busy[a], b);
    });
    links.resize(static_cast<std::size_t>(most));
    std::ranges::sort(links);
    return links;
}

/// The second walk over the sends: those to be shown, and the load over time.
class Walk {
  public:
    Walk(const Subject& subject, const Tally& tally, const Sample& sample, const Speakers& speakers)
        : subject_(subject),
          sample_(sample),
          speakers_(speakers),
          total_(subject.makespan, 1),
          loaded_(sample.all ? std::vector<std::uint32_t>() : busiest(tally)),
          per_link_(subject.makespan, loaded_.size()),
          row_(tally.link_busy.size(), kNoRow) {
        for (std::uint32_t i = 0; i < loaded_.size(); ++i) row_[loaded_[i]] = i;
        for (auto* list : {&chunk_, &link_, &group_}) list->reserve(sample.sends);
        for (auto* list : {&start_, &free_, &arrive_}) list->reserve(sample.sends);
    }

    void run(SendSource& sends) {
        for (auto some = sends.next(); !some.empty(); some = sends.next()) {
            for (const Send& send : some) pass(send);
        }
    }

    [[nodiscard]] io::Json sends_json(const Tally& tally) const {
        io::Json json{{"total", tally.sends}, {"shown", chunk_.size()}, {"chunk", chunk_},
                      {"link", link_},        {"start", start_},        {"free", free_},
                      {"arrive", arrive_},    {"group", group_},        {"note", nullptr}};
        if (sample_.note) json["note"] = *sample_.note;
        return json;
    }
    [[nodiscard]] std::vector<double> load() const {
        return brief(total_.load(0, static_cast<double>(row_.size())));
    }
    [[nodiscard]] io::Json link_load() const {
        if (sample_.all) return nullptr;
        io::Json rows = io::Json::array();
        for (std::size_t i = 0; i < loaded_.size(); ++i) rows.push_back(brief(per_link_.load(i)));
        return {{"links", loaded_}, {"load", std::move(rows)}};
    }

  private:
    void pass(const Send& send) {
        const Instance& instance = subject_.instance;
        if (send.link.index() >= row_.size() || send.chunk.index() >= instance.chunks()) {
            throw InputError("the schedule was changed while it was being read");
        }
        const Ticks beta = instance.beta(send.link, send.chunk);
        const Ticks free = send.start + instance.busy(send.link, beta);
        total_.add(0, send.start, free);
        if (const std::uint32_t row = row_[send.link.index()]; row != kNoRow) {
            per_link_.add(row, send.start, free);
        }
        if (!sample_.shows(send.chunk) || chunk_.size() >= sample_.sends) return;
        chunk_.push_back(send.chunk.value());
        link_.push_back(send.link.value());
        group_.push_back(speakers_.number[instance.collective_of(send.chunk).group.index()]);
        start_.push_back(send.start.count());
        free_.push_back(free.count());
        arrive_.push_back((send.start + instance.alpha(send.link) + beta).count());
    }

    const Subject& subject_;
    const Sample& sample_;
    const Speakers& speakers_;
    Slices total_;
    std::vector<std::uint32_t> loaded_;  ///< links whose load is kept
    Slices per_link_;
    std::vector<std::uint32_t> row_;  ///< per link: its place in loaded_
    std::vector<std::uint32_t> chunk_, link_, group_;
    std::vector<std::int64_t> start_, free_, arrive_;
};

io::Json links_json(const Topology& topology, const Tally& tally, Ticks makespan) {
    std::vector<std::uint32_t> src, dst;
    std::vector<std::int64_t> busy;
    std::vector<double> utilisation;
    const auto whole = static_cast<double>(std::max<std::int64_t>(1, makespan.count()));
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
        src.push_back(topology.links()[i].src.value());
        dst.push_back(topology.links()[i].dst.value());
        busy.push_back(tally.link_busy[i].count());
        utilisation.push_back(brief(static_cast<double>(tally.link_busy[i].count()) / whole));
    }
    return {{"src", src},
            {"dst", dst},
            {"sends", tally.link_sends},
            {"busy", busy},
            {"utilisation", utilisation}};
}

}  // namespace

io::Json schedule_view(const Subject& subject, std::uint64_t most_sends) {
    expects(most_sends > 0);
    const Instance& instance = subject.instance;
    const Topology& topology = instance.topology();
    const Tally tally = tally_of(instance, *subject.replay());
    const Sample sample = sample_of(instance, tally, most_sends);
    const Speakers speakers(instance);
    Walk walk(subject, tally, sample, speakers);
    walk.run(*subject.replay());

    std::vector<double> x, y;
    for (const Point& point : layout(topology)) {
        x.push_back(place(point.x));
        y.push_back(place(point.y));
    }
    io::Json view{{"name", instance.name()},
                  {"key", subject.key},
                  {"units", topology.units() == Units::Abstract ? "abstract" : "physical"},
                  {"makespan", subject.makespan.count()}};
    view.update(bound_view(instance, subject.bounds, subject.claim));
    if (!subject.claim && view["lower_bound"] < view["makespan"]) {
        view["bound_text"].get_ref<std::string&>() +=
            " No solver and no linear program was asked here, so the gap may be smaller.";
    }
    view["npus"] = topology.npus();
    view["x"] = std::move(x);
    view["y"] = std::move(y);
    view["links"] = links_json(topology, tally, subject.makespan);
    view["groups"] = speakers.json;
    view["sends"] = walk.sends_json(tally);
    view["load"] = walk.load();
    view["link_load"] = walk.link_load();
    return view;
}

}  // namespace tutti::report
