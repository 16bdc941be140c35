// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>

#include "base/shell_word.h"
#include "base/text.h"
#include "host/clock.h"
#include "host/host_error.h"
#include "host/vf_netlink.h"
#include "setup/functions.h"
#include "setup/kernel.h"
#include "setup/link_control.h"
#include "setup/module_index.h"
#include "setup/pci_control.h"

namespace railhead::setup {
namespace {

/// MODULE_INIT_COMPRESSED_FILE: the kernel unpacks the file itself (include/uapi/linux/module.h,
/// since Linux 5.17; before, EINVAL).
constexpr int kCompressed = 4;

/// How long functions may take to be there, and a driver to take one.
constexpr std::chrono::seconds kUntilThere{120};
constexpr std::chrono::seconds kUntilBound{10};
constexpr std::chrono::milliseconds kBetweenLooks{50};

bool becomes(std::chrono::seconds limit, const std::function<bool()>& is_there) {
  host::SystemClock clock;
  for (const auto end = clock.now() + limit; clock.now() < end; clock.wait(kBetweenLooks)) {
    if (is_there()) return true;
  }
  return false;
}

Error late(const std::string& what) {
  return {ErrorCode::timeout, what + " did not come"};
}

/// A kernel without a driver for them leaves them alone, and so does one that is configured to.
bool have_drivers(const Machine& machine, const std::string& address) {
  const auto physical = read_function(*machine.host, address);
  return physical && std::ranges::all_of(physical->virtual_functions, [&](const std::string& one) {
           const auto function = read_function(*machine.host, one);
           return function && !function->driver.empty();
         });
}

/// Which virtual function of `physical` this is.
std::optional<unsigned> number_in(const NetworkFunction& physical, const std::string& address) {
  const auto& all = physical.virtual_functions;
  const auto found = std::ranges::find(all, address);
  if (found == all.end()) return std::nullopt;
  return static_cast<unsigned>(found - all.begin());
}

Result<host::VfIdentity> identity_of(const NetworkFunction& physical,
                                     const NetworkFunction& function, unsigned number) {
  host::VfIdentity identity;
  if (physical.link_layer == "InfiniBand") {
    identity.guid = vf_guid(physical.node_guid, number);
    if (identity.guid) return identity;
    return Error{ErrorCode::malformed,
                 physical.address + ": " + in_quotes(physical.node_guid) + " is no node GUID"};
  }
  // Its own, so that what already knows it keeps knowing it.
  identity.mac = host::parse_mac(function.mac);
  if (identity.mac) return identity;
  return Error{ErrorCode::unavailable, function.address + " has no netdev with an address"};
}

/// Through its physical function.
Status give_identity(const Machine& machine, const NetworkFunction& function) {
  const auto link = TRY(machine.host->readlink(function_path(function.address, "physfn")));
  const auto physical = link ? read_function(*machine.host, host::base_name(*link)) : std::nullopt;
  const auto number = physical ? number_in(*physical, function.address) : std::nullopt;
  if (!number) return Error{ErrorCode::unavailable, function.address + " is no virtual function"};
  const auto identity = TRY(identity_of(*physical, function, *number));
  return host::set_vf_identity(physical->netdev, *number, identity);
}

}  // namespace

Status LiveKernel::load_module(const std::string& name) {
  const auto index = TRY(ModuleIndex::read(machine_));
  const auto* module = index.find(name);
  if (module == nullptr) return Error{ErrorCode::unavailable, "the kernel has no module " + name};
  const auto options = module_options(*machine_.host, name);
  if (!options.install.empty()) {
    return Error{ErrorCode::unsupported, options.install + " has a command for " + name +
                                             " in place of the kernel: run modprobe " +
                                             shell_word(name)};
  }
  const std::string& path = module->path;
  const auto packed = against_unpacking(*machine_.host, path);
  if (!packed.empty()) {
    const auto status = machine_.tree->run({"modprobe", name});
    return status ? status : Status(status.error().context(packed));
  }
  const auto file = TRY(machine_.tree->open_file(path));
  if (!file) return host::host_error(path, ENOENT);
  const int flags = path.ends_with(".ko") ? 0 : kCompressed;
  if (::syscall(SYS_finit_module, file->get(), options.parameters.c_str(), flags) == 0 ||
      errno == EEXIST) {
    return {};
  }
  return host::host_error("module " + name, errno);
}

Status LiveKernel::unload_module(const std::string& name) {
  if (::syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0 || errno == ENOENT) return {};
  if (errno == EAGAIN || errno == EBUSY)
    return Error{ErrorCode::unavailable, "in use"};  // delete_module(2)
  return host::host_error("module " + name, errno);
}

Status LiveKernel::set_attribute(const std::string& path, const std::string& text) {
  return machine_.tree->set_attribute(path, text);
}

Status LiveKernel::set_functions(const std::string& address, unsigned count) {
  const std::string path = function_path(address, "sriov_numvfs");
  // A kernel answers EBUSY where there are some already.
  if (line_in(*machine_.host, path) != "0") TRY_STATUS(set_attribute(path, "0"));
  if (count == 0) return {};
  auto status = set_attribute(path, std::to_string(count));
  if (!status && host::errno_of(status.error()) == ENOMEM) {
    return Error{ErrorCode::unavailable,
                 path + ": no room for their BARs: boot with pci=realloc, or change the BIOS"};
  }
  if (!status) return status;
  const bool came = becomes(kUntilThere, [&] {
    const auto physical = read_function(*machine_.host, address);
    return physical && physical->virtual_functions.size() == count;
  });
  if (!came) return late("a VF of " + address);
  if (line_in(*machine_.host, function_path(address, "sriov_drivers_autoprobe")) != "0")
    (void)becomes(kUntilBound, [&] { return have_drivers(machine_, address); });
  return {};
}

Status LiveKernel::set_identity(const std::string& address) {
  const auto function = read_function(*machine_.host, address);
  if (!function) return Error{ErrorCode::unavailable, "there is no function " + address};
  TRY_STATUS(give_identity(machine_, *function));
  if (!function->driver.empty())
    TRY_STATUS(set_attribute(function_path(address, "driver/unbind"), address));
  TRY_STATUS(set_attribute("/sys/bus/pci/drivers_probe", address));
  const bool came = becomes(kUntilThere, [&] {
    const auto now = read_function(*machine_.host, address);
    return now && !now->rdma.empty();
  });
  return came ? Status() : Status(late("the RDMA device of " + address));
}

Status LiveKernel::set_driver(const std::string& address, const std::string& driver) {
  const auto function = read_function(*machine_.host, address);
  if (!function) return Error{ErrorCode::unavailable, "there is no function " + address};
  // A virtual machine cannot say what its address is to be, and keeps the one of the host.
  if (driver == kVfio && !function->netdev.empty()) TRY_STATUS(give_identity(machine_, *function));
  // vfio-pci takes what names it only; others go by their ids again (Documentation/ABI/testing/
  // sysfs-bus-pci, driver_override).
  TRY_STATUS(set_attribute(function_path(address, "driver_override"),
                           driver == kVfio ? driver + "\n" : "\n"));
  if (function->driver == driver) return {};
  if (!function->driver.empty())
    TRY_STATUS(set_attribute(function_path(address, "driver/unbind"), address));
  if (driver.empty()) return {};
  TRY_STATUS(set_attribute("/sys/bus/pci/drivers_probe", address));
  const bool came = becomes(kUntilBound, [&] {
    const auto now = read_function(*machine_.host, address);
    return now && now->driver == driver;
  });
  return came ? Status() : Status(late("the driver " + driver + " of " + address));
}

Status LiveKernel::restart_service(const std::string& service) {
  TRY_STATUS(machine_.tree->run({"systemctl", "daemon-reload"}));
  return machine_.tree->run({"systemctl", "restart", service + ".service"});
}

Status LiveKernel::start_unit(const std::string& unit) {
  TRY_STATUS(machine_.tree->run({"systemctl", "daemon-reload"}));
  return machine_.tree->run({"systemctl", "start", unit});
}

Status LiveKernel::stop_unit(const std::string& unit) {
  const auto stem = unit.substr(0, unit.rfind('.'));
  return machine_.tree->run({"systemctl", "stop", unit, stem + ".mount"});
}

Status LiveKernel::set_pci_field(const std::string& subject, const std::string& value) {
  const auto write = TRY(pci_write(*machine_.host, subject, value));
  const std::string bytes{static_cast<char>(write.value & 0xff),
                          static_cast<char>(write.value >> 8)};
  return machine_.tree->write_at(write.path, write.offset, bytes);
}

Status LiveKernel::set_link(const std::string& subject, const std::string& value) {
  return write_link(subject, value);
}

}  // namespace railhead::setup
