// SPDX-License-Identifier: Apache-2.0
#include "lint/networks.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "config/plugin_texts.h"
#include "inject/pod_networks.h"

namespace railhead::lint {
namespace {

constexpr data::ParseLimits kTextLimits{std::size_t{64} << 10, 16, 4096};

/// An operator's object that becomes a NetworkAttachmentDefinition. Sources:
/// k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (RenderNetAttDef),
/// Mellanox/network-operator api/v1alpha1 (networkNamespace; the resource's prefix is nvidia.com).
struct NetworkKind {
  std::string_view kind;
  std::string_view prefix;             ///< of resourceName; "" where the network has none
  std::string_view default_namespace;  ///< "": that of the object
};

constexpr std::array kNetworkKinds = {
    NetworkKind{"SriovNetwork", config::kPolicyPrefix, ""},
    NetworkKind{"SriovIBNetwork", config::kPolicyPrefix, ""},
    NetworkKind{"OVSNetwork", config::kPolicyPrefix, ""},
    NetworkKind{"HostDeviceNetwork", "nvidia.com", "default"},
    NetworkKind{"MacvlanNetwork", "", "default"},
    NetworkKind{"IPoIBNetwork", "", "default"},
};

constexpr std::string_view kDefinition = "NetworkAttachmentDefinition";

const NetworkKind* kind_of(const Object& object) {
  for (const auto& one : kNetworkKinds) {
    if (object.kind == one.kind) return &one;
  }
  return nullptr;
}

std::string with_prefix(std::string_view prefix, std::string_view name) {
  if (name.empty() || prefix.empty()) return "";
  if (name.find('/') != std::string_view::npos) return std::string(name);
  return std::string(prefix) + "/" + std::string(name);
}

std::string or_default(std::string_view name_space) {
  return std::string(name_space.empty() ? "default" : name_space);
}

Network network_of(const Object& object, const NetworkKind& kind) {
  const auto target = text_below(object.root, {"spec", "networkNamespace"});
  std::string name_space(target.empty() ? kind.default_namespace : target);
  if (name_space.empty()) name_space = or_default(object.name_space);
  return {&object, object.name, name_space,
          with_prefix(kind.prefix, text_below(object.root, {"spec", "resourceName"}))};
}

NetworkText text_of(const Object& object, const data::Value& place, bool is_whole) {
  NetworkText text{&object, &place, {}, "", is_whole};
  auto parsed = data::parse_json(place.scalar, kTextLimits);
  if (!parsed) {
    text.problem = parsed.error().message;
  } else {
    text.value = std::move(parsed).value();
  }
  return text;
}

}  // namespace

std::vector<Network> networks_of(const Given& given) {
  std::vector<Network> networks;
  for (const auto& object : given.objects) {
    if (const auto* kind = kind_of(object)) {
      // In a cluster the definition that was made of it is there as well, and counts.
      if (!given.is_whole_cluster) networks.push_back(network_of(object, *kind));
    } else if (object.kind == kDefinition) {
      networks.push_back(
          {&object, object.name, or_default(object.name_space),
           std::string(text_below(
               object.root, {"metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName"}))});
    }
  }
  return networks;
}

std::vector<WantedNetwork> wanted_networks(const Pod& pod) {
  std::vector<WantedNetwork> wanted;
  const auto* annotation = pod.annotation(inject::kNetworksAnnotation);
  if (annotation == nullptr) return wanted;
  auto own = text_below(*pod.root, {"metadata", "namespace"});
  if (own.empty()) own = pod.object->name_space;
  const auto text = trim(annotation->scalar);
  if (text.starts_with('[')) {
    const auto list = data::parse_json(text, kTextLimits);
    if (!list) return wanted;
    for (const auto& one : list->items) {
      const auto target = text_below(one, {"namespace"});
      wanted.push_back({std::string(text_below(one, {"name"})),
                        or_default(target.empty() ? own : target), annotation});
    }
    return wanted;
  }
  for (const auto piece : split(text, ',')) {
    auto name = trim(piece);
    name = name.substr(0, name.find('@'));
    if (name.empty()) continue;
    const auto slash = name.find('/');
    const bool is_qualified = slash != std::string_view::npos;
    wanted.push_back({std::string(is_qualified ? name.substr(slash + 1) : name),
                      or_default(is_qualified ? name.substr(0, slash) : own), annotation});
  }
  return wanted;
}

std::vector<NetworkText> network_texts(const Given& given) {
  std::vector<NetworkText> texts;
  for (const auto& object : given.objects) {
    const bool is_definition = object.kind == kDefinition;
    if (!is_definition && kind_of(object) == nullptr) continue;
    const auto* place = below(object.root, {"spec", is_definition ? "config" : "ipam"});
    if (place == nullptr || place->kind != data::Value::Kind::scalar) continue;
    texts.push_back(text_of(object, *place, is_definition));
  }
  return texts;
}

}  // namespace railhead::lint
