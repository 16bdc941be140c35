// SPDX-License-Identifier: Apache-2.0
//
// Container runtime and kubelet: what limit containers inherit, whether NRI is there, and whether
// device plugins can register.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/find.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "checks/groups.h"

namespace railhead::checks {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kEnough = 1024 * kMiB;  ///< less than any job registers

std::string bytes_text(std::uint64_t bytes) {
  if (bytes == host::ProcessFacts::kUnlimited) return "unlimited";
  if (bytes >= kMiB) return std::to_string(bytes / kMiB) + " MiB";
  return std::to_string(bytes / 1024) + " KiB";
}

/// The runtime that the kubelet uses, if its process is seen; says why it is not known.
const system::Service* runtime_of(const Machine& machine, Findings& found) {
  const auto& runtime = machine.system.runtime;
  const auto& seen = machine.system.processes.seen;
  if (!runtime.unknown.empty()) {
    found.unknown(kNode, runtime.unknown, {{"/proc", "which runtime is not known"}});
  } else if (runtime.pid == 0 && !seen.known()) {
    found.unknown(kNode, seen);
  } else if (runtime.pid == 0 && *seen.value < 2) {
    found.unknown(kNode, "no name of a process can be read in /proc",
                  {{"/proc", counted(*seen.value, "process")}});
  }
  return find_where(machine.system.processes.services, [&](const system::Service& service) {
    return service.pid == runtime.pid && service.name == runtime.name;
  });
}

/// The line LimitMEMLOCK of the runtime's unit; absent: it has none.
std::optional<Evidence> unit_limit(const Machine& machine) {
  for (const auto& unit : machine.system.units) {
    if (unit.name == machine.system.runtime.unit && !unit.memlock.empty())
      return Evidence{unit.memlock_path, "LimitMEMLOCK=" + unit.memlock};
  }
  return std::nullopt;
}

/// The memory-lock limit that containers inherit, and the file that says it.
struct InheritedLimit {
  std::uint64_t soft_bytes = 0;
  Evidence evidence;
};

/// By the files of the runtime where they say it, else by its process. Absent: not known, which is
/// said.
std::optional<InheritedLimit> inherited_limit(const Machine& machine,
                                              const system::Service& service, Findings& found) {
  const auto& facts = service.facts;
  std::optional<std::uint64_t> own;
  if (facts.value) own = facts.value->memlock_soft_bytes;
  const auto& given = machine.system.container_memlock;
  if (!given) {
    if (own) return InheritedLimit{*own, {facts.path, "Max locked memory " + bytes_text(*own)}};
    found.unknown(service.name, facts);
    return std::nullopt;
  }
  const Evidence evidence{given->path, given->says};
  if (!given->soft_bytes) {
    found.unknown(service.name, given->path + ": " + given->error, {evidence});
    return std::nullopt;
  }
  // Runtimes without it give the limit of the process.
  const bool is_same =
      given->others.empty() || (own && (*own >= kEnough) == (*given->soft_bytes >= kEnough));
  if (is_same) return InheritedLimit{*given->soft_bytes, evidence};
  found.unknown(service.name,
                "the runtimes " + join(given->others, ", ") +
                    " do not have it, and give containers the limit of the process",
                {evidence});
  return std::nullopt;
}

void judge_memlock(const Machine& machine, const system::Service& service, Findings& found) {
  const auto limit = inherited_limit(machine, service, found);
  if (!limit) return;
  const auto soft = limit->soft_bytes;
  const auto observed = bytes_text(soft);
  std::vector<Evidence> evidence = {limit->evidence};
  const auto unit = unit_limit(machine);
  if (unit) evidence.push_back(*unit);
  const auto* ours = machine.system.processes.find("railhead");
  if (soft >= kEnough) {
    found.pass(service.name, observed, std::move(evidence));
  } else if (ours != nullptr) {
    evidence.push_back({"/proc/" + std::to_string(ours->pid) + "/comm", "railhead"});
    found.pass(service.name, observed + "; railhead raises it for RDMA containers",
               std::move(evidence));
  } else if (unit && unit->value == "LimitMEMLOCK=infinity") {
    auto& finding =
        found.warn(service.name, observed + ", and its unit says infinity", "unlimited", evidence);
    finding.remedy = "systemctl daemon-reload && systemctl restart " +
                     shell_word(machine.system.runtime.unit) +
                     ", then create the pods anew: the process is older than the setting.";
  } else {
    found.fail(service.name, observed, "unlimited, or an agent that raises it", evidence);
  }
}

void memlock(const Machine& machine, Findings& found) {
  if (const auto* service = runtime_of(machine, found)) judge_memlock(machine, *service, found);
}

std::vector<Evidence> evidence_in(const system::RuntimeAnswer& answer) {
  std::vector<Evidence> evidence;
  for (const auto& reason : answer.reasons) evidence.push_back({reason.place(), reason.words()});
  return evidence;
}

/// Says what keeps the runtime from starting again, or may. False: nothing does.
bool says_start(const system::Service& service, const system::RuntimeAnswer& answer,
                Findings& found) {
  if (answer.starts == system::Known::yes) return false;
  const bool is_sure = answer.starts == system::Known::no || answer.refused_by_most;
  if (!is_sure) {
    found.unknown(service.name, "whether it starts again: " + answer.why(), evidence_in(answer));
    return true;
  }
  auto& finding = found.warn(service.name, "it runs, and its files keep it from starting again",
                             "files that it takes", evidence_in(answer));
  finding.remedy =
      "Do not restart " + service.name + " before these files are right: " + answer.why();
  return true;
}

void judge_nri(const Machine& machine, const system::Service& service, Findings& found) {
  const bool is_containerd = service.name == "containerd";
  if (!is_containerd && service.name != "crio") {
    const auto& runtime = machine.system.runtime;
    found.fail(service.name, "it takes no NRI plugins", "containerd or CRI-O",
               {{"/proc/" + std::to_string(runtime.pid) + "/comm", service.name}});
    return;
  }
  const auto answer = is_containerd ? system::judge_containerd(machine.system.containerd)
                                    : system::judge_crio(machine.system.crio);
  if (says_start(service, answer, found)) return;
  const auto socket = machine.system.nri_socket();
  auto evidence = evidence_in(answer);
  const auto place = machine.system.nri_place();
  const auto folder = machine.system.folder(place.substr(0, place.rfind('/')));
  const auto dead = machine.system.dead_nri_socket();
  evidence.insert(evidence.begin(),
                  Evidence{socket.value_or(place), socket ? "there"
                                                   : dead ? "there, and nobody listens"
                                                          : ""});
  if (answer.nri == system::Known::no) {
    found.fail(service.name, "disabled", "enabled", std::move(evidence));
  } else if (socket) {
    found.pass(service.name, "its socket is there", std::move(evidence));
  } else if (!folder.error.empty()) {
    found.unknown(service.name, folder);
  } else if (!machine.system.folder("/run").known()) {
    found.unknown(service.name, machine.system.folder("/run"));
  } else if (answer.nri == system::Known::yes) {
    auto& finding =
        found.warn(service.name, "enabled, and no socket", "the socket", std::move(evidence));
    finding.remedy = "systemctl restart " + shell_word(machine.system.runtime.unit) +
                     ": the process is older than the setting.";
  } else {
    found.fail(service.name, "no socket, and no file enables it for every release", "enabled",
               std::move(evidence));
  }
}

void nri(const Machine& machine, Findings& found) {
  if (!machine.wishes.nri) {
    found.skip(kNode, "the agent is configured without NRI (nri.enabled)");
    return;
  }
  const auto* service = runtime_of(machine, found);
  // The files of a runtime that is not known are not known, either.
  if (service != nullptr && machine.system.runtime.unknown.empty())
    judge_nri(machine, *service, found);
}

void device_plugins(const Machine& machine, Findings& found) {
  const auto folder = machine.system.folder("/var/lib/kubelet/device-plugins");
  const auto* kubelet = machine.system.processes.find("kubelet");
  if (folder.known()) {
    const auto& names = *folder.value;
    const Evidence socket{folder.path + "/kubelet.sock", ""};
    if (contains(names, "kubelet.sock")) {
      found.pass(kNode, "kubelet.sock is there", {{socket.path, "there"}});
    } else if (kubelet != nullptr) {
      found.fail(kNode, "no kubelet.sock", "the kubelet's socket", {socket});
    } else {
      found.warn(kNode, "no kubelet.sock, and no kubelet", "a kubelet", {socket});
    }
  } else if (kubelet != nullptr && folder.absent()) {
    found.unknown(kNode, "the kubelet has another folder than " + folder.path, {{folder.path, ""}});
  } else if (!folder.absent()) {
    found.unknown(kNode, folder);
  }
}

using system::Part;

constexpr std::array kRuntimeChecks = {
    Check{
        .id = "runtime.memlock",
        .what = "Containers inherit a memory-lock limit that RDMA can live with.",
        .source = "/proc/PID/limits of the runtime that the kubelet uses, base_runtime_spec of "
                  "containerd, default_ulimits of CRI-O, systemd units",
        .rule =
            "PASS: 1 GiB or more, by the process or by the runtime's files, or railhead runs here, "
            "which raises it; WARN: the unit says infinity and the process is older; FAIL: less. "
            "The kubelet's limit and /etc/security/limits.d do not count",
        .effect = "ibv_reg_mr: Cannot allocate memory, in every container without an effective "
                  "IPC_LOCK -> NCCL and UCX use TCP",
        .remedy = "LimitMEMLOCK=infinity in a drop-in of the runtime's unit (not of the kubelet, "
                  "not in limits.d), daemon-reload, restart it, create the pods anew; or run "
                  "railhead, which raises it for each container. NRI's ulimit-adjuster acts only "
                  "on pods with the annotation ulimits.noderesource.dev/container.NAME.",
        .remedy_class = RemedyClass::restart,
        .about = "container runtime",
        .covers = "rt.memlock D18 D19 D21 L06 L13 E05 E09 E10",
        .parts = Part::services | Part::runtime,
        .look = memlock},
    Check{.id = "runtime.nri",
          .what = "The runtime lets NRI plugins connect.",
          .source = "/etc/containerd/config.toml with its imports, /etc/crio, NRI's socket",
          .rule = "PASS: its socket is there; WARN: enabled, and no socket, or the files keep the "
                  "runtime from starting again; FAIL: disabled, or nothing enables it and there is "
                  "no socket; UNKNOWN: a release may not start with the files",
          .effect = "railhead cannot add devices and limits to containers",
          .remedy = "containerd: [plugins.\"io.containerd.nri.v1.nri\"] disable = false; CRI-O: "
                    "[crio.nri] enable_nri = true; then restart it.",
          .remedy_class = RemedyClass::restart,
          .about = "container runtime",
          .covers = "rt.nri L07 L08 N15",
          .parts = Part::services | Part::runtime,
          .look = nri},
    Check{.id = "runtime.device-plugins",
          .what = "The kubelet takes device plugins.",
          .source = "/var/lib/kubelet/device-plugins",
          .rule = "PASS: kubelet.sock is there; FAIL: not, and the kubelet runs; WARN: the folder "
                  "without a kubelet; SKIP: neither",
          .effect = "no RDMA resource is registered -> pods stay Pending",
          .remedy = "Restart the kubelet; its log says why it does not listen.",
          .remedy_class = RemedyClass::restart,
          .about = "kubelet",
          .covers = "D20",
          .parts = Part::services | Part::runtime,
          .look = device_plugins},
};

}  // namespace

std::span<const Check> runtime_checks() {
  return kRuntimeChecks;
}

}  // namespace railhead::checks
