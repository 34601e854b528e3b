#include "app/model.hpp"

#include "app/bug.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/instance_json.hpp"
#include "models/encode/alone.hpp"
#include "models/encode/interval.hpp"
#include "models/encode/time_indexed.hpp"
#include "models/export.hpp"
#include "synth/bounding.hpp"
#include "synth/reachability.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <streambuf>

namespace tutti::app {
namespace {

/// Larger models would be files of gigabytes that no solver reads.
constexpr std::size_t kMostStarts = 2'000'000;
constexpr std::size_t kMostPaths = 200'000;
constexpr models::Units64 kMostUnits = 100'000;

ModelFormat format_of(const ModelOptions& options) {
    if (options.format) return *options.format;
    if (options.output.empty() || options.output == "-") return ModelFormat::Mps;
    const std::string suffix = std::filesystem::path(options.output).extension().string();
    if (suffix == ".mps") return ModelFormat::Mps;
    if (suffix == ".smt2") return ModelFormat::Smt2;
    if (suffix == ".pbtxt" || suffix == ".txt") return ModelFormat::CpSat;
    throw InputError(
        "expected a file that ends in .mps, .smt2, .pbtxt or .txt, or --format mps, smt2 or cpsat", {},
        options.output);
}

/// A stream buffer over an AtomicFile.
class IntoFile : public std::streambuf {
  public:
    explicit IntoFile(io::AtomicFile& file) : file_(file) {
        setp(block_.data(), block_.data() + block_.size());
    }

  protected:
    int_type overflow(int_type c) override {
        flush();
        if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
    }
    int sync() override {
        flush();
        return 0;
    }

  private:
    void flush() {
        file_.write({pbase(), static_cast<std::size_t>(pptr() - pbase())});
        setp(block_.data(), block_.data() + block_.size());
    }
    io::AtomicFile& file_;
    std::array<char, 1 << 16> block_{};
};

/// The model of one call.
class ModelOf {
  public:
    ModelOf(const Instance& instance, const ModelOptions& options, const Stop& stop)
        : instance_(instance), options_(options), stop_(stop), routing_(instance) {
        const Ticks asked =
            options.horizon ? Ticks(*options.horizon) : synth::bounds_of(instance, {}, stop).best().value;
        horizon_ =
            options.horizon ? routing_.units(asked) : (asked.count() + routing_.unit() - 1) / routing_.unit();
    }

    [[nodiscard]] Ticks horizon() const { return routing_.ticks(horizon_); }

    [[nodiscard]] models::Question question() const {
        if (options_.encoding == ModelEncoding::Intervals) {
            if (const std::string why = models::why_no_interval(routing_); !why.empty()) cannot(why);
            limit("paths of chunks", models::interval_size(routing_).chains, kMostPaths, "");
            return models::interval(routing_, {horizon_});
        }
        if (options_.encoding == ModelEncoding::Alone) return alone();
        models::Quotient quotient = models::no_quotient(routing_);
        if (options_.encoding == ModelEncoding::Symmetric) {
            auto found = models::quotient_of(routing_, stop_);
            if (!found) {
                cannot(routing_.has_limited_buffers() ? "a switch has a limited buffer"
                                                      : "no symmetry was found that moves every chunk");
            }
            quotient = std::move(*found);
        }
        const std::string_view hint =
            models::why_no_interval(routing_).empty() ? "; --encoding intervals does not grow with time" : "";
        limit("units of time", static_cast<std::size_t>(horizon_), static_cast<std::size_t>(kMostUnits),
              hint);
        limit("start variables", models::time_indexed_starts(routing_, quotient, horizon_), kMostStarts,
              hint);
        return models::time_indexed(routing_, quotient, {horizon_});
    }

    /// Why "infeasible" would prove nothing; empty if it is a proof.
    [[nodiscard]] std::string doubt(const models::Question& question) const {
        if (question.refutes) return {};
        if (!routing_.incomplete().empty()) return routing_.incomplete();
        return options_.encoding == ModelEncoding::Intervals
                   ? "only sums that take a link once, and are replaced once at a node, are looked for"
                   : "only schedules that are invariant under a symmetry are looked for";
    }

  private:
    [[nodiscard]] models::Question alone() const {
        auto found = models::alone(routing_, {horizon_, {}, stop_}, models::AlonePairs::Many);
        if (!found) cannot("it has no equal all-reduces of several chunks that share links");
        if (found->too_large)
            throw LimitError(
                fmt::format("the model of one chunk of '{}' alone would be too large", instance_.name()));
        models::Question question;
        question.program = std::move(found->program);
        return question;
    }
    [[noreturn]] void cannot(const std::string& why) const {
        throw InputError(
            fmt::format("the encoding '{}' cannot say this instance: {}; --encoding time-indexed can",
                        name_of(options_.encoding), why),
            {}, options_.instance);
    }
    void limit(std::string_view what, std::size_t count, std::size_t most, std::string_view hint) const {
        if (count <= most) return;
        throw LimitError(fmt::format("the {} model of '{}' by {} ticks would have {} {}; the most is {}{}",
                                     name_of(options_.encoding), instance_.name(), horizon().count(), count,
                                     what, most, hint));
    }

    const Instance& instance_;
    const ModelOptions& options_;
    const Stop& stop_;
    const models::Routing routing_;
    models::Units64 horizon_ = 0;
};

void write_model(const std::string& path, ModelFormat format, const models::Program& program) {
    io::AtomicFile file(path);
    IntoFile buffer(file);
    std::ostream out(&buffer);
    out.exceptions(std::ios::badbit);  // lets exceptions of the file propagate
    switch (format) {
        case ModelFormat::Mps:
            if (const auto why = models::write_mps(out, program)) {
                throw InputError(
                    fmt::format("as MPS this cannot be written: {}; --format smt2 and cpsat can", *why));
            }
            break;
        case ModelFormat::Smt2:
            models::write_smt2(out, program);
            break;
        case ModelFormat::CpSat:
            models::write_cpsat_text(out, program);
            break;
    }
    out.flush();
    file.commit();
}

void refuse_to_replace_instance(const ModelOptions& options) {
    std::error_code error;
    if (options.instance != "-" && std::filesystem::equivalent(options.output, options.instance, error)) {
        throw InputError("is the instance; the model would replace it (choose another --output)", {},
                         options.output);
    }
}

}  // namespace

std::string_view name_of(ModelEncoding encoding) {
    switch (encoding) {
        case ModelEncoding::TimeIndexed:
            return "time-indexed";
        case ModelEncoding::Symmetric:
            return "symmetric";
        case ModelEncoding::Intervals:
            return "intervals";
        case ModelEncoding::Alone:
            return "alone";
    }
    return "";
}

std::string_view name_of(ModelFormat format) {
    switch (format) {
        case ModelFormat::Mps:
            return "mps";
        case ModelFormat::Smt2:
            return "smt2";
        case ModelFormat::CpSat:
            return "cpsat";
    }
    return "";
}

WrittenModel model(const ModelOptions& options, const Watch& watch) {
    WrittenModel written{.encoding = options.encoding, .format = format_of(options)};
    refuse_to_replace_instance(options);
    const Instance instance = io::read_instance(options.instance, {}, watch.stop());
    if (const auto who = synth::unreachable(instance)) throw InfeasibleError(*who);
    written.instance = instance.name();
    written.units = instance.topology().units();
    written.file = options.output.empty() ? "-" : options.output;
    return with_instance(instance, [&] {
        const Stop stop = watch.stop();
        const ModelOf model(instance, options, stop);
        const models::Question question = model.question();
        const models::Program& program = question.program;
        written.horizon = model.horizon();
        written.variables = program.vars();
        written.constraints = program.rows() + program.choices() + program.no_overlaps();
        written.doubt = model.doubt(question);
        write_model(written.file, written.format, program);
        return written;
    });
}

io::Json json_of(const WrittenModel& model) {
    return {{"instance", model.instance},
            {"encoding", name_of(model.encoding)},
            {"format", name_of(model.format)},
            {"horizon", model.horizon.count()},
            {"variables", model.variables},
            {"constraints", model.constraints},
            {"infeasible_is_proof", model.doubt.empty()},
            {"doubt", model.doubt},
            {"file", model.file}};
}

}  // namespace tutti::app
