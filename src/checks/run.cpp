// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "checks/check.h"
#include "checks/groups.h"
#include "node/unread.h"

namespace railhead::checks {
namespace {

/// The visible list: every file of checks, in order.
constexpr std::array kGroups = {
    host_checks,       driver_checks, pci_checks,       pci_settings_checks, pci_acs_checks,
    device_checks,     link_checks,   place_checks,     roce_checks,         roce_qos_checks,
    sriov_checks,      gpu_checks,    gpu_extra_checks, runtime_checks,      nfs_checks,
    lnet_checks,       log_checks,    over_time_checks, bench_checks,        pod_checks,
    pod_library_checks};

bool belongs_to(std::string_view subject, std::string_view to) {
  return to == kNode || subject == to ||
         (subject.size() > to.size() && subject.starts_with(to) && subject[to.size()] == '/');
}

/// Failures that make findings of a check meaningless, by one word of its `after`.
struct Blockers {
  std::string_view subject;  ///< that alone; "": to which the finding belongs
  std::vector<const Finding*> failed;
};

std::vector<Blockers> blockers_of(const Check& check, const std::vector<Finding>& before) {
  std::vector<Blockers> all;
  for (const std::string_view word : split_words(check.after)) {
    const auto colon = word.find(':');
    auto& blockers = all.emplace_back();
    if (colon != std::string_view::npos) blockers.subject = word.substr(colon + 1);
    for (const auto& finding : before) {
      if (finding.id != word.substr(0, colon) || finding.state != State::fail) continue;
      if (colon != std::string_view::npos && finding.subject != blockers.subject) continue;
      blockers.failed.push_back(&finding);
    }
  }
  return all;
}

/// One is enough for a reason; the first in the order of `after`.
const Finding* blocker_of(const std::vector<Blockers>& all, const std::string& subject) {
  for (const auto& blockers : all) {
    for (const auto* finding : blockers.failed) {
      if (!blockers.subject.empty() || belongs_to(subject, finding->subject)) return finding;
    }
  }
  return nullptr;
}

/// The most findings that one check says; a machine may have thousands of virtual functions.
constexpr std::size_t kMostOfOneCheck = 512;

/// Keeps the worst, in their order.
void leave_out(const Check& check, std::vector<Finding>& findings) {
  if (findings.size() <= kMostOfOneCheck) return;
  const auto count = findings.size() - kMostOfOneCheck;
  constexpr std::array kWorstFirst = {State::fail, State::warn, State::unknown, State::pass,
                                      State::skip};
  std::ranges::stable_sort(findings, {}, [&](const Finding& one) {
    return std::ranges::find(kWorstFirst, one.state) - kWorstFirst.begin();
  });
  findings.resize(kMostOfOneCheck);
  Findings rest(check);
  rest.skip(std::string(kNode), std::to_string(count) + " more are left out: none is worse");
  findings.push_back(rest.take(kNode).front());
}

/// True for a check that misses what it is about where PCI functions or RDMA devices cannot be
/// read.
bool is_about_devices(const Check& check) {
  constexpr std::array<std::string_view, 4> kWords = {"NIC", "GPU", "port", "RDMA device"};
  return check.scope == Scope::node && std::ranges::any_of(kWords, [&](std::string_view word) {
           return check.about.find(word) != std::string_view::npos;
         });
}

/// A guest's owner reaches no card, slot or cable.
void hand_to_provider(Finding& finding) {
  if (finding.remedy_class != RemedyClass::hardware) return;
  finding.remedy +=
      " This is a virtual machine: card, slot and cable are its provider's to mend. Drain the "
      "node, and redeploy or report it.";
}

std::vector<Finding> findings_of(const Check& check, const Machine& machine) {
  Findings found(check);
  check.look(machine, found);
  const auto* unread = is_about_devices(check) ? node::unread_nic(machine.node) : nullptr;
  if (unread != nullptr && found.empty()) {
    found.skip(std::string(kNode), "whether there is a " + std::string(check.about) +
                                       " here is not known: " + unread->text());
  }
  auto all = found.take(kNode);
  if (machine.node.hypervisor) std::ranges::for_each(all, hand_to_provider);
  return all;
}

void add_with_before(const Check& check, std::vector<const Check*>& wanted) {
  if (contains(wanted, &check)) return;
  wanted.push_back(&check);
  for (const auto& word : split_words(check.after)) {
    const auto* before = find_check(std::string_view(word).substr(0, word.find(':')));
    if (before != nullptr) add_with_before(*before, wanted);
  }
}

/// These, and all that they stand behind, in the order of the list.
std::vector<const Check*> with_before(const std::vector<const Check*>& checks) {
  std::vector<const Check*> wanted;
  for (const auto* check : checks) add_with_before(*check, wanted);
  std::vector<const Check*> ordered;
  for (const auto* check : every_check()) {
    if (contains(wanted, check)) ordered.push_back(check);
  }
  return ordered;
}

}  // namespace

const std::vector<const Check*>& every_check() {
  static const auto every = [] {
    std::vector<const Check*> all;
    for (const auto group : kGroups) {
      for (const auto& check : group()) all.push_back(&check);
    }
    return all;
  }();
  return every;
}

const std::vector<const Check*>& all_checks(Scope scope) {
  const auto of_scope = [](Scope wanted) {
    auto checks = every_check();
    std::erase_if(checks, [&](const Check* check) { return check->scope != wanted; });
    return checks;
  };
  static const auto of_node = of_scope(Scope::node);
  static const auto of_pod = of_scope(Scope::pod);
  return scope == Scope::node ? of_node : of_pod;
}

const Check* find_check(std::string_view id) {
  const auto& all = every_check();
  const auto at = std::ranges::find_if(all, [&](const Check* check) { return check->id == id; });
  return at == all.end() ? nullptr : *at;
}

system::Part parts_of(const std::vector<const Check*>& checks) {
  auto parts = system::Part::none;
  for (const auto* check : with_before(checks)) parts = parts | check->parts;
  return parts;
}

std::vector<Finding> run_checks(const Machine& machine, const std::vector<const Check*>& checks) {
  std::vector<CheckTime> times;
  return run_checks(
      machine, checks, [] { return std::chrono::steady_clock::time_point(); }, times);
}

std::vector<Finding> run_checks(const Machine& machine, const std::vector<const Check*>& checks,
                                const Stopwatch& now, std::vector<CheckTime>& times) {
  std::vector<Finding> all;
  for (const auto* check : with_before(checks)) {
    const auto start = now();
    auto findings = findings_of(*check, machine);
    const auto blockers = blockers_of(*check, all);
    for (auto& finding : findings) {
      const auto* blocker = blocker_of(blockers, finding.subject);
      if (blocker != nullptr) {
        Findings instead(*check);
        instead.skip(finding.subject, std::string(blocker->id) + " failed for " + blocker->subject,
                     blocker->evidence);
        finding = instead.take(kNode).front();
      }
    }
    leave_out(*check, findings);
    std::ranges::move(findings, std::back_inserter(all));
    times.push_back({check, now() - start});
  }
  return all;
}

}  // namespace railhead::checks
