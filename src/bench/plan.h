// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::bench {

/// What moves the bytes, over reliable connections (RC).
enum class Operation : std::uint8_t { write, read, send };
enum class Measure : std::uint8_t { bandwidth, latency };
/// Where the bytes are, and for a GPU how the NIC gets to know them.
enum class Memory : std::uint8_t { host, gpu_dmabuf, gpu_peermem };

std::string_view to_string(Operation operation);
std::string_view to_string(Measure measure);
std::string_view to_string(Memory memory);  ///< "host", "gpu:dmabuf", "gpu:peermem"
Result<Operation> parse_operation(std::string_view text);
Result<Measure> parse_measure(std::string_view text);
Result<Memory> parse_memory(std::string_view text);

/// What either side refuses to do for the other, authenticated or not.
inline constexpr std::uint64_t kMaxSize = std::uint64_t{64} << 20;
inline constexpr unsigned kMaxQueuePairs = 128;
inline constexpr unsigned kMaxDepth = 8192;
inline constexpr std::size_t kMaxLanes = 16;
inline constexpr std::size_t kMaxSteps = 512;
inline constexpr std::uint64_t kMaxLaneBytes = std::uint64_t{2} << 30;
inline constexpr std::uint64_t kMaxSeconds = 3600;
/// A rate cap lets a lane begin something at least as often.
inline constexpr std::uint64_t kMaxPauseSeconds = 10;

/// One measurement of one size.
struct Step {
  Operation operation = Operation::write;
  Measure measure = Measure::bandwidth;
  std::uint64_t size_bytes = 65536;
  std::uint64_t iterations = 1000;  ///< a queue pair; 0: by time
  std::uint64_t duration_ms = 0;    ///< 0: by iterations
  std::uint64_t warm_up = 0;        ///< iterations a queue pair that are not counted
  unsigned depth = 128;             ///< requests in flight a queue pair
  std::uint64_t rate_cap_bps = 0;   ///< bits a second of all lanes together; 0: none
  std::uint64_t seed = 0;           ///< of the pattern that is moved
  bool ring = false;  ///< each message of a queue pair has bytes and a slot of its own

  friend bool operator==(const Step&, const Step&) = default;
};

/// What a client asks a server for: the queue pairs and the buffers that all steps share.
struct Plan {
  std::vector<std::string>
      remote_nics;           ///< of the server, "mlx5_0" or "mlx5_0:1"; empty: its choice
  std::size_t lanes = 1;     ///< pairs of NICs at once
  unsigned queue_pairs = 1;  ///< a lane
  unsigned depth = 128;
  std::uint64_t max_size_bytes = 65536;
  Memory memory = Memory::host;
  unsigned mtu_bytes = 0;  ///< the largest path MTU to use; 0: what both ports have

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// A lane's share of the step's rate cap; 0: none.
double lane_cap_bps(const Step& step, std::size_t lanes);

/// How much is sent at once under a rate cap: a message, or both messages of a round trip.
std::uint64_t paced_bytes(const Step& step);

/// Seconds that a lane's share of the cap takes for these; 0 without a cap.
double pause_seconds(const Step& step, std::size_t lanes);

/// Errors name what is above which limit.
Status check(const Plan& plan);
Status check(const Step& step, const Plan& plan);

/// "64KiB", "64Ki", "1M", "8MiB", "2": binary multiples, with or without "iB".
Result<std::uint64_t> parse_size(std::string_view text);

/// A comma-separated list of sizes; "all" is every power of two from 2 bytes to 8 MiB.
Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

/// "10s", "500ms", "2m", "1h", the longest; a bare number is seconds.
Result<std::uint64_t> parse_duration_ms(std::string_view text);

/// "10G", "2.5G", "400M" bits a second; usage for less than one.
Result<std::uint64_t> parse_rate_bps(std::string_view text);

/// Each operation with each measure over the sizes. Sizes empty: 64 KiB for bandwidth, 2 bytes for
/// latency. `like` says the rest; its iterations 0 with duration 0 are 1000 for latency and, for
/// bandwidth, as many as move 512 MiB, at least 100 and at most 5000.
std::vector<Step> make_steps(const std::vector<Operation>& operations,
                             const std::vector<Measure>& measures,
                             const std::vector<std::uint64_t>& sizes, const Step& like);

/// Where a lane's buffer holds what: sources and targets for each queue pair, a ring of slots each.
struct Layout {
  std::uint64_t stride_bytes = 0;  ///< a message, rounded up to whole cache lines
  unsigned queue_pairs = 1;
  unsigned slots = 1;  ///< of a queue pair: 256 KiB of them, at most 16

  static Layout of(const Plan& plan);

  [[nodiscard]] std::uint64_t source(unsigned queue_pair, unsigned slot) const {
    return stride_bytes * (std::uint64_t{slots} * queue_pair + slot);
  }

  [[nodiscard]] std::uint64_t target(unsigned queue_pair, unsigned slot) const {
    return stride_bytes * slots * queue_pairs + source(queue_pair, slot);
  }

  [[nodiscard]] std::uint64_t length_bytes() const {
    return stride_bytes * slots * queue_pairs * 2;
  }
};

/// What is moved after a step, untimed, so that each message can be compared: as many messages as a
/// ring has slots, by each queue pair.
Step verifying_pass(const Step& step, const Layout& layout, unsigned pass);

/// How many such passes. They are 16 messages of each queue pair, or fewer so that they stay within
/// 256 MiB. Under a rate cap there is one.
unsigned verifying_passes(const Step& step, const Plan& plan);

}  // namespace railhead::bench
