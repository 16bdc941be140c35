// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include "data/below.h"
#include "data/json.h"
#include "host/clock.h"

namespace railhead::kube {
namespace {

std::string target_of(const LeaseName& name) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + encoded(name.lease_namespace) + "/leases/" +
         encoded(name.name);
}

/// A patch that names a version is refused where the object has another one.
data::Json patch_json(const Lease& known, data::Json spec) {
  return {{"metadata", {{"resourceVersion", known.version}}}, {"spec", std::move(spec)}};
}

/// MicroTime has six digits behind the second
/// (staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/micro_time.go, RFC3339Micro).
std::string micro_time(std::chrono::system_clock::time_point when) {
  auto text = host::utc_text(when);
  text.insert(text.size() - 1, ".000000");
  return text;
}

}  // namespace

std::string to_string(const LeaseName& name) {
  return name.lease_namespace + "/" + name.name;
}

Result<Lease> lease_in(const data::Value& object) {
  const auto bad = [](const char* why) {
    return Error{ErrorCode::malformed, std::string("the answer is no Lease: ") + why};
  };
  if (data::text_below(object, {"kind"}) != "Lease") return bad("its kind is another");
  Lease lease{std::string(data::text_below(object, {"metadata", "resourceVersion"}))};
  if (lease.version.empty()) return bad("metadata.resourceVersion is missing");
  const auto* spec = data::below(object, {"spec"});
  if (spec != nullptr && spec->kind != data::Value::Kind::map) return bad("spec is no object");
  const auto* holder = data::below(object, {"spec", "holderIdentity"});
  if (holder != nullptr && holder->kind != data::Value::Kind::scalar)
    return bad("spec.holderIdentity is no text");
  lease.holder = data::text_below(object, {"spec", "holderIdentity"});
  lease.since = data::text_below(object, {"spec", "acquireTime"});
  return lease;
}

Request get_lease(const LeaseName& name) {
  return get(target_of(name));
}

Request take_lease(const LeaseName& name, const Lease& known, std::string_view holder,
                   std::chrono::system_clock::time_point now) {
  const auto time = micro_time(now);
  return strategic_merge_patch(
      target_of(name),
      patch_json(known, {{"holderIdentity", holder}, {"acquireTime", time}, {"renewTime", time}}));
}

Request free_lease(const LeaseName& name, const Lease& known) {
  return strategic_merge_patch(
      target_of(name), patch_json(known, {{"holderIdentity", nullptr}, {"acquireTime", nullptr}}));
}

}  // namespace railhead::kube
