// SPDX-License-Identifier: Apache-2.0
#include "lint/networks.h"

#include <array>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "inject/pod_networks.h"
#include "lint/offers.h"

namespace railhead::lint {
namespace {

constexpr data::ParseLimits kTextLimits{std::size_t{64} << 10, 16, 4096};

/// An operator's object that becomes a NetworkAttachmentDefinition. Sources:
/// k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (RenderNetAttDef),
/// Mellanox/network-operator api/v1alpha1 (networkNamespace; the resource's prefix is nvidia.com).
struct NetworkKind {
  enum class Domain : std::uint8_t { none, nvidia, sriov };

  std::string_view kind;
  Domain domain;                       ///< of resourceName; none where the network has none
  std::string_view default_namespace;  ///< "": that of the object
};

constexpr std::array kNetworkKinds = {
    NetworkKind{"SriovNetwork", NetworkKind::Domain::sriov, ""},
    NetworkKind{"SriovIBNetwork", NetworkKind::Domain::sriov, ""},
    NetworkKind{"OVSNetwork", NetworkKind::Domain::sriov, ""},
    NetworkKind{"HostDeviceNetwork", NetworkKind::Domain::nvidia, "default"},
    NetworkKind{"MacvlanNetwork", NetworkKind::Domain::none, "default"},
    NetworkKind{"IPoIBNetwork", NetworkKind::Domain::none, "default"},
};

constexpr std::string_view kDefinition = "NetworkAttachmentDefinition";

const NetworkKind* kind_of(const Object& object) {
  return find_by(kNetworkKinds, &NetworkKind::kind, object.kind);
}

std::string resource_of(const Given& given, const Object& object, const NetworkKind& kind) {
  std::string name(text_below(object.root, {"spec", "resourceName"}));
  if (name.empty() || kind.domain == NetworkKind::Domain::none) return "";
  if (name.find('/') != std::string::npos) return name;
  if (kind.domain == NetworkKind::Domain::nvidia) return std::string(kNvidiaDomain) + "/" + name;
  return std::string(sriov_domain(given, object, name)) + "/" + name;
}

std::string or_default(std::string_view name_space) {
  return std::string(name_space.empty() ? "default" : name_space);
}

/// The namespace of the definition that the operator makes.
std::string target_of(const Object& object, const NetworkKind& kind) {
  const auto target = text_below(object.root, {"spec", "networkNamespace"});
  if (!target.empty()) return std::string(target);
  return or_default(kind.default_namespace.empty() ? object.name_space : kind.default_namespace);
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

std::multimap<NetworkName, Network> networks_of(const Given& given) {
  constexpr std::string_view kResource = "k8s.v1.cni.cncf.io/resourceName";
  std::multimap<NetworkName, Network> networks;
  for (const auto& object : given.objects) {
    if (const auto* kind = kind_of(object)) {
      // In a cluster the definition that was made of it is there as well, and counts.
      if (given.is_whole_cluster) continue;
      networks.emplace(NetworkName(target_of(object, *kind), object.name),
                       Network{&object, resource_of(given, object, *kind)});
    } else if (object.kind == kDefinition) {
      const auto resource = text_below(object.root, {"metadata", "annotations", kResource});
      networks.emplace(NetworkName(or_default(object.name_space), object.name),
                       Network{&object, std::string(resource)});
    }
  }
  return networks;
}

std::set<NetworkName> wanted_networks(const Pod& pod) {
  std::set<NetworkName> wanted;
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
      wanted.emplace(or_default(target.empty() ? own : target), text_below(one, {"name"}));
    }
    return wanted;
  }
  for (const auto piece : split(text, ',')) {
    auto name = trim(piece);
    name = name.substr(0, name.find('@'));
    if (name.empty()) continue;
    const auto slash = name.find('/');
    const bool is_qualified = slash != std::string_view::npos;
    wanted.emplace(or_default(is_qualified ? name.substr(0, slash) : own),
                   is_qualified ? name.substr(slash + 1) : name);
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
