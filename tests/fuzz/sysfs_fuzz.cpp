// SPDX-License-Identifier: Apache-2.0
// A machine whose files lie: a small real tree, and the input decides for each access whether the
// answer is the tree's, an error, absence, or bytes of the input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "node/node.h"
#include "node/node_reader.h"
#include "node/reader.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"

namespace {

using railhead::Error;
using railhead::ErrorCode;
using railhead::Result;
using railhead::host::Host;

constexpr std::string_view kMachine = R"(railhead-snapshot 1
c /dev/infiniband/uverbs0 231:192 0666 0:0
t /etc/cdi/nvidia.yaml kind: nvidia.com/gpu
t /etc/nccl.conf NCCL_TOPO_FILE=/opt/topo.xml
t /opt/topo.xml <system/>
t /proc/1/net/ipv6_route 00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe80000000000000000000000000000001 00000400 00000001 00000000 00000003 bond0
t /proc/1/net/route bond0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0
t /proc/cpuinfo flags : fpu hypervisor
t /proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access 1
t /proc/driver/nvidia/gpus/0000:18:00.0/information Device Minor: 0
t /proc/sys/kernel/hostname fuzz
l /sys/bus/pci/devices/0000:15:01.0 -> ../../../devices/pci0000:15/0000:15:01.0
l /sys/bus/pci/devices/0000:18:00.0 -> ../../../devices/pci0000:15/0000:15:01.0/0000:18:00.0
l /sys/bus/pci/devices/0000:1a:00.0 -> ../../../devices/pci0000:15/0000:15:01.0/0000:1a:00.0
l /sys/bus/pci/devices/10000:e1:00.0 -> ../../../devices/pci10000:e0/10000:e1:00.0
l /sys/bus/pci/drivers/nvidia/0000:18:00.0 -> ../../../../devices/pci0000:15/0000:15:01.0/0000:18:00.0
t /sys/class/dmi/id/product_name Fuzz
l /sys/class/drm/renderD128 -> ../../devices/pci10000:e0/10000:e1:00.0/drm/renderD128
l /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0
l /sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0
t /sys/class/infiniband_mad/umad0/dev 231:0
t /sys/class/infiniband_mad/umad0/ibdev mlx5_0
t /sys/class/infiniband_verbs/uverbs0/dev 231:192
t /sys/class/infiniband_verbs/uverbs0/ibdev mlx5_0
t /sys/class/kfd/kfd/topology/nodes/1/properties unique_id 5
t /sys/class/misc/rdma_cm/dev 10:121
l /sys/class/net/bond0 -> ../../devices/virtual/net/bond0
l /sys/class/net/ens1 -> ../../devices/pci0000:15/0000:15:01.0/0000:1a:00.0/net/ens1
t /sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0/class 0x030200
t /sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0/uevent DRIVER=nvidia
t /sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0/vendor 0x10de
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/class 0x020700
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/current_link_speed 32.0 GT/s PCIe
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0/node_guid a088:c203:00e1:1234
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0/node_type 1: CA
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0/ports/1/gids/0 fe80:0000:0000:0000:a088:c203:00e1:1234
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0/ports/1/pkeys/0 0xffff
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0/ports/1/rate 400 Gb/sec (4X NDR)
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0/ports/1/state 4: ACTIVE
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/numa_node 0
t /sys/devices/pci0000:15/0000:15:01.0/0000:1a:00.0/vendor 0x15b3
t /sys/devices/pci0000:15/0000:15:01.0/class 0x060400
t /sys/devices/pci10000:e0/10000:e1:00.0/class 0x120000
t /sys/devices/pci10000:e0/10000:e1:00.0/vendor 0x1002
t /sys/devices/system/node/node0/cpulist 0-3
t /sys/devices/virtual/infiniband/rxe0/parent ens1
l /sys/devices/virtual/net/bond0/lower_ens1 -> ../../../pci0000:15/0000:15:01.0/0000:1a:00.0/net/ens1
t /sys/module/ib_core/parameters/netns_mode Y
)";

/// Answers in the place of a host as long as the input lasts.
class LyingHost final : public railhead::test::EmptyHost {
 public:
  LyingHost(railhead::host::Host& truth, std::string_view input)
      : truth_(truth),
        input_(input) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return answer<std::string>([&] { return truth_.read(path); }, [&] { return bytes(); });
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return answer<std::string>([&] { return truth_.readlink(path); }, [&] { return bytes(); });
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return answer<std::vector<std::string>>([&] { return truth_.list(path); },
                                            [&] { return std::vector<std::string>{bytes()}; });
  }

  Result<std::optional<railhead::host::DeviceNode>> device(const std::string& path) override {
    return answer<railhead::host::DeviceNode>(
        [&] { return truth_.device(path); },
        [&] { return railhead::host::DeviceNode{'c', next(), next(), 0600, next(), next()}; });
  }

  Result<std::optional<std::string>> devlink_info(const std::string& address) override {
    return answer<std::string>([&] { return truth_.devlink_info(address); },
                               [&] { return bytes(); });
  }

 private:
  std::uint8_t next() {
    if (input_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(input_.front());
    input_.remove_prefix(1);
    return byte;
  }

  std::string bytes() {
    const auto taken = input_.substr(0, next() % 80U);
    input_.remove_prefix(std::min(taken.size(), input_.size()));
    return std::string(taken);
  }

  template <typename T, typename Truth, typename Lie>
  Result<std::optional<T>> answer(Truth truth, Lie lie) {
    switch (next() % 8U) {
      case 1: return std::optional<T>(lie());
      case 2: return std::optional<T>();
      case 3: return Error{ErrorCode::denied, "denied"};
      case 4: return Error{ErrorCode::unavailable, "unavailable"};
      default: return truth();
    }
  }

  railhead::host::Host& truth_;
  std::string_view input_;
};

void require(bool condition) {
  if (!condition) std::abort();
}

/// What everybody above relies on, however broken the machine.
void check(const Result<railhead::node::Node>& read) {
  require(read.has_value());  // no lie says that we lack something
  const auto& node = *read;
  for (std::size_t at = 1; at < node.pci.size(); ++at) {
    require(node.pci[at - 1].address < node.pci[at].address);
  }
  for (const auto& nic : node.nics) {
    require(railhead::is_plain_text(nic.name));
    require(nic.registered || nic.ports.empty());
    for (const auto& port : nic.ports) require(!port.rate_gbps || *port.rate_gbps >= 0);
  }
  for (const auto& gpu : node.gpus) {
    require(!gpu.excluded || !gpu.index);
    require(!gpu.uuid || railhead::is_plain_text(*gpu.uuid));
  }
  require(node.problems.size() <= railhead::node::Reader::kMaxProblems + 1);
}

/// What an event might name, as the first byte says.
railhead::host::MachineChanges changes_of(std::string_view input) {
  railhead::host::MachineChanges changes;
  const unsigned kinds = input.empty() ? 0U : static_cast<unsigned char>(input.front());
  if ((kinds & 1U) != 0) changes.add_rdma("mlx5_0");
  if ((kinds & 2U) != 0) changes.add_node("uverbs0");
  if ((kinds & 4U) != 0) changes.add_pci("0000:1a:00.0");
  if ((kinds & 8U) != 0) changes.add_netdev("bond0");
  if ((kinds & 16U) != 0) changes.add_pci("0000:18:00.0");
  changes.gpus = (kinds & 32U) != 0;
  changes.cdi = (kinds & 64U) != 0;
  return changes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto machine = railhead::snapshot::SnapshotHost::parse(std::string(kMachine));
  require(machine.has_value());
  const std::string input(data, data + size);
  LyingHost host(**machine, input);
  railhead::node::NodeReader reader;
  check(reader.read(host));
  check(reader.read_again(host, changes_of(input)));
  check(reader.read(host));
  return 0;
}
