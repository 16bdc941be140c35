// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "unit/node/hosts.h"

namespace railhead::test {

/// A machine's /sys as the entries of a snapshot. pci(), below() and virtual_devices() choose a
/// folder. What follows lies there, and the links that the kernel makes in /sys/class lead to it.
class SysfsTree {
 public:
  /// A PCI function at an address, or at a path of bridges below /sys/devices. `ids` are
  /// VENDOR:DEVICE in upper case, as the kernel prints them; "" is no driver.
  SysfsTree& pci(std::string where, const std::string& driver = "mlx5_core",
                 const std::string& ids = "15B3:1021", const std::string& class_code = "20000") {
    if (!where.starts_with("pci")) where.insert(0, "pci0000:15/");
    folder_ = function_ = "/sys/devices/" + where;
    const std::string bound = driver.empty() ? "" : "DRIVER=" + driver + "\n";
    add(file_entry(folder_ + "/uevent", bound + "PCI_CLASS=" + class_code + "\nPCI_ID=" + ids +
                                            "\nPCI_SUBSYS_ID=" + ids + "\n"));
    return link("/sys/bus/pci/devices/" + host::base_name(folder_), folder_);
  }

  SysfsTree& vf_of(const std::string& address) {
    return add("l " + folder_ + "/physfn -> ../" + address + "\n");
  }

  /// A folder of the function that was named last, as "mlx5_core.sf.2" of a sub-function.
  SysfsTree& below(const std::string& name) {
    folder_ = function_ + "/" + name;
    return *this;
  }

  SysfsTree& virtual_devices() {
    folder_ = "/sys/devices/virtual";
    return *this;
  }

  /// An attribute; its name may be a whole path.
  SysfsTree& text(const std::string& name, const std::string& value) {
    return add("t " + path_of(name) + " " + value + "\n");
  }

  /// `target` is a whole path; the link is relative, as the kernel's are.
  SysfsTree& link(const std::string& name, const std::string& target) {
    const std::filesystem::path path(path_of(name));
    const auto relative = std::filesystem::path(target).lexically_relative(path.parent_path());
    return add("l " + path.string() + " -> " + relative.string() + "\n");
  }

  SysfsTree& netdev(const std::string& name, const std::string& master = "") {
    text("net/" + name + "/operstate", "up");
    if (!master.empty()) link("net/" + name + "/master", "/sys/devices/virtual/net/" + master);
    return in_class("net", name);
  }

  SysfsTree& rdma(const std::string& name) {
    text("infiniband/" + name + "/node_type", "1: CA");
    return link("infiniband/" + name + "/device", folder_).in_class("infiniband", name);
  }

  /// An RDMA device that software makes over a netdev.
  SysfsTree& soft_rdma(const std::string& name, const std::string& parent) {
    return virtual_devices()
        .text("infiniband/" + name + "/parent", parent)
        .in_class("infiniband", name);
  }

  /// The node of an RDMA device in /dev/infiniband, as the kernel numbers it.
  SysfsTree& verbs(const std::string& name, const std::string& device, const std::string& number) {
    text("infiniband_verbs/" + name + "/ibdev", device);
    text("infiniband_verbs/" + name + "/dev", number);
    return in_class("infiniband_verbs", name);
  }

  /// The link in /sys/class/KIND to KIND/NAME in the folder.
  SysfsTree& in_class(const std::string& kind, const std::string& name) {
    return link("/sys/class/" + kind + "/" + name, folder_ + "/" + kind + "/" + name);
  }

  /// Lines of a snapshot.
  SysfsTree& add(const std::string& lines) {
    entries_ += lines;
    return *this;
  }

  [[nodiscard]] const std::string& entries() const { return entries_; }

  [[nodiscard]] node::Node read() const { return node_of(entries_); }

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const {
    return name.starts_with("/") ? name : folder_ + "/" + name;
  }

  std::string entries_;
  std::string function_;
  std::string folder_;
};

}  // namespace railhead::test
