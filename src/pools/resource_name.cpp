// SPDX-License-Identifier: Apache-2.0
#include "pools/resource_name.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace railhead::pools {
namespace {

constexpr std::size_t kMaxNameLength = 63;
/// A DNS subdomain has 253; the API server puts "requests." in front for quotas.
constexpr std::size_t kMaxDomainLength = 253 - 9;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view name) {
  return !name.empty() && is_letter_or_digit(name.front()) && is_letter_or_digit(name.back()) &&
         std::ranges::all_of(name, [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

Error refused(std::string_view name, const std::string& why) {
  return {ErrorCode::malformed, in_quotes(name, 128) + " is not a resource name: " + why};
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  const auto labels = split(text, '.');
  return std::ranges::all_of(labels, is_dns_label);
}

Status check_resource_name(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return refused(name, "it is not domain/name");
  const auto domain = name.substr(0, slash);
  const auto rest = name.substr(slash + 1);
  if (rest.size() > kMaxNameLength) {
    return refused(name,
                   "more than " + std::to_string(kMaxNameLength) + " characters after the slash");
  }
  if (domain.size() > kMaxDomainLength) {
    return refused(
        name, "more than " + std::to_string(kMaxDomainLength) + " characters before the slash");
  }
  if (!is_dns_subdomain(domain)) return refused(name, "what is before the slash is not a DNS name");
  if (!is_name(rest)) {
    return refused(name,
                   "after the slash stand letters, digits, - _ . and both ends are a letter or "
                   "digit");
  }
  if (name.find("kubernetes.io/") != std::string_view::npos || name.starts_with("requests.")) {
    return refused(name, "Kubernetes keeps this domain for itself");
  }
  return {};
}

}  // namespace railhead::pools
