// SPDX-License-Identifier: Apache-2.0
#include "inject/annotations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "container/adjustment.h"
#include "inject/codes.h"
#include "inject/device_list.h"
#include "inject/pod_networks.h"

namespace railhead::inject {
namespace {

enum class Kind : std::uint8_t { rdma, nics, memlock, devices, ulimits };
constexpr std::size_t kKinds = 5;

struct Domain {
  std::string_view name;
  Kind kind;
  unsigned rank;  ///< the older of two domains comes second
};

constexpr std::array<Domain, 7> kDomains = {{
    {"rdma.railhead.io", Kind::rdma, 0},
    {"nics.railhead.io", Kind::nics, 0},
    {"memlock.railhead.io", Kind::memlock, 0},
    {"devices.noderesource.dev", Kind::devices, 0},
    {"devices.nri.io", Kind::devices, 1},
    {"ulimits.noderesource.dev", Kind::ulimits, 0},
    {"ulimits.nri.containerd.io", Kind::ulimits, 1},
}};

/// By first character: whether a key can be of one of these domains.
constexpr std::array<bool, 256> first_characters() {
  std::array<bool, 256> out{};
  for (const auto& domain : kDomains) out[static_cast<unsigned char>(domain.name.front())] = true;
  return out;
}

constexpr auto kFirstCharacters = first_characters();
constexpr std::size_t kMaxNics = 1024;

struct Found {
  std::string_view key;
  std::string_view value;
  container::AnnotationForm form = container::AnnotationForm::pod;
  unsigned rank = ~0U;  ///< lower wins; ~0: not there
};

using FoundAll = std::array<Found, kKinds>;

void add_malformed(std::string_view key, std::string_view what, container::Remarks& remarks) {
  if (remarks.full()) return remarks.skip();
  remarks.add(warn::kAnnotationMalformed,
              in_quotes(key, 128) + ": " + std::string(what) + ": ignored");
}

void take(const Domain& domain, std::string_view key, std::string_view form, std::string_view value,
          const container::Request& request, FoundAll& found, container::Remarks& remarks) {
  constexpr std::string_view kContainer = "container.";
  Found entry{key, value, container::AnnotationForm::pod, domain.rank + 2};
  if (form.starts_with(kContainer)) {
    if (form.substr(kContainer.size()) != request.name) return;
    entry.form = container::AnnotationForm::container;
    entry.rank = domain.rank;
  } else if (form != "pod") {
    return add_malformed(key, "only /pod and /container.<name> are known", remarks);
  }
  Found& best = found[static_cast<std::size_t>(domain.kind)];
  if (entry.rank < best.rank) best = entry;
}

FoundAll find_annotations(const container::Request& request, container::Remarks& remarks) {
  FoundAll found;
  for (const auto& [key, value] : request.pod_annotations) {
    if (key.empty() || !kFirstCharacters[static_cast<unsigned char>(key.front())]) continue;
    const auto slash = key.find('/');
    const std::string_view domain_name = key.substr(0, slash);
    for (const Domain& domain : kDomains) {
      if (domain.name != domain_name) continue;
      const auto form = slash == std::string_view::npos ? "" : key.substr(slash + 1);
      take(domain, key, form, value, request, found, remarks);
    }
  }
  return found;
}

template <typename T>
container::Asked<T> asked(const Found& found, T value) {
  return {std::move(value), found.form, std::string(found.key)};
}

void read_rdma(const Found& found, container::Wishes& wishes) {
  const std::string_view word = trim(found.value);
  if (word == "required") {
    wishes.rdma = asked(found, container::RdmaWish::required);
  } else if (word == "preferred") {
    wishes.rdma = asked(found, container::RdmaWish::preferred);
  } else if (word == "none") {
    wishes.rdma = asked(found, container::RdmaWish::none);
  } else {
    add_malformed(found.key, in_quotes(word) + " is none of required, preferred, none",
                  wishes.remarks);
  }
}

void read_nics(const Found& found, container::Wishes& wishes) {
  if (found.value.size() > kAnnotationLimits.bytes) {
    return add_malformed(found.key, "larger than 64 KiB", wishes.remarks);
  }
  std::vector<std::string> names;
  for (const std::string_view piece : split(found.value, ',')) {
    if (const auto name = trim(piece); !name.empty()) names.emplace_back(name);
  }
  if (names.empty()) {
    add_malformed(found.key, "names no NIC", wishes.remarks);
  } else if (names.size() > kMaxNics) {
    add_malformed(found.key, "names more than 1024 NICs", wishes.remarks);
  } else {
    wishes.nics = asked(found, std::move(names));
  }
}

void read_memlock(const Found& found, container::Wishes& wishes) {
  const auto bytes = parse_memlock(trim(found.value));
  if (bytes) {
    wishes.memlock = asked(found, *bytes);
  } else {
    add_malformed(found.key, in_quotes(found.value) + " is " + bytes.error().message,
                  wishes.remarks);
  }
}

void read_ulimits(const Found& found, container::Wishes& wishes) {
  const auto limits = parse_ulimit_list(found.value);
  if (!limits) {
    return add_malformed(found.key, limits.error().message, wishes.remarks);
  }
  if (!limits->others.empty()) {
    wishes.remarks.add(warn::kAnnotationRefused, in_quotes(found.key, 128) + " asks for " +
                                                     in_quotes(join(limits->others, ", "), 128) +
                                                     ": only memlock is honoured");
  }
  if (limits->memlock && !wishes.memlock) wishes.memlock = asked(found, *limits->memlock);
}

void read_devices(const Found& found, container::Wishes& wishes) {
  auto devices = parse_device_list(found.value);
  if (!devices) {
    add_malformed(found.key, devices.error().message, wishes.remarks);
  } else if (!devices->empty()) {
    wishes.devices = asked(found, std::move(*devices));
  }
}

}  // namespace

bool is_looked_at(std::string_view key) {
  const auto domain = key.substr(0, key.find('/'));
  return domain == kAllocationDomain || domain == kCdiDomain || key == kNetworksAnnotation ||
         key == kDefaultNetworkAnnotation ||
         std::any_of(kDomains.begin(), kDomains.end(),
                     [&](const Domain& known) { return known.name == domain; });
}

container::Wishes read_annotations(const container::Request& request,
                                   config::AnnotationPolicy policy) {
  container::Wishes wishes;
  const FoundAll found = find_annotations(request, wishes.remarks);
  // In this order: the own memlock key wins over the ulimits of other plugins.
  constexpr std::array<void (*)(const Found&, container::Wishes&), kKinds> kReaders = {
      read_rdma, read_nics, read_memlock, read_devices, read_ulimits};
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (found[i].rank == ~0U) continue;
    if (policy == config::AnnotationPolicy::deny) {
      wishes.remarks.add(warn::kAnnotationDenied,
                         in_quotes(found[i].key, 128) + " is ignored: --annotations is deny");
    } else {
      kReaders[i](found[i], wishes);
    }
  }
  return wishes;
}

}  // namespace railhead::inject
