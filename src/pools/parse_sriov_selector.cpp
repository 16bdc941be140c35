// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/text.h"
#include "pools/pool_parsers.h"
#include "pools/selectors.h"

namespace railhead::pools {
namespace {

/// `pfNames` and `rootDevices`.
Status add_functions(Section& section, const SelectorRow& row, Selector& into,
                     std::vector<std::string>& warnings) {
  const auto key = row.sriov_key;
  const auto texts = TRY(section.texts(key));
  if (texts.empty()) return {};
  Condition condition{row.fact, std::string(key), {}, Match::any_case, {}};
  const auto warn = [&](const Error& error, std::string_view consequence) {
    warnings.push_back(section.place(key) + ": " + section.path_of(key) + ": " + error.message +
                       "; " + std::string(consequence));
  };
  for (const auto& text : texts) {
    auto range = FunctionRange::parse_what_can_be_read(text, warn);
    check_form(section, key, row.fact, text, warnings);
    if (range) {
      condition.functions.push_back(*std::move(range));
    } else {
      warn(range.error(), "it matches nothing");
    }
    condition.values.push_back(text);
  }
  into.conditions.push_back(std::move(condition));
  return {};
}

Status add_vdpa_type(Section& section, Selector& into, std::vector<std::string>& warnings) {
  const auto type = TRY(section.text("vdpaType")).value_or("");
  if (type.empty()) return {};
  if (into.rdma) return section.error("vdpaType", "excludes isRdma");
  check_form(section, "vdpaType", Fact::vdpa_type, type, warnings);
  into.conditions.push_back({Fact::vdpa_type, "vdpaType", {type}, Match::exact, {}});
  return {};
}

Status add_conditions(Section& section, SriovDevices devices, Selector& into,
                      std::vector<std::string>& warnings) {
  for (const auto& row : selectors()) {
    if (row.sriov_key.empty() || row.sriov_devices != devices) continue;
    if (row.comparing == Comparing::functions) {
      TRY_STATUS(add_functions(section, row, into, warnings));
    } else if (row.fact == Fact::vdpa_type) {
      TRY_STATUS(add_vdpa_type(section, into, warnings));
    } else {
      TRY_STATUS(add_condition(section, row.sriov_key, row.fact, into, warnings));
    }
  }
  return {};
}

}  // namespace

Result<Selector> parse_sriov_selector(Section section, const std::string& device_type,
                                      std::vector<std::string>& warnings) {
  Selector selector;
  TRY_STATUS(add_conditions(section, SriovDevices::all, selector, warnings));
  selector.rdma = TRY(section.flag("isRdma"));
  selector.vhost_net = TRY(section.flag("needVhostNet"));
  const bool auxiliary = device_type == "auxNetDevice";
  const auto devices = auxiliary ? SriovDevices::auxiliary : SriovDevices::net;
  TRY_STATUS(add_conditions(section, devices, selector, warnings));
  TRY_STATUS(section.finish(warnings));
  return selector;
}

}  // namespace railhead::pools
