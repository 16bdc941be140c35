// SPDX-License-Identifier: Apache-2.0
#include "host/rdma_netlink.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "base/contains.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "host/netlink_socket.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAttempts = 4;
constexpr std::size_t kErrno = 4;  // bytes with which a closing message begins
/// RDMA_NLDEV_ATTR_DRIVER_DETAILS, since Linux 6.7 and in stable kernels; newer than the header.
constexpr std::uint16_t kDriverDetails = 97;

constexpr std::array<std::uint16_t, 12> kTables = {
    RDMA_NLDEV_ATTR_RES_SUMMARY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY,
    RDMA_NLDEV_ATTR_RES_QP,      RDMA_NLDEV_ATTR_RES_QP_ENTRY,
    RDMA_NLDEV_ATTR_RES_CM_ID,   RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
    RDMA_NLDEV_ATTR_RES_MR,      RDMA_NLDEV_ATTR_RES_MR_ENTRY,
    RDMA_NLDEV_ATTR_RES_PD,      RDMA_NLDEV_ATTR_RES_PD_ENTRY,
    RDMA_NLDEV_ATTR_RES_CTX,     RDMA_NLDEV_ATTR_RES_CTX_ENTRY};

constexpr std::array<std::uint16_t, 17> kRead = {RDMA_NLDEV_ATTR_DEV_INDEX,
                                                 RDMA_NLDEV_ATTR_DEV_NAME,
                                                 RDMA_NLDEV_ATTR_PORT_INDEX,
                                                 RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
                                                 RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR,
                                                 RDMA_NLDEV_ATTR_RES_LQPN,
                                                 RDMA_NLDEV_ATTR_RES_RQPN,
                                                 RDMA_NLDEV_ATTR_RES_RQ_PSN,
                                                 RDMA_NLDEV_ATTR_RES_SQ_PSN,
                                                 RDMA_NLDEV_ATTR_RES_TYPE,
                                                 RDMA_NLDEV_ATTR_RES_STATE,
                                                 RDMA_NLDEV_ATTR_RES_PID,
                                                 RDMA_NLDEV_ATTR_RES_MRLEN,
                                                 RDMA_NLDEV_ATTR_RES_PDN,
                                                 RDMA_NLDEV_ATTR_RES_CTXN,
                                                 RDMA_NLDEV_ATTR_RES_KERN_NAME,
                                                 RDMA_NLDEV_ATTR_RES_MRN};

void blank_attributes(std::string& whole, std::string_view attributes, unsigned depth) {
  constexpr unsigned kDepth = 2;  // a table, its entries
  auto rest = attributes;
  while (const auto attribute = take_netlink_attribute(rest)) {
    if (contains(kTables, attribute->type) && depth < kDepth) {
      blank_attributes(whole, attribute->payload, depth + 1);
    } else if (!contains(kRead, attribute->type)) {
      blank_netlink(whole, attribute->payload);
    }
  }
  blank_netlink(whole, rest);
}

std::string request(const RdmaDump& dump, std::uint32_t sequence) {
  std::string attributes;
  if (dump.device) {
    attributes = netlink_attribute(RDMA_NLDEV_ATTR_DEV_INDEX, netlink_bytes(*dump.device)) +
                 netlink_attribute(kDriverDetails, netlink_bytes(std::uint8_t{1}));
  }
  return netlink_message(static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, dump.command)),
                         NLM_F_REQUEST | NLM_F_DUMP, sequence, attributes);
}

/// One attempt; `gone` also where there is no RDMA netlink.
RdmaDatagram attempt(const RdmaDump& dump, std::uint32_t sequence, Clock::time_point deadline,
                     std::string& answer, int& error_number) {
  answer.clear();
  // The protocol loads ib_core where that is a module; without it there is none.
  const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA));
  error_number = errno;
  if (!descriptor) {
    const bool none = error_number == EPROTONOSUPPORT || error_number == EAFNOSUPPORT;
    return none ? RdmaDatagram::gone : RdmaDatagram::failed;
  }
  const auto question = request(dump, sequence);
  if (::send(descriptor.get(), question.data(), question.size(), 0) < 0) {
    error_number = errno;
    return RdmaDatagram::failed;
  }
  std::string datagram;
  for (;;) {
    error_number = receive_netlink(descriptor.get(), deadline, datagram);
    if (error_number != 0) return leave_rdma_answer(answer, sequence, error_number);
    const auto says = take_rdma_datagram(datagram, sequence, answer, error_number);
    if (says != RdmaDatagram::more) return says;
    if (answer.size() > kMaxRdmaAnswer) {
      error_number = EFBIG;
      return leave_rdma_answer(answer, sequence, error_number);
    }
  }
}

}  // namespace

RdmaDatagram leave_rdma_answer(std::string& answer, std::uint32_t sequence, int error_number) {
  if (answer.empty()) return RdmaDatagram::failed;
  answer += netlink_message(NLMSG_DONE, NLM_F_MULTI, sequence,
                            netlink_bytes(static_cast<std::int32_t>(-error_number)));
  return RdmaDatagram::cut;
}

RdmaDatagram take_rdma_datagram(std::string_view datagram, std::uint32_t sequence,
                                std::string& answer, int& error_number) {
  bool interrupted = false;
  while (!datagram.empty()) {
    const auto start = datagram;
    const auto message = take_netlink_message(datagram);
    error_number = EPROTO;
    if (!message) return RdmaDatagram::failed;
    if (message->sequence != sequence) continue;
    interrupted = interrupted || (message->flags & NLM_F_DUMP_INTR) != 0;
    const bool is_error = message->type == NLMSG_ERROR;
    if (!is_error && message->type != NLMSG_DONE) {
      answer += start.substr(0, start.size() - datagram.size());
      continue;
    }
    // Both begin with an errno, negated.
    const auto status = netlink_number<std::uint32_t>(message->payload.substr(0, 4));
    if (!status) return RdmaDatagram::failed;
    error_number = static_cast<int>(~*status + 1);
    if (error_number == 0 && is_error) continue;  // an acknowledgement
    if (error_number == 0) return interrupted ? RdmaDatagram::interrupted : RdmaDatagram::done;
    if (!is_error && !answer.empty()) {
      answer += start.substr(0, start.size() - datagram.size());
      return RdmaDatagram::cut;
    }
    if (!is_error && (error_number == EINVAL || means_absent(error_number))) {
      return RdmaDatagram::gone;
    }
    if (is_error && error_number == EINVAL) error_number = EOPNOTSUPP;
    return RdmaDatagram::failed;
  }
  return interrupted ? RdmaDatagram::interrupted : RdmaDatagram::more;
}

void blank_unread_attributes(std::string& messages) {
  std::string_view rest = messages;
  while (const auto message = take_netlink_message(rest)) {
    if (message->type == kNetlinkDone) {
      blank_netlink(messages, message->payload.substr(std::min(message->payload.size(), kErrno)));
      continue;
    }
    blank_attributes(messages, message->payload, 0);
  }
  blank_netlink(messages, rest);
}

Result<std::optional<std::string>> ask_rdma_netlink(const RdmaDump& dump) {
  const auto deadline = Clock::now() + kNetlinkTimeLimit;
  std::string answer;
  std::string longest;  // of those that were cut
  int error_number = 0;
  for (std::uint32_t sequence = 1; sequence <= kAttempts; ++sequence) {
    switch (attempt(dump, sequence, deadline, answer, error_number)) {
      case RdmaDatagram::done:
        blank_unread_attributes(answer);
        return std::optional(std::move(answer));
      case RdmaDatagram::cut:
        if (answer.size() > longest.size()) longest.swap(answer);
        // A limit of ours will not be another the next time.
        if (error_number == EFBIG || error_number == ETIMEDOUT) sequence = kAttempts;
        break;
      case RdmaDatagram::gone:
        if (longest.empty()) return kAbsent;
        break;
      case RdmaDatagram::failed:
        if (longest.empty()) return host_error(rdma_path(dump), error_number);
        break;
      default: error_number = EINTR; break;  // interrupted
    }
  }
  if (longest.empty()) return host_error(rdma_path(dump), EINTR);
  blank_unread_attributes(longest);
  return std::optional(std::move(longest));
}

}  // namespace railhead::host
