// SPDX-License-Identifier: Apache-2.0
// What tells one vendor's GPUs from another's, a row each. Other folders ask the row and name no
// vendor; nothing here reads the machine, decides or keeps state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace railhead::gpu {

/// The rows of kGpuRows, in their order.
enum class GpuVendor : std::uint8_t { nvidia, amd, hygon, intel };

/// Up to four texts of a row.
struct Words {
  std::array<std::string_view, 4> all;

  [[nodiscard]] constexpr auto begin() const { return all.begin(); }

  [[nodiscard]] constexpr auto end() const {
    const auto* at = all.begin();  // no std::find: GCC 12 refuses it in constants
    while (at != all.end() && !at->empty()) ++at;
    return at;
  }
};

/// Whose topology file the GPUs' collective library reads.
enum class GpuLibrary : std::uint8_t { none, nccl, rccl };

/// How a name says which GPU it means. `specs`: only a CDI spec knows. `nvidia`: the ids of
/// add_gpu_id() in src/inject/gpu_ids.h.
enum class GpuIds : std::uint8_t { specs, nvidia };

/// A variable that leaves a program some of the GPUs that it has. `level_zero`: ZE_AFFINITY_MASK,
/// src/inject/level_zero_mask.h.
enum class GpuMask : std::uint8_t { none, level_zero };

struct GpuRow {
  GpuVendor vendor;
  std::string_view name;  ///< for people
  std::uint16_t pci_vendor;
  std::array<std::uint16_t, 4> classes;  ///< class and subclass of its GPUs
  Words drivers;                         ///< PCI drivers under which a function is a GPU
  Words driver_folders = {};       ///< where GPUs come and go without an event of DRM, watched
  bool kfd = false;                ///< has UUIDs in /sys/class/kfd
  std::uint16_t fabric_class = 0;  ///< of functions that join its GPUs and are kept
  std::optional<unsigned> integrated{};  ///< device on bus 0 that is a processor's graphics
  bool card_switch_counts = true;        ///< the switch on a card counts in relations
  GpuLibrary library = GpuLibrary::none;

  std::uint32_t major;             ///< of its device nodes
  std::uint32_t gpus_below = 0;    ///< minors below it are GPUs and nothing else
  Words nodes;                     ///< device nodes; those of GPUs end in the minor
  Words resources = {};            ///< at the kubelet, shell patterns
  Words cdi_kinds = {};            ///< with any subdomain in front
  GpuIds ids = GpuIds::specs;      ///< in CDI names and in the variable of the runtime
  std::string_view variable = {};  ///< read by a hook of the runtime; "all" is no allocation
  Words own_variables = {};        ///< read by the program itself
  Words meaning_variables = {};    ///< say what the numbers in those mean
  GpuMask mask = GpuMask::none;
  Words mounts = {};  ///< folders in which mounts name GPUs, or bring them
};

/// Numbers. Linux Documentation/admin-guide/devices.txt: 195 NVIDIA (254 modeset, 255 control), 226
/// DRM (every graphics adapter, a server's own included). PCI classes: 0300 VGA, 0302 3D, 0380
/// other display, 1200 accelerator.
inline constexpr std::uint32_t kDrmMajor = 226;
inline constexpr Words kDrmNodes{{"/dev/dri/renderD", "/dev/dri/card"}};
inline constexpr Words kDrmAndKfdNodes{{"/dev/dri/renderD", "/dev/dri/card", "/dev/kfd"}};
inline constexpr std::array<std::uint16_t, 4> kAnyGpuClass{0x0300, 0x0302, 0x0380, 0x1200};

inline constexpr auto kGpuRows = std::to_array<GpuRow>({
    {.vendor = GpuVendor::nvidia,
     .name = "NVIDIA",
     .pci_vendor = 0x10de,
     .classes = kAnyGpuClass,
     .drivers = {{"nvidia"}},
     .driver_folders = {{"/sys/bus/pci/drivers/nvidia", "/proc/driver/nvidia/gpus"}},
     .fabric_class = 0x0680,  // NVSwitch
     .library = GpuLibrary::nccl,
     .major = 195,
     .gpus_below = 254,
     .nodes = {{"/dev/nvidia"}},
     .resources = {{"nvidia.com/gpu*", "nvidia.com/mig-*"}},
     .cdi_kinds = {{"nvidia.com/gpu", "nvidia.com/claim"}},
     .ids = GpuIds::nvidia,
     .variable = "NVIDIA_VISIBLE_DEVICES",
     .own_variables = {{"CUDA_VISIBLE_DEVICES"}},
     .mounts = {{"/var/run/nvidia-container-devices/", "/run/nvidia-container-devices/",
                 "/dev/nvidia"}}},
    {.vendor = GpuVendor::amd,
     .name = "AMD",
     .pci_vendor = 0x1002,
     .classes = kAnyGpuClass,
     .drivers = {{"amdgpu"}},
     .kfd = true,
     .library = GpuLibrary::rccl,
     .major = kDrmMajor,
     .nodes = kDrmAndKfdNodes,
     .resources = {{"amd.com/gpu"}},
     .cdi_kinds = {{"amd.com/gpu"}},
     .variable = "AMD_VISIBLE_DEVICES"},
    {.vendor = GpuVendor::hygon,  // its DCU has AMD's kernel interfaces
     .name = "Hygon",
     .pci_vendor = 0x1d94,
     .classes = kAnyGpuClass,
     .drivers = {{"hycu", "hydcu"}},  // the latter before
     .kfd = true,
     .library = GpuLibrary::rccl,
     .major = kDrmMajor,
     .nodes = kDrmAndKfdNodes},
    // Class 1200 is left out: Intel's FPGAs and NPUs have it. The resources *_monitoring give a
    // monitor every GPU, so they are none. Sources: intel/intel-device-plugins-for-kubernetes
    // cmd/gpu_plugin (resources, CDI kind), Level Zero specification, "Environment Variables".
    {.vendor = GpuVendor::intel,
     .name = "Intel",
     .pci_vendor = 0x8086,
     .classes = {0x0300, 0x0380},
     .drivers = {{"xe", "i915"}},
     .integrated = 2,
     .card_switch_counts = false,
     .major = kDrmMajor,
     .nodes = kDrmNodes,
     .resources = {{"gpu.intel.com/i915", "gpu.intel.com/xe"}},
     .cdi_kinds = {{"intel.com/gpu"}},
     .own_variables = {{"ZE_AFFINITY_MASK"}},
     .meaning_variables = {{"ZE_FLAT_DEVICE_HIERARCHY", "ZE_ENABLE_PCI_ID_DEVICE_ORDER"}},
     .mask = GpuMask::level_zero},
});

constexpr const GpuRow& gpu_row(GpuVendor vendor) {
  return kGpuRows[static_cast<std::size_t>(vendor)];
}

static_assert(std::ranges::all_of(kGpuRows,
                                  [](const GpuRow& row) { return &gpu_row(row.vendor) == &row; }),
              "the rows are in the order of GpuVendor");

/// nullptr: none of the rows.
const GpuRow* gpu_row_of_pci(std::uint16_t vendor);

/// "intel.com/gpu", "k8s.gpu.nvidia.com/claim".
const GpuRow* gpu_row_of_cdi(std::string_view kind);

bool is_gpu_driver(std::string_view name);

struct GpuNode {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

/// "/dev/nvidia0", "/dev/dri/renderD128"; not the control nodes beside them.
std::optional<GpuNode> gpu_node(std::string_view path);

/// A GPU's device node or a control node beside it.
bool is_gpu_path(std::string_view path);

/// A mount that names or brings GPUs.
bool is_gpu_mount(std::string_view destination);

/// "NAME=value" of a variable that names GPUs, to the runtime or to the program.
bool names_gpus(std::string_view variable);

/// The same, or of one that says what its numbers mean.
bool is_gpu_variable(std::string_view variable);

/// A text that is put together while compiling; one that does not fit does not compile.
struct ConstText {
  std::array<char, 256> text{};
  std::size_t size = 0;
};

constexpr ConstText join_gpu_resources() {
  ConstText out;
  for (const GpuRow& row : kGpuRows) {
    for (const std::string_view pattern : row.resources) {
      if (out.size > 0) out.text[out.size++] = ',';
      for (const char character : pattern) out.text[out.size++] = character;
    }
  }
  return out;
}

/// The resources of all rows: the default of injection.gpuResources.
inline constexpr ConstText kGpuResourcesText = join_gpu_resources();
inline constexpr std::string_view kGpuResources{kGpuResourcesText.text.data(),
                                                kGpuResourcesText.size};

}  // namespace railhead::gpu
