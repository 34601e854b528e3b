// Rules of placement and of collectives.

#include "tensor/rules.hpp"

#include <algorithm>

namespace tutti::tensor::rules {
namespace {

/// Products beyond 2^60 stay there, where infer() refuses them.
std::int64_t times(std::int64_t size, std::int64_t ranks) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    return size > kMost / ranks ? kMost + 1 : size * ranks;
}

bool slices_elsewhere(const Context& context, const Type& type, std::size_t dim) {
    return std::ranges::any_of(slicing_axes(type, dim),
                               [&](AxisId axis) { return axis != context.value.axes.front(); });
}

void check_local(const Context& context) {
    for (const AxisId axis : context.value.axes) {
        const Layout layout = context.type(0).on(axis);
        if (layout.is_local()) continue;
        context.refuse("not-local", "{} is {} on {}; there is nothing of each rank's own to reduce",
                       context.name(0), text_of(layout), context.axis(axis));
    }
}

void check_root(const Context& context) {
    for (const AxisId axis : context.value.axes) {
        if (context.value.root >= 0 && context.value.root < context.mesh.size(axis)) continue;
        context.refuse("root", "ranks of {} are 0 to {}, and {} is none of them", context.axis(axis),
                       context.mesh.size(axis) - 1, context.value.root);
    }
}

Type with(const Context& context, Layout layout) {
    Type result = context.type(0);
    for (const AxisId axis : context.value.axes) result.layout[axis.index()] = layout;
    return result;
}

void check_nesting_of_dim(const Context& context, const Type& result, std::size_t dim) {
    check_nesting(context, slicing_axes(context.type(0), dim), slicing_axes(result, dim), context.name(0));
}

}  // namespace

Type slice(const Context& context) {
    const Type& arg = context.type(0);
    const std::size_t dim = checked_dim(context, context.value.dim, arg.rank(), context.name(0));
    for (const AxisId axis : context.value.axes) {
        if (arg.on(axis).is_replicated()) continue;
        context.refuse("not-replicated", "{} is {} on {}; only what every rank has is cut", context.name(0),
                       text_of(arg.on(axis)), context.axis(axis));
    }
    Type result = with(context, Layout::sliced(dim));
    check_nesting_of_dim(context, result, dim);
    return result;
}

Type stack(const Context& context) {
    const Type& arg = context.type(0);
    const std::size_t dim = checked_dim(context, context.value.dim, arg.rank(), context.name(0));
    const AxisId axis = context.value.axes.front();
    if (!arg.on(axis).is_local()) {
        context.refuse("not-local", "{} is {} on {}; values of each rank's own are stacked", context.name(0),
                       text_of(arg.on(axis)), context.axis(axis));
    }
    if (slices_elsewhere(context, arg, dim))
        context.refuse("sliced-elsewhere", "dimension {} is sliced on another axis", dim);
    Type result = with(context, Layout::sliced(dim));
    result.shape[dim] = times(result.shape[dim], context.mesh.size(axis));
    return result;
}

Type unstack(const Context& context) {
    const Type& arg = context.type(0);
    const std::size_t dim = checked_dim(context, context.value.dim, arg.rank(), context.name(0));
    const AxisId axis = context.value.axes.front();
    if (!arg.on(axis).is_sliced(dim)) {
        context.refuse("not-sliced", "{} is {} on {}, not sliced along dimension {}", context.name(0),
                       text_of(arg.on(axis)), context.axis(axis), dim);
    }
    if (slices_elsewhere(context, arg, dim))
        context.refuse("sliced-elsewhere", "dimension {} is sliced on another axis too", dim);
    const std::int64_t ranks = context.mesh.size(axis);
    if (arg.shape[dim] % ranks != 0) {
        context.refuse("not-divisible", "dimension {} of size {} is not {} parts of one size", dim,
                       arg.shape[dim], ranks);
    }
    Type result = with(context, Layout::local());
    result.shape[dim] /= ranks;
    return result;
}

Type all_reduce(const Context& context) {
    check_local(context);
    return with(context, Layout());
}

Type reduce_scatter(const Context& context) {
    check_local(context);
    const std::size_t dim = checked_dim(context, context.value.dim, context.type(0).rank(), context.name(0));
    Type result = with(context, Layout::sliced(dim));
    check_nesting_of_dim(context, result, dim);
    return result;
}

Type all_gather(const Context& context) {
    const Type& arg = context.type(0);
    const Layout first = arg.on(context.value.axes.front());
    for (const AxisId axis : context.value.axes) {
        const Layout layout = arg.on(axis);
        if (!layout.is_sliced()) {
            context.refuse("not-sliced", "{} is {} on {}; only slices are gathered", context.name(0),
                           text_of(layout), context.axis(axis));
        }
        if (layout != first) {
            context.refuse("not-sliced", "{} is sliced along dimensions {} and {} on the axes of one gather",
                           context.name(0), first.dim(), layout.dim());
        }
    }
    Type result = with(context, Layout());
    // The finest go first: what stays must be the coarsest.
    const std::vector<AxisId> before = slicing_axes(arg, first.dim()),
                              after = slicing_axes(result, first.dim());
    if (!std::equal(after.begin(), after.end(), before.begin())) {
        context.refuse("slicing-order", "{} is cut by {} last, which has to be gathered first",
                       context.name(0), context.axis(before.back()));
    }
    return result;
}

Type reduce_to(const Context& context) {
    check_root(context);
    check_local(context);
    return with(context, Layout::root(context.value.root));
}

Type broadcast_from(const Context& context) {
    check_root(context);
    for (const AxisId axis : context.value.axes) {
        const Layout layout = context.type(0).on(axis);
        if (layout.is_local() || layout == Layout::root(context.value.root)) continue;
        context.refuse("not-root", "{} is {} on {}; rank {} has nothing of its own to send", context.name(0),
                       text_of(layout), context.axis(axis), context.value.root);
    }
    return with(context, Layout());
}

Type all_to_all(const Context& context) {
    const Type& arg = context.type(0);
    const AxisId axis = context.value.axes.front();
    const std::size_t split = checked_dim(context, context.value.split, arg.rank(), context.name(0));
    const std::size_t concat = checked_dim(context, context.value.concat, arg.rank(), context.name(0));
    const Layout layout = arg.on(axis);
    if (layout.is_local()) {
        if (slices_elsewhere(context, arg, split) || slices_elsewhere(context, arg, concat)) {
            context.refuse("sliced-elsewhere", "dimension {} or {} of {} is sliced on another axis", split,
                           concat, context.name(0));
        }
        const std::int64_t ranks = context.mesh.size(axis);
        if (arg.shape[split] % ranks != 0) {
            context.refuse("not-divisible", "dimension {} of size {} is not {} parts of one size", split,
                           arg.shape[split], ranks);
        }
        Type result = arg;
        result.shape[split] /= ranks;
        result.shape[concat] = times(result.shape[concat], ranks);
        return result;
    }
    if (!layout.is_sliced(concat)) {
        context.refuse("not-sliced", "{} is {} on {}, neither local nor sliced along dimension {}",
                       context.name(0), text_of(layout), context.axis(axis), concat);
    }
    if (split == concat) {
        context.refuse("not-sliced", "split and concat are both dimension {}: the slices would stay", split);
    }
    Type result = with(context, Layout::sliced(split));
    const std::vector<AxisId> before = slicing_axes(arg, concat), after = slicing_axes(result, concat);
    if (!std::equal(after.begin(), after.end(), before.begin())) {
        context.refuse("slicing-order", "dimension {} of {} is cut by {} last, which would have to go first",
                       concat, context.name(0), context.axis(before.back()));
    }
    check_nesting_of_dim(context, result, split);
    return result;
}

Type shift(const Context& context) {
    const AxisId axis = context.value.axes.front();
    const Layout layout = context.type(0).on(axis);
    if (!layout.is_local() && !layout.is_replicated()) {
        context.refuse("not-local", "{} is {} on {}; a shift needs a value on every stage", context.name(0),
                       text_of(layout), context.axis(axis));
    }
    return with(context, Layout::local());
}

}  // namespace tutti::tensor::rules
