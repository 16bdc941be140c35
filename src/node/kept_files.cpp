// SPDX-License-Identifier: Apache-2.0
#include "node/kept_files.h"

#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "data/below.h"
#include "data/json.h"
#include "host/keep.h"

namespace railhead::node {
namespace {

using Kind = data::Value::Kind;

constexpr data::ParseLimits kCdiLimits{std::size_t{1} << 20, 16, 65536};
constexpr std::string_view kMalformed = "[\n";

data::Json kept_node(const data::Value& node) {
  data::Json json = data::Json::object();
  for (const char* key : {"path", "hostPath"}) {
    const auto text = data::text_below(node, {key});
    if (!text.empty()) json[key] = text;
  }
  return json;
}

data::Json kept_device(const data::Value& device) {
  data::Json json = data::Json::object();
  const auto name = data::text_below(device, {"name"});
  if (!name.empty()) json["name"] = name;
  const auto* nodes = data::below(device, {"containerEdits", "deviceNodes"});
  if (nodes == nullptr) return json;
  auto& kept = json["containerEdits"]["deviceNodes"];
  kept = nodes->kind == Kind::list ? data::json_list(nodes->items, kept_node) : data::Json("");
  return json;
}

std::string kept_spec(const Result<data::Value>& spec) {
  if (!spec) return std::string(kMalformed);
  if (spec->kind != Kind::map) return "[]\n";
  data::Json json = data::Json::object();
  const auto kind = data::text_below(*spec, {"kind"});
  if (!kind.empty()) json["kind"] = kind;
  if (const auto* devices = data::below(*spec, {"devices"})) {
    const bool is_list = devices->kind == Kind::list;
    json["devices"] = is_list ? data::json_list(devices->items, kept_device) : data::Json("");
  }
  return data::to_json_text(json);
}

/// Masks a text of XML where it stands, so that lines keep their numbers.
class XmlMask {
 public:
  explicit XmlMask(std::string_view text)
      : rest_(text) {}

  std::string masked() {
    while (!rest_.empty()) {
      if (rest_.starts_with("<!--")) {
        skip_to("-->");
      } else if (rest_.starts_with("<?")) {
        skip_to("?>");
      } else if (rest_.starts_with("<!")) {
        out_ += "<!DOCTYPE x>";
        skip_to(">");
      } else if (rest_.front() == '<') {
        take_tag();
      } else {
        const char c = take();
        if (c == '\n') out_ += '\n';
        if (c != '\n' && !trim({&c, 1}).empty()) out_ += out_.ends_with('?') ? "" : "?";
      }
    }
    return std::move(out_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  /// Newlines stay.
  void skip_to(std::string_view end) {
    const auto at = rest_.find(end);
    if (at == std::string_view::npos) out_ += '<';  // still not well-formed
    const auto skipped = rest_.substr(0, at == std::string_view::npos ? at : at + end.size());
    for (const char c : skipped) {
      if (c == '\n') out_ += c;
    }
    rest_.remove_prefix(skipped.size());
  }

  void take_space() {
    while (!rest_.empty() && trim(rest_.substr(0, 1)).empty()) {
      if (take() == '\n') out_ += '\n';
    }
  }

  std::string_view take_name() {
    std::size_t end = 0;
    while (end < rest_.size() && host::is_made_of(rest_.substr(end, 1), "_-.:")) ++end;
    const auto name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  void take_tag() {
    constexpr auto kElements =
        std::to_array<std::string_view>({"system", "cpu", "pci", "gpu", "nic", "net", "nvlink",
                                         "xgmi", "c2c", "pcilink", "nvswitch"});
    out_ += take();
    if (!rest_.empty() && rest_.front() == '/') out_ += take();
    const auto name = take_name();
    out_ += contains(kElements, name) ? name : name.empty() ? "" : "other";
    while (!rest_.empty()) {
      take_space();
      if (rest_.empty()) return;
      if (rest_.front() == '>' || rest_.starts_with("/>")) {
        if (take() == '/') out_ += '/', take();
        out_ += '>';
        return;
      }
      if (!take_attribute()) return;
    }
  }

  /// False where it is none: the text is not well-formed from here on.
  bool take_attribute() {
    constexpr auto kAttributes = std::to_array<std::string_view>(
        {"version", "numaid",     "affinity", "arch",   "vendor", "familyid",
         "modelid", "busid",      "class",    "device", "port",   "subsystem_vendor",
         "dev",     "link_speed", "sm",       "gdr",    "guid",   "subsystem_device",
         "name",    "link_width", "speed",    "target", "count",  "tclass"});
    const auto name = take_name();
    if (!name.empty()) take_space();
    const bool has_value = !name.empty() && rest_.starts_with('=');
    if (has_value) take();
    if (has_value) take_space();
    const char quote = rest_.empty() ? ' ' : rest_.front();
    const auto end = rest_.find(quote, 1);
    if (!has_value || (quote != '"' && quote != '\'') || end == rest_.npos) {
      out_ += "=\n";
      rest_ = {};
      return false;
    }
    const auto value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    const bool is_kept = contains(kAttributes, name) && value.size() <= kMaxValue &&
                         (value.empty() || host::is_made_of(value, " _-.:,/+"));
    if (is_kept) out_.append(" ").append(name).append("=\"").append(value).append("\"");
    return true;
  }

  static constexpr std::size_t kMaxValue = 1024;  // a mask of many CPUs

  std::string_view rest_;
  std::string out_;
};

}  // namespace

std::string kept_cdi_json(std::string_view spec) {
  return kept_spec(data::parse_json(spec, kCdiLimits));
}

std::string kept_cdi_yaml(std::string_view spec) {
  return kept_spec(data::parse_yaml(spec, kCdiLimits));
}

std::string kept_device_numbers(std::string_view devices) {
  return host::keep_lines_if(devices, [](std::string_view line) {
    const auto words = split_words(line);
    return words.size() == 2 && words[1] == "gdrdrv" && parse_unsigned(words[0]).has_value();
  });
}

std::string kept_nccl_topology(std::string_view xml) {
  return XmlMask(xml).masked();
}

}  // namespace railhead::node
