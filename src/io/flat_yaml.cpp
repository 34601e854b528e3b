#include "io/flat_yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace tutti::io {
namespace {

constexpr std::uint64_t kMaxYaml = std::uint64_t{1} << 18;
constexpr int kMaxNesting = 16;

std::string place_of(const YAML::Mark& mark) {
    return mark.is_null() ? std::string() : fmt::format("{}:{}", mark.line + 1, mark.column + 1);
}

/// Handles yaml-cpp's events. Its tree of nodes is not used, because that would resolve aliases.
class Listener final : public YAML::EventHandler {
  public:
    explicit Listener(std::vector<YamlEntry>& entries) : entries_(entries) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { word(mark, anchor, "null"); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(mark); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  const std::string& value) override {
        word(mark, anchor, value);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, anchor, false);
    }
    void OnSequenceEnd() override { --depth_; }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, anchor, true);
    }
    void OnMapEnd() override { --depth_; }

  private:
    [[noreturn]] static void refuse_alias(const YAML::Mark& mark) {
        throw InputError("anchors and aliases (& and *) are not read: write the value out", place_of(mark));
    }

    void open(const YAML::Mark& mark, YAML::anchor_t anchor, bool map) {
        if (anchor != YAML::NullAnchor) refuse_alias(mark);
        if (depth_ == 0 && !map) throw InputError("expected keys and values, found a list", place_of(mark));
        if (depth_ == 1 && expects_key_)
            throw InputError("expected a key, found a list or map", place_of(mark));
        if (depth_ == 1 && map) entries_.back().flat = false;
        if (depth_ == 1) expects_key_ = true;
        if (depth_ >= 2) entries_.back().flat = false;
        if (++depth_ > kMaxNesting) {
            throw InputError(fmt::format("lists and maps are nested more than {} deep", kMaxNesting),
                             place_of(mark));
        }
    }

    void word(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& value) {
        if (anchor != YAML::NullAnchor) refuse_alias(mark);
        if (depth_ == 0) throw InputError("expected keys and values, found a single word", place_of(mark));
        YamlWord found{value, place_of(mark)};
        if (depth_ == 1 && expects_key_) {
            const auto twin = std::ranges::find(entries_, value, [](const auto& e) { return e.key.text; });
            if (twin != entries_.end()) {
                throw InputError(fmt::format("'{}' is given twice; first at {}", value, twin->key.place),
                                 found.place);
            }
            if (entries_.size() == kMaxKeys)
                throw InputError("more keys than any such file has", found.place);
            entries_.push_back({std::move(found), {}, true});
            expects_key_ = false;
            return;
        }
        if (depth_ == 1) expects_key_ = true;
        if (depth_ <= 2 && entries_.back().flat) entries_.back().words.push_back(std::move(found));
    }

    static constexpr std::size_t kMaxKeys = 1000;

    std::vector<YamlEntry>& entries_;
    int depth_ = 0;
    bool expects_key_ = true;  ///< of the outermost map
};

}  // namespace

FlatYaml::FlatYaml(Source& source) {
    std::istringstream text(read_text(source, kMaxYaml));
    try {
        YAML::Parser parser(text);
        Listener listener(entries_);
        if (!parser.HandleNextDocument(listener)) source.fail("expected keys and values, found nothing");
    } catch (const YAML::Exception& error) {
        source.fail(fmt::format("not YAML: {}", error.msg), place_of(error.mark));
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

const YamlEntry* FlatYaml::find(std::string_view key) const {
    const auto found = std::ranges::find(entries_, key, [](const YamlEntry& e) { return e.key.text; });
    return found == entries_.end() ? nullptr : &*found;
}

}  // namespace tutti::io
