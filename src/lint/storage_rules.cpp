// SPDX-License-Identifier: Apache-2.0
//
// NFS over RDMA: mount options of persistent volumes and of systemd units in a MachineConfig.
#include <optional>

#include "base/text.h"
#include "lint/rule.h"
#include "usage/nfs_declarations.h"
#include "usage/nfs_mounts.h"

namespace railhead::lint {
namespace {

constexpr std::string_view kOfedService = "openibd.service";

/// A systemd unit in an object.
struct Unit {
  const Object* object = nullptr;
  std::string_view name;
  const data::Value* name_place = nullptr;
  const data::Value* contents = nullptr;
};

std::vector<Unit> units_of(const Given& given) {
  std::vector<Unit> units;
  for (const auto* config : given.of_kind("MachineConfig")) {
    for (const auto& unit : items_below(config->root, {"spec", "config", "systemd", "units"})) {
      units.push_back(
          {config, text_below(unit, {"name"}), below(unit, {"name"}), below(unit, {"contents"})});
    }
  }
  return units;
}

/// The value of `key=` in a unit; "" where it is not there.
std::string_view unit_value(const Unit& unit, std::string_view key) {
  if (unit.contents == nullptr) return "";
  for (const auto line : split(unit.contents->scalar, '\n')) {
    const auto text = trim(line);
    if (text.starts_with(key) && text.substr(key.size()).starts_with('=')) {
      return trim(text.substr(key.size() + 1));
    }
  }
  return "";
}

void unit_name(const Given& given, Found& found) {
  for (const auto& unit : units_of(given)) {
    if (!unit.name.ends_with(".mount")) continue;
    const auto where = unit_value(unit, "Where");
    if (!where.starts_with('/')) continue;
    const auto right = usage::mount_unit_name(where);
    if (unit.name == right) continue;
    found
        .add(*unit.object, unit.name_place,
             std::string(unit.name) + " has Where=" + std::string(where) +
                 ", whose unit is called " + right)
        .remedy = "Call it '" + right + "' (systemd-escape --path prints it).";
  }
}

void openibd(const Given& given, Found& found) {
  for (const auto& unit : units_of(given)) {
    for (const char* key : {"After", "Requires", "Wants", "BindsTo"}) {
      if (unit_value(unit, key).find(kOfedService) == std::string_view::npos) continue;
      found.add(*unit.object, unit.contents,
                std::string(unit.name) + ": " + key + "=" + std::string(kOfedService));
      break;
    }
  }
}

/// Mount options somewhere, as one text with commas.
struct MountOptions {
  const Object* object = nullptr;
  const data::Value* place = nullptr;
  std::string text;

  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    return usage::mount_option(text, key);
  }

  [[nodiscard]] bool is_rdma() const { return usage::asks_for_rdma(text); }
};

std::vector<MountOptions> mounts_of(const Given& given) {
  std::vector<MountOptions> all;
  for (const auto& unit : units_of(given)) {
    const auto options = unit_value(unit, "Options");
    if (!options.empty()) all.push_back({unit.object, unit.contents, std::string(options)});
  }
  for (const auto& object : given.objects) {
    const data::Value* list = nullptr;
    if (object.kind == "PersistentVolume") list = below(object.root, {"spec", "mountOptions"});
    if (object.kind == "StorageClass") list = below(object.root, {"mountOptions"});
    if (list == nullptr) continue;
    all.push_back({&object, list, join(list->items, ",", &data::Value::scalar)});
  }
  return all;
}

void nconnect(const Given& given, Found& found) {
  for (const auto& mount : mounts_of(given)) {
    const auto count = mount.find("nconnect");
    if (!count || !mount.is_rdma()) continue;
    found.add(*mount.object, mount.place, "nconnect=" + std::string(*count) + " with rdma");
  }
}

void rdma_port(const Given& given, Found& found) {
  for (const auto& mount : mounts_of(given)) {
    if (!mount.is_rdma() || mount.find("port")) continue;
    found.add(*mount.object, mount.place, "rdma without port=20049");
  }
}

void two_protocols(const Given& given, Found& found) {
  for (const auto& mount : mounts_of(given)) {
    const auto protocol = mount.find("proto");
    if (!mount.find("rdma") || !protocol || usage::is_rdma_protocol(*protocol)) continue;
    found.add(*mount.object, mount.place, "rdma beside proto=" + std::string(*protocol));
  }
}

constexpr Rule kStorageRules[] = {
    {"storage.unit-name", "The name of a mount unit is not that of its mount point.",
     Severity::fail,
     "systemd refuses the unit: Where= setting doesn't match unit name. In YAML a name without "
     "quotes keeps both backslashes of \\\\x2d.",
     "Call it as systemd-escape --path prints it.", "E23 F25", unit_name},
    {"storage.openibd", "A unit waits for openibd.service.", Severity::warn,
     "Only an OFED that is installed on the host has it. With the operator's container the unit "
     "mounts before the driver is there, and the driver's reload takes the mount away.",
     "Mount by a PersistentVolume, after the driver, or wait for "
     "/run/mellanox/drivers/.driver-ready.",
     "E23 F25", openibd},
    {"storage.nconnect", "nconnect with RDMA has no effect on older kernels.", Severity::warn,
     "Before Linux 6.9 NFS makes one RDMA connection, whatever nconnect says; `railhead nfs` shows "
     "how many there are.",
     "Take nconnect away, or use Linux 6.9.", "E24 F22", nconnect},
    {"storage.port", "NFS over RDMA without its port.", Severity::warn,
     "Without port= the client asks the portmapper of the server, or takes 2049, where no RDMA "
     "listens.",
     "Add port=20049.", "F22 F24", rdma_port},
    {"storage.protocol", "A mount asks for RDMA and for another protocol.", Severity::fail,
     "The last of them counts, so data may go over TCP.", "Keep rdma (proto=rdma) alone.", "F22",
     two_protocols},
};

}  // namespace

std::span<const Rule> storage_rules() {
  return kStorageRules;
}

}  // namespace railhead::lint
