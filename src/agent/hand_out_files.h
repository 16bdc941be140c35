// SPDX-License-Identifier: Apache-2.0
//
// The files that go with allocations.
// * CDI specs, where nodes are handed out that way. A resource has one file, which lives as long as
//   it does and is kept as the machine is. The files outlive the agent: the kubelet starts
//   containers again by the old answer. Files of resources that are not offered any more are
//   removed.
// * Device-info files of functions that were allocated. They go with the resource.
// * Nobody ever sees half a file. Only the agent that holds the registration touches them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/log.h"
#include "inject/decide.h"

namespace railhead::agent {

struct HandOutFolders {
  std::string cdi;          ///< empty: not looked into
  std::string device_info;  ///< empty: no device-info files
};

class HandOutFiles {
 public:
  HandOutFiles(HandOutFolders folders, config::HandOut hand_out, Log& log);

  /// Everything that containers with these members need is written. The error, for the user, names
  /// the file and the key of its folder.
  Status provide(const inject::DecisionTable& table, std::size_t pool,
                 const std::vector<std::size_t>& members);

  /// Holds all files against the table's pools: writes specs anew, removes what is not needed.
  /// False where something could not be done; that is logged, once while it stays the same.
  bool refresh(const inject::DecisionTable& table);

  /// The resources end: device-info files go, specs stay.
  void end();

 private:
  Status provide_spec(const inject::DecisionTable& table, std::size_t pool);
  Status write_spec(const inject::DecisionTable& table, const pools::Pool& pool);
  Status write_device_info(const inject::DecisionTable& table, const pools::Pool& pool,
                           const std::vector<std::size_t>& members);
  Status remove_old_specs(const inject::DecisionTable& table);
  using Ids = std::map<std::string, std::set<std::string>>;  ///< by resource
  /// Removes them for every resource that was ever offered.
  Status remove_device_info(const Ids& keep);
  void report(const Status& done);

  HandOutFolders folders_;
  config::HandOut hand_out_;
  Log& log_;
  std::map<std::string, std::string> specs_;  ///< by resource, as last written
  std::set<std::string> offered_;             ///< exclusive resources
  std::string error_;                         ///< the last one that was logged
};

}  // namespace railhead::agent
