// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/check.h"
#include "report/report.h"

namespace railhead::checks {

/// A run of the doctor.
struct Diagnosis {
  std::string node;  ///< its name
  std::vector<Finding> findings;
  std::chrono::milliseconds took{0};
  std::chrono::milliseconds limit{0};  ///< after it nothing more was read
  std::size_t left_out = 0;            ///< what was not read: for time, or at once
  std::string time{};                  ///< of an agent's look, for a document; "": not said
  std::string boot_id{};               ///< likewise
};

/// How many findings have this state.
std::size_t count_of(const Diagnosis& diagnosis, State state);

/// What the run means for a program.
enum class Outcome : std::uint8_t {
  good,     ///< nothing failed and all is known
  problem,  ///< something failed
  unknown,  ///< nothing failed, and something is not known
};
/// `fail_on`: State::warn, and a warning counts as a failure, too; State::fail, and it does not.
Outcome outcome_of(const Diagnosis& diagnosis, State fail_on = State::fail);

/// kind DoctorReport. For people failures come first, each with its effect, evidence, remedy and
/// what it makes meaningless; then warnings; then what is not known, in a line each. `all` adds a
/// table of every finding.
report::Report report_of(const Diagnosis& diagnosis, bool all);

/// How much was not read, of a run that left something out: "3 readings left out after 20 ms".
std::string left_out_text(const Diagnosis& diagnosis);

/// One line below 80 bytes for a program that shows no more, such as node-problem-detector.
std::string headline(const Diagnosis& diagnosis);

/// kind DoctorChecks: these, as a table.
report::Report list_of_checks(const std::vector<const Check*>& checks);

/// kind DoctorCheck: all that is known of one.
report::Report explanation_of(const Check& check);

}  // namespace railhead::checks
