// SPDX-License-Identifier: Apache-2.0
//
// A check is a function and a row. The function looks at a Machine and says one thing of each
// subject that it is about; the row says the rest: what is right, where that stands, what helps.
// Rows stand below the functions in one file for each subject matter; run.cpp has the files.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/finding.h"
#include "checks/machine.h"
#include "system/system.h"

namespace railhead::checks {

class Findings;

/// What a run of the doctor is about.
enum class Scope : std::uint8_t {
  node,
  pod,      ///< the containers of Machine::containers
  cluster,  ///< what the API server says; made by cluster/
};

struct Check {
  std::string_view id;      ///< stable: group.name
  std::string_view what;    ///< what is right, in a sentence
  std::string_view source;  ///< where it stands
  std::string_view rule;    ///< when it is PASS, WARN, FAIL
  std::string_view effect;  ///< what users see where it is not right
  std::string_view remedy;  ///< what helps, where the function says nothing more exact
  RemedyClass remedy_class;
  /// What is looked at; where there is none of it, the check is SKIP with this for a reason.
  std::string_view about;
  /// Ids of what guides ask for that it answers, with blanks between (tests/checks/catalogue.py,
  /// elsewhere.py); "": none.
  std::string_view covers;
  /// Ids of checks before it, with blanks. A FAIL of one makes this SKIP for the same subject and
  /// for what belongs to it (mlx5_3 and mlx5_3/1). "id:subject": that failure makes it SKIP for
  /// all.
  std::string_view after = "";
  system::Part parts = system::Part::none;  ///< what it looks at beyond the node
  void (*look)(const Machine& machine, Findings& found) = nullptr;
  Scope scope = Scope::node;
};

/// Where a check's function puts what it finds. Each answer may be changed through the reference
/// that it returns: `.remedy`, `.effect`.
class Findings {
 public:
  using EvidenceList = std::vector<Evidence>;

  explicit Findings(const Check& check)
      : check_(check) {}

  Finding& pass(std::string subject, std::string observed, EvidenceList evidence);
  Finding& warn(std::string subject, std::string observed, std::string expected,
                EvidenceList evidence);
  Finding& fail(std::string subject, std::string observed, std::string expected,
                EvidenceList evidence);
  Finding& unknown(std::string subject, std::string reason, EvidenceList evidence);
  Finding& skip(std::string subject, std::string reason, EvidenceList evidence = {});

  /// UNKNOWN because of what could not be read, or is malformed, which is evidence behind `others`.
  Finding& unknown(std::string subject, const node::Problem& problem, EvidenceList others = {}) {
    others.push_back({problem.path, "", problem.what});
    return unknown(std::move(subject), problem.text(), std::move(others));
  }

  /// UNKNOWN, with the reason why the fact is not known: it could not be read, or is not there.
  template <typename T>
  Finding& unknown(std::string subject, const system::Fact<T>& fact) {
    const auto why = fact.absent() ? " is not there" : ": " + fact.error;
    return unknown(std::move(subject), fact.path + why, {{fact.path, "", fact.error}});
  }

  /// Whether the fact is known. Where it is not, that is said of the subject.
  template <typename T>
  [[nodiscard]] bool knows(const std::string& subject, const system::Fact<T>& fact) {
    if (!fact.known()) unknown(subject, fact);
    return fact.known();
  }

  /// All of them; where there is nothing to look at, one SKIP of `whole` that says so.
  [[nodiscard]] std::vector<Finding> take(std::string_view whole);

  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  Finding& add(State state, std::string subject, EvidenceList evidence);

  const Check& check_;
  std::vector<Finding> all_;
};

/// A text that was read, as evidence.
Evidence evidence_of(const system::Text& text);

/// Every check of a scope, in the order in which they are made: a check stands behind those in its
/// `after`.
const std::vector<const Check*>& all_checks(Scope scope = Scope::node);

/// Those of every scope, one scope after the other.
const std::vector<const Check*>& every_check();

/// nullptr where no check has this id.
const Check* find_check(std::string_view id);

/// The parts beyond the node that are looked at by these checks, and by those before them.
system::Part parts_of(const std::vector<const Check*>& checks);

/// How long a check took.
struct CheckTime {
  const Check* check = nullptr;
  std::chrono::nanoseconds took{0};
};

/// Reads a clock that only goes on.
using Stopwatch = std::function<std::chrono::steady_clock::time_point()>;

/// Makes these checks and all that they stand behind, in order. A check that has nothing to look at
/// is one SKIP. Every finding has evidence, except SKIP.
std::vector<Finding> run_checks(const Machine& machine, const std::vector<const Check*>& checks);
/// The same; `times` gets how long each took, without reading what it looks at.
std::vector<Finding> run_checks(const Machine& machine, const std::vector<const Check*>& checks,
                                const Stopwatch& now, std::vector<CheckTime>& times);

}  // namespace railhead::checks
