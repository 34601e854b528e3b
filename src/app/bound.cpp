#include "app/bound.hpp"

#include "app/bug.hpp"
#include "io/bound_json.hpp"
#include "io/instance_json.hpp"
#include "synth/bounding.hpp"
#include "synth/reachability.hpp"

namespace tutti::app {

Bounded bound(const BoundOptions& options, const Watch& watch) {
    Bounded bounded{io::read_instance(options.instance, options.variation, watch.stop()), options.instance};
    const Stop stop = watch.stop(options.time_limit);
    if (const auto who = synth::unreachable(bounded.instance)) throw InfeasibleError(*who);
    with_instance(bounded.instance, [&] {
        synth::Bounding bounding = synth::bounds_of(bounded.instance, {}, stop, options.options);
        bounding.check_all();
        bounded.bounds = bounding.bounds();
        bounded.skipped = bounding.skipped();
    });
    bounded.stopped = stop.requested();
    return bounded;
}

io::Json json_of(const Bounded& bounded) {
    io::Json json{{"instance", bounded.instance.name()},
                  {"lower_bound", bounded.best().value.count()},
                  {"bound_kind", bounded.best().kind},
                  {"file", bounded.file},
                  {"stopped", bounded.stopped}};
    io::Json& list = json["bounds"] = io::Json::array();
    for (const Bound& bound : bounded.bounds) list.push_back(io::bound_json(bound, bound.seconds));
    json["skipped"] = io::skipped_json(bounded.skipped);
    return json;
}

}  // namespace tutti::app
