// SPDX-License-Identifier: Apache-2.0
#include "setup/files.h"

#include <utility>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/value.h"

namespace railhead::setup {
namespace {

constexpr std::string_view kUnits = "/etc/systemd/system/";
constexpr std::string_view kPeermem = "nvidia_peermem";

/// RFC 2397; all but letters and digits is written as %xx.
std::string data_url(std::string_view text) {
  std::string url = "data:,";
  for (const char c : text) {
    const bool plain = is_letter_or_digit(c) || c == '/' || c == '.' || c == '_' || c == '-';
    url += plain ? std::string(1, c) : "%" + to_hex(static_cast<unsigned char>(c), 2);
  }
  return url;
}

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string indented(std::string_view text, const std::string& by) {
  std::string out;
  for (const auto line : split(text, '\n')) {
    if (!line.empty()) out += by + std::string(line);
    out += '\n';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

bool is_unit(const FileText& file) {
  return file.path.starts_with(kUnits) && file.path.find('/', kUnits.size()) == std::string::npos;
}

std::string unit_entry(const FileText& file) {
  const std::string name = file.path.substr(kUnits.size());
  std::string entry = "        - name: " + quoted(name) + "\n";
  if (file.text.find("[Install]") != std::string::npos) entry += "          enabled: true\n";
  return entry + "          contents: |\n" + indented(file.text, "            ");
}

std::string drop_in_entry(const FileText& file) {
  const std::string rest = file.path.substr(kUnits.size());
  const auto slash = rest.find('/');
  return "        - name: " + rest.substr(0, slash - std::string_view(".d").size()) +
         "\n          dropins:\n            - name: " + rest.substr(slash + 1) +
         "\n              contents: |\n" + indented(file.text, "                ");
}

std::string file_entry(const FileText& file) {
  return "        - path: " + file.path +
         "\n          mode: 420\n          overwrite: true\n          contents:\n            "
         "source: "
         "\"" +
         data_url(file.text) + "\"\n";
}

std::string head(const std::string& kind, const std::string& name) {
  return "apiVersion: machineconfiguration.openshift.io/v1\nkind: " + kind +
         "\nmetadata:\n  name: " + name + "\n";
}

}  // namespace

FileText modules_file(const std::vector<std::string>& names) {
  return {"/etc/modules-load.d/railhead.conf", join(names, "\n") + "\n"};
}

FileText namespaces_file(const Wanted& wanted) {
  const bool shared = wanted.rdma_namespaces == node::RdmaNetns::shared;
  return {"/etc/modprobe.d/railhead-ib-core.conf",
          "options ib_core netns_mode=" + std::string(shared ? "1" : "0") + "\n"};
}

FileText sysctl_file(const Wanted& wanted) {
  std::string text;
  for (const auto& [name, value] : wanted.sysctl) text += name + " = " + value + "\n";
  return {"/etc/sysctl.d/90-railhead.conf", text};
}

FileText memlock_file(const std::string& service) {
  return {std::string(kUnits) + service + ".service.d/90-railhead-memlock.conf",
          "[Service]\nLimitMEMLOCK=infinity\n"};
}

FileText limits_file() {
  return {"/etc/security/limits.d/99-railhead-memlock.conf",
          "* - memlock unlimited\nroot - memlock unlimited\n"};
}

FileText crio_nri_file() {
  return {"/etc/crio/crio.conf.d/99-railhead-nri.conf", "[crio.nri]\n  enable_nri = true\n"};
}

FileText unmanaged_file(const std::string& netdev) {
  return {"/etc/udev/rules.d/10-railhead-vfs-" + netdev + ".rules",
          "SUBSYSTEM==\"net\", ACTION!=\"remove\", TEST==\"device/physfn/net/" + netdev +
              "\", ENV{NM_UNMANAGED}=\"1\"\n"};
}

std::vector<FileText> files_of(const Wanted& wanted) {
  std::vector<FileText> files;
  auto modules = wanted.modules;
  // Its driver container brings it: systemd-modules-load.service would fail without it.
  std::erase(modules, kPeermem);
  if (!modules.empty()) files.push_back(modules_file(modules));
  if (wanted.rdma_namespaces) files.push_back(namespaces_file(wanted));
  if (!wanted.sysctl.empty()) files.push_back(sysctl_file(wanted));
  for (const auto& service : wanted.memlock_services) files.push_back(memlock_file(service));
  if (wanted.limits_file) files.push_back(limits_file());
  if (wanted.nri) files.push_back(crio_nri_file());
  for (const auto& policy : wanted.sriov) {
    if (policy.is_vfio || policy.externally_managed) continue;
    for (const auto& name : policy.pf_names) {
      const auto part = part_of(name);
      if (!part) continue;
      auto file = unmanaged_file(part->netdev);
      if (find_by(files, &FileText::path, file.path) == nullptr) files.push_back(std::move(file));
    }
  }
  for (auto& file : nfs_files(wanted)) files.push_back(std::move(file));
  return files;
}

std::string machine_config(const Wanted& wanted, const std::string& role) {
  std::string files;
  std::string units;
  for (const auto& file : files_of(wanted)) {
    if (is_unit(file)) {
      units += unit_entry(file);
    } else if (file.path.starts_with(kUnits)) {
      units += drop_in_entry(file);
    } else {
      files += file_entry(file);
    }
  }
  std::string text = head("MachineConfig", "99-" + role + "-railhead") +
                     "  labels:\n    machineconfiguration.openshift.io/role: " + role +
                     "\nspec:\n  config:\n    ignition:\n      version: 3.2.0\n";
  if (!files.empty()) text += "    storage:\n      files:\n" + files;
  if (!units.empty()) text += "    systemd:\n      units:\n" + units;
  return text;
}

std::vector<std::string> left_out_of_machine_config(const Wanted& wanted) {
  std::vector<std::string> keys;
  if (contains(wanted.modules, kPeermem)) {
    keys.push_back("modules: " + std::string(kPeermem) + " (the container of its driver loads it)");
  }
  if (!wanted.sriov.empty()) keys.emplace_back("sriov");
  if (!wanted.mtu.empty()) keys.emplace_back("mtu");
  if (!wanted.links.empty()) keys.emplace_back("link");
  if (wanted.gpudirect.pcie) keys.emplace_back("gpudirect.pcie");
  return keys;
}

std::string aks_kubelet_config(const Wanted& wanted) {
  if (wanted.topology_manager_policy.empty()) return "";
  return "{\"topologyManagerPolicy\": \"" + wanted.topology_manager_policy + "\"}\n";
}

std::string kubelet_config(const Wanted& wanted, const std::string& role) {
  if (wanted.topology_manager_policy.empty()) return "";
  return head("KubeletConfig", role + "-railhead") +
         "spec:\n  machineConfigPoolSelector:\n    matchLabels:\n      "
         "pools.operator.machineconfiguration.openshift.io/" +
         role +
         ": \"\"\n  kubeletConfig:\n    topologyManagerPolicy: " + wanted.topology_manager_policy +
         "\n";
}

}  // namespace railhead::setup
