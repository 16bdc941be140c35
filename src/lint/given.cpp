// SPDX-License-Identifier: Apache-2.0
#include "lint/given.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "gpu/vendors.h"
#include "lint/made_pods.h"
#include "lint/offers.h"
#include "transports/variables.h"

namespace railhead::lint {
namespace {

constexpr std::size_t kMaxScriptBytes = std::size_t{64} << 10;

/// Variables that rules look at beyond those of the transports.
constexpr std::array<std::string_view, 3> kMoreVariables = {
    "NCCL_NET_GDR_LEVEL", "NCCL_SOCKET_IFNAME", "NVIDIA_VISIBLE_DEVICES"};

bool is_read(std::string_view name) {
  return contains(transports::kVariables, name) || contains(kMoreVariables, name);
}

/// `export NAME=value`, `NAME=value command` of a script: the words that set a variable which is
/// looked at. A value with `$` or a quote is not known here.
void add_script(const data::Value& word, Container& container) {
  const std::string_view script = word.scalar;
  for (const auto line : split(script.substr(0, kMaxScriptBytes), '\n')) {
    for (auto one : split_words(line)) {
      if (one.starts_with('#')) break;
      if (one.ends_with(';')) one.remove_suffix(1);
      const auto equals = one.find('=');
      if (equals == std::string_view::npos || !is_read(one.substr(0, equals))) continue;
      if (one.find_first_of("$\"'`;|&") != std::string_view::npos) continue;
      container.environment.emplace_back(one);
      container.environment_places.push_back(&word);
    }
  }
}

Container read_container(const data::Value& value) {
  Container container;
  container.value = &value;
  container.name = text_below(value, {"name"});
  for (const auto& variable : items_below(value, {"env"})) {
    const auto* text = below(variable, {"value"});
    if (text == nullptr) continue;
    container.environment.push_back(std::string(text_below(variable, {"name"})) + "=" +
                                    text->scalar);
    container.environment_places.push_back(text);
  }
  for (const char* key : {"command", "args"}) {
    for (const auto& word : items_below(value, {key})) add_script(word, container);
  }
  return container;
}

void add_pod(const Object& object, const data::Value& root, Given& given) {
  auto& pod = given.pods.emplace_back();
  pod.object = &object;
  pod.root = &root;
  for (const auto& one : items_below(root, {"spec", "containers"})) {
    pod.containers.push_back(read_container(one));
  }
  for (const auto& one : items_below(root, {"spec", "initContainers"})) {
    pod.init_containers.push_back(read_container(one));
  }
}

/// Pods and templates of pods in the value: whatever has `spec.containers`, or will have it.
void find_pods(const Object& object, const data::Value& value, Given& given) {
  if (value.kind == data::Value::Kind::map) {
    if (is_container_list(below(value, {"spec", "containers"}))) {
      return add_pod(object, value, given);
    }
    if (auto made = made_pod(value)) {
      given.made.push_back(*std::move(made));
      return add_pod(object, given.made.back(), given);
    }
    for (const auto& entry : value.entries) find_pods(object, entry.value, given);
  }
  for (const auto& item : value.items) find_pods(object, item, given);
}

/// A part of a container's specification, as documents print it.
void find_part(const Object& object, std::vector<Pod>& pods) {
  if (!object.kind.empty() || below(object.root, {"resources", "limits"}) == nullptr) return;
  Pod pod;
  pod.object = &object;
  pod.root = &object.root;
  pod.is_part = true;
  pod.containers.push_back(read_container(object.root));
  pods.push_back(std::move(pod));
}

/// "railhead" of "ghcr.io/x/railhead:1.0@sha256:…".
std::string_view image_name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const auto slash = image.rfind('/');
  if (slash != std::string_view::npos) image = image.substr(slash + 1);
  return image.substr(0, image.find(':'));
}

std::string_view domain_of(std::string_view resource) {
  return resource.substr(0, resource.find('/'));
}

std::string_view last_part(std::string_view resource) {
  return resource.substr(resource.find('/') + 1);
}

/// Words in the names of resources that are NICs.
bool sounds_like_a_nic(std::string_view resource) {
  constexpr std::array<std::string_view, 9> kWords = {
      "rdma", "sriov", "hostdev", "roce", "hca", "mlnx", "mellanox", "_vf", "infiniband"};
  const auto name = to_lower(last_part(resource));
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

const data::Value* Pod::annotations() const {
  return is_part ? nullptr : below(*root, {"metadata", "annotations"});
}

const data::Value* Pod::annotation(std::string_view key) const {
  return below(annotations(), {key});
}

std::vector<const Object*> Given::of_kind(std::string_view kind) const {
  std::vector<const Object*> all;
  for (const auto& object : objects) {
    if (object.kind == kind) all.push_back(&object);
  }
  return all;
}

void Offers::add(Offer offer) {
  const auto& one = all_.emplace_back(std::move(offer));
  const auto [at, is_new] = by_name_.emplace(one.name, &one);
  if (!is_new && !at->second->mode && one.mode) at->second = &one;
  by_last_part_.emplace(last_part(one.name), &one);
  if (one.object == nullptr) beyond_objects_.insert(one.name);
}

const Offer* Offers::find(std::string_view resource) const {
  const auto* at = find_value(by_name_, resource);
  return at == nullptr ? nullptr : *at;
}

const Offer* Offers::find_last_part(std::string_view resource) const {
  const auto* at = find_value(by_last_part_, last_part(resource));
  return at == nullptr ? nullptr : *at;
}

bool Offers::is_beyond_objects(std::string_view resource) const {
  return beyond_objects_.contains(resource);
}

Given give(Objects objects, std::vector<Offer> offers, bool is_whole_cluster) {
  Given given;
  given.objects = std::move(objects.all);
  given.unread = std::move(objects.unread);
  for (auto& offer : offers) given.offers.add(std::move(offer));
  given.is_whole_cluster = is_whole_cluster;
  for (const auto& object : given.objects) {
    find_pods(object, object.root, given);
    find_part(object, given.pods);
  }
  for (const auto& pod : given.pods) {
    for (const auto& container : pod.containers) {
      const auto* limits = below(*container.value, {"resources", "limits"});
      if (limits == nullptr) continue;
      for (const auto& entry : limits->entries) given.asked.insert(entry.key);
    }
  }
  find_offers(given);
  return given;
}

std::vector<const Pod*> daemons_running(const Given& given, std::string_view words) {
  const auto is_it = [&](const Container& one) {
    return image_name(text_below(*one.value, {"image"})).find(words) != std::string_view::npos;
  };
  std::vector<const Pod*> all;
  for (const auto& pod : given.pods) {
    if (pod.object->kind != "DaemonSet") continue;
    if (std::ranges::any_of(pod.containers, is_it)) all.push_back(&pod);
  }
  return all;
}

std::vector<Asked> asked_by(const Container& container) {
  std::vector<Asked> all;
  for (const char* key : {"limits", "requests"}) {
    const auto* list = below(*container.value, {"resources", key});
    if (list == nullptr) continue;
    for (const auto& entry : list->entries) {
      if (entry.key.find('/') == std::string::npos) continue;
      if (domain_of(entry.key).ends_with("kubernetes.io")) continue;
      all.push_back(
          {entry.key, quantity(entry.value.scalar), key == std::string_view("limits"), &entry});
    }
  }
  return all;
}

bool is_gpu(const Given& given, std::string_view resource) {
  for (const auto pattern : split(gpu::kGpuResources, ',')) {
    if (glob_match(pattern, resource)) return true;
  }
  // Clusters rename GPUs by model (nvidia.com/v100). NICs have this domain, too.
  return domain_of(resource) == kNvidiaDomain && !is_nic(given, resource);
}

bool is_nic(const Given& given, std::string_view resource) {
  constexpr std::array<std::string_view, 2> kDomains = {"rdma", "rdma.io"};
  constexpr std::string_view kEfa = "vpc.amazonaws.com/efa";
  return contains(kDomains, domain_of(resource)) || resource == kEfa ||
         given.offers.find(resource) != nullptr || sounds_like_a_nic(resource);
}

std::uint64_t gpus_of(const Given& given, const Container& container) {
  std::uint64_t count = 0;
  for (const auto& asked : asked_by(container)) {
    if (asked.is_limit && is_gpu(given, asked.name)) count += asked.count;
  }
  return count;
}

std::uint64_t nics_of(const Given& given, const Container& container) {
  std::uint64_t count = 0;
  for (const auto& asked : asked_by(container)) {
    if (asked.is_limit && is_nic(given, asked.name)) count += asked.count;
  }
  return count;
}

std::uint64_t quantity(std::string_view text) {
  std::uint64_t factor = 1;
  if (text.ends_with('k')) {
    factor = 1000;
    text.remove_suffix(1);
  }
  const auto number = parse_unsigned(text).value_or(0U);
  return number > 1'000'000 ? 0 : number * factor;
}

}  // namespace railhead::lint
