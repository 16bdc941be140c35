// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "base/text.h"
#include "pools/pool_parsers.h"

namespace railhead::pools {
namespace {

/// Keys of both device types.
constexpr std::array kCommonKeys{
    KeyRow{"vendors", Fact::vendor, Match::exact},
    KeyRow{"devices", Fact::device, Match::exact},
    KeyRow{"drivers", Fact::driver, Match::exact},
    KeyRow{"linkTypes", Fact::link_type, Match::exact},
};

constexpr std::array kNetDeviceKeys{
    KeyRow{"pciAddresses", Fact::pci_address, Match::exact},
    KeyRow{"pKeys", Fact::first_pkey, Match::exact},
    KeyRow{"acpiIndexes", Fact::acpi_index, Match::exact},
    KeyRow{"ddpProfiles", Fact::ddp_package, Match::exact},
};

constexpr std::array kAuxiliaryKeys{KeyRow{"auxTypes", Fact::auxiliary_type, Match::exact}};

template <std::size_t Size>
Status add_rows(Section& section, const std::array<KeyRow, Size>& rows, Selector& into) {
  for (const auto& row : rows) {
    TRY_STATUS(add_condition(section, row.key, row.fact, row.match, into));
  }
  return {};
}

/// `pfNames` and `rootDevices`.
Status add_functions(Section& section, std::string_view key, Fact fact, Selector& into,
                     std::vector<std::string>& warnings) {
  const auto texts = TRY(section.texts(key));
  if (texts.empty()) return {};
  Condition condition{fact, std::string(key), {}, Match::any_case, {}};
  const auto warn = [&](const Error& error, std::string_view consequence) {
    warnings.push_back(section.place(key) + ": " + section.path_of(key) + ": " + error.message +
                       "; " + std::string(consequence));
  };
  for (const auto& text : texts) {
    auto range = FunctionRange::parse_what_can_be_read(text, warn);
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

/// A type that does not exist matches nothing there, too.
Status add_vdpa_type(Section& section, Selector& into, std::vector<std::string>& warnings) {
  const auto type = TRY(section.text("vdpaType")).value_or("");
  if (type.empty()) return {};
  if (into.rdma) return section.error("vdpaType", "excludes isRdma");
  if (type != "vhost" && type != "virtio") {
    warnings.push_back(section.place("vdpaType") + ": " + section.path_of("vdpaType") + ": " +
                       in_quotes(std::string_view(type)) +
                       " is neither vhost nor virtio; it matches nothing");
  }
  into.conditions.push_back({Fact::vdpa_type, "vdpaType", {type}, Match::exact, {}});
  return {};
}

}  // namespace

Result<Selector> parse_sriov_selector(Section section, const std::string& device_type,
                                      std::vector<std::string>& warnings) {
  Selector selector;
  TRY_STATUS(add_rows(section, kCommonKeys, selector));
  TRY_STATUS(add_functions(section, "pfNames", Fact::pf_name, selector, warnings));
  TRY_STATUS(add_functions(section, "rootDevices", Fact::root_device, selector, warnings));
  selector.rdma = TRY(section.flag("isRdma"));
  selector.vhost_net = TRY(section.flag("needVhostNet"));
  if (device_type == "auxNetDevice") {
    TRY_STATUS(add_rows(section, kAuxiliaryKeys, selector));
  } else {
    TRY_STATUS(add_rows(section, kNetDeviceKeys, selector));
    TRY_STATUS(add_vdpa_type(section, selector, warnings));
  }
  TRY_STATUS(section.finish(warnings));
  return selector;
}

}  // namespace railhead::pools
