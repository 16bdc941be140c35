// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "base/contains.h"
#include "checks/formats.h"
#include "checks/report.h"
#include "cli/command.h"
#include "cli/doctor_active.h"
#include "cli/doctor_kube.h"
#include "cli/doctor_pod.h"
#include "cli/doctor_print.h"
#include "host/bounded_host.h"
#include "host/clock.h"
#include "host/hang_watch.h"
#include "host/input_file.h"
#include "node/unread.h"
#include "options/options.h"
#include "report/text_width.h"

namespace railhead::cli {
namespace {

struct DoctorFlags {
  DoctorQuestion question;
  KubeTarget kube;
  bool active = false;
  PodTarget target;
  std::chrono::milliseconds interval{0};  ///< until counters are read again; 0: once
  std::string before;                     ///< an earlier snapshot

  [[nodiscard]] checks::Scope scope() const {
    return target.any() ? checks::Scope::pod : checks::Scope::node;
  }
};

Result<const checks::Check*> check_named(const std::string& id) {
  const auto* check = checks::find_check(id);
  if (check != nullptr) return check;
  if (id.starts_with("kube.")) {
    return shell::no_such("check", id, cluster_check_ids(),
                          "--kube --list names those of a cluster");
  }
  std::vector<std::string> ids;
  for (const auto* one : checks::every_check()) ids.emplace_back(one->id);
  return shell::no_such("check", id, ids, "--list names all");
}

Result<std::vector<const checks::Check*>> chosen(const DoctorFlags& flags) {
  if (flags.question.checks.empty()) return checks::all_checks(flags.scope());
  std::vector<const checks::Check*> all;
  for (const auto& id : flags.question.checks) {
    all.push_back(TRY(check_named(id)));
    if (all.back()->scope == checks::Scope::pod && !flags.target.any()) {
      return Error{ErrorCode::usage, id + " is about a container: name it by --pod or --pid"};
    }
  }
  return all;
}

/// Without what was made only because something stands behind it.
void keep_chosen(const std::vector<const checks::Check*>& wanted,
                 std::vector<checks::Finding>& findings) {
  std::erase_if(findings, [&](const checks::Finding& finding) {
    return !contains(wanted, checks::find_check(finding.id));
  });
}

/// The counters of an earlier look: of a snapshot, or now, and then the time is waited for.
Result<std::optional<system::System>> earlier_counters(const Invocation& invocation,
                                                       const DoctorFlags& flags, host::Host& host,
                                                       const node::Node& node, host::Clock& clock) {
  using Earlier = std::optional<system::System>;
  if (!flags.before.empty()) {
    const auto before = TRY(options::open_machine({"/", flags.before}));
    return Earlier(system::read_system(*before, node, system::Part::counters));
  }
  if (flags.interval.count() == 0) return Earlier();
  Earlier now = system::read_system(host, node, system::Part::counters);
  invocation.err << "waiting between two looks at the counters" << std::endl;
  clock.wait(flags.interval);
  return now;
}

/// What an agent on this machine has seen since it was started, and this look. Absent where there
/// is none; one that cannot be read is talked of, and nothing rests on it.
std::optional<checks::History> history_with(const Invocation& invocation,
                                            const config::Settings& settings,
                                            const node::Node& node, const system::System& system) {
  const auto& path = settings.doctor.history_file;
  if (path.empty() || !settings.host.snapshot.empty() || !host::input_file_exists(path)) {
    return std::nullopt;
  }
  const auto text = host::read_file_at_once(path, checks::kMaxHistoryBytes);
  auto history = text ? checks::parse_history(*text) : Result<checks::History>(text.error());
  if (!history) {
    // An error of reading names the file, one of the text does not.
    invocation.err << "railhead: " << (text ? report::printable(path) + ": " : "")
                   << report::printable(history.error().message)
                   << "; the doctor goes on without the agent's history\n";
    return std::nullopt;
  }
  history->add(node, system);  // of another start of the machine nothing is left
  return *std::move(history);
}

/// Every snapshot with --doctor has one of these two.
bool lacks_doctors_part(const system::System& system) {
  const auto is_absent = [&](const char* path) { return system.text(path).absent(); };
  return is_absent("/proc/modules") && is_absent("/proc/sys/kernel/osrelease");
}

/// For what is not asked through a bounded host, and for a machine that is busy.
constexpr std::chrono::seconds kGrace(5);

Result<checks::Diagnosis> diagnose(const Invocation& invocation, const DoctorFlags& flags,
                                   const config::Config& config) {
  const auto wanted = TRY(chosen(flags));
  const auto wishes = TRY(options::doctor_wishes(config));
  const auto origin = TRY(options::machine_origin(config.settings()));
  if (flags.active && (!origin.snapshot.empty() || origin.root != "/")) {
    return Error{ErrorCode::usage, "--active measures this machine, and no other"};
  }
  const auto host = TRY(options::open_part_of_machine(origin));
  host::SystemClock clock;
  const auto start = clock.now();
  checks::Diagnosis diagnosis;
  diagnosis.limit = flags.question.limit;
  host::ReadingNow now;
  auto watch = std::make_optional<host::HangWatch>(
      2 * diagnosis.limit + flags.interval + kGrace, kExitCannotTell, [&] {
        invocation.err << "railhead doctor: " << report::printable(now.path())
                       << ": a driver or a file system does not answer" << std::endl;
      });
  host::BoundedHost bounded(*host, clock, diagnosis.limit + flags.interval, &now);
  auto node = node::read_node(bounded);
  const auto sys = bounded.list("/sys");
  if (sys && (!*sys || (*sys)->empty())) node::leave_devices_open(node, "/sys is not there");
  // A device that was not looked at would seem to be missing.
  if (bounded.left_out() > 0) {
    return Error{ErrorCode::timeout, "reading the node took longer than " +
                                         std::to_string(flags.question.limit.count()) +
                                         " ms (--time-limit)"};
  }
  auto earlier = TRY(earlier_counters(invocation, flags, *host, node, clock));
  auto system = system::read_system(bounded, node, checks::parts_of(wanted));
  checks::MoreFacts more;
  if (flags.target.any()) {
    TRY_STATUS(add_containers(flags.target, config, node, {clock, diagnosis.limit, now}, more));
  }
  watch.reset();
  more.earlier = std::move(earlier);
  if (!flags.target.any()) {
    more.history = history_with(invocation, config.settings(), node, system);
  }
  if (flags.active) {
    const checks::Machine idle(node, {}, wishes);
    more.loopbacks = run_loopbacks(idle, invocation.environment, invocation.err);
  }
  if (!origin.snapshot.empty() && lacks_doctors_part(system)) {
    invocation.err << "railhead: " << report::printable(origin.snapshot)
                   << " was taken without --doctor: most of what checks look at is not in it\n";
  }
  const checks::Machine machine(std::move(node), std::move(system), wishes, std::move(more));
  diagnosis.node = machine.node.name;
  diagnosis.findings = checks::run_checks(machine, wanted);
  keep_chosen(wanted, diagnosis.findings);
  diagnosis.left_out = bounded.left_out();
  diagnosis.took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - start);
  return diagnosis;
}

/// What would be passed over without a word.
Status check_combination(const DoctorFlags& flags, const config::Settings& settings) {
  const bool is_snapshot = !settings.host.snapshot.empty();
  if (flags.kube.wanted && (is_snapshot || flags.target.any() || flags.active)) {
    return Error{ErrorCode::usage,
                 "--kube looks at the cluster: it takes no --snapshot, --pod, --pid or --active"};
  }
  const auto& named = flags.question.checks;
  const bool is_made = !flags.target.any() && (named.empty() || contains(named, "bench.loopback"));
  if (flags.active && !is_made) {
    return Error{
        ErrorCode::usage,
        "--active measures for bench.loopback, which this --pod, --pid or --check leaves out"};
  }
  if (is_snapshot && flags.interval.count() != 0) {
    return Error{ErrorCode::usage,
                 "--interval waits, and a snapshot does not change: --before compares two"};
  }
  return {};
}

Result<int> run_doctor(const Invocation& invocation, const DoctorFlags& flags,
                       const config::Config& config) {
  TRY_STATUS(check_combination(flags, config.settings()));
  if (flags.kube.wanted) return run_kube_doctor(invocation, flags.kube, flags.question);
  if (flags.question.list)
    return invocation.print(checks::list_of_checks(checks::every_check()), kExitOk);
  if (!flags.question.explain.empty()) {
    const auto* check = TRY(check_named(flags.question.explain));
    return invocation.print(checks::explanation_of(*check), kExitOk);
  }
  const auto diagnosis = TRY(diagnose(invocation, flags, config));
  return print_diagnosis(invocation, flags.question, diagnosis);
}

}  // namespace

void add_doctor_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "doctor", "Say what is wrong with RDMA on this node, with evidence and remedy");
  auto flags = std::make_shared<DoctorFlags>();
  add_settings(*app, invocation,
               {"host.root", "host.snapshot", "host.proc", "topology.file", "nri.enabled",
                "doctor.historyFile"});
  app->get_option("--nri")->description(
      "whether the agent of this node uses NRI, so that the runtime has to offer it [true]");
  app->get_option("--doctor-history")
      ->description(
          "where the agent keeps what it saw of port counters since the node was started; empty: "
          "none is read [/run/railhead/doctor-history.json]");
  add_config_option(*app, invocation);
  std::vector<std::string> own_formats;
  for (const auto& format : checks::kDiagnosisFormats) own_formats.emplace_back(format.name);
  add_output_option(*app, invocation, own_formats);
  add_kube_options(*app, flags->kube);
  app->add_option("--check", flags->question.checks,
                  "make this check only; the first line is its result, below 80 characters; "
                  "may be repeated")
      ->type_name("ID")
      ->allow_extra_args(false);
  auto* pod = app->add_option("--pod", flags->target.pod,
                              "look at the containers of this pod on this node, not at the node")
                  ->type_name("NAMESPACE/NAME");
  app->add_option("--pid", flags->target.pid, "look at the container of this process")
      ->type_name("N")
      ->check(shell::number_between(1, 0x7fffffff))
      ->excludes(pod);
  app->add_option("--explain", flags->question.explain,
                  "what a check looks at, its rule and its remedy")
      ->type_name("ID");
  app->add_flag("--list", flags->question.list, "every check, in a line");
  app->add_flag("--active", flags->active,
                "also send bytes from each idle NIC to itself, for a second at 10 Gbit/s at most "
                "(railhead-bench)");
  add_fail_on_option(*app, flags->question.fail_on);
  app->add_flag("--all", flags->question.all, "every finding, also what is right");
  auto* before = app->add_option("--before", flags->before,
                                 "an earlier snapshot of this machine (snapshot --doctor): which "
                                 "error counters have grown since")
                     ->type_name("FILE");
  add_duration_option(*app, "--interval", flags->interval, std::chrono::seconds(1),
                      "read the counters of ports twice, this long apart, such as 10s [0: once]")
      ->excludes(before);
  add_duration_option(*app, "--time-limit", flags->question.limit, std::chrono::milliseconds(1),
                      "stop reading after this time, such as 10s or 500ms; what is left out is "
                      "UNKNOWN [10s]");
  app->footer(
      "Exit codes: 0 nothing failed (warnings do not count without --fail-on warn), 1 something\n"
      "failed, 2 nothing failed and something is not known.\n"
      "Example: railhead doctor --check link.port-state");
  invocation.answer_with_config(*app, [&invocation, flags](const config::Config& config) {
    return run_doctor(invocation, *flags, config);
  });
}

}  // namespace railhead::cli
