// SPDX-License-Identifier: Apache-2.0
#include "config/plugin_texts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "config/file_shape.h"
#include "config/kubelet_root.h"
#include "config/manifest.h"
#include "config/node_policies.h"
#include "config/words.h"
#include "data/below.h"
#include "data/documents.h"

namespace railhead::config {
namespace {

using data::below;
using data::items_below;
using data::text_below;

/// A flag of one of the plugins. Sources: cmd/k8s-rdma-shared-dp/main.go, cmd/sriovdp/main.go,
/// README.md of k8s-rdma-device-plugin.
struct PluginFlag {
  std::string_view name;
  enum class Is : std::uint8_t { nothing, prefix, cdi, variable } is = Is::nothing;
  std::string_view variable;
  bool is_switch = false;
};

constexpr std::array kPluginFlags{
    PluginFlag{"resource-prefix", PluginFlag::Is::prefix, "", false},
    PluginFlag{"use-cdi", PluginFlag::Is::cdi, "", true},
    PluginFlag{"resource-name", PluginFlag::Is::variable, "RDMA_RESOURCE_NAME", false},
    PluginFlag{"resource-count", PluginFlag::Is::variable, "RDMA_RESOURCE_COUNT", false},
    PluginFlag{"enable-device-plugin", PluginFlag::Is::variable, "RDMA_ENABLE_DEVICE_PLUGIN", true},
    PluginFlag{"gpu-rdma-auto-inject", PluginFlag::Is::variable, "RDMA_GPU_AUTO_INJECT", true},
};

/// Values of its Helm chart under `rdma`. Source: README.md of k8s-rdma-device-plugin.
struct ChartValue {
  std::string_view key;
  std::string_view variable;
};

constexpr std::array kChartValues{ChartValue{"enableDevicePlugin", "RDMA_ENABLE_DEVICE_PLUGIN"},
                                  ChartValue{"resourceName", "RDMA_RESOURCE_NAME"},
                                  ChartValue{"resourceCount", "RDMA_RESOURCE_COUNT"}};

/// Reads the documents of one file; the policies are one resource list together.
class PluginTextsReader {
 public:
  PluginTextsReader(const ConfigFile& file, std::string_view node)
      : file_(file.name),
        lines_(split(file.text, '\n')),
        node_(node) {}

  /// Whether the document is a manifest, or values of the chart.
  Result<bool> add(const data::Value& document) {
    const auto kind = text_below(document, {"kind"});
    if (kind.empty() && add_chart_values(document)) return true;
    if (kind.empty() || text_below(document, {"apiVersion"}).empty()) return false;
    if (text_below(document, {"apiVersion"}).starts_with("railhead.io/")) return false;
    kinds_.emplace_back(kind);
    if (kind.ends_with("List")) {
      for (const auto& item : items_below(document, {"items"})) TRY(add(item));
    }
    for (const auto& [name, read] : kKinds) {
      if (kind == name) TRY_STATUS((this->*read)(document));
    }
    return true;
  }

  Result<PluginTexts> finish() && {
    add_kubelet_root();
    if (!policies_.empty()) {
      texts_.has_policies = true;
      texts_.files.push_back(TRY(file_of_node_policies(std::move(policies_), texts_.warnings)));
    }
    if (texts_.files.empty() && texts_.environment.empty() && texts_.flags.empty()) {
      return Error{ErrorCode::malformed,
                   file_ + ": no configuration of a plugin in " + join(kinds_, ", ")};
    }
    return std::move(texts_);
  }

 private:
  /// Whether it has one. The plugin's file has no key `rdma`.
  bool add_chart_values(const data::Value& document) {
    const auto* rdma = below(document, {"rdma"});
    bool has_any = false;
    for (const auto& [key, variable] : kChartValues) {
      const auto text = text_below(rdma, {key});
      if (text.empty()) continue;
      texts_.environment[std::string(variable)] = text;
      has_any = true;
    }
    if (!has_any) return false;
    const auto inject = text_below(document, {"gpuRdmaAutoInject"});
    if (!inject.empty()) texts_.environment["RDMA_GPU_AUTO_INJECT"] = inject;
    kinds_.emplace_back("chart values");
    return true;
  }

  Status add_config_map(const data::Value& document) {
    struct Found {
      ManifestText text;
      PoolSource::Shape shape;
    };

    std::vector<Found> found;
    for (auto& text : texts_in_manifest(document)) {
      const auto parsed = parse_file_text(text.value->scalar);
      if (!parsed && names_a_plugins_key(text.value->scalar)) return why_unreadable(text);
      const auto shape = parsed ? plugin_shape(*parsed) : std::nullopt;
      if (shape) found.push_back({std::move(text), *shape});
    }
    for (const auto& [text, shape] : found) {
      std::vector<std::string> rivals;
      for (const auto& other : found) {
        const bool same = other.text.value->scalar == text.value->scalar;
        if (other.shape == shape && !same) rivals.push_back(other.text.key);
      }
      if (!rivals.empty() && text.key != node_) {
        const bool is_node_there = contains(rivals, node_);
        if (is_node_there) continue;
        return Error{ErrorCode::malformed, data::place_in(file_, below(document, {"data"})->mark) +
                                               ": data has a configuration in " + text.key +
                                               " and another in " + join(rivals, ", ") +
                                               "; --node-name says whose"};
      }
      TRY_STATUS(add_file(text));
    }
    return {};
  }

  /// With the place in the manifest.
  [[nodiscard]] Error why_unreadable(const ManifestText& text) const {
    const auto file = file_in_manifest(file_, lines_, text);
    const auto in_place = parse_file_text(file.text);
    const auto alone = parse_file_text(text.value->scalar);
    return (in_place ? alone : in_place).error().context(file.name);
  }

  /// Enough to take a text that cannot be read for a plugin's.
  static bool names_a_plugins_key(std::string_view text) {
    constexpr std::array kKeys{"configList", "resourceList", "gpuRdmaAutoInject", "resourceCount"};
    return std::ranges::any_of(
        kKeys, [&](std::string_view key) { return text.find(key) != std::string_view::npos; });
  }

  Status add_nic_policy(const data::Value& document) {
    const auto* spec = below(document, {"spec"});
    for (const std::string plugin : kPolicyPlugins) {
      const auto* section = below(spec, {plugin});
      if (section == nullptr) continue;
      if (text_below(section, {"useCdi"}) == "true") texts_.flags["devicePlugin.handout"] = "cdi";
      if (text_below(section, {"config"}).empty()) {
        texts_.warnings.push_back(data::place_in(file_, section->mark) + ": spec." + plugin +
                                  " has no config");
      }
    }
    for (const auto& text : texts_in_manifest(document)) {
      if (!text.value->scalar.empty()) TRY_STATUS(add_file(text));
    }
    return {};
  }

  Status add_node_policy(const data::Value& document) {
    const auto* spec = below(document, {"spec"});
    if (spec == nullptr) {
      return Error{ErrorCode::malformed, data::place_in(file_, document.mark) + ": no spec"};
    }
    policies_.push_back({std::string(text_below(document, {"metadata", "name"})), file_, *spec});
    return {};
  }

  Status add_daemon_set(const data::Value& document) {
    for (const auto& container :
         items_below(document, {"spec", "template", "spec", "containers"})) {
      std::vector<std::string> words;
      for (const char* key : {"command", "args"}) {
        const auto* list = below(container, {key});
        const auto more = list != nullptr ? list->as_strings() : std::vector<std::string>();
        if (more) words.insert(words.end(), more->begin(), more->end());
      }
      for (std::size_t at = 0; at < words.size(); ++at) {
        TRY_STATUS(add_word(words[at], at + 1 < words.size() ? words[at + 1] : ""));
      }
      add_environment(container);
    }
    for (auto& root : kubelet_roots(document)) roots_.push_back(std::move(root));
    return {};
  }

  /// Where it is not the default. A chart's value goes over the file, so it is said, too.
  void add_kubelet_root() {
    std::vector<std::string> others;
    const KubeletRoot* first = nullptr;
    for (const bool is_by_device_plugins : {false, true}) {
      if (first != nullptr) break;
      for (const auto& root : roots_) {
        if (root.is_by_device_plugins != is_by_device_plugins) continue;
        if (first == nullptr) first = &root;
        if (root.folder != first->folder) others.push_back(root.folder);
      }
    }
    if (first == nullptr) return;
    const config::SettingRow setting = "kubelet.rootDir";
    const auto place = data::place_in(file_, first->mark) + ": ";
    if (!others.empty()) {
      texts_.warnings.push_back(place + "the kubelet's root folder is " + first->folder +
                                " here and " + others.front() + " elsewhere: set " +
                                std::string(setting->key) + " to that of the nodes");
    } else if (first->folder != kDefaultKubeletRoot) {
      texts_.flags[setting] = first->folder;
      texts_.warnings.push_back(place + "the kubelet's root folder is " + first->folder +
                                ": give it to the chart, too: --set " + std::string(setting->key) +
                                "=" + first->folder);
    }
  }

  Status add_word(std::string_view word, const std::string& next) {
    if (!word.starts_with('-')) return {};
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto* flag = find_by(kPluginFlags, &PluginFlag::name, name);
    if (flag == nullptr) return {};
    std::string value = flag->is_switch ? "true" : next;
    if (equals != std::string_view::npos) value = word.substr(equals + 1);
    if (flag->is == PluginFlag::Is::variable) {
      texts_.environment[std::string(flag->variable)] = std::move(value);
    } else if (flag->is == PluginFlag::Is::prefix) {
      texts_.flags["devicePlugin.resourcePrefix"] = std::move(value);
    } else {
      const auto on = parse_switch(value);
      if (!on) return on.error().context(file_ + ": --" + std::string(name));
      if (*on) texts_.flags["devicePlugin.handout"] = "cdi";
    }
    return {};
  }

  void add_environment(const data::Value& container) {
    for (const auto& variable : items_below(container, {"env"})) {
      const auto name = text_below(variable, {"name"});
      if (!contains(kRdmaVariables, name)) {
        continue;
      }
      // Its flags win over its variables.
      if (below(variable, {"value"}) != nullptr) {
        texts_.environment.emplace(name, text_below(variable, {"value"}));
      } else {
        texts_.warnings.push_back((data::place_in(file_, variable.mark) + ": ").append(name) +
                                  " has no value here, and is left out");
      }
    }
  }

  /// Once, where several nodes or documents have the same.
  Status add_file(const ManifestText& text) {
    if (!contents_.insert(text.value->scalar).second) return {};
    if (contents_.size() > kMostManifestFiles) {
      return Error{ErrorCode::too_large,
                   file_ + ": more than " + std::to_string(kMostManifestFiles) + " files"};
    }
    texts_.files.push_back(file_in_manifest(file_, lines_, text));
    return {};
  }

  struct Kind {
    std::string_view name;
    Status (PluginTextsReader::*read)(const data::Value& document);
  };

  static constexpr std::array<Kind, 5> kKinds{
      Kind{"ConfigMap", &PluginTextsReader::add_config_map},
      Kind{"NicClusterPolicy", &PluginTextsReader::add_nic_policy},
      Kind{"NicNodePolicy", &PluginTextsReader::add_nic_policy},
      Kind{"SriovNetworkNodePolicy", &PluginTextsReader::add_node_policy},
      Kind{"DaemonSet", &PluginTextsReader::add_daemon_set},
  };

  std::string file_;
  std::vector<std::string_view> lines_;
  std::string_view node_;
  std::set<std::string> contents_;
  PluginTexts texts_;
  std::vector<NodePolicy> policies_;
  std::vector<KubeletRoot> roots_;
  std::vector<std::string> kinds_;
};

constexpr std::size_t kMaxDocuments = 256;

}  // namespace

Result<std::optional<PluginTexts>> plugin_texts_of_manifest(const ConfigFile& file,
                                                            std::string_view node) {
  const auto documents = data::documents_in(file.text);
  if (documents.size() > kMaxDocuments) {
    return Error{ErrorCode::malformed,
                 file.name + ": more than " + std::to_string(kMaxDocuments) + " documents"};
  }
  PluginTextsReader reader(file, node);
  bool is_manifest = false;
  for (const auto& document : documents) {
    auto value = parse_file_text(document.text);
    // Its message has the lines of the whole.
    if (!value) return parse_file_text(document.in_place()).error().context(file.name);
    data::move_down(*value, document.before);
    is_manifest = TRY(reader.add(*value)) || is_manifest;
  }
  if (!is_manifest) return std::optional<PluginTexts>();
  return std::optional(TRY(std::move(reader).finish()));
}

}  // namespace railhead::config
