// SPDX-License-Identifier: Apache-2.0
#include "host/line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "host/unique_fd.h"
#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }

  UniqueFd read;
  UniqueFd write;
};

LineWriterOptions to(int descriptor) {
  LineWriterOptions options;
  options.descriptor = descriptor;
  options.dropped_line = [](std::uint64_t lines) { return "dropped " + std::to_string(lines); };
  return options;
}

/// All that comes until the descriptor's last writer is gone.
std::vector<std::string> lines_until_end(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto size = ::read(descriptor, buffer, sizeof buffer);
    if (size <= 0) break;
    text.append(buffer, static_cast<std::size_t>(size));
  }
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return lines;
}

/// Each write is a message of its own.
struct Messages {
  Messages() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }

  [[nodiscard]] std::string next() const {
    char buffer[4096];
    const auto size = ::recv(read.get(), buffer, sizeof buffer, 0);
    return {buffer, static_cast<std::size_t>(size < 0 ? 0 : size)};
  }

  UniqueFd read;
  UniqueFd write;
};

LineWriterOptions gathered_for_an_hour_to(int descriptor) {
  auto options = to(descriptor);
  options.gather = 1h;
  return options;
}

TEST(LineWriter, usual_lines_wait_for_one_that_is_pressing) {
  Messages messages;
  LineWriter writer(gathered_for_an_hour_to(messages.write.get()));
  writer.write("usual", Haste::usual);
  writer.write("usual, too", Haste::usual);
  writer.write("pressing", Haste::pressing);
  EXPECT_EQ(messages.next(), "usual\nusual, too\npressing\n");
  writer.write("the next", Haste::pressing);
  EXPECT_EQ(messages.next(), "the next\n");
}

TEST(LineWriter, the_end_writes_usual_lines_that_wait) {
  Messages messages;
  {
    LineWriter writer(gathered_for_an_hour_to(messages.write.get()));
    writer.write("usual", Haste::usual);
  }
  EXPECT_EQ(messages.next(), "usual\n");
}

TEST(LineWriter, lines_of_one_thread_come_in_their_order) {
  Pipe pipe;
  std::vector<std::string> got;
  std::thread reader([&] { got = lines_until_end(pipe.read.get()); });
  {
    LineWriter writer(to(pipe.write.get()));
    for (int i = 0; i < 2000; ++i) writer.write("line " + std::to_string(i));
    EXPECT_TRUE(writer.flush(10s));
    EXPECT_EQ(writer.dropped(), 0U);
  }
  pipe.write.reset();
  reader.join();
  ASSERT_EQ(got.size(), 2000U);
  for (int i = 0; i < 2000; ++i)
    EXPECT_EQ(got[static_cast<std::size_t>(i)], "line " + std::to_string(i));
}

TEST(LineWriter, an_early_end_loses_nothing) {
  Pipe pipe;
  { LineWriter(to(pipe.write.get())).write("the last words"); }
  pipe.write.reset();
  EXPECT_EQ(lines_until_end(pipe.read.get()), std::vector<std::string>{"the last words"});
}

TEST(LineWriter, many_lines_are_few_writes_of_whole_lines) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd read(ends[0]);
  UniqueFd write(ends[1]);
  {
    LineWriter writer(to(write.get()));
    for (int i = 0; i < 100; ++i) writer.write(std::string(99, 'x'));
  }
  write.reset();
  char packet[8192];
  int packets = 0;
  std::size_t bytes = 0;
  for (;;) {
    const auto size = ::recv(read.get(), packet, sizeof packet, 0);
    if (size <= 0) break;
    ++packets;
    bytes += static_cast<std::size_t>(size);
    EXPECT_LE(size, 4096);
    EXPECT_EQ(packet[size - 1], '\n');
  }
  EXPECT_EQ(bytes, 100U * 100U);
  EXPECT_LT(packets, 50);
}

TEST(LineWriter, a_full_pipe_drops_lines_and_then_says_how_many) {
  Pipe pipe;
  constexpr std::uint64_t kLines = 10000;
  std::vector<std::string> got;
  std::uint64_t dropped = 0;
  {
    LineWriter writer(to(pipe.write.get()));
    for (std::uint64_t i = 0; i < kLines; ++i)
      writer.write(std::to_string(i) + std::string(95, 'x'));
    dropped = writer.dropped();  // nobody reads, and all were written: it did not wait
    EXPECT_GT(dropped, 0U);
    std::thread reader([&] { got = lines_until_end(pipe.read.get()); });
    EXPECT_TRUE(writer.flush(10s));
    writer.write("after");
    EXPECT_TRUE(writer.flush(10s));
    pipe.write.reset();
    reader.join();
  }
  ASSERT_EQ(got.size(), kLines - dropped + 2);
  for (std::uint64_t i = 0; i < kLines - dropped; ++i) EXPECT_EQ(std::stoull(got[i]), i);
  EXPECT_EQ(got[got.size() - 2], "dropped " + std::to_string(dropped));
  EXPECT_EQ(got.back(), "after");
}

TEST(LineWriter, a_pipe_that_nobody_reads_is_left_at_the_end) {
  Pipe pipe;
  LineWriterOptions options = to(pipe.write.get());
  options.patience = 1ms;
  LineWriter writer(options);
  for (int i = 0; i < 1000; ++i) writer.write(std::string(99, 'x'));
}

TEST(LineWriter, a_closed_pipe_is_no_end_of_the_process) {
  Pipe pipe;
  LineWriter writer(to(pipe.write.get()));
  writer.write("read");
  EXPECT_TRUE(writer.flush(10s));
  pipe.read.reset();
  for (int i = 0; i < 3; ++i) {
    writer.write("nobody reads this");
    EXPECT_TRUE(writer.flush(10s));
  }
  EXPECT_EQ(writer.dropped(), 3U);
}

/// By the thread that calls it, which lets the signal in.
void write_to_nobody() {
  Pipe pipe;
  pipe.read.reset();
  const auto written = ::write(pipe.write.get(), "x", 1);
  ::_exit(written < 0 && errno == EPIPE ? 0 : 1);
}

TEST(BrokenPipes, end_only_a_process_that_does_not_ignore_them) {
  EXPECT_EXIT(write_to_nobody(), testing::KilledBySignal(SIGPIPE), "");
  EXPECT_EXIT((ignore_broken_pipes(), write_to_nobody()), testing::ExitedWithCode(0), "");
}

TEST(LineWriter, a_closed_descriptor_costs_nothing) {
  Pipe pipe;
  const int number = pipe.write.get();
  pipe.write.reset();
  LineWriter writer(to(number));
  writer.write("nowhere");
  EXPECT_TRUE(writer.flush(10s));
  EXPECT_EQ(writer.dropped(), 1U);
}

TEST(LineWriter, a_full_disk_is_tried_again_with_the_next_line) {
  test::TemporaryDirectory directory;
  const UniqueFd disk(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const UniqueFd place(::open((directory / "log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(disk && place);
  const UniqueFd log(::fcntl(disk.get(), F_DUPFD_CLOEXEC, 0));
  LineWriter writer(to(log.get()));
  writer.write("one");
  writer.write("two");
  EXPECT_TRUE(writer.flush(10s));
  EXPECT_EQ(writer.dropped(), 2U);
  writer.write("three");
  EXPECT_TRUE(writer.flush(10s));
  EXPECT_EQ(writer.dropped(), 3U);
  ASSERT_GE(::dup3(place.get(), log.get(), O_CLOEXEC), 0);  // there is room again
  writer.write("four");
  EXPECT_TRUE(writer.flush(10s));
  EXPECT_EQ(writer.dropped(), 3U);
  EXPECT_EQ(test::file_text(directory / "log"), "dropped 3\nfour\n");
}

TEST(LineWriter, several_threads_write_whole_lines) {
  Pipe pipe;
  std::vector<std::string> got;
  std::thread reader([&] { got = lines_until_end(pipe.read.get()); });
  {
    LineWriter writer(to(pipe.write.get()));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&writer, t] {
        for (int i = 0; i < 300; ++i) writer.write(std::string(50, static_cast<char>('a' + t)));
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(writer.flush(10s));
  }
  pipe.write.reset();
  reader.join();
  ASSERT_EQ(got.size(), 1200U);
  for (const auto& line : got) EXPECT_EQ(line, std::string(50, line.front()));
}

}  // namespace
}  // namespace railhead::host
