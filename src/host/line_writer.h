// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace railhead::host {

struct LineWriterOptions {
  int descriptor = 2;
  std::size_t capacity_bytes = std::size_t{256} * 1024;
  /// How long the writer waits for more lines before it writes: each time it writes it wakes itself
  /// and who reads. So much is lost where the process is killed.
  std::chrono::milliseconds gather{100};
  /// The same from a line on that is pressing.
  std::chrono::milliseconds gather_pressing{5};
  /// How long the end waits for a reader that does not read.
  std::chrono::milliseconds patience{200};
  /// The line that says how many lines were dropped. Called on the writer's thread; empty: no line.
  std::function<std::string(std::uint64_t lines)> dropped_line;
};

enum class Haste : std::uint8_t { usual, pressing };

/// Complete lines to a descriptor that may block, be slow, be closed or be a full disk. Nobody who
/// writes ever waits for it: a thread of its own does. Lines that find no room are dropped and
/// counted; so are those that the descriptor refuses. After EPIPE and EBADF nothing more is
/// written.
class LineWriter {
 public:
  /// The thread starts with the first line.
  explicit LineWriter(LineWriterOptions options);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  /// Writes what is left, with patience; a thread that waits for the descriptor even then is left
  /// behind with all that it uses.
  ~LineWriter();

  /// From any thread: copies the line, to which a newline is added.
  void write(std::string_view line, Haste haste = Haste::pressing);

  /// Waits until all lines that were taken are written or refused; false where that takes longer.
  bool flush(std::chrono::milliseconds patience);

  /// Lines that were never written.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// From now on a write to a pipe that nobody reads fails with EPIPE and does not end the process.
void ignore_broken_pipes();

}  // namespace railhead::host
