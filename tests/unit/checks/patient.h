// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/check.h"
#include "host/host_error.h"
#include "snapshot/hex_text.h"
#include "snapshot/snapshot_host.h"
#include "unit/config_space.h"
#include "unit/node/hosts.h"

namespace railhead::test {

/// A machine that the doctor looks at, as the entries of a snapshot that a test changes one by one.
class Patient {
 public:
  /// A machine in the box.
  static Patient of(std::string_view machine) { return Patient(machine_text(machine)); }

  explicit Patient(const std::string& text) {
    auto parsed = snapshot::parse_snapshot(text);
    EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
    if (parsed) snapshot_ = std::move(*parsed);
  }

  /// Writes a file, with a newline at the end.
  Patient& text(const std::string& path, const std::string& content) {
    return put(path, snapshot::SnapshotFile{content + "\n"});
  }

  Patient& bytes(const std::string& path, const std::string& content) {
    return put(path, snapshot::SnapshotFile{content});
  }

  /// What the kernel answers about a netdev.
  Patient& answer(const std::string& netdev, host::LinkPart part, const std::string& message) {
    return text(host::link_settings_path(netdev, part) + "/0000", snapshot::hex_of_bytes(message));
  }

  Patient& dcb(const std::string& netdev, const std::string& message) {
    return answer(netdev, host::LinkPart::dcb, message);
  }

  Patient& vfs(const std::string& netdev, const std::string& message) {
    return answer(netdev, host::LinkPart::vfs, message);
  }

  /// A name in its directory.
  Patient& name(const std::string& path) { return put(path, snapshot::SnapshotName{}); }

  Patient& link(const std::string& path, const std::string& target) {
    return put(path, snapshot::SnapshotLink{target});
  }

  /// It is there, and reading it fails.
  Patient& unreadable(const std::string& path, const std::string& error) {
    return put(path, snapshot::SnapshotUnreadable{host::errno_number(error).value()});
  }

  Patient& device(const std::string& path, host::DeviceNode node) { return put(path, node); }

  /// Takes the path and what is below it away.
  Patient& drop(const std::string& path) {
    EXPECT_NE(0, std::erase_if(snapshot_.entries,
                               [&](const auto& one) {
                                 return one.first == path || one.first.starts_with(path + "/");
                               }))
        << path;
    return *this;
  }

  /// Every path that ends so: what is far down in /sys/devices is named by its end.
  [[nodiscard]] std::vector<std::string> paths(std::string_view end) const {
    std::vector<std::string> found;
    for (const auto& [path, entry] : snapshot_.entries) {
      if (path.ends_with(end)) found.push_back(path);
    }
    return found;
  }

  /// text() for all paths that end so; there has to be one.
  Patient& set(std::string_view end, const std::string& content) {
    const auto all = paths(end);
    EXPECT_FALSE(all.empty()) << end;
    for (const auto& path : all) text(path, content);
    return *this;
  }

  /// Takes a PCI function off its bus, with all that leads to it.
  Patient& unplug(const std::string& address) {
    std::erase_if(snapshot_.entries, [&](const auto& one) {
      const auto* link = std::get_if<snapshot::SnapshotLink>(&one.second);
      const auto component = "/" + address;
      return (one.first + "/").find(component + "/") != std::string::npos ||
             (link != nullptr && (link->target + "/").find(component + "/") != std::string::npos);
    });
    return *this;
  }

  /// Takes its driver from a PCI function.
  Patient& unbind(const std::string& address) {
    std::erase_if(snapshot_.entries, [&](const auto& one) {
      return one.first.ends_with("/" + address + "/driver") ||
             (one.first.starts_with("/sys/bus/pci/drivers/") &&
              one.first.ends_with("/" + address)) ||
             one.first.starts_with("/proc/driver/nvidia/gpus/" + address);
    });
    for (const auto& path : paths("/" + address + "/uevent")) {
      auto& content = std::get<snapshot::SnapshotFile>(snapshot_.entries.at(path)).content;
      if (content.starts_with("DRIVER=")) content.erase(0, content.find('\n') + 1);
    }
    return *this;
  }

  /// drop() for all paths that end so; there has to be one.
  Patient& drop_all(std::string_view end) {
    const auto all = paths(end);
    EXPECT_FALSE(all.empty()) << end;
    for (const auto& path : all) drop(path);
    return *this;
  }

  Patient& replace(const std::string& path, const std::string& what, const std::string& with) {
    auto* file = std::get_if<snapshot::SnapshotFile>(&snapshot_.entries[path]);
    EXPECT_NE(nullptr, file) << path;
    if (file == nullptr) return *this;
    const auto at = file->content.find(what);
    EXPECT_NE(std::string::npos, at) << what << " in " << path;
    if (at != std::string::npos) file->content.replace(at, what.size(), with);
    return *this;
  }

  [[nodiscard]] const snapshot::Snapshot& snapshot() const { return snapshot_; }

  [[nodiscard]] std::vector<checks::Finding> examine(
      checks::Wishes wishes = {},
      const std::vector<const checks::Check*>& checks = checks::all_checks()) const {
    snapshot::SnapshotHost host(snapshot_);
    auto node = node::read_node(host);
    auto system = system::read_system(host, node, checks::parts_of(checks));
    const checks::Machine machine(std::move(node), std::move(system), std::move(wishes));
    return checks::run_checks(machine, checks);
  }

 private:
  Patient& put(const std::string& path, snapshot::SnapshotEntry entry) {
    snapshot_.entries.insert_or_assign(path, std::move(entry));
    return *this;
  }

  snapshot::Snapshot snapshot_;
};

/// Reads of 4096 bytes, payload of 256, eight bits of tags, relaxed ordering.
inline constexpr std::uint16_t kGoodDeviceControl = 0x5930;

/// What a bridge is by its place below the host bridge: root port, then a switch's upper and lower
/// port in turn.
inline Express bridge_at(const std::string& folder) {
  const auto depth = std::ranges::count(folder, '/') - 4;
  if (depth == 0) return Express::root;
  return depth % 2 == 1 ? Express::upstream : Express::down;
}

/// A bridge's configuration space where all is well.
inline ConfigSpace good_bridge(const std::string& folder) {
  ConfigSpace space;
  space.device_control = kGoodDeviceControl;
  space.express = bridge_at(folder);
  return space;
}

/// What `railhead doctor` reads of a node where all is well, added to a machine in the box.
inline Patient healthy(std::string_view machine = "dgx-h100") {
  auto patient = Patient::of(machine);
  const char* modules[] = {"nvidia_peermem", "nvidia",  "mlx5_ib", "mlx5_core", "rdma_ucm",
                           "rdma_cm",        "ib_umad", "rpcrdma", "ib_uverbs", "ib_core"};
  std::string list;
  for (const auto* name : modules) {
    list += std::string(name) + " 65536 1 - Live 0x0000000000000000\n";
    patient.text("/sys/module/" + std::string(name) + "/refcnt", "1");
  }
  patient.bytes("/proc/modules", list);
  patient.text("/etc/modules-load.d/rdma.conf", "# RDMA\nrdma_ucm\nib_umad");
  patient.text("/proc/sys/kernel/osrelease", "6.8.0-1012-nvidia");
  patient.text("/proc/cmdline", "BOOT_IMAGE=/vmlinuz ro iommu=pt");
  patient.text("/sys/devices/system/cpu/online", "0-1");
  for (const auto* cpu : {"cpu0", "cpu1"}) {
    patient.text("/sys/devices/system/cpu/" + std::string(cpu) + "/cpufreq/scaling_governor",
                 "performance");
  }
  patient.bytes("/proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release\n");
  patient.text("/dev/kmsg",
               "6,1,1000000,-;mlx5_core 0000:18:00.0: firmware version: 28.39.1002\n"
               "6,2,1000010,-;mlx5_core 0000:40:00.0: Port module event: module 0, Cable plugged");
  const auto process = [&](const std::string& pid, const std::string& name) {
    const auto folder = "/proc/" + pid + "/";
    patient.text(folder + "comm", name);
    patient.text(folder + "status", "Name:\t" + name + "\nCapEff:\t000001ffffffffff");
    patient.text(folder + "limits",
                 "Limit                     Soft Limit           Hard Limit           Units\n"
                 "Max locked memory         unlimited            unlimited            bytes");
  };
  process("1", "systemd");
  process("811", "containerd");
  process("812", "kubelet");
  patient.text("/etc/containerd/config.toml",
               "version = 2\nimports = [\"conf.d/*.toml\"]\n[plugins]\n"
               "  [plugins.\"io.containerd.nri.v1.nri\"]\n    disable = true");
  patient.text("/etc/containerd/conf.d/nri.toml",
               "[plugins.'io.containerd.nri.v1.nri']\ndisable = false # the later file wins");
  patient.name("/run/nri/nri.sock");
  patient.link("/var/run", "/run");
  patient.name("/var/lib/kubelet/device-plugins/kubelet.sock");
  patient.text("/etc/fstab", "nas:/data /data nfs4 rdma,port=20049 0 0");
  patient.bytes("/proc/1/mountstats",
                "device nas:/data mounted on /data with fstype nfs4 statvers=1.1\n"
                "\topts:\trw,vers=4.1,proto=rdma\n\txprt:\trdma 0 0 1 0 5 14 13 0 1 0\n");
  for (const auto& path : patient.paths("/class")) {
    const auto folder = path.substr(0, path.rfind('/'));
    if (folder.find("/net/") != std::string::npos || !folder.starts_with("/sys/devices/pci")) {
      continue;
    }
    patient.bytes(folder + "/config", config_space(kGoodDeviceControl));
    patient.text(folder + "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0");
    patient.text(folder + "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0");
    const auto* kind = std::get_if<snapshot::SnapshotFile>(&patient.snapshot().entries.at(path));
    if (kind == nullptr || !kind->content.starts_with("0x0604")) continue;
    patient.bytes(folder + "/config", good_bridge(folder).bytes());
    patient.text(folder + "/max_link_speed", "32.0 GT/s PCIe");
    patient.text(folder + "/max_link_width", "16");
  }
  for (const auto& path : patient.paths("/link_layer")) {
    const auto folder = path.substr(0, path.rfind('/')) + "/counters/";
    for (const auto* counter : {"link_downed", "symbol_error", "excessive_buffer_overrun_errors"}) {
      patient.text(folder + counter, "0");
    }
  }
  return patient;
}

/// "FAIL link.port-state mlx5_3/1", of every finding that is neither PASS nor SKIP.
inline std::vector<std::string> complaints(const std::vector<checks::Finding>& findings) {
  std::vector<std::string> lines;
  for (const auto& finding : findings) {
    if (finding.state == checks::State::pass || finding.state == checks::State::skip) continue;
    lines.push_back(std::string(to_string(finding.state)) + " " + std::string(finding.id) + " " +
                    finding.subject);
  }
  return lines;
}

/// State of each subject of each check.
using States = std::map<std::string, std::string>;

inline States states_of(const std::vector<checks::Finding>& findings) {
  States states;
  for (const auto& finding : findings) {
    states[std::string(finding.id) + " " + finding.subject] += to_string(finding.state);
  }
  return states;
}

/// "FAIL link.port-state mlx5_3/1", for what is otherwise than before; "gone …" for what is not
/// looked at any more.
inline std::vector<std::string> differences(const std::vector<checks::Finding>& before,
                                            const std::vector<checks::Finding>& after) {
  const auto old = states_of(before);
  const auto now = states_of(after);
  std::vector<std::string> lines;
  for (const auto& [what, state] : now) {
    const auto at = old.find(what);
    if (at == old.end() || at->second != state) lines.push_back(state + " " + what);
  }
  for (const auto& [what, state] : old) {
    if (!now.contains(what)) lines.push_back("gone " + what);
  }
  std::ranges::sort(lines);
  return lines;
}

/// The one finding of a check, of a subject.
inline checks::Finding finding_of(const std::vector<checks::Finding>& all, std::string_view id,
                                  std::string_view subject) {
  for (const auto& finding : all) {
    if (finding.id == id && finding.subject == subject) return finding;
  }
  ADD_FAILURE() << "no " << id << " of " << subject;
  return {};
}

}  // namespace railhead::test
