// SPDX-License-Identifier: Apache-2.0
// What is told to Kubernetes of texts from outside: a label's value, and an Event with a pod's name
// and a message. The first byte says how much of the rest is the name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "features/features.h"
#include "kube/event.h"

using namespace railhead;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void take_label(std::string_view text) {
  const auto value = features::label_value(text);
  require(!value.empty() && value.size() <= 63);
  require(is_letter_or_digit(value.front()) && is_letter_or_digit(value.back()));
  for (const char c : value) {
    require(is_letter_or_digit(c) || c == '-' || c == '_' || c == '.');
  }
  require(features::label_value(value) == value);
}

void take_event(std::string_view name, std::string_view message) {
  const kube::EventObject about{"Pod", std::string(name), std::string(name), "1"};
  require(kube::event_name(about, 1).size() <= 253);
  const kube::Event event{about, "Reason", std::string(message)};
  const auto request = kube::create_event(event, "name", "node");
  const auto json = data::parse_json(request.body);
  require(json.has_value());
  require(json->find("reason")->scalar == "Reason");
  // A byte that is no UTF-8 becomes three.
  require(json->find("message")->scalar.size() <= std::size_t{3} * 1024);
  require(request.target.find_first_of("\r\n ") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  take_label(text);
  take_event(text.substr(0, data[0]), text.size() > data[0] ? text.substr(data[0]) : "");
  return 0;
}
