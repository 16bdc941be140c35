// SPDX-License-Identifier: Apache-2.0
#include "proof/owners.h"

namespace railhead::proof {

Owners::Owners(const usage::RdmaDeviceUse& device, const usage::Usage& usage)
    : usage_(usage) {
  for (const auto& domain : device.domains.objects) {
    if (domain.context) context_of_domain_.emplace(domain.number, *domain.context);
  }
  for (const auto& context : device.contexts.objects) {
    if (const auto owner = living(context.owner)) of_context_.emplace(context.number, *owner);
  }
  for (const auto& domain : device.domains.objects) learn(domain.owner, domain.number);
  for (const auto& pair : device.queue_pairs.objects) learn(pair.owner, pair.domain);
  for (const auto& region : device.memory_regions.objects) learn(region.owner, region.domain);
}

std::optional<Owner> Owners::living(const usage::ObjectOwner& made_by) const {
  if (!made_by.thread) return std::nullopt;
  const auto found = usage_.processes.by_id.find(*made_by.thread);
  if (found == usage_.processes.by_id.end()) return std::nullopt;
  const auto& process = found->second;
  if (usage_.asked_ticks && process.start_ticks > *usage_.asked_ticks) return std::nullopt;
  if (!process.place) return Owner{Owner::Kind::host, ""};
  return Owner{Owner::Kind::container, process.place->container};
}

void Owners::learn(const usage::ObjectOwner& made_by, std::optional<std::uint32_t> domain) {
  const auto owner = made_by.kernel ? std::nullopt : living(made_by);
  if (!owner || !domain) return;
  of_domain_.emplace(*domain, *owner);
  const auto context = context_of_domain_.find(*domain);
  if (context != context_of_domain_.end()) of_context_.emplace(context->second, *owner);
}

Owner Owners::of(const usage::ObjectOwner& made_by, std::optional<std::uint32_t> domain) const {
  if (made_by.kernel) return {Owner::Kind::kernel, ""};
  if (const auto owner = living(made_by)) return *owner;
  if (!domain) return {};
  const auto same_domain = of_domain_.find(*domain);
  if (same_domain != of_domain_.end()) return same_domain->second;
  const auto context = context_of_domain_.find(*domain);
  if (context == context_of_domain_.end()) return {};
  const auto same_context = of_context_.find(context->second);
  return same_context == of_context_.end() ? Owner() : same_context->second;
}

Owner Owners::of_context(const usage::UserContext& context) const {
  if (const auto owner = living(context.owner)) return *owner;
  const auto same = of_context_.find(context.number);
  return same == of_context_.end() ? Owner() : same->second;
}

}  // namespace railhead::proof
