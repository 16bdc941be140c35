// SPDX-License-Identifier: Apache-2.0
#include "kube/event.h"

#include "base/text.h"
#include "base/utf8.h"
#include "host/clock.h"

namespace railhead::kube {
namespace {

constexpr std::size_t kMaxMessageBytes = 1024;  ///< of events.k8s.io/v1, noteLengthLimit
constexpr std::size_t kMaxNameBytes = 253;
constexpr unsigned kNumberDigits = 16;
constexpr std::string_view kEllipsis = "…";

std::string_view namespace_of(const EventObject& about) {
  if (about.object_namespace.empty()) return "default";
  return about.object_namespace;
}

std::string events_of_namespace(const EventObject& about) {
  return "/api/v1/namespaces/" + encoded(namespace_of(about)) + "/events";
}

/// At most so many bytes, no character of UTF-8 in two.
std::string shortened(const std::string& text) {
  if (text.size() <= kMaxMessageBytes) return text;
  return std::string(whole_characters(text, kMaxMessageBytes - kEllipsis.size())).append(kEllipsis);
}

data::Json object_json(const EventObject& about) {
  data::Json json = {{"apiVersion", "v1"}, {"kind", about.kind}, {"name", about.name}};
  if (!about.object_namespace.empty()) json["namespace"] = about.object_namespace;
  if (!about.uid.empty()) json["uid"] = about.uid;
  return json;
}

}  // namespace

std::string event_name(const EventObject& about, std::uint64_t number) {
  auto name = about.name.substr(0, kMaxNameBytes - kNumberDigits - 1);
  while (!name.empty() && !is_letter_or_digit(name.back())) name.pop_back();
  return name + "." + to_hex(number, kNumberDigits);
}

Request create_event(const Event& event, std::string_view name, std::string_view node) {
  const data::Json json = {{"apiVersion", "v1"},
                           {"kind", "Event"},
                           {"metadata", {{"name", name}, {"namespace", namespace_of(event.about)}}},
                           {"involvedObject", object_json(event.about)},
                           {"type", "Warning"},
                           {"reason", event.reason},
                           {"message", shortened(event.message)},
                           {"count", event.count},
                           {"firstTimestamp", host::utc_text(event.first)},
                           {"lastTimestamp", host::utc_text(event.last)},
                           {"source", {{"component", "railhead"}, {"host", node}}},
                           {"reportingComponent", "railhead"},
                           {"reportingInstance", node}};
  return create(events_of_namespace(event.about), json);
}

Request try_create_event(const Event& event, std::string_view name, std::string_view node) {
  auto request = create_event(event, name, node);
  request.target += "?dryRun=All";
  return request;
}

Request repeat_event(const Event& event, std::string_view name) {
  const data::Json json = {{"count", event.count},
                           {"lastTimestamp", host::utc_text(event.last)},
                           {"message", shortened(event.message)}};
  return strategic_merge_patch(events_of_namespace(event.about) + "/" + encoded(name), json);
}

}  // namespace railhead::kube
