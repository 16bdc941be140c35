// SPDX-License-Identifier: Apache-2.0
#include "data/xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::data {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string xml_error(std::string_view text, const XmlLimits& limits = {}) {
  const auto parsed = parse_xml(text, limits);
  return parsed ? "accepted" : parsed.error().message;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Xml, elements_attributes_and_lines_are_as_they_stand) {
  const auto root = parse_xml("<a x=\"1\" y='2'>\n  <b/>\n\n  <c z=\"\"></c>\n</a>\n");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ(root->line, 1U);
  EXPECT_EQ(root->attributes, (std::vector<XmlAttribute>{{"x", "1"}, {"y", "2"}}));
  ASSERT_EQ(root->children.size(), 2U);
  EXPECT_EQ(root->children[0].line, 2U);
  EXPECT_EQ(root->children[1].line, 4U);
  EXPECT_EQ(*root->children[1].find("z"), "");
  EXPECT_EQ(root->children[1].find("x"), nullptr);
}

TEST(Xml, comments_declarations_and_a_byte_order_mark_are_skipped) {
  const auto root = parse_xml(
      "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- a & <b> -->\n<a><!-- \n --><b/><?p q?></a>\n<!-- "
      "-->");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->line, 3U);
  ASSERT_EQ(root->children.size(), 1U);
  EXPECT_EQ(root->children[0].line, 4U);
}

TEST(Xml, predefined_entities_and_character_numbers_are_characters) {
  const auto root =
      parse_xml("<a x=\"&amp;&lt;&gt;&quot;&apos;&#65;&#x42;&#xe9;&#x20ac;&#x1f600;\"/>");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(*root->find("x"), "&<>\"'AB\u00e9\u20ac\U0001f600");
}

TEST(Xml, other_entities_are_refused) {
  EXPECT_THAT(xml_error("<a>\n<b x=\"&file;\"/></a>"),
              StartsWith("line 2: attribute \"x\": \"&file;\" is not a character"));
  EXPECT_THAT(xml_error("<a x=\"a & b\"/>"), HasSubstr("is not a character"));
  for (const auto* wrong : {"&#0;", "&#x0;", "&#1;", "&#xd800;", "&#x110000;", "&#;", "&#x0x41;",
                            "&#-1;", "&;", "&amp"}) {
    EXPECT_THAT(xml_error("<a x=\"" + std::string(wrong) + "\"/>"), HasSubstr("is not a character"))
        << wrong;
  }
}

TEST(Xml, document_types_are_refused) {
  EXPECT_EQ(xml_error("<!DOCTYPE a [<!ENTITY e \"eeee\">]>\n<a x=\"1\"/>"),
            "line 1: a document type, where only elements may be");
}

TEST(Xml, text_between_elements_is_refused) {
  EXPECT_EQ(xml_error("<a>\n  <b/>\n  stray\n</a>"), "line 3: text, where only elements may be");
  EXPECT_EQ(xml_error("<a><![CDATA[x]]></a>"),
            "line 1: a CDATA section, where only elements may be");
  EXPECT_EQ(xml_error("<a/>\nafter"), "line 2: text, where only elements may be");
  EXPECT_THAT(xml_error("before<a/>"), HasSubstr("where only elements may be"));
}

TEST(Xml, there_is_one_root_element) {
  EXPECT_EQ(xml_error("<a/>\n<b/>"), "line 2: a second root element <b>");
  EXPECT_EQ(xml_error(""), "line 1: no element");
  EXPECT_EQ(xml_error("  \n <!-- only this -->"), "line 1: no element");
}

TEST(Xml, an_attribute_stands_once) {
  EXPECT_EQ(xml_error("<a>\n<b x=\"1\" x=\"2\"/></a>"), "line 2: attribute \"x\" twice");
}

TEST(Xml, a_missing_quote_is_noticed) {
  EXPECT_THAT(xml_error("<a>\n<b x=\"1><c y=\"/></a>"), StartsWith("line 2: "));
}

TEST(Xml, what_is_cut_off_is_an_error_wherever_it_is_cut) {
  const std::string whole =
      "<?xml version=\"1.0\"?>\n<!-- c -->\n<a x=\"1\">\n<b y='&amp;'/>\n</a>";
  ASSERT_TRUE(parse_xml(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(xml_error(whole.substr(0, length)), StartsWith("line ")) << length;
  }
}

TEST(Xml, a_zero_byte_does_not_end_the_text) {
  EXPECT_EQ(xml_error(std::string_view("<a/>\n\0<b/>", 10)), "line 2: a zero byte");
}

TEST(Xml, limits_name_the_line) {
  EXPECT_EQ(xml_error("<a/>", {.bytes = 3}), "more than 3 bytes");
  EXPECT_EQ(xml_error("<a>\n<b>\n<c/></b></a>", {.depth = 2}), "line 3: more than 2 levels");
  EXPECT_EQ(xml_error("<a>\n<b/>\n<b/></a>", {.elements = 2}), "line 3: more than 2 elements");
  EXPECT_EQ(xml_error("<a x='' y=''/>", {.attributes = 1}), "line 1: more than 1 attributes");
  EXPECT_EQ(xml_error("<a x='12345'/>", {.attribute_bytes = 4}),
            "line 1: attribute \"x\" has more than 4 bytes");
  EXPECT_EQ(parse_xml("<a/>", {.bytes = 3}).error().code, ErrorCode::too_large);
}

TEST(Xml, a_megabyte_of_nesting_is_an_error_and_nothing_worse) {
  EXPECT_EQ(xml_error(repeated("<a>", 340000)), "line 1: not XML: start-end tags mismatch");
  EXPECT_EQ(xml_error(repeated("<a>", 149000) + repeated("</a>", 149000)),
            "line 1: more than 32 levels");
}

TEST(Xml, is_written_as_it_is_read) {
  const std::string text =
      "<a x=\"1\">\n"
      "  <b y=\"&amp;&lt;&gt;&quot;'&#9;&#10;&#13;\"/>\n"
      "  <c>\n"
      "    <d/>\n"
      "  </c>\n"
      "</a>\n";
  const auto root = parse_xml(text);
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(*root->children[0].find("y"), "&<>\"'\t\n\r");
  EXPECT_EQ(to_xml_text(*root), text);
}

TEST(Xml, what_is_markup_is_escaped) {
  EXPECT_EQ(xml_escaped("a<b>&\"c\"'d'\te"), "a&lt;b&gt;&amp;&quot;c&quot;'d'&#9;e");
}

}  // namespace
}  // namespace railhead::data
