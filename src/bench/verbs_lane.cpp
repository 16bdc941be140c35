// SPDX-License-Identifier: Apache-2.0
#include "bench/verbs_lane.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

namespace railhead::bench {
namespace {

/// A request's id: the queue pair and how many messages end with it.
std::uint64_t id_of(unsigned queue_pair, std::uint32_t messages) {
  return (static_cast<std::uint64_t>(queue_pair) << 32) | messages;
}

constexpr std::uint32_t kInlineBytes = 220;
/// Requests above the depth: rounds of a latency whose completions wait to be looked at.
constexpr unsigned kSpareRequests = 32;
constexpr unsigned kMaxReceives = 512;

ibv_wr_opcode opcode_of(Operation operation) {
  switch (operation) {
    case Operation::write: return IBV_WR_RDMA_WRITE;
    case Operation::read: return IBV_WR_RDMA_READ;
    case Operation::send: break;
  }
  return IBV_WR_SEND;
}

}  // namespace

Result<std::unique_ptr<VerbsLane>> VerbsLane::open(const Place& place, const Plan& plan,
                                                   Buffer& buffer,
                                                   const Register& register_buffer) {
  std::unique_ptr<VerbsLane> lane(new VerbsLane(place, plan));
  lane->context_ = TRY(open_device(place.nic));
  lane->domain_.reset(ibv_alloc_pd(lane->context_.get()));
  if (!lane->domain_) return verbs_error(place.nic, "ibv_alloc_pd", errno);
  auto* const context = lane->context_.get();
  TRY_STATUS(check_verb(place.nic, "ibv_query_device", ibv_query_device(context, &lane->device_)));
  const auto port = static_cast<std::uint8_t>(place.port);
  TRY_STATUS(check_verb(place.nic, "ibv_query_port", ibv_query_port(context, port, &lane->port_)));
  TRY_STATUS(lane->make_region(buffer, register_buffer));
  TRY_STATUS(lane->make_pairs());
  TRY_STATUS(lane->make_address());
  return Result<std::unique_ptr<VerbsLane>>(std::move(lane));
}

Status VerbsLane::make_region(Buffer& buffer, const Register& register_buffer) {
  region_ = TRY(register_buffer(place_.nic, domain_.get(), buffer));
  bytes_ = buffer.bytes();
  address_.address = buffer.address();
  address_.length = buffer.length();
  address_.key = region_->rkey;
  return {};
}

Status VerbsLane::make_pairs() {
  const auto sends = plan_.depth + kSpareRequests;
  const auto most = static_cast<unsigned>(device_.max_qp_wr);
  if (sends > most) {
    return Error{ErrorCode::usage, place_.nic + ": depth " + std::to_string(plan_.depth) +
                                       " is more than the NIC has (" +
                                       std::to_string(most - kSpareRequests) + ")"};
  }
  receive_depth_ = std::min({kMaxReceives, most, std::max(2 * plan_.depth, 64U)});
  // Two sides of a pair may complete at once.
  const auto entries =
      std::min<std::uint64_t>(std::uint64_t{plan_.queue_pairs} * (sends + receive_depth_),
                              static_cast<std::uint64_t>(device_.max_cqe));
  receive_depth_ = std::min(
      receive_depth_, static_cast<unsigned>(
                          std::max<std::uint64_t>(entries / plan_.queue_pairs, sends + 1) - sends));
  completions_.reset(ibv_create_cq(context_.get(), static_cast<int>(entries), nullptr, nullptr, 0));
  if (!completions_) return verbs_error(place_.nic, "ibv_create_cq", errno);
  for (unsigned i = 0; i < plan_.queue_pairs; ++i) TRY_STATUS(make_pair(i));
  requests_.resize(sends);
  receives_.resize(receive_depth_);
  places_.resize(std::max(sends, receive_depth_));
  return {};
}

Status VerbsLane::make_pair(unsigned index) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = plan_.depth + kSpareRequests;
  wanted.cap.max_recv_wr = receive_depth_;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = bytes_ == nullptr ? 0 : kInlineBytes;
  Owned<ibv_qp> pair(ibv_create_qp(domain_.get(), &wanted));
  if (!pair && wanted.cap.max_inline_data != 0) {
    wanted.cap.max_inline_data = 0;
    pair.reset(ibv_create_qp(domain_.get(), &wanted));
  }
  if (!pair) {
    return verbs_error(place_.nic, "ibv_create_qp " + std::to_string(index), errno);
  }
  TRY_STATUS(to_init(pair.get()));
  std::random_device random;
  address_.pairs.push_back({pair->qp_num, static_cast<std::uint32_t>(random()) & 0xffffffU});
  const auto inline_bytes =
      bytes_ == nullptr ? 0 : std::min(wanted.cap.max_inline_data, kInlineBytes);
  pairs_.push_back({std::move(pair), 0, 0, inline_bytes});
  return {};
}

Status VerbsLane::make_address() {
  address_.lid = port_.lid;
  address_.mtu_bytes = mtu_bytes(port_.active_mtu);
  if (plan_.mtu_bytes != 0) address_.mtu_bytes = std::min(address_.mtu_bytes, plan_.mtu_bytes);
  // An InfiniBand port says so where its LID is not its own, as that of an SR-IOV function.
  const bool required = (port_.flags & IBV_QPF_GRH_REQUIRED) != 0;
  address_.needs_gid = place_.gid_index.has_value() || required;
  // The other side's port may require it, too.
  const auto index = place_.gid_index.value_or(0);
  ibv_gid gid{};
  const auto port = static_cast<std::uint8_t>(place_.port);
  if (ibv_query_gid(context_.get(), port, static_cast<int>(index), &gid) != 0) {
    if (!address_.needs_gid) return {};
    return verbs_error(place_.nic, "GID " + std::to_string(index), errno);
  }
  GidBytes bytes;
  std::ranges::copy(gid.raw, bytes.begin());
  address_.gid = bytes;
  return {};
}

Status VerbsLane::to_init(ibv_qp* pair) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = static_cast<std::uint8_t>(place_.port);
  to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  constexpr int kChanged = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return check_verb(place_.nic, "queue pair to INIT", ibv_modify_qp(pair, &to, kChanged));
}

Status VerbsLane::connect(const LaneAddress& remote) {
  if (remote.pairs.size() != pairs_.size()) {
    return Error{ErrorCode::malformed, "the other side has " + std::to_string(remote.pairs.size()) +
                                           " queue pairs, not " + std::to_string(pairs_.size())};
  }
  if (remote.length < layout_.length_bytes()) {
    return Error{ErrorCode::malformed, "the other side's buffer is too small"};
  }
  const auto global = needs_global_header(address_, remote);
  if (!global) return global.error().context(place_.nic);
  if (*global && !place_.gid_index) {
    place_.gid_index = 0;
    place_.gid = gid_text(*address_.gid);
  }
  remote_ = remote;
  path_mtu_bytes_ = mtu_bytes(mtu_of_bytes(std::min(address_.mtu_bytes, remote.mtu_bytes)));
  reads_in_flight_ = static_cast<unsigned>(
      std::clamp(std::min(device_.max_qp_rd_atom, device_.max_qp_init_rd_atom), 1, 16));
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    TRY_STATUS(to_receive(pairs_[i].handle.get(), remote, remote.pairs[i]));
    TRY_STATUS(to_send(pairs_[i].handle.get(), address_.pairs[i].sequence_number));
  }
  return {};
}

Status VerbsLane::to_receive(ibv_qp* pair, const LaneAddress& remote,
                             const LaneAddress::Pair& peer) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = mtu_of_bytes(path_mtu_bytes_);
  to.dest_qp_num = peer.number;
  to.rq_psn = peer.sequence_number;
  to.max_dest_rd_atomic = static_cast<std::uint8_t>(reads_in_flight_);
  to.min_rnr_timer = 12;  // 0.64 ms, IBTA 1.4 table 45
  to.ah_attr.dlid = remote.lid;
  to.ah_attr.port_num = static_cast<std::uint8_t>(place_.port);
  if (place_.gid_index) {
    to.ah_attr.is_global = 1;
    std::ranges::copy(*remote.gid, std::begin(to.ah_attr.grh.dgid.raw));
    to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(*place_.gid_index);
    to.ah_attr.grh.hop_limit = 64;
  }
  const int wrong =
      ibv_modify_qp(pair, &to,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (wrong == 0) return {};
  auto error = verbs_error(place_.nic, "queue pair to RTR", wrong);
  if (place_.gid_index)
    error.message +=
        " (no route from GID " + place_.gid.value_or("?") + " to " + gid_text(*remote.gid) + "?)";
  return error;
}

Status VerbsLane::to_send(ibv_qp* pair, std::uint32_t sequence_number) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = 14;  // 4.096 us x 2^14 = 67 ms
  to.retry_cnt = 7;
  to.rnr_retry = 7;  // without end: the receiver is only slow, and we have limits of our own
  to.sq_psn = sequence_number;
  to.max_rd_atomic = static_cast<std::uint8_t>(reads_in_flight_);
  constexpr int kChanged = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  return check_verb(place_.nic, "queue pair to RTS", ibv_modify_qp(pair, &to, kChanged));
}

Status VerbsLane::post(const Request& request) {
  const auto q = request.queue_pair;
  const bool reads = request.operation == Operation::read;
  const bool inlined = !reads && request.size_bytes <= pairs_[q].inline_bytes;
  for (std::uint32_t i = 0; i < request.messages; ++i) {
    const auto slot = (request.slot + (request.ring ? i : 0)) % layout_.slots;
    const auto source = layout_.source(q, slot);
    const auto target = layout_.target(q, slot);
    auto& here = places_[i];
    here.addr = address_.address + (reads ? target : source);
    here.length = static_cast<std::uint32_t>(request.size_bytes);
    here.lkey = region_->lkey;
    auto& work = requests_[i];
    work = {};
    work.wr_id = id_of(q, request.messages);
    work.sg_list = &here;
    work.num_sge = 1;
    work.opcode = opcode_of(request.operation);
    work.send_flags = inlined ? unsigned{IBV_SEND_INLINE} : 0U;
    work.wr.rdma.remote_addr = remote_.address + (reads ? source : target);
    work.wr.rdma.rkey = remote_.key;
    const bool last = i + 1 == request.messages;
    work.next = last ? nullptr : &requests_[i + 1];
    if (last) work.send_flags |= IBV_SEND_SIGNALED;
  }
  ibv_send_wr* bad = nullptr;
  return check_verb(place_.nic, "ibv_post_send",
                    ibv_post_send(pairs_[q].handle.get(), requests_.data(), &bad));
}

Status VerbsLane::fill_receives(unsigned missing) {
  for (unsigned q = 0; q < pairs_.size(); ++q) {
    const auto lacks = receive_depth_ - pairs_[q].receives;
    if (lacks > 0 && lacks >= std::min(missing, receive_depth_))
      TRY_STATUS(post_receives(q, lacks));
  }
  return {};
}

Status VerbsLane::post_receives(unsigned index, unsigned count) {
  auto& pair = pairs_[index];
  for (unsigned i = 0; i < count; ++i) {
    const auto slot = static_cast<unsigned>((pair.received + pair.receives + i) % layout_.slots);
    auto& here = places_[i];
    here.addr = address_.address + layout_.target(index, slot);
    here.length = static_cast<std::uint32_t>(layout_.stride_bytes);
    here.lkey = region_->lkey;
    receives_[i] = {};
    receives_[i].wr_id = id_of(index, 1);
    receives_[i].sg_list = &here;
    receives_[i].num_sge = 1;
    receives_[i].next = i + 1 == count ? nullptr : &receives_[i + 1];
  }
  ibv_recv_wr* bad = nullptr;
  TRY_STATUS(check_verb(place_.nic, "ibv_post_recv",
                        ibv_post_recv(pair.handle.get(), receives_.data(), &bad)));
  pair.receives += count;
  return {};
}

Result<std::size_t> VerbsLane::poll(std::span<Completion> completions) {
  constexpr std::size_t kAtOnce = 16;
  std::array<ibv_wc, kAtOnce> ended;
  const auto room = static_cast<int>(std::min(completions.size(), kAtOnce));
  const int n = ibv_poll_cq(completions_.get(), room, ended.data());
  if (n < 0) return verbs_error(place_.nic, "ibv_poll_cq", EIO);
  for (int i = 0; i < n; ++i) {
    const auto& one = ended[static_cast<std::size_t>(i)];
    if (one.status != IBV_WC_SUCCESS) {
      return Error{ErrorCode::unavailable,
                   place_.nic + ": queue pair " + std::to_string(one.qp_num) + ": " +
                       ibv_wc_status_str(one.status) + " (status " + std::to_string(one.status) +
                       ", vendor error " + std::to_string(one.vendor_err) + ")"};
    }
    auto& completion = completions[static_cast<std::size_t>(i)];
    completion.queue_pair = static_cast<unsigned>(one.wr_id >> 32);
    completion.messages = static_cast<std::uint32_t>(one.wr_id);
    completion.received = (one.opcode & IBV_WC_RECV) != 0;
    completion.size_bytes = one.byte_len;
    if (!completion.received) continue;
    --pairs_[completion.queue_pair].receives;
    ++pairs_[completion.queue_pair].received;
  }
  return static_cast<std::size_t>(n);
}

void VerbsLane::set_source(unsigned queue_pair, std::uint64_t offset, std::uint8_t value) {
  volatile auto* place = bytes_ + layout_.source(queue_pair, 0) + offset;
  *place = static_cast<std::byte>(value);
}

std::uint8_t VerbsLane::target(unsigned queue_pair, std::uint64_t offset) const {
  const volatile auto* place = bytes_ + layout_.target(queue_pair, 0) + offset;
  return static_cast<std::uint8_t>(*place);
}

}  // namespace railhead::bench
