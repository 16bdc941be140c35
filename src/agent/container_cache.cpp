// SPDX-License-Identifier: Apache-2.0
#include "agent/container_cache.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace railhead::agent {
namespace {

constexpr char kEnd = '\0';
constexpr std::size_t kUsualBytes = 128;

/// A name has no NUL; should one come, the name ends there.
void append(std::string& texts, std::string_view text) {
  texts.append(text.substr(0, text.find(kEnd)));
  texts += kEnd;
}

std::string take(std::string_view& texts) {
  const auto end = texts.find(kEnd);
  std::string text(texts.substr(0, end));
  texts.remove_prefix(end + 1);
  return text;
}

std::vector<std::string> take(std::string_view& texts, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(take(texts));
  return all;
}

}  // namespace

ContainerCache::Entry ContainerCache::packed(const proof::ContainerRecord& record) {
  Entry entry;
  entry.texts.reserve(kUsualBytes);
  for (const auto* text : {&record.pod_namespace, &record.pod, &record.pod_uid, &record.container,
                           &record.off_rdma, &record.asked}) {
    append(entry.texts, *text);
  }
  for (const auto& gpu : record.gpus) append(entry.texts, gpu);
  for (const auto& nic : record.nics) append(entry.texts, nic);
  entry.gpus = static_cast<std::uint32_t>(record.gpus.size());
  entry.nics = static_cast<std::uint32_t>(record.nics.size());
  entry.job = record.job;
  entry.sandbox = record.sandbox;
  return entry;
}

proof::ContainerRecord ContainerCache::unpacked(const std::string& id, const Entry& entry) {
  std::string_view texts = entry.texts;
  proof::ContainerRecord record;
  record.container_id = id;
  record.pod_namespace = take(texts);
  record.pod = take(texts);
  record.pod_uid = take(texts);
  record.container = take(texts);
  record.off_rdma = take(texts);
  record.asked = take(texts);
  record.gpus = take(texts, entry.gpus);
  record.nics = take(texts, entry.nics);
  record.job = entry.job;
  record.sandbox = entry.sandbox;
  return record;
}

std::size_t ContainerCache::bytes_of(const std::string& id, const Entry& entry) {
  return sizeof(ById::value_type) + id.capacity() + entry.texts.capacity();
}

void ContainerCache::note(const proof::ContainerRecord& record, bool is_checked) {
  auto entry = packed(record);
  entry.is_checked = is_checked;
  const std::lock_guard lock(mutex_);
  forget(by_id_.find(record.container_id));
  const auto bytes = bytes_of(record.container_id, entry);
  if (by_id_.size() >= kMaxContainers || bytes_ + bytes > kMaxBytes) return;
  bytes_ += bytes;
  by_id_.emplace(record.container_id, std::move(entry));
}

ContainerCache::ById::iterator ContainerCache::forget(ById::iterator which) {
  if (which == by_id_.end()) return which;
  bytes_ -= bytes_of(which->first, which->second);
  return by_id_.erase(which);
}

std::map<std::string, std::vector<std::string>> ContainerCache::holders_of(
    const std::set<std::string>& nics) {
  std::map<std::string, std::vector<std::string>> holders;
  if (nics.empty()) return holders;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : by_id_) {
    if (entry.nics == 0) continue;
    const auto record = unpacked(id, entry);
    for (const auto& nic : record.nics) {
      if (!nics.contains(nic)) continue;
      holders[nic].push_back(record.pod_namespace + "/" + record.pod + "/" + record.container);
    }
  }
  for (auto& [nic, names] : holders) std::ranges::sort(names);
  return holders;
}

void ContainerCache::complete(std::vector<proof::ContainerRecord>& records,
                              const usage::Usage& usage) {
  const auto noted = take_stock(usage);
  std::set<std::string> named;
  for (auto& record : records) {
    named.insert(record.container_id);
    const auto found = noted.find(record.container_id);
    if (found == noted.end()) continue;
    auto seen = unpacked(found->first, found->second);
    if (found->second.is_checked) record.gpus = std::move(seen.gpus);
    // Containerd writes no annotation of the kubelet's into a bundle: only NRI shows a slot.
    if (record.asked.empty()) record.asked = std::move(seen.asked);
  }
  for (const auto& [id, entry] : noted) {
    const bool runs = usage.containers.contains(id);
    if (runs && !named.contains(id)) records.push_back(unpacked(id, entry));
  }
}

ContainerCache::ById ContainerCache::take_stock(const usage::Usage& usage) {
  const std::lock_guard lock(mutex_);
  auto all = by_id_;
  for (auto at = by_id_.begin(); at != by_id_.end();) {
    const bool keep =
        usage.containers.contains(at->first) || std::exchange(at->second.fresh, false);
    at = keep ? std::next(at) : forget(at);
  }
  return all;
}

}  // namespace railhead::agent
