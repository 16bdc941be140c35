// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_watcher.h"

#include <algorithm>
#include <utility>

#include "host/memory.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

constexpr std::chrono::milliseconds kLongestPause{60'000};

}  // namespace

RuntimeWatcher::RuntimeWatcher(boost::asio::io_context& loop, OpenMachine open,
                               std::string proc_dir, std::chrono::milliseconds again_after)
    : open_(std::move(open)),
      proc_dir_(std::move(proc_dir)),
      again_after_(again_after),
      again_(loop) {}

void RuntimeWatcher::connected(nri::RuntimePeer peer, Done done) {
  again_.cancel();
  peer_ = std::move(peer);
  done_ = std::move(done);
  const auto process = read();
  done_(process);
  host::give_back_free_memory();  // finding a process by its name looks at all that there are
  if (process.may_be_read_later) read_later(again_after_);
}

RuntimeProcess RuntimeWatcher::read() {
  const auto live = open_();
  if (live) return read_runtime(peer_, **live, proc_dir_);
  RuntimeProcess process;
  process.may_be_read_later = true;
  process.why = live.error().message;
  return process;
}

void RuntimeWatcher::read_later(std::chrono::milliseconds pause) {
  loop::call_after(again_, pause, [this, pause] {
    const auto process = read();
    host::give_back_free_memory();
    process.may_be_read_later ? read_later(std::min(2 * pause, kLongestPause)) : done_(process);
  });
}

}  // namespace railhead::agent
