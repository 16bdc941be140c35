// SPDX-License-Identifier: Apache-2.0
#include "host/line_writer.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace railhead::host {
namespace {

using Steady = std::chrono::steady_clock;

/// Where poll(2) says that a pipe is writable, so many bytes fit without waiting (PIPE_BUF).
constexpr std::size_t kPieceBytes = 4096;
/// So much is written at once, however short the writer has gathered.
constexpr std::size_t kUrgentBytes = std::size_t{32} * 1024;
/// Buffers that grew larger are given back when they are empty.
constexpr std::size_t kKeptBytes = std::size_t{64} * 1024;
/// How long poll(2) waits at a time, while there are lines that nobody reads.
constexpr int kPollMs = 50;

/// As many whole lines as fit into a piece; of a longer line its beginning.
std::string_view piece_of(std::string_view rest) {
  const auto piece = rest.substr(0, kPieceBytes);
  if (piece.size() == rest.size()) return piece;
  const auto end = piece.rfind('\n');
  return end == std::string_view::npos ? piece : piece.substr(0, end + 1);
}

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

/// Shared with the thread, so that one which is left behind keeps what it uses.
struct LineWriter::State {
  enum class Outcome : std::uint8_t { written, refused, closed, late };

  struct Piece {
    Outcome outcome;
    std::size_t bytes;  ///< written
  };

  explicit State(LineWriterOptions chosen)
      : options(std::move(chosen)) {}

  [[nodiscard]] bool is_report_due() const {
    return unreported > 0 && pending.empty() != is_refused;
  }

  [[nodiscard]] bool has_work() const {
    return !is_closed && (!pending.empty() || is_report_due());
  }

  /// While lines are being dropped none is taken: the line that says so stands between those before
  /// and those after. A descriptor that refused is tried with the next line.
  void take(const std::shared_ptr<State>& self, std::string_view line, Haste haste) {
    bool must_hurry = false;
    bool must_wake = false;
    {
      const std::lock_guard lock(mutex);
      const std::size_t used = pending.size() + held_bytes;
      const bool has_room = used + line.size() + 1 <= options.capacity_bytes;
      if (is_closed || stopping || !has_room || (unreported > 0 && !is_refused)) {
        ++dropped_total;
        ++unreported;
        return;
      }
      pending.append(line);
      pending.push_back('\n');
      const bool begins_to_press = haste == Haste::pressing && !is_pressing;
      is_pressing = is_pressing || begins_to_press;
      must_hurry = begins_to_press || pending.size() >= kUrgentBytes;
      must_wake = is_asleep;
      if (!thread.joinable()) start(self);
    }
    if (must_wake) wake.notify_one();
    if (must_hurry) hurry.notify_one();
  }

  /// The thread takes no signal: those of the process are the event loop's. Without a thread the
  /// lines wait, for one that can be had later or for the end.
  void start(const std::shared_ptr<State>& self) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread = std::thread([self] { self->run(); });
      ::pthread_setname_np(thread.native_handle(), "log");
    } catch (const std::system_error&) {  // tried again with the next line
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      is_asleep = true;
      wake.wait(lock, [this] { return has_work() || stopping; });
      is_asleep = false;
      gather(lock);
      if (take_batch()) write_batch(lock);
      if (has_work()) continue;
      is_quiet.notify_all();
      if (stopping) break;
    }
    has_ended = true;
    is_quiet.notify_all();
  }

  void gather(std::unique_lock<std::mutex>& lock) {
    const auto is_enough = [this] {
      return stopping || flushes > 0 || pending.size() >= kUrgentBytes;
    };
    hurry.wait_for(lock, options.gather, [&] { return is_pressing || is_enough(); });
    if (is_pressing) hurry.wait_for(lock, options.gather_pressing, is_enough);
    is_pressing = false;
  }

  /// What is written next. The word on dropped lines stands behind those that were taken before the
  /// first of them; after a refusal, before the line with which it is tried again. False where
  /// there is nothing to write.
  bool take_batch() {
    batch.clear();
    reported_now = 0;
    report_bytes = 0;
    if (is_closed) return false;
    if (is_report_due()) {
      reported_now = std::exchange(unreported, 0);
      if (is_mid_line) batch += '\n';
      if (options.dropped_line) batch += options.dropped_line(reported_now) + "\n";
      report_bytes = batch.size();
    }
    if (batch.empty()) {
      batch.swap(pending);
    } else {
      batch += pending;
      pending.clear();
    }
    held_bytes = batch.size();
    is_writing = !batch.empty();
    return is_writing;
  }

  void write_batch(std::unique_lock<std::mutex>& lock) {
    std::size_t done = 0;
    while (done < batch.size()) {
      lock.unlock();
      const auto [outcome, bytes] = write_piece(piece_of(std::string_view(batch).substr(done)));
      lock.lock();
      if (outcome != Outcome::written) {
        give_up_lines(done);
        is_refused = outcome == Outcome::refused;
        is_closed = !is_refused;
        break;
      }
      done += bytes;
      held_bytes = batch.size() - done;
      is_mid_line = batch[done - 1] != '\n';
      is_refused = false;
    }
    if (batch.capacity() > kKeptBytes) batch = {};
    held_bytes = 0;
    is_writing = false;
  }

  [[nodiscard]] Piece write_piece(std::string_view piece) const {
    for (;;) {
      if (!wait_for_room()) return {Outcome::late, 0};
      const auto written = ::write(options.descriptor, piece.data(), piece.size());
      if (written > 0) return {Outcome::written, static_cast<std::size_t>(written)};
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      const bool is_gone = written < 0 && (errno == EPIPE || errno == EBADF);
      return {is_gone ? Outcome::closed : Outcome::refused, 0};
    }
  }

  /// False where the end has waited long enough.
  [[nodiscard]] bool wait_for_room() const {
    for (;;) {
      pollfd entry{options.descriptor, POLLOUT, 0};
      if (::poll(&entry, 1, kPollMs) > 0) return true;
      if (stopping && Steady::now() >= give_up) return false;
    }
  }

  /// All that waits is given up, so that a full disk is tried once a line and not for ever.
  void give_up_lines(std::size_t done) {
    const auto rest = std::string_view(batch).substr(std::max(done, report_bytes));
    const std::uint64_t lines = lines_in(rest) + lines_in(pending);
    dropped_total += lines;
    unreported += lines + (done < report_bytes ? reported_now : 0);
    pending.clear();
  }

  void end_by(Steady::time_point time) {
    std::unique_lock lock(mutex);
    give_up = time;
    stopping = true;
    wake.notify_one();
    hurry.notify_one();
    if (!thread.joinable()) {  // none could be had
      lock.unlock();
      run();
      return;
    }
    // A little more than the thread's own patience: it ends by itself, unless it is in write(2).
    const bool ended = is_quiet.wait_until(lock, time + std::chrono::milliseconds(2 * kPollMs),
                                           [this] { return has_ended; });
    lock.unlock();
    if (ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }

  const LineWriterOptions options;
  std::mutex mutex;
  std::condition_variable wake;      // there is something to do
  std::condition_variable hurry;     // do not gather any longer
  std::condition_variable is_quiet;  // idle, or ended
  std::thread thread;
  std::string pending;
  std::string batch;               // while is_writing changed by nobody
  std::size_t held_bytes = 0;      // of the batch, not yet written
  std::size_t report_bytes = 0;    // the batch begins with a report of dropped lines, this long
  std::uint64_t reported_now = 0;  // lines that it tells of
  std::uint64_t unreported = 0;
  std::uint64_t dropped_total = 0;
  unsigned flushes = 0;
  bool is_pressing = false;  // a line among those that wait is
  bool is_asleep = false;
  bool is_writing = false;
  bool is_refused = false;   // the last write failed: a full disk
  bool is_closed = false;    // nothing more is written
  bool is_mid_line = false;  // the last byte that was written is no newline
  bool has_ended = false;
  Steady::time_point give_up;          // set before stopping
  std::atomic<bool> stopping = false;  // looked at by the thread while it waits for the descriptor
};

LineWriter::LineWriter(LineWriterOptions options)
    : state_(std::make_shared<State>(std::move(options))) {}

LineWriter::~LineWriter() {
  state_->end_by(Steady::now() + state_->options.patience);
}

void LineWriter::write(std::string_view line, Haste haste) {
  state_->take(state_, line, haste);
}

bool LineWriter::flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(state_->mutex);
  ++state_->flushes;
  state_->hurry.notify_one();
  const bool done = state_->is_quiet.wait_for(
      lock, patience, [this] { return !state_->has_work() && !state_->is_writing; });
  --state_->flushes;
  return done;
}

std::uint64_t LineWriter::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped_total;
}

void ignore_broken_pipes() {
  ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace railhead::host
