// SPDX-License-Identifier: Apache-2.0
#include "usage/unsafe_lists.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "host/keep.h"

namespace railhead::usage {
namespace {

constexpr KernelVersion kSince{5, 15, 0};
constexpr KernelVersion kMainline{7, 3, 0};

/// The first release of each branch that is known to have 709ba0e5311b: it went to the stable trees
/// on 14 September 2026, and these are the releases of 27 September. 5.15 has it not, and the
/// branches between were closed before.
constexpr std::array<KernelVersion, 5> kMended = {
    {{6, 1, 188}, {6, 6, 157}, {6, 12, 111}, {6, 18, 54}, {7, 2, 8}}};

/// The text behind `label`, up to the next character that is in no version.
std::string_view version_behind(std::string_view text, std::string_view label) {
  const auto at = text.find(label);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find_first_not_of("0123456789."));
}

/// The release of upstream.
std::string kept_signature(std::string_view content) {
  const auto words = split_words(content);
  const bool is_read = words.size() > 1 && host::is_made_of(words.back(), ".-");
  return is_read ? "Ubuntu " + std::string(words.back()) + "\n" : host::keep_presence(content);
}

/// Without who built it, and where.
std::string kept_version(std::string_view content) {
  const auto debian = version_behind(content, "Debian ");
  return debian.empty() ? host::keep_presence(content) : "Debian " + std::string(debian) + "\n";
}

std::string text_at(host::Host& host, const std::string& path, host::Keep keep) {
  const auto text = host.read_keeping(path, keep);
  return text && *text ? std::string(trim(**text)) : std::string();
}

/// Debian's release is 6.1.0-37-amd64 where upstream's is 6.1.140: /proc/version says
/// "… Debian 6.1.140-1 …". Ubuntu's /proc/version_signature: "Ubuntu 6.8.0-45.45-generic 6.8.12".
std::string upstream_release(host::Host& host, const std::string& proc_dir) {
  const auto signature = text_at(host, proc_dir + "/version_signature", kept_signature);
  if (const auto last = signature.rfind(' '); last != std::string::npos) {
    return signature.substr(last + 1);
  }
  const auto version = text_at(host, proc_dir + "/version", kept_version);
  if (const auto debian = version_behind(version, "Debian "); !debian.empty()) {
    return std::string(debian);
  }
  return text_at(host, proc_dir + "/sys/kernel/osrelease", host::keep_line);
}

}  // namespace

std::optional<KernelVersion> parse_kernel_version(std::string_view release) {
  KernelVersion version;
  const auto parts = split(release.substr(0, release.find_first_not_of("0123456789.")), '.');
  if (parts.size() < 2) return std::nullopt;
  const std::array<unsigned*, 3> fields = {&version.major, &version.minor, &version.patch};
  for (std::size_t i = 0; i < std::min(parts.size(), fields.size()); ++i) {
    const auto number = parse_unsigned(parts[i]);
    if (!number || *number > 100'000) return std::nullopt;
    *fields[i] = static_cast<unsigned>(*number);
  }
  return version;
}

bool may_read_freed_memory(const KernelVersion& version) {
  if (version < kSince || version >= kMainline) return false;
  return std::ranges::none_of(kMended, [&](const KernelVersion& mended) {
    return mended.major == version.major && mended.minor == version.minor && version >= mended;
  });
}

QueuePairLists::QueuePairLists(host::Host& host, const std::string& proc_dir, ListQueuePairs choice)
    : choice_(choice) {
  if (choice != ListQueuePairs::automatic) return;
  const auto release = upstream_release(host, proc_dir);
  const auto version = parse_kernel_version(release);
  if (version && may_read_freed_memory(*version)) release_ = release;
}

std::string QueuePairLists::why_not(host::Host& host, const std::string& device) const {
  if (choice_ == ListQueuePairs::never) return "pods.queuePairs is never";
  if (release_.empty()) return "";
  const auto folder = host.readlink("/sys/class/infiniband/" + device);
  const bool is_soft = folder && *folder && (*folder)->find("/virtual/") != std::string::npos;
  if (is_soft) return "";
  return "not asked for, because Linux " + release_ +
         " may read freed memory while it lists them (mended by 709ba0e5311b); pods.queuePairs: "
         "always lists them nevertheless";
}

}  // namespace railhead::usage
