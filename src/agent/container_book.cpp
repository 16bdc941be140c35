// SPDX-License-Identifier: Apache-2.0
#include "agent/container_book.h"

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

ContainerBook::Entry ContainerBook::packed(const proof::Holder& holder) {
  Entry entry;
  entry.texts.reserve(kUsualBytes);
  for (const auto* text :
       {&holder.pod_namespace, &holder.pod, &holder.pod_uid, &holder.container}) {
    append(entry.texts, *text);
  }
  for (const auto& gpu : holder.gpus) append(entry.texts, gpu);
  for (const auto& nic : holder.nics) append(entry.texts, nic);
  entry.gpus = static_cast<std::uint32_t>(holder.gpus.size());
  entry.nics = static_cast<std::uint32_t>(holder.nics.size());
  entry.job = holder.job;
  entry.gpus_by_all = holder.gpus_by_all;
  entry.sandbox = holder.sandbox;
  return entry;
}

proof::Holder ContainerBook::unpacked(const std::string& id, const Entry& entry) {
  std::string_view texts = entry.texts;
  proof::Holder holder;
  holder.container_id = id;
  holder.pod_namespace = take(texts);
  holder.pod = take(texts);
  holder.pod_uid = take(texts);
  holder.container = take(texts);
  holder.gpus = take(texts, entry.gpus);
  holder.nics = take(texts, entry.nics);
  holder.job = entry.job;
  holder.gpus_by_all = entry.gpus_by_all;
  holder.sandbox = entry.sandbox;
  return holder;
}

void ContainerBook::note(const proof::Holder& holder, bool is_checked) {
  auto entry = packed(holder);
  entry.is_checked = is_checked;
  const std::lock_guard lock(mutex_);
  if (by_id_.size() >= kMaxContainers && !by_id_.contains(holder.container_id)) return;
  by_id_.insert_or_assign(holder.container_id, std::move(entry));
}

void ContainerBook::complete(std::vector<proof::Holder>& holders, const usage::Usage& usage) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> named;
  for (auto& holder : holders) {
    named.insert(holder.container_id);
    const auto noted = by_id_.find(holder.container_id);
    if (noted == by_id_.end() || !noted->second.is_checked) continue;
    holder.gpus = unpacked(noted->first, noted->second).gpus;
    holder.gpus_by_all = false;
  }
  for (auto at = by_id_.begin(); at != by_id_.end();) {
    const bool runs = usage.containers.contains(at->first);
    if (runs && !named.contains(at->first)) holders.push_back(unpacked(at->first, at->second));
    const bool keep = runs || std::exchange(at->second.fresh, false);
    at = keep ? std::next(at) : by_id_.erase(at);
  }
}

}  // namespace railhead::agent
