// Chunk programs that are written in Python: lang::Program and lang::Ref, called verb by verb.
//
// A verb takes less than a microsecond. Most of that is the interpreter's: passing the arguments, making the
// object for the reference, and finding the line that called. The line costs what the interpreter takes to
// decode its table of lines; its number in the trace is remembered for the code object and the line.

#include "bindings.hpp"
#include "errors.hpp"
#include "io/chunk_trace.hpp"
#include "lang/program.hpp"
#include "names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tutti::python {
namespace {

/// The file as messages call it: relative where it lies below the working directory.
std::string file_of(PyObject* code) {
    const auto name = nb::cast<std::string>(nb::handle(code).attr("co_filename"));
    std::error_code error;
    const auto near = std::filesystem::path(name).lexically_relative(std::filesystem::current_path(error));
    return error || near.empty() || *near.begin() == ".." ? name : near.string();
}

/// A program, and the lines of Python that called its verbs.
class TracedProgram : public std::enable_shared_from_this<TracedProgram> {
  public:
    explicit TracedProgram(lang::Trace header) : program_(std::move(header)) {}

    [[nodiscard]] lang::Program& program() { return program_; }

    /// The verbs from here on are called by the line of Python that is running.
    void at_caller() {
        PyFrameObject* const frame = PyEval_GetFrame();
        if (frame == nullptr) return;
        const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
        const int line = PyFrame_GetLineNumber(frame);
        if (code.is(last_code_) && line == last_line_) return;
        program_.at(place_of(code, line));
        last_code_ = code;
        last_line_ = line;
    }

  private:
    std::uint32_t place_of(const nb::object& code, int line) {
        CodeLines& known = codes_[code.ptr()];
        if (!known.code.is_valid()) {
            known.code = code;
            known.file = file_of(code.ptr());
        }
        const auto [place, fresh] = known.places.try_emplace(line, 0);
        if (fresh)
            place->second =
                program_.tracer().place(known.file, static_cast<std::uint32_t>(std::max(line, 0)));
        return place->second;
    }

    struct CodeLines {
        nb::object code;  ///< kept alive, so that its address stays its own
        std::string file;
        std::unordered_map<int, std::uint32_t> places;
    };
    lang::Program program_;
    std::unordered_map<PyObject*, CodeLines> codes_;
    nb::object last_code_;
    int last_line_ = -1;
};

/// A reference that keeps its program alive.
struct TracedRef {
    std::shared_ptr<TracedProgram> traced;
    lang::Ref ref;
};

/// Calls `verb`; what it refuses is a ProgramError at the line that called.
template <class Verb>
auto at_caller(TracedProgram& traced, const Verb& verb) {
    traced.at_caller();
    try {
        return verb(traced.program());
    } catch (const InputError& error) {
        throw ProgramError(error.message(), error.place());
    }
}

/// A number of Python's as one of ours.
std::uint32_t number(const lang::Program& program, std::string_view what, std::int64_t given) {
    if (given < 0 || given > std::numeric_limits<std::int32_t>::max())
        program.refuse(fmt::format("expected a {} of 0 or more, found {}", what, given));
    return static_cast<std::uint32_t>(given);
}

/// The buffer of that name; a verb that writes makes a scratch buffer of a new name.
std::uint32_t buffer_of(lang::Program& program, std::string_view name, bool writes) {
    if (name == "input") return lang::kInput;
    if (name == "output") return lang::kOutput;
    const std::vector<std::string>& scratch = program.trace().scratch;
    const auto found = std::ranges::find(scratch, name);
    if (found != scratch.end())
        return lang::kFirstScratch + static_cast<std::uint32_t>(found - scratch.begin());
    if (!writes || name.empty()) {
        program.refuse(fmt::format("there is no buffer '{}'; there are input, output{}{}", name,
                                   scratch.empty() ? "" : ", ", fmt::join(scratch, ", ")));
    }
    return program.scratch(std::string(name));
}

std::string_view name_of_buffer(const lang::Program& program, std::uint32_t buffer) {
    if (buffer == lang::kInput) return "input";
    return buffer == lang::kOutput ? "output"
                                   : std::string_view(program.trace().scratch[buffer - lang::kFirstScratch]);
}

TracedRef chunk(TracedProgram& traced, std::int64_t rank, std::string_view buffer, std::int64_t index,
                std::int64_t size) {
    return at_caller(traced, [&](lang::Program& program) {
        if (size < 1) program.refuse(fmt::format("expected a size of 1 or more, found {}", size));
        const std::uint32_t from = number(program, "rank", rank), first = number(program, "index", index);
        const std::uint32_t length = number(program, "size", size);
        const std::uint32_t place = buffer_of(program, buffer, false);
        if (from >= program.ranks())
            program.refuse(fmt::format("there is no rank {}; the program has {}", from, program.ranks()));
        if (std::uint64_t{first} + length > program.tracer().size(from, place)) {
            program.refuse(fmt::format("{}[{}] is outside of the buffer, which has {} chunks", buffer,
                                       std::uint64_t{first} + length - 1,
                                       program.tracer().size(from, place)));
        }
        return TracedRef{traced.shared_from_this(), program.chunk(from, place, first, length)};
    });
}

TracedRef copy(const TracedRef& self, std::int64_t rank, std::optional<std::string_view> buffer,
               std::optional<std::int64_t> index, std::int32_t sendtb, std::int32_t recvtb, std::int32_t ch) {
    return at_caller(*self.traced, [&](lang::Program& program) {
        const std::uint32_t to = number(program, "rank", rank);
        const std::uint32_t place = buffer ? buffer_of(program, *buffer, true) : self.ref.buffer();
        std::uint32_t first = self.ref.index();
        if (index) {
            first = number(program, "index", *index);
        } else if (buffer && place >= lang::kFirstScratch) {
            first = program.tracer().size(to, place);
        } else if (buffer) {
            program.refuse(fmt::format("expected an index; only in a scratch buffer there is a next place"));
        }
        return TracedRef{self.traced, self.ref.copy(to, place, first, {sendtb, recvtb, ch})};
    });
}

TracedRef reduce(const TracedRef& self, const TracedRef& other, std::int32_t sendtb, std::int32_t recvtb,
                 std::int32_t ch) {
    return at_caller(*self.traced, [&](lang::Program& program) {
        if (self.traced != other.traced) program.refuse("the two references are of different programs");
        return TracedRef{self.traced, self.ref.reduce(other.ref, {sendtb, recvtb, ch})};
    });
}

std::vector<TracedRef> split(const TracedRef& self, std::int64_t parts) {
    return at_caller(*self.traced, [&](lang::Program& program) {
        if (parts < 1 || self.ref.size() % parts != 0)
            program.refuse(
                fmt::format("{} chunks cannot be split into {} equal parts", self.ref.size(), parts));
        const std::uint32_t size = self.ref.size() / static_cast<std::uint32_t>(parts);
        std::vector<TracedRef> refs;
        for (std::uint32_t first = 0; first < self.ref.size(); first += size) {
            refs.push_back({self.traced, program.chunk(self.ref.rank(), self.ref.buffer(),
                                                       self.ref.index() + first, size)});
        }
        return refs;
    });
}

TracedRef group(const TracedRef& self, const TracedRef& other) {
    return at_caller(*self.traced, [&](lang::Program& program) {
        const lang::Ref &a = self.ref, &b = other.ref;
        const std::uint32_t first = std::min(a.index(), b.index());
        const std::uint32_t end = std::max(a.index() + a.size(), b.index() + b.size());
        if (self.traced != other.traced || a.rank() != b.rank() || a.buffer() != b.buffer() ||
            end - first > a.size() + b.size()) {
            program.refuse("only neighbouring chunks of one buffer can be grouped");
        }
        return TracedRef{self.traced, program.chunk(a.rank(), a.buffer(), first, end - first)};
    });
}

std::uint32_t count_in(const nb::object& collective, const char* name) {
    const nb::object value = collective.attr(name);
    try {
        return nb::cast<std::uint32_t>(value);
    } catch (const nb::cast_error&) {
        throw InputError(
            fmt::format("{}: expected a whole number of 0 or more, found {}", name, nb::repr(value).c_str()));
    }
}

/// What the program is for is told by a tutti.Collective.
lang::Trace header(const nb::object& collective, const std::string& name, const std::string& protocol,
                   std::uint32_t instances, bool interleaved, const std::string& policy, bool fusion) {
    lang::Trace trace;
    trace.name = name;
    trace.shape.kind = collective_kind(nb::cast<std::string>(collective.attr("kind")));
    trace.shape.ranks = count_in(collective, "ranks");
    trace.shape.chunks = count_in(collective, "chunks");
    trace.shape.in_place = nb::cast<bool>(collective.attr("in_place"));
    if (has_root(trace.shape.kind)) trace.shape.root = Rank(count_in(collective, "root"));
    trace.protocol = plan_protocol(protocol);
    trace.instances = instances;
    trace.interleaved = interleaved;
    if (policy != "auto" && policy != "manual")
        throw InputError(fmt::format("expected a policy of auto, manual; found '{}'", policy));
    trace.policy = policy == "manual" ? lang::BlockPolicy::Manual : lang::BlockPolicy::Auto;
    trace.fusion = fusion;
    return trace;
}

std::string repr_of(const TracedRef& self) {
    return fmt::format("<Ref {}[{}..{}] of rank {}>",
                       name_of_buffer(self.traced->program(), self.ref.buffer()), self.ref.index(),
                       self.ref.index() + self.ref.size() - 1, self.ref.rank());
}

}  // namespace

void bind_programs(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<TracedRef>(
        module, "Ref",
        "Neighbouring chunks of a buffer of a rank, as they were when the reference was made. One whose\n"
        "chunks were written through another reference since is stale, and using it is refused.")
        .def_prop_ro("rank", [](const TracedRef& self) { return self.ref.rank(); })
        .def_prop_ro("buffer",
                     [](const TracedRef& self) {
                         return std::string(name_of_buffer(self.traced->program(), self.ref.buffer()));
                     })
        .def_prop_ro("index", [](const TracedRef& self) { return self.ref.index(); })
        .def_prop_ro("size", [](const TracedRef& self) { return self.ref.size(); })
        .def("copy", copy, "rank"_a, "buffer"_a = nb::none(), "index"_a = nb::none(), "sendtb"_a = -1,
             "recvtb"_a = -1, "ch"_a = -1,
             "The values become those of as many places of another rank, or of the same; returns these. "
             "Without a\n"
             "buffer: the same place at that rank. A scratch buffer without an index: behind its end.")
        .def("reduce", reduce, "other"_a, "sendtb"_a = -1, "recvtb"_a = -1, "ch"_a = -1,
             "`other` is added to these places; returns a fresh reference to them.")
        .def("split", split, "parts"_a, "Equal parts, in order.")
        .def("group", group, "other"_a, "One reference for two neighbours.")
        .def("__repr__", repr_of);
    nb::class_<TracedProgram>(module, "Program",
                              "A chunk program: its verbs in the order in which they are called.")
        .def(nb::new_([](const nb::object& collective, const std::string& name, const std::string& protocol,
                         std::uint32_t instances, bool interleaved, const std::string& policy, bool fusion) {
                 return std::make_shared<TracedProgram>(
                     header(collective, name, protocol, instances, interleaved, policy, fusion));
             }),
             "collective"_a, "name"_a = "program", "protocol"_a = "Simple", "instances"_a = 1,
             "interleaved"_a = true, "policy"_a = "auto", "fusion"_a = true)
        .def_prop_ro("ranks", [](TracedProgram& self) { return self.program().ranks(); })
        .def_prop_ro("name", [](TracedProgram& self) { return self.program().trace().name; })
        .def_prop_ro("verbs", [](TracedProgram& self) { return self.program().trace().verbs.size(); })
        .def("chunk", chunk, "rank"_a, "buffer"_a, "index"_a, "size"_a = 1,
             "A reference to `size` neighbouring chunks of a buffer: \"input\", \"output\", or the name of a "
             "scratch\n"
             "buffer that a copy has made.")
        .def(
            "trace",
            [](TracedProgram& self) {
                const std::string text = io::chunk_trace_text(self.program().trace());
                return nb::bytes(text.data(), text.size());
            },
            "The program as a trace file (docs/chunk-programs.md).");
}

}  // namespace tutti::python
