// SPDX-License-Identifier: Apache-2.0
//
// What a recording keeps of the files that this folder reads: see host::Host::read_keeping(). By
// what a reader looks at, never by where a file lies.
#pragma once

#include <string>
#include <string_view>

namespace railhead::system {

/// Lines that fit a pattern, links that went down, of mlx5 all; of any other line that it was
/// there. Of their words those of drivers, numbers and PCI addresses; "…" for others.
std::string kept_kernel_log(std::string_view content);

/// Of /proc/cmdline what says how peer-to-peer is translated.
std::string kept_kernel_arguments(std::string_view content);

/// Of /proc/modules names and states, without the addresses.
std::string kept_modules(std::string_view content);

/// Of the lists of modules to load those of RDMA and GPUs.
std::string kept_boot_modules(std::string_view content);

/// Of the files of containerd and CRI-O the keys that they know, with values of the same type;
/// texts only of what says which files are read and what is said of NRI. Each in its line, where
/// that has room. What cannot be parsed stays so.
std::string kept_runtime_settings(std::string_view content);

/// Of an OCI spec the limit of locked memory, or that it is no JSON.
std::string kept_spec(std::string_view content);

/// Of a command line the options that name a file, a folder or a socket of a runtime, and NRI's.
std::string kept_service_arguments(std::string_view content);

/// Of the environment of CRI-O its file and its folder of drop-ins.
std::string kept_crio_environment(std::string_view content);

/// Of the cgroups of a process the unit, and whether it is in a pod.
std::string kept_unit(std::string_view content);

/// Of the kubelet's files its runtime's endpoint: of YAML, and of a list of arguments.
std::string kept_kubelet_settings(std::string_view content);
std::string kept_endpoint_argument(std::string_view content);

/// Whether the name of a socket is that of a runtime or of NRI.
bool is_runtimes_socket(std::string_view path);

/// Of /proc/net/unix those that are listened at.
std::string kept_listeners(std::string_view content);

/// The name of a process that is looked for; "other" of any other.
std::string kept_process_name(std::string_view content);

/// Of a unit the line of its memory lock.
std::string kept_memlock(std::string_view content);

/// Of LNet's interfaces the network and its state, without the address; of its networks the names.
std::string kept_lnet_interfaces(std::string_view content);
std::string kept_lnet_networks(std::string_view content);

/// Of the NVIDIA driver's version that it is the open one or not, and its number; of its parameters
/// those that are looked at.
std::string kept_nvidia_version(std::string_view content);
std::string kept_nvidia_parameters(std::string_view content);

/// Of cuFile's file, which is JSON with comments, two switches, each in its line.
std::string kept_cufile(std::string_view content);

/// Of the storage drivers that nvidia_fs serves, "nvme: 0.1.2", the names.
std::string kept_driver_names(std::string_view content);

/// The line of the total of PCIe's error counters.
std::string kept_error_total(std::string_view content);

}  // namespace railhead::system
