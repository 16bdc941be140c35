// SPDX-License-Identifier: Apache-2.0
#include "agent/container_cache.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace railhead::agent {
namespace {

constexpr char kEnd = '\0';
constexpr std::size_t kUsualBytes = 256;

/// What a packed record begins with.
struct Head {
  std::uint32_t gpus = 0;
  std::uint32_t nics = 0;
  bool sandbox = false;
  bool has_job = false;
};

using Job = container::JobSize;
static_assert(std::is_trivially_copyable_v<Job>);

Head head_of(const char* bytes) {
  Head head;
  std::memcpy(&head, bytes, sizeof head);
  return head;
}

/// The id, namespace, pod, its uid, container, off_rdma, asked, GPUs, NICs; kEnd behind each.
std::string_view texts_in(const char* bytes, std::size_t size) {
  const auto at = sizeof(Head) + (head_of(bytes).has_job ? sizeof(Job) : 0);
  return {bytes + at, size - at};
}

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

ContainerCache::Entry::Entry(const proof::ContainerRecord& record, bool checked)
    : is_checked(checked) {
  const Head head{static_cast<std::uint32_t>(record.gpus.size()),
                  static_cast<std::uint32_t>(record.nics.size()), record.sandbox,
                  record.job != Job()};
  std::string all;
  all.reserve(kUsualBytes);
  all.resize(sizeof head + (head.has_job ? sizeof record.job : 0));
  std::memcpy(all.data(), &head, sizeof head);
  if (head.has_job) std::memcpy(all.data() + sizeof head, &record.job, sizeof record.job);
  for (const auto* text : {&record.container_id, &record.pod_namespace, &record.pod,
                           &record.pod_uid, &record.container, &record.off_rdma, &record.asked}) {
    append(all, *text);
  }
  for (const auto& gpu : record.gpus) append(all, gpu);
  for (const auto& nic : record.nics) append(all, nic);
  const auto packed = std::make_shared<char[]>(all.size());
  all.copy(packed.get(), all.size());
  bytes = packed;
  length = static_cast<std::uint32_t>(all.size());
}

std::string_view ContainerCache::Entry::id() const {
  const auto texts = texts_in(bytes.get(), length);
  return texts.substr(0, texts.find(kEnd));
}

bool ContainerCache::Entry::has_nics() const {
  return head_of(bytes.get()).nics != 0;
}

proof::ContainerRecord ContainerCache::Entry::unpacked() const {
  const auto head = head_of(bytes.get());
  auto texts = texts_in(bytes.get(), length);
  proof::ContainerRecord record;
  record.container_id = take(texts);
  record.pod_namespace = take(texts);
  record.pod = take(texts);
  record.pod_uid = take(texts);
  record.container = take(texts);
  record.off_rdma = take(texts);
  record.asked = take(texts);
  record.gpus = take(texts, head.gpus);
  record.nics = take(texts, head.nics);
  record.sandbox = head.sandbox;
  if (head.has_job) std::memcpy(&record.job, bytes.get() + sizeof head, sizeof record.job);
  return record;
}

void ContainerCache::note(const proof::ContainerRecord& record, bool is_checked) {
  Entry entry(record, is_checked);
  const auto id = entry.id();
  const std::lock_guard lock(mutex_);
  auto at = place_of(entries_, id);
  if (at != entries_.end() && at->id() == id) {
    bytes_ -= at->size();
    at = entries_.erase(at);
  }
  if (entries_.size() >= kMaxContainers || bytes_ + entry.size() > kMaxBytes) return;
  bytes_ += entry.size();
  entries_.insert(at, std::move(entry));
}

std::map<std::string, std::vector<std::string>> ContainerCache::holders_of(
    const std::set<std::string>& nics) {
  std::map<std::string, std::vector<std::string>> holders;
  if (nics.empty()) return holders;
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    if (!entry.has_nics()) continue;
    const auto record = entry.unpacked();
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
    const auto found = place_of(noted, record.container_id);
    if (found == noted.end() || found->id() != record.container_id) continue;
    auto seen = found->unpacked();
    if (found->is_checked) record.gpus = std::move(seen.gpus);
    // Containerd writes no annotation of the kubelet's into a bundle: only NRI shows a slot.
    if (record.asked.empty()) record.asked = std::move(seen.asked);
  }
  for (const auto& entry : noted) {
    const std::string id(entry.id());
    const bool runs = usage.containers.contains(id);
    if (runs && !named.contains(id)) records.push_back(entry.unpacked());
  }
}

ContainerCache::Entries ContainerCache::take_stock(const usage::Usage& usage) {
  const std::lock_guard lock(mutex_);
  auto all = entries_;
  entries_.clear();
  bytes_ = 0;
  std::string id;
  for (const auto& entry : all) {
    id = entry.id();
    const bool runs = usage.containers.contains(id);
    if (!entry.fresh && !runs) continue;
    auto& kept = entries_.emplace_back(entry);
    kept.fresh = entry.fresh && runs;
    bytes_ += kept.size();
  }
  return all;
}

}  // namespace railhead::agent
