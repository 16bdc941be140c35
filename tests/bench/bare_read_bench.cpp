// SPDX-License-Identifier: Apache-2.0
//
// The bound of a cold read: the calls to the kernel that it takes, and nothing else. What they cost
// differs by a factor of three between hosts that have the same tree.
#include <benchmark/benchmark.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/directory_host.h"
#include "host/unique_fd.h"
#include "machines.h"
#include "node/node.h"

namespace railhead::bench {
namespace {

struct Question {
  enum class Kind : std::uint8_t { read, readlink, list, device };

  Kind kind = Kind::read;
  std::string directory;  ///< below the root, without a slash before it
  std::string name;
};

/// Passes every question on, and keeps it.
class AskedHost : public host::Host {
 public:
  explicit AskedHost(host::Host& inner)
      : inner_(inner) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    keep(Question::Kind::read, path);
    return inner_.read(path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    keep(Question::Kind::readlink, path);
    return inner_.readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    keep(Question::Kind::list, path);
    return inner_.list(path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    keep(Question::Kind::device, path);
    return inner_.device(path);
  }

  Result<std::optional<host::LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override {
    return host::walk_listed(*this, path, limit, take);
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override {
    return inner_.rdma(dump);
  }

  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(
      const std::string& link) override {
    return inner_.tcp_sockets(link);
  }

  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override {
    return inner_.devlink_info(pci_address);
  }

  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   host::LinkPart part) override {
    return inner_.link_settings(netdev, part);
  }

  [[nodiscard]] const std::vector<Question>& asked() const { return asked_; }

 private:
  void keep(Question::Kind kind, const std::string& path) {
    const auto slash = path.rfind('/');
    asked_.push_back({kind, path.substr(1, slash == 0 ? 0 : slash - 1), path.substr(slash + 1)});
  }

  host::Host& inner_;
  std::vector<Question> asked_;
};

/// Bytes that came, so that nothing is left out.
std::size_t ask(int directory, const Question& question) {
  static char buffer[std::size_t{32} << 10];

  struct stat facts {};

  switch (question.kind) {
    case Question::Kind::readlink: {
      const auto got = ::readlinkat(directory, question.name.c_str(), buffer, sizeof buffer);
      return got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    case Question::Kind::device:
      return ::fstatat(directory, question.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 ? 1 : 0;
    case Question::Kind::read:
    case Question::Kind::list: break;
  }
  const host::UniqueFd file(
      ::openat(directory, question.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return 0;
  std::size_t bytes = 0;
  if (question.kind == Question::Kind::read) {
    const auto got = ::read(file.get(), buffer, sizeof buffer);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  for (ssize_t got = 1; got > 0;) {
    got = ::getdents64(file.get(), buffer, sizeof buffer);
    if (got > 0) bytes += static_cast<std::size_t>(got);
  }
  return bytes;
}

/// A directory is opened once for all that is asked in it one after the other.
void ask_bare(benchmark::State& state) {
  const auto path = input(state, "RAILHEAD_BENCH_TREE");
  if (!path) return;
  const auto host = host::DirectoryHost::open(*path);
  if (!host) return state.SkipWithError(host.error().message.c_str());
  AskedHost asked(**host);
  (void)node::read_node(asked);
  const host::UniqueFd root(::open(path->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::size_t bytes = 0;
  for (auto _ : state) {
    host::UniqueFd directory;
    const std::string* opened = nullptr;
    for (const auto& question : asked.asked()) {
      if (opened == nullptr || *opened != question.directory) {
        directory = host::UniqueFd(
            ::openat(root.get(), question.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        opened = &question.directory;
      }
      bytes += ask(directory.get(), question);
    }
  }
  benchmark::DoNotOptimize(bytes);
  state.counters["questions"] = static_cast<double>(asked.asked().size());
}

BENCHMARK(ask_bare)->Name("read_directory_bare")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace railhead::bench
