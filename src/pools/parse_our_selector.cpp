// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "node/pci.h"
#include "pools/pool_parsers.h"
#include "pools/selectors.h"

namespace railhead::pools {
namespace {

Status add_function_range(const Section& section, const SelectorRow& row, const std::string& text,
                          Condition& into) {
  auto range = FunctionRange::parse(text);
  if (!range) return section.error(row.key, range.error().message);
  if (row.fact == Fact::root_device) {
    const auto address = node::PciAddress::parse(range->parent);
    if (!address) return section.error(row.key, address.error().message);
    range->parent = address->str();
  }
  into.functions.push_back(*std::move(range));
  into.values.push_back(text);
  return {};
}

Status add_value(const Section& section, const SelectorRow& row, const std::string& text,
                 const PoolParseOptions& options, Condition& into) {
  if (row.match == Match::glob && text.find('[') != std::string::npos) {
    return section.error(row.key, in_quotes(text) +
                                      " has brackets: a pattern has only * for any "
                                      "characters and ? for one");
  }
  if (row.comparing == Comparing::functions) {
    return add_function_range(section, row, text, into);
  }
  const auto& roles = options.roles;
  if (row.fact == Fact::role && !contains(roles, text)) {
    return section.error(row.key, in_quotes(text) + " is none of " + join(roles, ", "));
  }
  auto value = row.spelt(text);
  if (!value) return section.error(row.key, value.error().message);
  into.values.push_back(*std::move(value));
  return {};
}

}  // namespace

Result<Selector> parse_our_selector(Section section, const PoolParseOptions& options,
                                    std::vector<std::string>& warnings) {
  Selector selector;
  for (const auto& row : selectors()) {
    if (row.key.empty()) continue;
    const bool present = section.find(row.key) != nullptr;
    const auto texts = TRY(section.texts(row.key));
    if (!present) continue;
    if (texts.empty()) return section.error(row.key, "an empty list selects nothing");
    if (row.comparing == Comparing::least && texts.size() > 1) {
      return section.error(row.key, "expected one number");
    }
    Condition condition{row.fact, std::string(row.key), {}, row.match, {}};
    for (const auto& text : texts) {
      TRY_STATUS(add_value(section, row, text, options, condition));
    }
    selector.conditions.push_back(std::move(condition));
  }
  TRY_STATUS(section.finish(warnings));
  // `isRdma` alone takes everything with an RDMA device, or with and without.
  if (selector.conditions.empty() && section.find("isRdma") == nullptr)
    return section.error("", "an empty selector; names: \"*\" takes every RDMA device");
  return selector;
}

}  // namespace railhead::pools
