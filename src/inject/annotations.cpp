// SPDX-License-Identifier: Apache-2.0
#include "inject/annotations.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/closest.h"
#include "base/text.h"
#include "container/adjustment.h"
#include "inject/codes.h"
#include "inject/device_list.h"
#include "inject/pod_networks.h"

namespace railhead::inject {
namespace {

// Each is looked for among all NICs of the node, of which there may be a thousand.
constexpr std::size_t kMaxNics = 256;
constexpr std::size_t kMaxNicsBytes = std::size_t{64} << 10;

struct Found {
  std::string_view key;
  std::string_view value;
  container::AnnotationForm form = container::AnnotationForm::pod;
  unsigned rank = ~0U;  ///< lower wins; ~0: not there
};

void add_malformed(std::string_view key, std::string_view what, container::Remarks& remarks) {
  if (remarks.full()) return remarks.skip();
  remarks.add(warn::kAnnotationMalformed,
              in_quotes(key, 128) + ": " + std::string(what) + ": ignored");
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
  if (found.value.size() > kMaxNicsBytes) {
    return add_malformed(found.key, "larger than 64 KiB", wishes.remarks);
  }
  std::vector<std::string> names;
  for (const std::string_view piece : split(found.value, ',')) {
    if (const auto name = trim(piece); !name.empty()) names.emplace_back(name);
  }
  if (names.empty()) {
    add_malformed(found.key, "names no NIC", wishes.remarks);
  } else if (names.size() > kMaxNics) {
    add_malformed(found.key, "names more than 256 NICs", wishes.remarks);
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

struct Annotation {
  std::string_view domain;
  void (*read)(const Found& found, container::Wishes& wishes);
  std::string_view older = {};  ///< another domain for the same; the first wins within a form
};

/// In this order: memlock.railhead.io wins over the ulimits of other plugins.
constexpr Annotation kAnnotations[] = {
    {"rdma.railhead.io", read_rdma},
    {"nics.railhead.io", read_nics},
    {"memlock.railhead.io", read_memlock},
    {"devices.noderesource.dev", read_devices, "devices.nri.io"},
    {"ulimits.noderesource.dev", read_ulimits, "ulimits.nri.containerd.io"},
};

constexpr std::string_view kOwnDomain = "railhead.io";

bool is_own_domain(std::string_view domain) {
  return domain == kOwnDomain ||
         (domain.ends_with(kOwnDomain) && domain[domain.size() - kOwnDomain.size() - 1] == '.');
}

/// By first character: whether a key can be of one of these domains.
constexpr std::array<bool, 256> first_characters() {
  std::array<bool, 256> out{};
  for (const auto& annotation : kAnnotations) {
    out[static_cast<unsigned char>(annotation.domain.front())] = true;
    if (!annotation.older.empty()) {
      out[static_cast<unsigned char>(annotation.older.front())] = true;
    }
  }
  return out;
}

constexpr auto kFirstCharacters = first_characters();

using FoundAll = std::array<Found, std::size(kAnnotations)>;

void take(bool older, std::string_view key, std::string_view form, std::string_view value,
          const container::Request& request, Found& best, container::Remarks& remarks) {
  constexpr std::string_view kContainer = "container.";
  Found entry{key, value, container::AnnotationForm::pod, older ? 3U : 2U};
  if (form.starts_with(kContainer)) {
    if (form.substr(kContainer.size()) != request.name) return;
    entry.form = container::AnnotationForm::container;
    entry.rank = older ? 1 : 0;
  } else if (form != "pod") {
    return add_malformed(key, "only /pod and /container.<name> are known", remarks);
  }
  if (entry.rank < best.rank) best = entry;
}

void remark_near_miss(std::string_view key, container::Remarks& remarks) {
  const auto meant = meant_annotation(key);
  if (!meant) return;
  if (remarks.full()) return remarks.skip();
  remarks.add(warn::kAnnotationUnknown,
              in_quotes(key, 128) + " is no annotation of Railhead" +
                  (meant->empty() ? "" : "; did you mean " + *meant + "?") + ": ignored");
}

FoundAll find_annotations(const container::Request& request, container::Remarks& remarks) {
  FoundAll found;
  for (const auto& [key, value] : request.pod_annotations) {
    if (key.empty() || !kFirstCharacters[static_cast<unsigned char>(key.front())]) continue;
    const auto slash = key.find('/');
    const std::string_view domain = key.substr(0, slash);
    const auto form = slash == std::string_view::npos ? "" : key.substr(slash + 1);
    bool is_known = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool older = domain == kAnnotations[i].older;
      if (!older && domain != kAnnotations[i].domain) continue;
      is_known = true;
      take(older, key, form, value, request, found[i], remarks);
    }
    if (!is_known) remark_near_miss(key, remarks);
  }
  return found;
}

}  // namespace

bool is_looked_at(std::string_view key) {
  const auto domain = key.substr(0, key.find('/'));
  return domain == kAllocationDomain || domain == kCdiDomain || key == kNetworksAnnotation ||
         key == kDefaultNetworkAnnotation ||
         std::any_of(std::begin(kAnnotations), std::end(kAnnotations), [&](const auto& known) {
           return domain == known.domain || (!domain.empty() && domain == known.older);
         });
}

std::optional<std::string> meant_annotation(std::string_view key) {
  if (is_looked_at(key)) return std::nullopt;
  const auto slash = key.find('/');
  const auto domain = key.substr(0, slash);
  const auto name = slash == std::string_view::npos ? "" : key.substr(slash + 1);
  const auto is_own = is_own_domain(domain);
  for (const auto& annotation : kAnnotations) {
    if (!is_own_domain(annotation.domain)) continue;
    const auto what = annotation.domain.substr(0, annotation.domain.find('.'));
    const bool is_bare = slash == std::string_view::npos && domain == what;
    if (is_bare || (is_own && name == what)) return std::string(annotation.domain) + "/pod";
    const bool is_misspelt =
        domain.size() > what.size() && domain.starts_with(what) && domain[what.size()] == '.' &&
        !closest_word(domain.substr(what.size() + 1), {std::string(kOwnDomain)}).empty();
    if (is_misspelt)
      return std::string(annotation.domain) + "/" + std::string(name.empty() ? "pod" : name);
  }
  return is_own ? std::optional(std::string()) : std::nullopt;
}

container::Wishes read_annotations(const container::Request& request,
                                   config::AnnotationPolicy policy) {
  container::Wishes wishes;
  const FoundAll found = find_annotations(request, wishes.remarks);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].rank == ~0U) continue;
    if (policy == config::AnnotationPolicy::deny) {
      wishes.remarks.add(warn::kAnnotationDenied,
                         in_quotes(found[i].key, 128) + " is ignored: --annotations is deny");
    } else {
      kAnnotations[i].read(found[i], wishes);
    }
  }
  return wishes;
}

}  // namespace railhead::inject
