// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/lane.h"
#include "bench/memory.h"
#include "bench/plan.h"
#include "bench/transport.h"
#include "bench/verbs.h"

namespace railhead::bench {

/// How a buffer becomes known to the NIC; decided by the kind of memory.
using Register =
    std::function<Result<Owned<ibv_mr>>(const std::string& nic, ibv_pd* domain, Buffer& buffer)>;

/// A lane over a real NIC: reliable connections of one protection domain and one completion queue.
class VerbsLane : public Transport {
 public:
  /// Opens the device, registers the buffer (which must outlive the lane) and makes the queue
  /// pairs.
  static Result<std::unique_ptr<VerbsLane>> open(const Place& place, const Plan& plan,
                                                 Buffer& buffer, const Register& register_buffer);

  [[nodiscard]] const LaneAddress& address() const { return address_; }

  /// Connects each queue pair with its peer. Afterwards path_mtu_bytes() is known, and place() has
  /// the GID if packets carry one.
  Status connect(const LaneAddress& remote);

  [[nodiscard]] unsigned path_mtu_bytes() const { return path_mtu_bytes_; }

  [[nodiscard]] const Place& place() const { return place_; }

  [[nodiscard]] unsigned queue_pairs() const override {
    return static_cast<unsigned>(pairs_.size());
  }

  /// The messages that a queue pair has received. They go round its ring of targets.
  [[nodiscard]] std::uint64_t received(unsigned queue_pair) const {
    return pairs_.at(queue_pair).received;
  }

  Status post(const Request& request) override;
  Status fill_receives(unsigned missing) override;
  Result<std::size_t> poll(std::span<Completion> completions) override;

  [[nodiscard]] bool has_bytes() const override { return bytes_ != nullptr; }

  void set_source(unsigned queue_pair, std::uint64_t offset, std::uint8_t value) override;
  [[nodiscard]] std::uint8_t target(unsigned queue_pair, std::uint64_t offset) const override;

 private:
  struct Pair {
    Owned<ibv_qp> handle;
    unsigned receives = 0;       ///< posted
    std::uint64_t received = 0;  ///< since it is connected
    std::uint32_t inline_bytes = 0;
  };

  VerbsLane(const Place& place, const Plan& plan)
      : place_(place),
        layout_(Layout::of(plan)),
        plan_(plan) {}

  Status make_region(Buffer& buffer, const Register& register_buffer);
  Status make_pairs();
  Status make_pair(unsigned index);
  Status make_address();
  Status to_init(ibv_qp* pair);
  Status to_receive(ibv_qp* pair, const LaneAddress& remote, const LaneAddress::Pair& peer);
  Status to_send(ibv_qp* pair, std::uint32_t sequence_number);
  Status post_receives(unsigned index, unsigned count);

  Place place_;
  Layout layout_;
  Plan plan_;
  Owned<ibv_context> context_;
  Owned<ibv_pd> domain_;
  Owned<ibv_mr> region_;
  Owned<ibv_cq> completions_;
  std::vector<Pair> pairs_;
  ibv_device_attr device_{};
  ibv_port_attr port_{};
  std::byte* bytes_ = nullptr;
  unsigned receive_depth_ = 0;
  unsigned path_mtu_bytes_ = 0;
  unsigned reads_in_flight_ = 1;
  LaneAddress address_;
  LaneAddress remote_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_recv_wr> receives_;
  std::vector<ibv_sge> places_;
};

}  // namespace railhead::bench
