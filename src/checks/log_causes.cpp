// SPDX-License-Identifier: Apache-2.0
//
// What each cause of a line in the kernel's log means for RDMA, and what helps.
#include "checks/log_causes.h"

#include "base/find.h"

namespace railhead::checks {
namespace {

using system::LogCause;
using enum LogCause;

constexpr LogCauseRow kCauses[] = {
    {firmware_died, LogTopic::firmware, State::fail, "the firmware died",
     "the device is dead until it is reset -> jobs on it hang",
     "Drain the node and reset it by power; if it comes back, replace the card.",
     RemedyClass::hardware},
    {firmware_silent, LogTopic::firmware, State::fail, "the firmware does not answer commands",
     "a command never ended, and its place in the queue is lost -> registrations and new queue "
     "pairs hang",
     "Drain the node and reset it by power; update the firmware; if it comes back, replace the "
     "card.",
     RemedyClass::hardware},
    {command_queue_full, LogTopic::firmware, State::warn, "the firmware's command queue is full",
     "a command found no place (EAGAIN) -> a registration or a new queue pair fails now and then",
     "Where lines say that commands leak or time out, mend that (the finding beside this one). "
     "Else "
     "fewer processes should register memory at the same time.",
     RemedyClass::restart},
    {no_fatal_reporter, LogTopic::firmware, State::warn, "no reporter of fatal errors was made",
     "the driver does not recover by itself when the firmware fails",
     "Reload mlx5_core on a drained node; the log has the errno.", RemedyClass::restart},
    {bad_module, LogTopic::optics, State::warn, "a transceiver or cable reports heat or an error",
     "the link drops or runs with errors",
     "Check cooling, then replace the transceiver or cable that the line names.",
     RemedyClass::hardware},
    {refused_module, LogTopic::optics, State::warn, "a transceiver is refused",
     "the port stays down, or may not send",
     "Use a transceiver that the NIC's maker lists, or update the NIC's NVM.",
     RemedyClass::hardware},
    {hot_device, LogTopic::optics, State::warn, "a sensor of the NIC is too hot",
     "the NIC slows down, or turns itself off",
     "Check fans and the flow of air over the card that the line names.", RemedyClass::hardware},
    {little_power, LogTopic::power, State::warn, "a slot gives too little power",
     "the card limits itself, or resets under load",
     "Connect the card's auxiliary power, or use another slot.", RemedyClass::hardware},
    {restricted_register, LogTopic::restricted, State::pass, "a register may not be read",
     "a monitor reads what this function does not have"},
    {peermem_symbols, LogTopic::peermem, State::warn,
     "nvidia_peermem and the RDMA stack do not fit",
     "modprobe says Invalid argument, and GPUDirect by that way is off",
     "Reload nvidia_peermem after OFED (restart the driver's pod once OFED is ready), or go by "
     "DMA-BUF.",
     RemedyClass::cluster},
    {peermem_driver, LogTopic::peermem, State::warn, "a peermem module misses NVIDIA's driver",
     "the module does not load, and GPUDirect by that way is off",
     "Load the module nvidia first. nv_peer_mem was built for another driver: remove it, and use "
     "nvidia_peermem, which comes with the driver since R470, or DMA-BUF.",
     RemedyClass::cluster},
    {peermem_mitigation, LogTopic::peermem, State::pass,
     "\"invalid context\" of nvidia-peermem, which is harmless",
     "the driver's way around a fault of its own at the end of a process; gone with R560"},
    {refused_dmabuf, LogTopic::dmabuf, State::warn, "a GPU's driver refused a NIC its memory",
     "ibv_reg_dmabuf_mr fails with 524 for this pair",
     "Use the NIC that is the GPU's sibling; on Grace both need one IOMMU group.",
     RemedyClass::cluster},
    {stopped_transfer, LogTopic::iommu, State::warn, "the IOMMU stopped a transfer",
     "peer-to-peer transfers die", "Boot with iommu=pt; see pci.acs.", RemedyClass::reboot},
    {stopped_unnamed, LogTopic::iommu, State::unknown,
     "the SMMU stopped a transfer, and its line names no device", ""},
    {uncorrected_error, LogTopic::aer, State::warn, "PCIe did not correct an error",
     "transfers were lost; a device that did not recover is dead until the next start",
     "Reseat the card or its riser; where it comes back, replace it. pci.aer has the counts, "
     "pci.link the width that is left.",
     RemedyClass::hardware},
    {not_recovered, LogTopic::aer, State::warn, "a function did not recover from an error of PCIe",
     "the device is dead until the next start",
     "Drain the node and reset it by power; where it comes back, reseat or replace the card.",
     RemedyClass::hardware},
    {failed_function, LogTopic::driver, State::warn, "a driver did not start a function",
     "a NIC without an RDMA device",
     "Reload the driver that the line names on a drained node; where it fails again, update driver "
     "and firmware.",
     RemedyClass::reboot},
    {safe_mode, LogTopic::driver, State::warn, "ice runs in safe mode",
     "Ethernet on one queue and no RDMA device",
     "Install the DDP package that the line asks for (linux-firmware, intel/ice/ddp/ice.pkg), then "
     "reload ice.",
     RemedyClass::reboot},
    {mixed_modules, LogTopic::driver, State::warn, "an RDMA module misses a symbol",
     "the module does not load -> a NIC without an RDMA device",
     "Modules of two stacks are mixed: install one, and start again.", RemedyClass::reboot},
    {stuck_queue, LogTopic::driver, State::warn, "a transmit queue stood still",
     "the NIC stops for seconds -> jobs hang",
     "Update driver and firmware, and look at log.firmware.", RemedyClass::reboot},
    {failed_port, LogTopic::driver, State::warn, "a port could not be opened or registered",
     "no management datagrams, or no RDMA device",
     "Reload the driver of the device on a drained "
     "node; the lines before say why.",
     RemedyClass::restart},
    {failed_soft_device, LogTopic::driver, State::warn, "rxe could not be added to a netdev",
     "no RDMA device on that netdev", "The line names the netdev: it must be up, and Ethernet.",
     RemedyClass::live},
    {no_memory_to_pin, LogTopic::pinning, State::warn, "memory could not be pinned (ENOMEM)",
     "ibv_reg_mr fails (ENOMEM) -> the job ends, or goes on over TCP",
     "Raise the memory lock (runtime.memlock, pod.memlock); where that is unlimited, free memory "
     "is short.",
     RemedyClass::restart},
    {no_such_memory, LogTopic::pinning, State::warn, "memory is none that can be pinned (EFAULT)",
     "ibv_reg_mr fails (EFAULT): the address is of a GPU and no peermem module took it, or is not "
     "mapped -> the job ends, or goes on over host memory",
     "For memory of a GPU see gdr.route: load nvidia_peermem, or let the program go by DMA-BUF. "
     "Else the program registers what it has not mapped.",
     RemedyClass::restart},
    {not_pinned, LogTopic::pinning, State::warn, "memory could not be pinned",
     "ibv_reg_mr fails -> the job ends, or goes on over TCP",
     "The program's errno says why: ENOMEM is the memory lock (runtime.memlock, pod.memlock), "
     "EFAULT memory of a GPU without a peermem module.",
     RemedyClass::restart},
    {no_memory_keys, LogTopic::refused, State::warn, "memory keys are used up",
     "ibv_reg_mr fails (EAGAIN, ENOMEM) whatever the memory lock is",
     "Keys of processes that were killed come back when the device is reset: drain the node, and "
     "reload mlx5_core or restart it. Where jobs need that many, register fewer, larger regions.",
     RemedyClass::restart},
    {device_full, LogTopic::refused, State::warn, "a limit of the device is reached",
     "the object that the line names is not made -> the job ends",
     "See what holds such objects (rdma resource, railhead pods). What killed processes left goes "
     "with a reset of the device; else make fewer or smaller ones.",
     RemedyClass::restart},
    {large_region, LogTopic::refused, State::warn, "a region is larger than the device takes",
     "ibv_reg_mr fails (EINVAL, EIO) whatever the memory lock is",
     "Split the region: ibv_devinfo -v has max_mr_size, the line the size that was asked for.",
     RemedyClass::restart},
    {refused_connection, LogTopic::refused, State::warn, "a queue pair was not connected",
     "ibv_modify_qp or ibv_create_ah fails -> the job ends",
     "The peer's address was not taken: compare GID index, MTU and VLAN of both ends (roce.gid, "
     "roce.mtu).",
     RemedyClass::restart},
    {refused_command, LogTopic::refused, State::warn, "the device refused to make something",
     "the call of the program that the line belongs to fails",
     "The line has command and status. Where it comes again and again, update driver and firmware.",
     RemedyClass::restart},
    {firmware_fault, LogTopic::refused, State::warn, "the firmware has an internal error",
     "the call of the program that the line belongs to fails",
     "Update the firmware; where it goes on, reset the card by power and look at log.firmware.",
     RemedyClass::reboot},
    {gpu_fault, LogTopic::gpu, State::warn, "a GPU or its NVLink failed",
     "traffic between GPUs takes the NICs, or stops -> collectives hang or are slow",
     "Drain the node and reset the GPU that the line names; for 79 start the machine anew. Where "
     "it comes back, replace it.",
     RemedyClass::hardware},
};

}  // namespace

std::span<const LogCauseRow> log_causes() {
  return kCauses;
}

const LogCauseRow& row_of(LogCause cause) {
  return *find_by(kCauses, &LogCauseRow::cause, cause);
}

}  // namespace railhead::checks
