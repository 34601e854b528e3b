#include "batch/variant_instance.hpp"

#include "batch/call.hpp"
#include "batch/fnv.hpp"
#include "core/error.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "timing/call_size.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tutti::batch {
namespace {

std::string_view kind_of_file(const struct stat& status) {
    if (S_ISFIFO(status.st_mode)) return "a pipe";
    if (S_ISSOCK(status.st_mode)) return "a socket";
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return "a device";
    return "something else";
}

/// Opening a pipe would wait until somebody writes into it.
void check_regular(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        throw InputError("cannot be opened: " + std::generic_category().message(errno), {}, path);
    if (S_ISREG(status.st_mode)) return;
    if (!S_ISDIR(status.st_mode))
        throw InputError(fmt::format("expected a file, found {}", kind_of_file(status)), {}, path);
    if (::access(path.c_str(), R_OK | X_OK) != 0)
        throw InputError("cannot be searched: " + std::generic_category().message(errno), {}, path);
    throw InputError("expected a file, found a folder", {}, path);
}

bool has_chunks(std::string_view kind) { return kind != "all_to_all_v" && kind != "custom"; }

/// The collectives of a document that may be anything; null where it has none.
io::Json* collectives_in(io::Json& document) {
    if (!document.is_object()) return nullptr;
    const auto found = document.find("collectives");
    return found != document.end() && found->is_array() ? &*found : nullptr;
}

void set_chunks(io::Json& document, std::uint64_t chunks) {
    io::Json* collectives = collectives_in(document);
    if (collectives == nullptr) return;  // parse_instance has the words
    for (std::size_t i = 0; i < collectives->size(); ++i) {
        io::Json& collective = (*collectives)[i];
        if (!collective.is_object()) continue;
        const auto kind = collective.find("kind");
        if (kind != collective.end() && kind->is_string() && !has_chunks(kind->get<std::string>())) {
            throw InputError(fmt::format("{} has no 'chunks', so that the run cannot set it to {}",
                                         kind->get<std::string>(), chunks),
                             fmt::format("/collectives/{}", i));
        }
        collective["chunks"] = chunks;
    }
}

/// Gives each collective the chunks that make a call of so many bytes.
void set_bytes(io::Json& document, const std::string& name, Bytes bytes) {
    io::Json* collectives = collectives_in(document);
    if (collectives == nullptr) return;
    // In physical units a size must be there before the instance can be read at all.
    for (io::Json& collective : *collectives) {
        if (collective.is_object()) collective["chunk_bytes"] = 1;
    }
    const Instance instance = io::parse_instance(document, name);
    if (instance.topology().units() == Units::Abstract) {
        throw InputError(
            fmt::format("the run asks for calls of {} bytes, but in abstract units (alpha, beta) sizes do "
                        "not matter; give the links latencies and bandwidths",
                        bytes.count),
            "/topology");
    }
    for (std::size_t i = 0; i < collectives->size(); ++i) {
        const Collective& collective = instance.collectives()[i];
        const std::size_t ranks = instance.groups()[collective.group.index()].members.size();
        const auto chunks = chunks_of_call(collective, ranks);
        if (!chunks) {
            throw InputError(
                fmt::format("custom demands are no call, so that the run cannot make it one of {} bytes",
                            bytes.count),
                fmt::format("/collectives/{}", i));
        }
        (*collectives)[i]["chunk_bytes"] = timing::chunk_bytes(bytes, *chunks).count;
    }
}

}  // namespace

Instance instance_of(const Task& task) {
    const std::string path = task.job.path.string();
    check_regular(path);
    const Variant& variant = task.variant;
    if (!variant.chunks && !variant.bytes) return io::read_instance(path);
    io::Source source(path);
    io::Json document = io::parse_json(source);
    const std::string name = task.job.path.stem().string();
    try {
        if (variant.chunks) set_chunks(document, *variant.chunks);
        if (variant.bytes) set_bytes(document, name, *variant.bytes);
        return io::parse_instance(document, name);
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

std::string digest_of(const std::filesystem::path& path) {
    try {
        check_regular(path.string());
        io::Source source(path.string());
        source.limit(io::JsonLimits().bytes);
        std::uint64_t hash = fnv({});
        for (auto bytes = source.block(); !bytes.empty(); bytes = source.block()) hash = fnv(bytes, hash);
        return fmt::format("{:016x}", hash);
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace tutti::batch
