// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace railhead::bench {

/// Memory that a NIC reads and writes, of the host or of a GPU.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;

  /// As the NIC gets it.
  [[nodiscard]] virtual std::uint64_t address() const = 0;
  [[nodiscard]] virtual std::uint64_t length() const = 0;
  /// Absent (null) where this process cannot look at it directly.
  [[nodiscard]] virtual std::byte* bytes() const = 0;

  /// Copies in and out. Within the length.
  virtual Status write(std::uint64_t offset, std::span<const std::byte> from) = 0;
  virtual Status read(std::uint64_t offset, std::span<std::byte> to) = 0;
};

/// Zeroed memory of the host, touched by a thread that runs on these CPUs, so that it is theirs;
/// any where there are none.
Result<std::unique_ptr<Buffer>> allocate_host(std::uint64_t length,
                                              const std::vector<unsigned>& cpus);

/// Lets the calling thread run on these CPUs only. False when none of them is allowed to it.
bool pin_thread(const std::vector<unsigned>& cpus);

}  // namespace railhead::bench
