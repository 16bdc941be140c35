// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "data/xml.h"
#include "topology/nccl_name.h"
#include "topology/nccl_topology.h"

namespace railhead::topology {
namespace {

constexpr std::size_t kMostFunctions = 1024;
constexpr std::size_t kMostWarnings = 100;
constexpr int kHighestNuma = 4095;
constexpr std::uint64_t kFastestMbps = 6400000;  // 12 planes of 400 Gb/s, and some more
constexpr double kFastestGts = 1024;
constexpr unsigned kWidestLink = 32;

std::string line_text(unsigned line) {
  return "line " + std::to_string(line) + ": ";
}

/// Value of an attribute; nullptr where it is absent or empty, as NCCL writes what it does not
/// know.
const std::string* given(const data::XmlElement& element, std::string_view attribute) {
  const std::string* value = element.find(attribute);
  return value != nullptr && !value->empty() ? value : nullptr;
}

/// Hexadecimal digits of a class code. NCCL writes "0x03" where it knows no more.
std::optional<std::uint32_t> parse_class(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto code = parse_hex(text);
  if (!code || text.size() > 6 || text.size() % 2 != 0) return std::nullopt;
  return static_cast<std::uint32_t>(*code << (4 * (6 - text.size())));
}

/// "16.0 GT/s PCIe" (Linux 5.7 and later), "16 GT/s".
std::optional<double> parse_gts(std::string_view text) {
  double gts = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), gts);
  const auto unit = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (parsed.ec != std::errc{} || !unit.starts_with(" GT/s")) return std::nullopt;
  if (!(gts > 0 && gts <= kFastestGts)) return std::nullopt;
  return gts;
}

class Parser {
 public:
  explicit Parser(NcclTopology& out)
      : out_(out) {}

  Status read(const data::XmlElement& element) {
    if (element.name != "system") {
      return at(element, "the root element is <" + element.name + ">, not <system>");
    }
    read_version(element);
    for (const auto& child : element.children) {
      if (child.name == "cpu") {
        out_.cpus.push_back(TRY(cpu(child)));
      } else {
        unknown(child);
      }
    }
    return {};
  }

 private:
  /// Where an address came first, and whether it was without other functions below it, once.
  struct Seen {
    unsigned line = 0;
    bool leaf = false;
  };

  void read_version(const data::XmlElement& element) {
    const std::string* version = element.find("version");
    if (version != nullptr && *version == std::to_string(kRcclVersion)) {
      out_.version = kRcclVersion;
    } else if (version == nullptr || *version != std::to_string(kNcclVersion)) {
      warn(element, "version is " + (version ? in_quotes(*version) : std::string("absent")) +
                        ", where NCCL wants 1 and RCCL 2");
    }
  }

  static bool is_leaf(const data::XmlElement& element) {
    return std::ranges::none_of(element.children,
                                [](const data::XmlElement& child) { return child.name == "pci"; });
  }

  static Error at(const data::XmlElement& element, const std::string& what,
                  ErrorCode code = ErrorCode::malformed) {
    return {code, line_text(element.line) + what};
  }

  void warn(const data::XmlElement& element, const std::string& what) {
    if (out_.warnings.size() < kMostWarnings) {
      out_.warnings.push_back(line_text(element.line) + what);
    } else if (out_.warnings.size() == kMostWarnings) {
      out_.warnings.emplace_back("more warnings than these");
    }
  }

  void wrong(const data::XmlElement& element, std::string_view attribute, const std::string& value,
             const std::string& what) {
    warn(element, "<" + element.name + "> " + std::string(attribute) + ": " + in_quotes(value) +
                      " is " + what);
  }

  /// Said once for each name.
  void unknown(const data::XmlElement& element) {
    if (unknown_.insert(element.name).second) {
      warn(element, "<" + element.name + "> is not known here, it and all below it is left out");
    }
  }

  std::optional<unsigned> number(const data::XmlElement& element, std::string_view attribute,
                                 std::uint64_t most = std::numeric_limits<int>::max()) {
    const std::string* text = given(element, attribute);
    if (text == nullptr) return std::nullopt;
    const auto value = parse_unsigned(*text);
    if (value && *value <= most) return static_cast<unsigned>(*value);
    wrong(element, attribute, *text, "not a number up to " + std::to_string(most));
    return std::nullopt;
  }

  std::optional<std::uint16_t> pci_id(const data::XmlElement& element, std::string_view attribute) {
    const std::string* text = given(element, attribute);
    if (text == nullptr) return std::nullopt;
    const auto value = parse_hex(*text);
    if (value && *value <= 0xffff) return static_cast<std::uint16_t>(*value);
    wrong(element, attribute, *text, "not a PCI id");
    return std::nullopt;
  }

  std::optional<std::uint32_t> class_code(const data::XmlElement& element) {
    const std::string* text = given(element, "class");
    if (text == nullptr) return std::nullopt;
    const auto value = parse_class(*text);
    if (!value) wrong(element, "class", *text, "not a PCI class");
    return value;
  }

  std::optional<double> link_gts(const data::XmlElement& element) {
    const std::string* text = given(element, "link_speed");
    if (text == nullptr || text->starts_with("Unknown")) return std::nullopt;  // as the kernel says
    const auto value = parse_gts(*text);
    if (!value) wrong(element, "link_speed", *text, "not a speed in GT/s");
    return value;
  }

  std::optional<int> numa_node(const data::XmlElement& element) {
    const std::string* text = given(element, "numaid");
    if (text == nullptr) {
      warn(element, "<cpu> without numaid");
      return std::nullopt;
    }
    const auto value = parse_signed(*text);
    if (value && *value == -1) return std::nullopt;
    if (value && *value >= 0 && *value <= kHighestNuma) return static_cast<int>(*value);
    wrong(element, "numaid", *text, "not a NUMA node");
    return std::nullopt;
  }

  std::string affinity(const data::XmlElement& element) {
    const std::string* text = given(element, "affinity");
    if (text == nullptr) return "";
    if (text->find_first_not_of("0123456789abcdefABCDEF,") == std::string::npos) return *text;
    wrong(element, "affinity", *text, "not a CPU mask");
    return "";
  }

  std::string name_of(const data::XmlElement& element, std::string_view attribute) {
    const std::string* text = given(element, attribute);
    if (text == nullptr || is_plain_name(*text)) return text != nullptr ? *text : "";
    wrong(element, attribute, *text, "not a name");
    return "";
  }

  std::optional<std::string> guid(const data::XmlElement& element) {
    const std::string* text = given(element, "guid");
    if (text == nullptr || parse_hex(*text)) return text ? std::optional(*text) : std::nullopt;
    wrong(element, "guid", *text, "not a GUID");
    return std::nullopt;
  }

  Result<NcclCpu> cpu(const data::XmlElement& element) {
    NcclCpu cpu;
    cpu.line = element.line;
    cpu.numa_node = numa_node(element);
    cpu.affinity = affinity(element);
    cpu.arch = name_of(element, "arch");
    cpu.vendor = name_of(element, "vendor");
    if (const auto family = number(element, "familyid")) cpu.family = static_cast<int>(*family);
    if (const auto model = number(element, "modelid")) cpu.model = static_cast<int>(*model);
    for (const auto& child : element.children) {
      if (child.name == "pci") {
        TRY_STATUS(add_pci(child, cpu.pci));
      } else if (child.name == "nic") {
        add_nets(child, cpu.nets);
      } else {
        unknown(child);
      }
    }
    return cpu;
  }

  Status add_pci(const data::XmlElement& element, std::vector<NcclPci>& to) {
    const std::string* text = element.find("busid");
    if (text == nullptr) return at(element, "<pci> without busid");
    const auto address = node::PciAddress::parse(*text);
    if (!address) return at(element, "<pci> busid: " + address.error().message);
    if (++functions_ > kMostFunctions) {
      return at(element, "more than " + std::to_string(kMostFunctions) + " functions",
                ErrorCode::too_large);
    }
    NcclPci pci;
    pci.address = *address;
    pci.line = element.line;
    const bool leaf = is_leaf(element);
    const auto [first, fresh] = seen_.emplace(*address, Seen{element.line, leaf});
    const Seen before = first->second;
    first->second.leaf = before.leaf || leaf;
    fill(element, pci);
    TRY_STATUS(add_below(element, pci));
    if (!fresh && !keeps(element, pci, before)) return {};
    to.push_back(std::move(pci));
    return {};
  }

  /// An address that came before: whether this element stays nevertheless. A device and any number
  /// of switches may share an address, two devices not.
  bool keeps(const data::XmlElement& element, NcclPci& pci, const Seen& before) {
    const bool stays = !pci.below.empty() || !before.leaf;
    std::string what = "left out";
    if (stays) what = pci.below.empty() ? "a switch has its address" : "taken as another switch";
    warn(element,
         pci.address.str() + " again, after line " + std::to_string(before.line) + ": " + what);
    if (!pci.below.empty()) {
      pci.gpu.reset();
      pci.nets.clear();
    }
    return stays;
  }

  void fill(const data::XmlElement& element, NcclPci& pci) {
    pci.class_code = class_code(element);
    pci.vendor = pci_id(element, "vendor");
    pci.device = pci_id(element, "device");
    pci.subsystem_vendor = pci_id(element, "subsystem_vendor");
    pci.subsystem_device = pci_id(element, "subsystem_device");
    pci.link_gts = link_gts(element);
    pci.link_width = number(element, "link_width", kWidestLink);
    if (pci.link_width == 0U) pci.link_width.reset();  // as NCCL writes what it does not know
  }

  Status add_below(const data::XmlElement& element, NcclPci& pci) {
    for (const auto& child : element.children) {
      if (child.name == "pci") {
        TRY_STATUS(add_pci(child, pci.below));
      } else if (child.name == "gpu") {
        add_gpu(child, pci);
      } else if (child.name == "nic") {
        add_nets(child, pci.nets);
      } else if (child.name != "pcilink") {
        unknown(child);
      }
    }
    return {};
  }

  void add_gpu(const data::XmlElement& element, NcclPci& pci) {
    if (pci.gpu) return warn(element, "a second <gpu> in one <pci>, left out");
    pci.gpu = NcclGpu{number(element, "dev"), number(element, "sm")};
    for (const auto& child : element.children) {
      const bool link = child.name == "nvlink" || child.name == "xgmi" || child.name == "c2c";
      if (!link) unknown(child);
    }
  }

  void add_nets(const data::XmlElement& nic, std::vector<NcclNet>& to) {
    for (const auto& child : nic.children) {
      if (child.name != "net") {
        unknown(child);
        continue;
      }
      const std::string* name = given(child, "name");
      if (name == nullptr) {
        warn(child, "<net> without a name, left out");
      } else if (!is_nccl_name(*name)) {
        wrong(child, "name", *name, "not a device's name, left out");
      } else {
        to.push_back(net(child, *name));
      }
    }
  }

  NcclNet net(const data::XmlElement& element, const std::string& name) {
    NcclNet net;
    net.name = name;
    net.dev = number(element, "dev");
    net.speed_mbps = number(element, "speed", kFastestMbps);
    net.port = number(element, "port");
    net.guid = guid(element);
    if (const auto gdr = number(element, "gdr")) net.gdr = *gdr != 0;
    return net;
  }

  NcclTopology& out_;
  std::map<node::PciAddress, Seen> seen_;
  std::set<std::string> unknown_;
  std::size_t functions_ = 0;
};

}  // namespace

Result<NcclTopology> parse_nccl_topology(std::string_view text, const std::string& origin) {
  const auto root = data::parse_xml(text);
  if (!root) return root.error().context(origin);
  NcclTopology topology;
  topology.origin = origin;
  const auto parsed = Parser(topology).read(*root);
  if (!parsed) return parsed.error().context(origin);
  return topology;
}

}  // namespace railhead::topology
