#include "emit/torch_helpers.hpp"

#include <array>

namespace tutti::emit {
namespace {

struct Helper {
    std::string_view call;  ///< how it is called
    std::string_view text;
};

/// Each after those that it calls.
constexpr std::array<Helper, 19> kHelpers{{
    {"_part(", R"(def _part(size, cuts):
    """The elements that this rank has of a dimension; each cut has the size of its parts and the rank's place."""
    begin, end = 0, size
    for part, place in cuts:
        begin = min(begin + part * place, end)
        end = min(begin + part, end)
    return begin, end
)"},
    {"_input(", R"(def _input(inputs, name, dtype, shape):
    """This rank's part of an input."""
    value = inputs[name]
    if tuple(value.shape) != shape:
        raise ValueError(f"input {name!r}: this rank's part has shape {shape}, found {tuple(value.shape)}")
    return value.to(dtype)
)"},
    {"_rooted(", R"(def _rooted(inputs, name, dtype, shape, has, device):
    """The same where only one rank has it; what others compute with it reaches nobody."""
    return _input(inputs, name, dtype, shape) if has else torch.zeros(shape, dtype=dtype, device=device)
)"},
    {"_pad(", R"(def _pad(x, dim, size):
    """Zeros behind the last element of a dimension."""
    if x.shape[dim] == size:
        return x
    return torch.nn.functional.pad(x, [0, 0] * (x.dim() - dim - 1) + [0, size - x.shape[dim]])
)"},
    {"_spread(", R"(def _spread(x, dim, cuts):
    """Pads a dimension so that all parts of nested cuts have the same size; a cut: how many parts, of which size."""
    for depth, (count, size) in enumerate(cuts):
        x = _pad(x, dim + depth, count * size).unflatten(dim + depth, (count, size))
    return x.flatten(dim, dim + len(cuts))
)"},
    {"_unspread(", R"(def _unspread(x, dim, cuts, nominal, size):
    """Takes the padding of _spread out again: of a dimension of `nominal` elements this rank has `size`."""
    x = x.unflatten(dim, [count for count, _ in cuts] + [cuts[-1][1]])
    sizes = [nominal] + [part for _, part in cuts]
    for depth in reversed(range(len(cuts))):
        x = x.flatten(dim + depth, dim + depth + 1).narrow(dim + depth, 0, sizes[depth])
    return x.narrow(dim, 0, size)
)"},
    {"_chunk(", R"(def _chunk(x, dim, count, place):
    """One of equal parts of a dimension."""
    size = x.shape[dim] // count
    return x.narrow(dim, size * place, size)
)"},
    {"_piece(", R"(def _piece(x, dim, parts, begin, size):
    """The same interval of each of the equal parts of a dimension."""
    return x.unflatten(dim, (parts, -1)).narrow(dim + 1, begin, size).flatten(dim, dim + 1)
)"},
    {"_whole(", R"(def _whole(pieces, dim, parts):
    """The inverse of _piece."""
    return torch.cat([x.unflatten(dim, (parts, -1)) for x in pieces], dim + 1).flatten(dim, dim + 1)
)"},
    {"_split(", R"(def _split(x, dim, count):
    """Equal parts of a dimension, as a dimension in front."""
    return x.unflatten(dim, (count, -1)).movedim(dim, 0).contiguous()
)"},
    {"_join(", R"(def _join(x, dim):
    """The inverse of _split."""
    return x.movedim(0, dim).flatten(dim, dim + 1)
)"},
    {"_together(", R"(def _together(parts):
    """Several buffers as one, for one call."""
    return torch.cat([x.reshape(x.shape[0], -1) for x in parts], 1)
)"},
    {"_apart(", R"(def _apart(x, parts):
    """The inverse of _together; `parts` have the shapes but for the first dimension."""
    pieces = x.split([math.prod(part.shape[1:]) for part in parts], 1)
    return [piece.reshape(x.shape[0], *part.shape[1:]) for piece, part in zip(pieces, parts)]
)"},
    {"_shift(", R"(def _shift(x, by, place, count, group):
    """Sends to the rank `by` places on, if there is one."""
    to = [x.numel() if other == place + by else 0 for other in range(count)]
    come = [x.numel() if other == place - by else 0 for other in range(count)]
    return funcol.all_to_all_single(x.reshape(-1)[: sum(to)].contiguous(), come, to, group)
)"},
    {"_done(", R"(def _done(x):
    return x.wait() if isinstance(x, funcol.AsyncCollectiveTensor) else x
)"},
    {"_arrived(", R"(def _arrived(x, shape, by, place, count):
    """What _shift brought; zeros where there was nobody to send it, which ends the call too."""
    x = _done(x)
    return x.reshape(shape) if 0 <= place - by < count else torch.zeros(shape, dtype=x.dtype, device=x.device)
)"},
    {"_reduced(", R"(def _reduced(x, kind, dims, keepdims):
    if not dims:
        return x
    if kind == "sum":
        return x.sum(dims, keepdim=keepdims, dtype=x.dtype)
    if kind == "prod":
        for dim in sorted(dims, reverse=True):
            x = x.prod(dim, keepdim=keepdims, dtype=x.dtype)
        return x
    if x.numel() == 0:  # a part without elements, which loses against any other
        least, most = (-math.inf, math.inf) if x.is_floating_point() else (False, True) if x.dtype == torch.bool else (torch.iinfo(x.dtype).min, torch.iinfo(x.dtype).max)
        end = least if kind == "max" else most
        shape = [1 if dim in dims else size for dim, size in enumerate(x.shape) if keepdims or dim not in dims]
        return torch.full(shape, end, dtype=x.dtype, device=x.device)
    return x.amax(dims, keepdim=keepdims) if kind == "max" else x.amin(dims, keepdim=keepdims)
)"},
    {"_quotient(", R"(def _quotient(x, y):
    """Of whole numbers, rounded towards zero; what is divided by 0 has no meaning, and is 0."""
    return torch.where(y == 0, 0, torch.div(x, torch.where(y == 0, 1, y), rounding_mode="trunc"))
)"},
    {"_uniform(", R"(def _uniform(seed, shape, own, dtype, device):
    """Philox4x32-10: a number in [0, 1) for each element, by its row-major number in the whole shape."""
    number = torch.zeros((), dtype=torch.int64, device=device)
    for dim, (begin, end) in enumerate(own):
        number = number.unsqueeze(-1) + torch.arange(begin, end, device=device) * math.prod(shape[dim + 1 :])
    mask = 0xFFFFFFFF

    def product(a, b):  # of two words, as its high and its low word; no step reaches 2**63
        high, low = (a >> 16) * b, (a & 0xFFFF) * b
        return ((low >> 16) + high) >> 16, (((high & 0xFFFF) << 16) + low) & mask

    counter, keys = number // 4, [seed & mask, (seed >> 32) & mask]
    x = [counter & mask, counter >> 32, torch.zeros_like(counter), torch.zeros_like(counter)]
    for _ in range(10):
        (high0, low0), (high1, low1) = product(x[0], 0xD2511F53), product(x[2], 0xCD9E8D57)
        x = [high1 ^ x[1] ^ keys[0], low1, high0 ^ x[3] ^ keys[1], low0]
        keys = [(keys[0] + 0x9E3779B9) & mask, (keys[1] + 0xBB67AE85) & mask]
    lane = number % 4
    word = torch.where(lane == 0, x[0], torch.where(lane == 1, x[1], torch.where(lane == 2, x[2], x[3])))
    return ((word >> 8).to(torch.float64) * 2.0**-24).to(dtype)
)"},
}};

}  // namespace

std::string torch_helpers_for(std::string_view step) {
    std::array<bool, kHelpers.size()> wanted{};
    std::string used(step);
    for (std::size_t i = kHelpers.size(); i-- > 0;) {
        wanted[i] = used.find(kHelpers[i].call) != std::string::npos;
        if (wanted[i]) used += kHelpers[i].text;
    }
    std::string text;
    for (std::size_t i = 0; i < kHelpers.size(); ++i) {
        if (wanted[i]) text.append("\n\n").append(kHelpers[i].text);
    }
    return text;
}

}  // namespace tutti::emit
