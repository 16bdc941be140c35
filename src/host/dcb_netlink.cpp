// SPDX-License-Identifier: Apache-2.0
#include "host/dcb_netlink.h"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "host/netlink_socket.h"

namespace railhead::host {
namespace {

static_assert(kPriorities == IEEE_8021QAZ_MAX_TCS);

std::string request_of(std::uint16_t type, std::uint8_t command, std::string_view netdev,
                       std::string_view objects, std::uint32_t sequence) {
  dcbmsg header{};
  header.dcb_family = 0;  // AF_UNSPEC
  header.cmd = command;
  std::string attributes = netlink_attribute(DCB_ATTR_IFNAME, std::string(netdev) + '\0');
  if (!objects.empty()) attributes += netlink_attribute(DCB_ATTR_IEEE | NLA_F_NESTED, objects);
  return netlink_message(type, NLM_F_REQUEST, sequence, netlink_bytes(header) + attributes);
}

/// The payload of the first attribute of this type. "": there is none, or it is empty.
std::string_view find_attribute(std::string_view attributes, std::uint16_t type) {
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type == type) return attribute->payload;
  }
  return {};
}

/// What DCB_ATTR_IEEE of an answer holds. Absent: that is no message of DCB.
std::optional<std::string_view> ieee_of(std::string_view answer) {
  const auto message = take_netlink_message(answer);
  if (!message || message->type != RTM_GETDCB || message->payload.size() < sizeof(dcbmsg))
    return std::nullopt;
  return find_attribute(message->payload.substr(sizeof(dcbmsg)), DCB_ATTR_IEEE);
}

/// Calls `use` with each entry of DSCP in an application table, and its bytes.
template <typename Use>
void for_each_dscp(std::string_view table, Use use) {
  while (const auto attribute = take_netlink_attribute(table)) {
    dcb_app app{};
    if (attribute->type != DCB_ATTR_IEEE_APP || attribute->payload.size() != sizeof app) continue;
    std::memcpy(&app, attribute->payload.data(), sizeof app);
    if (app.selector == IEEE_8021QAZ_APP_SEL_DSCP) use(app, attribute->payload);
  }
}

/// A struct of the kernel. Absent: it is not there, or of another size.
template <typename Object>
std::optional<Object> object_in(std::string_view ieee, std::uint16_t type) {
  const auto payload = find_attribute(ieee, type);
  if (payload.size() != sizeof(Object)) return std::nullopt;
  Object object;
  std::memcpy(&object, payload.data(), sizeof object);
  return object;
}

template <typename Object>
Object object_of(std::string_view answer, std::uint16_t type) {
  const auto ieee = ieee_of(answer);
  return ieee ? object_in<Object>(*ieee, type).value_or(Object{}) : Object{};
}

std::map<unsigned, std::uint8_t> dscps_of(std::string_view table) {
  std::map<unsigned, std::uint8_t> found;
  for_each_dscp(table, [&](const dcb_app& app, std::string_view) {
    if (app.protocol < kDscps && app.priority < kPriorities)
      found[app.protocol] = static_cast<std::uint8_t>(found[app.protocol] | (1U << app.priority));
  });
  return found;
}

Status change(const std::string& netdev, const std::string& request) {
  int status = EPROTO;
  const int failed = exchange_netlink(request, [&](std::string_view datagram) {
    const auto found = dcb_status(datagram, 1);
    status = found.value_or(status);
    return found.has_value();
  });
  const int number = failed != 0 ? failed : status;
  return number == 0 ? Status() : Status(host_error(netdev + ": DCB", number));
}

Result<std::string> answer_of(const std::string& netdev) {
  auto answer = TRY(ask_dcb(netdev));
  if (answer) return *std::move(answer);
  return host_error(netdev + ": DCB", EOPNOTSUPP);
}

}  // namespace

std::string dcb_request(std::string_view netdev, std::uint32_t sequence) {
  return request_of(RTM_GETDCB, DCB_CMD_IEEE_GET, netdev, "", sequence);
}

Result<DcbSettings> parse_dcb(std::string_view message) {
  const auto ieee = ieee_of(message);
  if (!ieee) return Error{ErrorCode::malformed, "not a message of DCB"};
  DcbSettings settings;
  if (const auto pfc = object_in<ieee_pfc>(*ieee, DCB_ATTR_IEEE_PFC)) {
    settings.pfc = pfc->pfc_en;
    settings.pfc_most = pfc->pfc_cap & 0xfU;
  }
  if (const auto ets = object_in<ieee_ets>(*ieee, DCB_ATTR_IEEE_ETS)) {
    settings.ets.emplace();
    std::copy_n(ets->prio_tc, kPriorities, settings.ets->priority_to_class.begin());
    std::copy_n(ets->tc_tsa, kPriorities, settings.ets->tsa.begin());
    std::copy_n(ets->tc_tx_bw, kPriorities, settings.ets->bandwidth.begin());
  }
  auto attributes = *ieee;
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type == DCB_ATTR_IEEE_APP_TABLE) settings.dscp = dscps_of(attribute->payload);
  }
  return settings;
}

std::string kept_of_dcb(std::string_view message) {
  const auto ieee = ieee_of(message);
  if (!ieee) return "";
  std::string kept;
  auto rest = *ieee;
  while (const auto attribute = take_netlink_attribute(rest)) {
    if (attribute->type == DCB_ATTR_IEEE_PFC || attribute->type == DCB_ATTR_IEEE_ETS) {
      kept += netlink_attribute(attribute->type, attribute->payload);
    } else if (attribute->type == DCB_ATTR_IEEE_APP_TABLE) {
      std::string entries;
      for_each_dscp(attribute->payload, [&](const dcb_app&, std::string_view bytes) {
        entries += netlink_attribute(DCB_ATTR_IEEE_APP, bytes);
      });
      kept += netlink_attribute(attribute->type, entries);
    }
  }
  return netlink_message(RTM_GETDCB, 0, 0,
                         netlink_bytes(dcbmsg{}) + netlink_attribute(DCB_ATTR_IEEE, kept));
}

std::uint8_t priorities_of(const DcbSettings& settings, unsigned dscp) {
  if (!settings.dscp) return 1;
  const auto found = settings.dscp->find(dscp);
  return found == settings.dscp->end() ? 1 : found->second;
}

std::string priorities_text(std::uint8_t priorities) {
  std::vector<std::string> found;
  for (unsigned priority = 0; priority < kPriorities; ++priority) {
    if ((priorities & (1U << priority)) != 0) found.push_back(std::to_string(priority));
  }
  return found.empty() ? "none" : join(found, ",");
}

bool maps_dscp(const DcbSettings& settings) {
  return settings.dscp && !settings.dscp->empty();
}

std::string pfc_change(std::string_view netdev, std::string_view answer, std::uint8_t priorities,
                       std::uint32_t sequence) {
  auto pfc = object_of<ieee_pfc>(answer, DCB_ATTR_IEEE_PFC);
  pfc.pfc_en = priorities;
  return request_of(RTM_SETDCB, DCB_CMD_IEEE_SET, netdev,
                    netlink_attribute(DCB_ATTR_IEEE_PFC, netlink_bytes(pfc)), sequence);
}

std::string ets_change(std::string_view netdev, std::string_view answer, const Ets& ets,
                       std::uint32_t sequence) {
  auto object = object_of<ieee_ets>(answer, DCB_ATTR_IEEE_ETS);
  std::copy(ets.priority_to_class.begin(), ets.priority_to_class.end(), object.prio_tc);
  std::copy(ets.tsa.begin(), ets.tsa.end(), object.tc_tsa);
  std::copy(ets.bandwidth.begin(), ets.bandwidth.end(), object.tc_tx_bw);
  return request_of(RTM_SETDCB, DCB_CMD_IEEE_SET, netdev,
                    netlink_attribute(DCB_ATTR_IEEE_ETS, netlink_bytes(object)), sequence);
}

std::string dscp_change(std::string_view netdev, unsigned dscp, unsigned priority, bool is_added,
                        std::uint32_t sequence) {
  const dcb_app app{IEEE_8021QAZ_APP_SEL_DSCP, static_cast<std::uint8_t>(priority),
                    static_cast<std::uint16_t>(dscp)};
  const std::string entry = netlink_attribute(DCB_ATTR_IEEE_APP, netlink_bytes(app));
  return request_of(RTM_SETDCB, is_added ? DCB_CMD_IEEE_SET : DCB_CMD_IEEE_DEL, netdev,
                    netlink_attribute(DCB_ATTR_IEEE_APP_TABLE | NLA_F_NESTED, entry), sequence);
}

std::optional<int> dcb_status(std::string_view datagram, std::uint32_t sequence) {
  while (const auto message = take_netlink_message(datagram)) {
    if (message->sequence != sequence) continue;
    if (const auto failed = netlink_error(*message)) return failed;
    if (message->payload.size() < sizeof(dcbmsg)) return EPROTO;
    const auto status = netlink_number<std::uint8_t>(
        find_attribute(message->payload.substr(sizeof(dcbmsg)), DCB_ATTR_IEEE));
    return status ? static_cast<std::uint8_t>(~*status + 1) : EPROTO;  // negated there
  }
  return std::nullopt;
}

Result<std::optional<std::string>> ask_dcb(const std::string& netdev) {
  std::string answer;
  const int number = ask_netlink(dcb_request(netdev, 1), 1, answer);
  if (number == EOPNOTSUPP) return kAbsent;
  if (number != 0) return host_error(netdev + ": DCB", number);
  return std::optional(kept_of_dcb(answer));
}

Status set_pfc(const std::string& netdev, std::uint8_t priorities) {
  const auto answer = TRY(answer_of(netdev));
  return change(netdev, pfc_change(netdev, answer, priorities, 1));
}

Status set_ets(const std::string& netdev, const Ets& ets) {
  const auto answer = TRY(answer_of(netdev));
  return change(netdev, ets_change(netdev, answer, ets, 1));
}

Status set_dscp(const std::string& netdev, unsigned dscp, std::uint8_t priorities) {
  const auto answer = TRY(answer_of(netdev));
  const auto settings = TRY(parse_dcb(answer));
  std::uint8_t now = 0;
  if (settings.dscp) {
    const auto found = settings.dscp->find(dscp);
    if (found != settings.dscp->end()) now = found->second;
  }
  // Added first: a driver that trusts DSCP while it has an entry keeps doing so.
  for (const bool is_added : {true, false}) {
    const unsigned changed = is_added ? priorities & ~unsigned{now} : now & ~unsigned{priorities};
    for (unsigned priority = 0; priority < kPriorities; ++priority) {
      if ((changed & (1U << priority)) == 0) continue;
      TRY_STATUS(change(netdev, dscp_change(netdev, dscp, priority, is_added, 1)));
    }
  }
  return {};
}

}  // namespace railhead::host
