// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::host {

/// A device node as stat(2) shows it.
struct DeviceNode {
  char type = 'c';  ///< 'c' or 'b'
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t mode = 0;  ///< permission bits only (07777)
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;

  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

/// A question to the kernel's RDMA netlink: all objects of one kind, of one device where the kind
/// is asked for by device. Numbers: include/uapi/rdma/rdma_netlink.h, enum rdma_nldev_command.
struct RdmaDump {
  std::uint16_t command = 0;
  std::optional<std::uint32_t> device;  ///< RDMA_NLDEV_ATTR_DEV_INDEX

  friend bool operator==(const RdmaDump&, const RdmaDump&) = default;
};

/// An established TCP connection to somewhere else, not to this machine itself.
struct TcpSocket {
  std::uint64_t inode = 0;
  std::optional<std::uint64_t> sent_bytes;  ///< acknowledged by the other side; absent before 4.1
  std::optional<std::uint64_t> received_bytes;

  friend bool operator==(const TcpSocket&, const TcpSocket&) = default;
};

/// How a walk over the symbolic links of a directory ended.
struct LinkWalk {
  std::size_t entries = 0;         ///< that were looked at
  bool is_cut = false;             ///< there are more
  std::optional<Error> failure{};  ///< of a link that could not be read
};

/// What of a netdev its driver lets be set: sizes of rings, coalescing of interrupts and pause
/// frames by ethtool's netlink, priorities by DCB's, virtual functions by routing netlink.
enum class LinkPart : std::uint8_t { rings, coalesce, pause, dcb, vfs };

/// What a reader needs of a file's content, so that a recording keeps no more: pure, and twice the
/// same as once. What it leaves of a file has to be read as the file itself; "" of a file that has
/// something means that to this reader it might as well not be there.
using Keep = std::string (*)(std::string_view content);

/// Likewise which names in a directory a reader looks at.
using KeepName = bool (*)(std::string_view name);

/// The only door through which the machine is read: the live one, a directory tree, or a snapshot.
/// Nothing has a default: a host that passes questions on and forgets one does not compile, rather
/// than answer "absent" for a machine that was never asked.
/// Paths are absolute, as on the machine ("/sys/class/infiniband"). Symbolic links in any component
/// are followed inside the root, never out of it. Every answer is one of three:
///   nullopt     absent: ENOENT, ENOTDIR, ENODEV, ENXIO, or a dangling link
///   a value     present
///   an Error    present and not readable (denied, unavailable, too_large), naming the path
/// Reads are limited to kMaxFileBytes; larger files are too_large, never cut.
class Host {
 public:
  static constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxListEntries = 65536;
  /// read() gives all records of the kernel's log for this device, the newest where there are more.
  static constexpr const char* kKernelLog = "/dev/kmsg";

  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  /// Whole content of a file.
  virtual Result<std::optional<std::string>> read(const std::string& path) = 0;

  /// read(), and what a recording may keep of it: of what was read by read() it has the name alone.
  /// The answer is the whole content. A host that does not override it records nothing.
  virtual Result<std::optional<std::string>> read_keeping(const std::string& path, Keep keep);

  /// Target text of a symbolic link, as stored. Absent also when the path is not a link.
  virtual Result<std::optional<std::string>> readlink(const std::string& path) = 0;

  /// Names in a directory, sorted, without "." and "..". Absent also when it is not a directory.
  virtual Result<std::optional<std::vector<std::string>>> list(const std::string& path) = 0;

  /// list(), and the names that a recording may keep; of list() it has all.
  virtual Result<std::optional<std::vector<std::string>>> list_keeping(const std::string& path,
                                                                       KeepName keep);

  /// Hands over the target of each link in a directory, one after the other, in no order. At most
  /// `limit` entries are looked at, and all are of one directory, even where another takes its path
  /// meanwhile.
  virtual Result<std::optional<LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) = 0;

  /// A device node. Absent also when the path is not a device.
  virtual Result<std::optional<DeviceNode>> device(const std::string& path) = 0;

  /// The kernel's answer: whole netlink messages one after the other. The closing one is there only
  /// where it says that the kernel gave up in the middle: cut_short() of host/netlink.h.
  /// What nobody here reads is zero in it, access keys above all. Absent where the machine has no
  /// RDMA netlink (no kernel, or none with RDMA) or no longer this device. An Error says why not,
  /// as host_error does: EOPNOTSUPP is a kernel without this command, EINTR one whose objects
  /// changed whenever they were listed, ETIMEDOUT and EFBIG are limits of ours.
  virtual Result<std::optional<std::string>> rdma(const RdmaDump& dump) = 0;

  /// The TCP connections of the network namespace that this link names ("/proc/4711/ns/net"), in
  /// the kernel's order. Absent where there is no kernel to ask, or no such process. An Error says
  /// why not, as host_error does: EPERM is a namespace that we may not enter, EFBIG too many.
  virtual Result<std::optional<std::vector<TcpSocket>>> tcp_sockets(const std::string& link) = 0;

  /// What the driver of a PCI function ("0000:3b:00.0") says of it through devlink: the message as
  /// the kernel sends it, with zeros where nobody here reads it. Absent where there is no devlink,
  /// where this function is not one of its devices (also: not in our network namespace), and where
  /// its driver says nothing.
  virtual Result<std::optional<std::string>> devlink_info(const std::string& pci_address) = 0;

  /// How a part of a netdev is set: the message as the kernel sends it, for parse_ethtool(),
  /// parse_dcb() and parse_vf_settings(). Absent where its driver has nothing of this part. An
  /// Error with ENODEV: there is no such netdev in our network namespace.
  virtual Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                           LinkPart part) = 0;
};

/// Host::walk_links() by list() and readlink() of this host, for one whose directories stay as they
/// are. A directory of more than kMaxListEntries is too_large.
Result<std::optional<LinkWalk>> walk_listed(
    Host& host, const std::string& path, std::size_t limit,
    const std::function<void(const std::string& target)>& take);

/// Where a snapshot keeps the answer, as a directory of pieces: "/.netlink/rdma/10.0" for command
/// 10 of device 0. No machine has such a path.
std::string rdma_path(const RdmaDump& dump);

/// Where it keeps the TCP connections of a namespace, a line "INODE SENT RECEIVED" each ('-': not
/// known): "/.netlink/tcp/4026531840" for the target "net:[4026531840]" of the link. "" where that
/// is no namespace's.
std::string tcp_path(std::string_view link_target);

/// Likewise "/.netlink/devlink/pci.0000:3b:00.0".
std::string devlink_path(const std::string& pci_address);

/// Likewise "/.netlink/dcb/ens1f0np0", "/.netlink/vfs/ens1f0np0".
std::string link_settings_path(const std::string& netdev, LinkPart part);

/// Where `link` at `path` (absolute) points, as an absolute path, by text alone: "." and ".." are
/// taken away, nothing is resolved. "/a/b" with "../c" is "/c".
std::string join_link(const std::string& path, const std::string& target);

/// The last component of a path.
std::string base_name(const std::string& path);

}  // namespace railhead::host
