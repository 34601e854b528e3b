#include "io/xml_document.hpp"

#include "io/xml_characters.hpp"
#include "io/xml_rules.hpp"
#include "plan/plan_error.hpp"

namespace tutti::io {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string utf8_text(Source& source, std::uint64_t limit) {
    std::string text = read_text(source, limit);
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        auto converted = utf8_of_utf16(text);
        if (!converted) throw plan::PlanError("xml", "expected UTF-16, as it begins", "1:1", source.name());
        text = std::move(*converted);
    }
    return text;
}

}  // namespace

XmlDocument::XmlDocument(Source& source, std::uint64_t limit)
    : text_(utf8_text(source, limit)), file_(source.name()) {
    check_xml(text_, file_);
    constexpr unsigned kOptions = pugi::parse_escapes | pugi::parse_wconv_attribute;
    const auto result = tree_.load_buffer(text_.data(), text_.size(), kOptions, pugi::encoding_utf8);
    if (!result) {
        throw plan::PlanError("xml", result.description(),
                              line_and_column(text_, static_cast<std::size_t>(result.offset)), file_);
    }
    root_ = tree_.document_element();
}

std::string XmlDocument::place(pugi::xml_node element) const {
    const auto name = static_cast<std::size_t>(element.offset_debug());
    return line_and_column(text_, name - 1);  // its <
}

void XmlDocument::fail(const char* code, const std::string& message, pugi::xml_node element) const {
    throw plan::PlanError(code, message, place(element), file_);
}

}  // namespace tutti::io
