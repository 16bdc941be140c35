// SPDX-License-Identifier: Apache-2.0
//
// A rule is a function and a row. The function looks at what was given and says where it is broken;
// the row says the rest: what is wrong, why that matters, what helps. Rows stand below the
// functions in one file for each subject; lint.cpp lists the files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/given.h"

namespace railhead::lint {

enum class Severity : std::uint8_t {
  fail,     ///< it cannot work so
  warn,     ///< it does not do what it says, or will be slow, or works by accident
  note,     ///< advice; it may be right as it is
  unknown,  ///< it could not be read
};
std::string_view to_string(Severity severity);  ///< "FAIL"

struct Finding {
  std::string_view rule;
  Severity severity = Severity::fail;
  std::string object;  ///< Object::label()
  std::string file;
  data::Mark mark;
  std::string what;
  std::string why;
  std::string remedy;
};

class Found;

struct Rule {
  std::string_view id;    ///< stable: subject.name
  std::string_view what;  ///< what is wrong, in a sentence
  Severity severity;
  std::string_view why;     ///< what comes of it, and where that is known from
  std::string_view remedy;  ///< what helps, where the function says nothing more exact
  /// Ids of what guides prescribe that it answers, with blanks between; "": none.
  std::string_view covers;
  void (*look)(const Given& given, Found& found) = nullptr;
};

/// Where a rule's function puts what it finds. `why`, `remedy` and `severity` may be changed
/// through the reference that is returned.
class Found {
 public:
  explicit Found(const Rule& rule)
      : rule_(rule) {}

  Finding& add(const Object& object, data::Mark mark, std::string what);
  Finding& add(const Object& object, const data::Value* place, std::string what);
  Finding& add(const Object& object, const data::Value::Entry* place, std::string what);

  /// The last says how many more there were.
  [[nodiscard]] std::vector<Finding> take();

 private:
  const Rule& rule_;
  std::vector<Finding> all_;
  Finding left_out_;
  std::size_t count_ = 0;
};

// One file each.
std::span<const Rule> manifest_rules();     ///< YAML, names, indentation
std::span<const Rule> pod_rules();          ///< rights, host paths, memory
std::span<const Rule> resource_rules();     ///< what containers ask for
std::span<const Rule> annotation_rules();   ///< of pods
std::span<const Rule> environment_rules();  ///< variables of containers
std::span<const Rule> plugin_rules();       ///< device plugins and their files
std::span<const Rule> operator_rules();     ///< GPU Operator and Network Operator
std::span<const Rule> nic_policy_rules();   ///< NicClusterPolicy and NicNodePolicy together
std::span<const Rule> values_rules();       ///< values of both operators' charts
std::span<const Rule> schema_rules();       ///< objects of operators, by their schema
std::span<const Rule> sriov_rules();        ///< SR-IOV policies, and networks of their resources
std::span<const Rule> network_rules();      ///< secondary networks
std::span<const Rule> storage_rules();      ///< NFS over RDMA
std::span<const Rule> daemon_rules();       ///< DaemonSets that change nodes

}  // namespace railhead::lint
