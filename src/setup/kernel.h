// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "setup/machine.h"

namespace railhead::setup {

/// What is changed in a machine that runs, and not in its files.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// With the parameters of modprobe.d; what it needs is loaded. One that is loaded stays.
  virtual Status load_module(const std::string& name) = 0;

  /// Fails while somebody uses it.
  virtual Status unload_module(const std::string& name) = 0;

  virtual Status set_attribute(const std::string& path, const std::string& text) = 0;

  /// Makes so many virtual functions of a physical one, none first where there are some, and waits
  /// until each is there.
  virtual Status set_functions(const std::string& address, unsigned count) = 0;

  /// Gives a virtual function an address of its own through its physical one, and binds it anew.
  virtual Status set_identity(const std::string& address) = 0;

  /// Has systemd read its files again and restart the unit.
  virtual Status restart_service(const std::string& service) = 0;

  /// Has systemd read its files again and start the automount unit.
  virtual Status start_unit(const std::string& unit) = 0;

  /// Ends it, with the mount that it made. Fails while that is in use.
  virtual Status stop_unit(const std::string& unit) = 0;

  /// One field of a PCI function, as setup/pci_control.h names it.
  virtual Status set_pci_field(const std::string& subject, const std::string& value) = 0;

  /// One setting of a netdev, as setup/link_control.h names it.
  virtual Status set_link(const std::string& subject, const std::string& value) = 0;

  /// Binds a PCI function to a driver: vfio-pci, or the one that the kernel chooses for it, which
  /// has to be this. "": to none.
  virtual Status set_driver(const std::string& address, const std::string& driver) = 0;
};

/// The kernel and the systemd of the machine that we run on.
class LiveKernel : public Kernel {
 public:
  explicit LiveKernel(const Machine& machine)
      : machine_(machine) {}

  Status load_module(const std::string& name) override;
  Status unload_module(const std::string& name) override;
  Status set_attribute(const std::string& path, const std::string& text) override;
  Status set_functions(const std::string& address, unsigned count) override;
  Status set_identity(const std::string& address) override;
  Status restart_service(const std::string& service) override;
  Status start_unit(const std::string& unit) override;
  Status stop_unit(const std::string& unit) override;
  Status set_pci_field(const std::string& subject, const std::string& value) override;
  Status set_link(const std::string& subject, const std::string& value) override;
  Status set_driver(const std::string& address, const std::string& driver) override;

 private:
  const Machine& machine_;
};

}  // namespace railhead::setup
