#include "io/forestcoll_xml.hpp"

#include "io/xml_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

// Node names are Python's output for them: numbers, or tuples such as (0, 'GPU', 3). They are compared as
// text. A path is a list of names separated by commas; commas inside parentheses or quotes belong to a name.
// (Format from liangyuRain/ForestColl, spanning_trees_to_xml in pipeline_allgather.py.)

namespace tutti::io {
namespace {

using plan::ForestCollPlan;
using plan::PlanNode;

enum TreeAttribute : std::size_t { kRoot, kIndex, kTreeChunks, kHeight };
constexpr std::array<const char*, 4> kTree{"root", "index", "nchunks", "height"};
enum SendAttribute : std::size_t { kSrc, kDst, kPath };
constexpr std::array<const char*, 3> kSend{"src", "dst", "path"};
constexpr std::array<const char*, 1> kForest{"nchunkspernode"};

/// The names of a path; none if its parentheses or quotes are not closed.
std::vector<std::string_view> names_of(std::string_view path) {
    std::vector<std::string_view> names;
    std::size_t begin = 0, depth = 0;
    char quote = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char ch = path[i];
        if (quote != 0) {
            if (ch == quote) quote = 0;
        } else if (ch == '\'' || ch == '"') {
            quote = ch;
        } else if (ch == '(' || ch == '[') {
            ++depth;
        } else if (ch == ')' || ch == ']') {
            if (depth == 0) return {};
            --depth;
        } else if (ch == ',' && depth == 0) {
            names.push_back(path.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    if (depth > 0 || quote != 0) return {};
    names.push_back(path.substr(begin));
    return names;
}

class TreeReader {
  public:
    explicit TreeReader(const XmlDocument& document) : document_(document) {}

    ForestCollPlan read() {
        const pugi::xml_node root = document_.root();
        if (std::string_view(root.name()) != "Algo" || !root.attribute("nchunkspernode")) {
            document_.fail("root",
                           fmt::format("expected the root <Algo nchunkspernode>, found <{}>", root.name()),
                           root);
        }
        XmlAttributes attributes(document_, kForest);
        attributes.read(root);
        plan_.chunks_per_node = attributes.integer<std::int64_t>(0, 1, kMostTreeChunks);
        for (const pugi::xml_node child : root.children("tree")) read_tree(child);
        number_nodes();
        for (const auto& [ends, chunks] : loads_) plan_.busiest_link = std::max(plan_.busiest_link, chunks);
        return std::move(plan_);
    }

  private:
    static constexpr std::int64_t kMostTreeChunks = std::int64_t{1} << 40U;

    PlanNode name(std::string_view text) {
        const auto [known, added] = numbers_.try_emplace(std::string(text), PlanNode(names_.size()));
        if (added) {
            names_.emplace_back(text);
            is_node_.push_back(false);
        }
        return known->second;
    }
    PlanNode node(std::string_view text) {
        const PlanNode number = name(text);
        is_node_[number.index()] = true;
        return number;
    }

    void read_tree(pugi::xml_node element) {
        XmlAttributes attributes(document_, kTree);
        attributes.read(element);
        plan::ForestTree tree;
        tree.root = node(attributes.required(kRoot));
        tree.index = attributes.integer<std::int64_t>(kIndex, 0, kMostTreeChunks);
        tree.chunks = attributes.integer<std::int64_t>(kTreeChunks, 1, kMostTreeChunks);
        tree.height = attributes.integer<std::int64_t>(kHeight, 0, kMostTreeChunks);
        XmlAttributes send_attributes(document_, kSend);
        for (const pugi::xml_node child : element.children("send")) {
            send_attributes.read(child);
            const PlanNode src = node(send_attributes.required(kSrc));
            const PlanNode dst = node(send_attributes.required(kDst));
            if (send_attributes.text(kPath) != nullptr) follow(send_attributes, src, tree.chunks);
            tree.sends.push_back({src, dst});
        }
        plan_.trees.push_back(std::move(tree));
    }

    template <class Attributes>
    void follow(const Attributes& attributes, PlanNode src, std::int64_t chunks) {
        const auto names = names_of(attributes.text(kPath));
        if (names.size() < 2 || names.front() != attributes.text(kSrc) ||
            names.back() != attributes.text(kDst)) {
            attributes.refuse("bad-value", kPath, "names from src to dst");
        }
        PlanNode from = src;
        for (std::size_t i = 1; i < names.size(); ++i) {
            const PlanNode to = name(names[i]);
            std::int64_t& load = loads_[{from, to}];
            load = std::min(load + chunks, std::numeric_limits<std::int64_t>::max() / 2);
            from = to;
        }
    }

    /// Numbers nodes in the order in which the file first names them; switches get no number.
    void number_nodes() {
        std::vector<PlanNode> numbers(names_.size());
        for (std::size_t i = 0; i < names_.size(); ++i) {
            numbers[i] = PlanNode(plan_.node_names.size());
            if (!is_node_[i]) continue;
            plan_.node_names.push_back(names_[i]);
        }
        const auto renumber = [&](PlanNode& node) { node = numbers[node.index()]; };
        for (plan::ForestTree& tree : plan_.trees) {
            renumber(tree.root);
            for (plan::TreeSend& send : tree.sends) {
                renumber(send.src);
                renumber(send.dst);
            }
        }
    }

    const XmlDocument& document_;
    ForestCollPlan plan_;
    std::unordered_map<std::string, PlanNode> numbers_;
    std::vector<std::string> names_;
    std::vector<bool> is_node_;
    std::map<std::pair<PlanNode, PlanNode>, std::int64_t> loads_;  ///< chunks per link
};

}  // namespace

ForestCollPlan read_forestcoll_xml(Source& source) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28U;
    const XmlDocument document(source, kMostBytes);
    return TreeReader(document).read();
}

}  // namespace tutti::io
