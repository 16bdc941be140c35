// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "bench/plan.h"

namespace railhead::bench {

/// Some messages of one queue pair, from its source to the other side's target (a read: from the
/// other side's source to our target). One completion stands for them all.
struct Request {
  Operation operation = Operation::write;
  unsigned queue_pair = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t messages = 1;
  unsigned slot = 0;  ///< of the ring: where the first message is from, and where it is written to
  bool ring = false;  ///< the others have the slots after it; otherwise all have the same
};

struct Completion {
  unsigned queue_pair = 0;
  bool received = false;         ///< of a receive; otherwise of a request
  std::uint32_t messages = 0;    ///< of the request, or 1
  std::uint32_t size_bytes = 0;  ///< of what was received
};

/// One lane: the queue pairs between one of our NICs and one of the other side's, and the memory on
/// both ends. The loops that measure know no more than this of a NIC. For one thread.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual unsigned queue_pairs() const = 0;

  /// The error names the queue pair and the kernel's reason.
  virtual Status post(const Request& request) = 0;

  /// Posts receives up to the depth of each queue pair that lacks at least `missing`.
  virtual Status fill_receives(unsigned missing) = 0;

  /// What has ended since, at most as many as there is room for. A completion with an error is one:
  /// it names the queue pair and the status.
  virtual Result<std::size_t> poll(std::span<Completion> completions) = 0;

  /// One byte of a queue pair's source and target in this process's memory; only where has_bytes().
  [[nodiscard]] virtual bool has_bytes() const = 0;
  virtual void set_source(unsigned queue_pair, std::uint64_t offset, std::uint8_t value) = 0;
  [[nodiscard]] virtual std::uint8_t target(unsigned queue_pair, std::uint64_t offset) const = 0;
};

}  // namespace railhead::bench
