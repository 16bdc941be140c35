// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/runtime_process.h"

namespace railhead::agent {

/// Reads what the process of the connected runtime may do, and reads again where it could not: one
/// moment without a descriptor counts for that moment, not for the whole connection. Lives on the
/// runtime thread, which does nothing else, so that no other file keeps a hook waiting for it.
class RuntimeWatcher {
 public:
  using Done = std::function<void(RuntimeProcess)>;

  /// `proc_dir`: the host's procfs on the live host, which `open` opens.
  RuntimeWatcher(boost::asio::io_context& loop, OpenMachine open, std::string proc_dir,
                 std::chrono::milliseconds again_after = std::chrono::seconds(1));

  /// A runtime has connected. `done` is called before this returns; where nothing could be read at
  /// this moment, a second time, once it could. The runtime before is read no more.
  void connected(nri::RuntimePeer peer, Done done);

 private:
  RuntimeProcess read();
  void read_later(std::chrono::milliseconds pause);

  OpenMachine open_;
  std::string proc_dir_;
  std::chrono::milliseconds again_after_;
  boost::asio::steady_timer again_;
  nri::RuntimePeer peer_;
  Done done_;
};

}  // namespace railhead::agent
