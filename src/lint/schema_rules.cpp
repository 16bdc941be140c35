// SPDX-License-Identifier: Apache-2.0
//
// Objects of operators as the API server takes them. Of objects that it has taken already there is
// nothing to say: its operators may be of another release.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "lint/rule.h"
#include "lint/schema.h"

namespace railhead::lint {
namespace {

constexpr std::array<std::string_view, 5> kEveryKey = {"apiVersion", "kind", "metadata", "spec",
                                                       "status"};

template <typename Use>
void for_each_misfit(const Given& given, Use use) {
  if (given.is_whole_cluster) return;
  for (const auto& object : given.objects) {
    const auto* schema = schema_of(object.kind, object.api);
    if (schema == nullptr) continue;
    const auto* spec = below(object.root, {"spec"});
    if (spec == nullptr) continue;
    for (const auto& misfit : misfits(shape_of(*schema), *spec, "spec")) {
      use(object, *schema, misfit);
    }
  }
}

void unknown_key(const Given& given, Found& found) {
  if (given.is_whole_cluster) return;
  for (const auto& object : given.objects) {
    const auto* schema = schema_of(object.kind, object.api);
    // manifest.indentation says that keys stand beside a spec that is empty.
    if (schema == nullptr || below(object.root, {"spec"}) == nullptr) continue;
    for (const auto& entry : object.root.entries) {
      if (contains(kEveryKey, entry.key)) continue;
      const bool of_spec = shape_of(*schema).key(entry.key) != nullptr;
      found.add(object, &entry,
                entry.key + " is no key of a " + object.kind + " of " +
                    std::string(schema->release) + (of_spec ? "; it is a key of spec" : ""));
    }
  }
  for_each_misfit(given, [&](const Object& object, const Schema& schema, const Misfit& misfit) {
    if (misfit.what != Misfit::What::unknown_key) return;
    found.add(object, misfit.mark,
              misfit.path + " is no key of a " + object.kind + " of " +
                  std::string(schema.release) + misfit.text);
  });
}

void old_key(const Given& given, Found& found) {
  for_each_misfit(given, [&](const Object& object, const Schema&, const Misfit& misfit) {
    if (misfit.what != Misfit::What::old_key) return;
    found.add(object, misfit.mark, misfit.path + " is no key since release " + misfit.text);
  });
}

void value(const Given& given, Found& found) {
  for_each_misfit(given, [&](const Object& object, const Schema&, const Misfit& misfit) {
    if (misfit.what != Misfit::What::value) return;
    found.add(object, misfit.mark, misfit.path + " " + misfit.text);
  });
}

constexpr Rule kSchemaRules[] = {
    {"schema.key", "An operator's object has a key that its schema has not.", Severity::warn,
     "The API server drops it without a word where Helm or a GitOps controller sends it, and "
     "`kubectl apply` refuses it (--validate): what it asks for is not done.",
     "Write the key as the schema has it, or take it away. A newer release may have it.", "",
     unknown_key},
    {"schema.old-key", "An operator's object has a key that newer releases have not.",
     Severity::note, "From that release on the API server drops it.",
     "Take it away, or keep to an older release.", "", old_key},
    {"schema.value", "A value has a type or a word that the API server refuses.", Severity::fail,
     "The object is not stored, and an older one of its name stays as it was.",
     "Write it as the schema has it.", "", value},
};

}  // namespace

std::span<const Rule> schema_rules() {
  return kSchemaRules;
}

}  // namespace railhead::lint
