// SPDX-License-Identifier: Apache-2.0
#include "inject/device_requests.h"

#include <optional>
#include <string>

#include "base/sort_unique.h"
#include "base/text.h"
#include "inject/codes.h"
#include "inject/rdma_devices.h"

namespace railhead::inject {
namespace {

constexpr std::size_t kMaxRemarks = 8;  // a list may have hundreds of entries

bool differs(const std::optional<std::int64_t>& stated, std::uint32_t real) {
  return stated && *stated != static_cast<std::int64_t>(real);
}

bool states_other_numbers(const container::AskedDevice& asked, const node::CharDevice& real) {
  return (asked.type && *asked.type != "c") || differs(asked.major, real.major) ||
         differs(asked.minor, real.minor) || differs(asked.mode, real.mode) ||
         differs(asked.uid, real.uid) || differs(asked.gid, real.gid);
}

std::string numbers(const node::CharDevice& device) {
  return "c " + std::to_string(device.major) + ":" + std::to_string(device.minor);
}

}  // namespace

std::vector<std::size_t> asked_nics(
    const container::Asked<std::vector<container::AskedDevice>>& devices,
    const DecisionTable& table, container::Remarks& remarks) {
  std::vector<std::size_t> out;
  std::size_t remarked = 0;
  const auto say = [&](std::string_view code, const container::AskedDevice& asked,
                       const std::string& what) {
    if (++remarked > kMaxRemarks) return;
    remarks.add(code, in_quotes(devices.key, 128) + ": " + in_quotes(asked.path) + " " + what);
  };
  for (const container::AskedDevice& asked : devices.value) {
    const auto found = find_rdma_device(table, asked.path);
    if (!found) {
      say(warn::kAnnotationRefused, asked, "is refused: it is no RDMA device of this node");
      continue;
    }
    if (!is_given(found->kind, device_classes(table.policy()))) {
      say(warn::kAnnotationRefused, asked, "is refused: injection.devices does not list its kind");
      continue;
    }
    if (states_other_numbers(asked, *found->device)) {
      say(warn::kNumbersIgnored, asked,
          "is " + numbers(*found->device) + " here; the stated numbers or modes are ignored");
    }
    if (found->nic) out.push_back(*found->nic);
  }
  if (remarked > kMaxRemarks) {
    remarks.add(warn::kAnnotationRefused, in_quotes(devices.key, 128) + ": and " +
                                              std::to_string(remarked - kMaxRemarks) +
                                              " more entries like these");
  }
  sort_unique(out);
  return out;
}

}  // namespace railhead::inject
