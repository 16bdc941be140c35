// SPDX-License-Identifier: Apache-2.0
//
// Mistakes of any manifest: what does not parse, lost indentation, names, placeholders.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "lint/rule.h"
#include "pools/resource_name.h"

namespace railhead::lint {
namespace {

void report_unread(const Given& given, Found& found, bool is_wrong) {
  for (const auto& unread : given.unread) {
    if (unread.is_wrong != is_wrong) continue;
    auto& finding = found.add(Object(), unread.mark, unread.what);
    finding.object = "document";
    finding.file = unread.file;
  }
}

void syntax(const Given& given, Found& found) {
  report_unread(given, found, true);
}

void not_read(const Given& given, Found& found) {
  report_unread(given, found, false);
}

/// A section that is empty because its keys lost their indentation, and one of these keys, which
/// then stands beside it.
struct LostSection {
  std::string_view section;
  std::string_view key;
};

constexpr std::array kLostSections = {
    LostSection{"securityContext", "privileged"}, LostSection{"hostPath", "path"},
    LostSection{"resources", "limits"}, LostSection{"annotations", "labels"}};

/// A key of an object that belongs below one of its sections.
bool has_strays(const Object& object) {
  constexpr std::array<std::string_view, 10> kUsual = {
      "apiVersion", "kind",       "metadata",  "spec", "status",
      "data",       "binaryData", "immutable", "type", "template"};
  return std::ranges::any_of(object.root.entries,
                             [&](const auto& entry) { return !contains(kUsual, entry.key); });
}

bool is_lost(const Object& object, const data::Value::Entry& entry) {
  constexpr std::array<std::string_view, 4> kSections = {"metadata", "spec", "data", "template"};
  if (entry.value.kind != data::Value::Kind::null) return false;
  if (!object.kind.empty()) return contains(kSections, entry.key) && has_strays(object);
  return std::ranges::any_of(kLostSections, [&](const LostSection& one) {
    return entry.key == one.section && entry_of(&object.root, one.key) != nullptr;
  });
}

void indentation(const Given& given, Found& found) {
  for (const auto& object : given.objects) {
    for (const auto& entry : object.root.entries) {
      if (!is_lost(object, entry)) continue;
      found.add(object, &entry,
                in_quotes(entry.key) + " is empty, and what belongs to it stands beside it");
      break;
    }
  }
}

bool is_placeholder(std::string_view text) {
  if (text.size() < 3 || text.front() != '<' || text.back() != '>') return false;
  return text.substr(1, text.size() - 2).find_first_of("<>=\n") == std::string_view::npos;
}

void name(const Given& given, Found& found) {
  for (const auto& object : given.objects) {
    if (object.kind.empty()) continue;
    const auto* metadata = below(object.root, {"metadata"});
    const auto* name_space = entry_of(metadata, "namespace");
    if (name_space != nullptr && !object.name_space.empty() && !is_placeholder(object.name_space) &&
        !(object.name_space.size() <= 63 && pools::is_dns_label(object.name_space))) {
      found.add(object, &name_space->value,
                "namespace " + in_quotes(object.name_space) +
                    " is not a name: it has lower-case letters, digits and \"-\", and ends with a "
                    "letter or digit");
    }
    const bool may_have_more = object.kind.find("Role") != std::string::npos;
    const auto* own = entry_of(metadata, "name");
    if (own != nullptr && !object.name.empty() && !may_have_more && !is_placeholder(object.name) &&
        !(object.name.size() <= 253 && pools::is_dns_subdomain(object.name))) {
      found.add(object, &own->value,
                in_quotes(object.name) + " is not a valid name of a " + object.kind);
    }
  }
}

void find_placeholders(const Object& object, const data::Value& value, Found& found) {
  if (value.kind == data::Value::Kind::scalar && is_placeholder(value.scalar)) {
    found.add(object, &value, in_quotes(value.scalar) + " was to be replaced");
  }
  for (const auto& item : value.items) find_placeholders(object, item, found);
  for (const auto& entry : value.entries) find_placeholders(object, entry.value, found);
}

void placeholder(const Given& given, Found& found) {
  for (const auto& object : given.objects) find_placeholders(object, object.root, found);
}

constexpr Rule kManifestRules[] = {
    {"manifest.syntax", "A document does not parse.", Severity::fail,
     "kubectl refuses it, too, or takes the last of two equal keys.",
     "Put it right at the place that is named; text that was copied from a web page often lost its "
     "indentation or has tabs in it.",
     "E25 E26", syntax},
    {"manifest.unread", "A document is YAML that is not read here.", Severity::unknown,
     "It may be right; nothing was looked at in it.",
     "Look at what `helm template` or `kubectl kustomize` prints.", "", not_read},
    {"manifest.indentation", "A section is empty, and its keys stand beside it.", Severity::fail,
     "The API server refuses unknown keys, or drops them and takes an empty object.",
     "Indent what belongs to the section; text that was copied from a web page often lost it.", "",
     indentation},
    {"manifest.name", "Kubernetes refuses a name or namespace.", Severity::fail,
     "The API server refuses the object (RFC 1123 labels).", "Write it as the object is called.",
     "E26", name},
    {"manifest.placeholder", "A placeholder was not replaced.", Severity::fail,
     "A selector with it matches no node, and an image with it cannot be pulled.",
     "Write your own value in its place.", "", placeholder},
};

}  // namespace

std::span<const Rule> manifest_rules() {
  return kManifestRules;
}

}  // namespace railhead::lint
