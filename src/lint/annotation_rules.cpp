// SPDX-License-Identifier: Apache-2.0
//
// Annotations that do nothing, or something else than they say. What ours and those of two NRI
// plugins mean is known to inject/.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "inject/annotations.h"
#include "inject/device_list.h"
#include "inject/pod_networks.h"
#include "lint/networks.h"
#include "lint/rule.h"

namespace railhead::lint {
namespace {

constexpr std::string_view kContainerForm = "/container.";

template <typename Use>
void for_each_annotation(const Given& given, Use use) {
  for (const auto& pod : given.pods) {
    const auto* annotations = pod.annotations();
    if (annotations == nullptr) continue;
    for (const auto& entry : annotations->entries) use(pod, entry);
  }
}

bool has_container(const Pod& pod, std::string_view name) {
  const auto is_it = [&](const Container& one) { return one.name == name; };
  return std::ranges::any_of(pod.containers, is_it) ||
         std::ranges::any_of(pod.init_containers, is_it);
}

void no_container(const Given& given, Found& found) {
  for_each_annotation(given, [&](const Pod& pod, const data::Value::Entry& entry) {
    const auto at = entry.key.find(kContainerForm);
    if (at == std::string::npos || !inject::is_looked_at(entry.key)) return;
    const auto name = std::string_view(entry.key).substr(at + kContainerForm.size());
    if (has_container(pod, name)) return;
    found.add(*pod.object, &entry,
              in_quotes(entry.key, 128) + " is for a container that the pod does not have");
  });
}

void malformed(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    const auto* annotations = pod.annotations();
    if (annotations == nullptr) continue;
    for (const auto& container : pod.containers) {
      container::Request request;
      request.name = container.name;
      const data::Value::Entry* first = nullptr;
      for (const auto& entry : annotations->entries) {
        if (!inject::is_looked_at(entry.key)) continue;
        request.pod_annotations.emplace_back(entry.key, entry.value.scalar);
        if (first == nullptr) first = &entry;
      }
      const auto wishes = inject::read_annotations(request, config::AnnotationPolicy::allow);
      for (const auto& remark : wishes.remarks) {
        const auto at = std::ranges::find_if(annotations->entries, [&](const auto& entry) {
          return remark.text.starts_with(in_quotes(entry.key, 128));
        });
        found.add(*pod.object, at == annotations->entries.end() ? first : &*at, remark.text);
      }
      break;  // what the pod form says is the same for all of them
    }
  }
}

/// `meant`: what it is meant to be; "" where it can be anything.
std::string no_annotation(const std::string& meant) {
  return " is no annotation of Railhead" +
         (meant.empty() ? "" : "; did you mean " + in_quotes(meant, 128) + "?");
}

void near_miss(const Given& given, Found& found) {
  for_each_annotation(given, [&](const Pod& pod, const data::Value::Entry& entry) {
    const auto meant = inject::meant_annotation(entry.key);
    if (!meant) return;
    found.add(*pod.object, &entry, in_quotes(entry.key, 128) + no_annotation(*meant));
  });
}

/// Numbers that the kernel gives the first 32 devices of a class. Source: Linux
/// drivers/infiniband/core/uverbs_main.c, user_mad.c: major 231, IB_UVERBS_BASE_MINOR 192,
/// IB_ISSM_MINOR_BASE 64.
struct DeviceClass {
  std::string_view prefix;
  std::int64_t base;
};

constexpr std::array kDeviceClasses = {DeviceClass{"/dev/infiniband/umad", 0},
                                       DeviceClass{"/dev/infiniband/issm", 64},
                                       DeviceClass{"/dev/infiniband/uverbs", 192}};
constexpr std::int64_t kInfinibandMajor = 231;
constexpr std::int64_t kDevicesOfAClass = 32;

const DeviceClass* class_of_path(std::string_view path) {
  for (const auto& one : kDeviceClasses) {
    if (path.starts_with(one.prefix)) return &one;
  }
  return nullptr;
}

std::string true_name(std::int64_t minor) {
  const DeviceClass* best = nullptr;
  for (const auto& one : kDeviceClasses) {
    if (minor >= one.base && minor < one.base + kDevicesOfAClass) best = &one;
  }
  if (best == nullptr) return "no RDMA device";
  return std::string(best->prefix.substr(best->prefix.rfind('/') + 1)) +
         std::to_string(minor - best->base);
}

template <typename Use>
void for_each_device(const Given& given, Use use) {
  for_each_annotation(given, [&](const Pod& pod, const data::Value::Entry& entry) {
    if (!entry.key.starts_with("devices.")) return;
    const auto devices = inject::parse_device_list(entry.value.scalar);
    if (!devices) return;
    for (const auto& device : *devices) use(pod, entry, device);
  });
}

void device_number(const Given& given, Found& found) {
  for_each_device(given, [&](const Pod& pod, const auto& entry, const auto& device) {
    const auto* its_class = class_of_path(device.path);
    if (its_class == nullptr || device.major != kInfinibandMajor || !device.minor) return;
    const auto index = parse_unsigned(device.path.substr(its_class->prefix.size()));
    if (!index || *index >= kDevicesOfAClass) return;
    const auto right = its_class->base + static_cast<std::int64_t>(*index);
    if (device.minor == right) return;
    found.add(*pod.object, &entry,
              device.path + " is given the number 231:" + std::to_string(*device.minor) +
                  ", which is " + true_name(*device.minor) +
                  "; the kernel's is 231:" + std::to_string(right));
  });
}

void management_device(const Given& given, Found& found) {
  for_each_device(given, [&](const Pod& pod, const auto& entry, const auto& device) {
    const auto* its_class = class_of_path(device.path);
    if (its_class == nullptr || its_class->prefix.ends_with("uverbs")) return;
    found.add(*pod.object, &entry, device.path + " is handed to a pod");
  });
}

/// Annotations of a controller that only mean something on its pods.
void misplaced(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    if (pod.is_part || pod.root == &pod.object->root) continue;
    const auto* own = below(pod.object->root, {"metadata", "annotations"});
    if (own == nullptr) continue;
    for (const auto& entry : own->entries) {
      const auto meant = inject::meant_annotation(entry.key);
      if (!meant && !inject::is_looked_at(entry.key)) continue;
      if (pod.annotation(entry.key) != nullptr) continue;
      found.add(*pod.object, &entry,
                in_quotes(entry.key, 128) + " stands at the " + pod.object->kind +
                    " and not in its pods' template" +
                    (meant ? ", and" + no_annotation(*meant) : ""));
    }
  }
}

void unknown_network(const Given& given, Found& found) {
  const auto networks = networks_of(given);
  for (const auto& pod : given.pods) {
    for (const auto& wanted : wanted_networks(pod)) {
      if (networks.contains(wanted)) continue;
      const auto& [name_space, name] = wanted;
      const auto first = networks.lower_bound({name_space, ""});
      const bool has_rivals = first != networks.end() && first->first.first == name_space;
      if (!has_rivals && !given.is_whole_cluster) continue;
      auto& finding =
          found.add(*pod.object, pod.annotation(inject::kNetworksAnnotation),
                    "no network " + in_quotes(name) + " is in namespace " + in_quotes(name_space));
      if (!given.is_whole_cluster) finding.severity = Severity::warn;
    }
  }
}

bool asks_for(const Pod& pod, std::string_view resource) {
  return std::ranges::any_of(pod.containers, [&](const Container& container) {
    const auto all = asked_by(container);
    return std::ranges::any_of(all, [&](const Asked& asked) { return asked.name == resource; });
  });
}

void network_without_resource(const Given& given, Found& found) {
  const auto networks = networks_of(given);
  for (const auto& pod : given.pods) {
    for (const auto& wanted : wanted_networks(pod)) {
      const auto [begin, end] = networks.equal_range(wanted);
      for (auto at = begin; at != end; ++at) {
        const auto& network = at->second;
        if (network.resource.empty() || asks_for(pod, network.resource)) continue;
        found.add(*pod.object, pod.annotation(inject::kNetworksAnnotation),
                  "network " + in_quotes(wanted.second) + " (" + network.object->label() +
                      ") is of " + network.resource + ", which no container asks for");
      }
    }
  }
}

constexpr Rule kAnnotationRules[] = {
    {"annotation.container", "An annotation is for a container that is not there.", Severity::warn,
     "It does nothing: container.NAME reaches the container of that name alone.",
     "Write the container's name, or /pod for all of them.", "L09 E05", no_container},
    {"annotation.value", "The value of an annotation is not understood.", Severity::warn,
     "The agent leaves it out and says so in its log.",
     "docs/pod-interface.md has the form of each annotation.", "", malformed},
    {"annotation.near-miss", "An annotation looks like one of Railhead's, and is none.",
     Severity::warn,
     "It does nothing: a pod that says so means to require or refuse RDMA, and is given NICs as if "
     "it had said nothing.",
     "Write rdma.railhead.io/pod, nics.railhead.io/pod or memlock.railhead.io/pod, or "
     "/container.NAME in place of /pod.",
     "", near_miss},
    {"annotation.device-number", "A device has the number of another one.", Severity::fail,
     "The container gets another device under that name; verbs fail on it, or the "
     "pod gets the right to send management packets.",
     "Do not write numbers by hand: they are the kernel's, and change when a NIC is reset. "
     "Railhead's agent adds the nodes of the NICs of a container's GPUs.",
     "N08 E06", device_number},
    {"annotation.management-device", "A management device is handed to a pod.", Severity::warn,
     "umad lets it send subnet management packets, issm lets it announce a subnet manager. NCCL, "
     "UCX and perftest need uverbs and rdma_cm alone.",
     "Leave umad and issm out.", "N07 E11", management_device},
    {"annotation.misplaced", "An annotation of pods stands at their controller.", Severity::warn,
     "It does nothing: pods get the annotations of the template.",
     "Move it to spec.template.metadata.annotations.", "", misplaced},
    {"annotation.network", "A pod names a network that is not there.", Severity::fail,
     "Multus refuses to set up the pod's network, and it stays in ContainerCreating. Of files it "
     "is a WARN, since another file may have the network.",
     "Write NAMESPACE/NAME of the NetworkAttachmentDefinition, or only its name in the pod's own "
     "namespace.",
     "F21 E26", unknown_network},
    {"annotation.network-resource", "A pod uses a network without asking for its resource.",
     Severity::fail,
     "The network's CNI gets no device and the pod stays in ContainerCreating. The SR-IOV "
     "operator's networks are of openshift.io/NAME unless RESOURCE_PREFIX says another.",
     "Ask for the resource that the network names, in limits.", "E21 F21",
     network_without_resource},
};

}  // namespace

std::span<const Rule> annotation_rules() {
  return kAnnotationRules;
}

}  // namespace railhead::lint
