// SPDX-License-Identifier: Apache-2.0
#include "lint/offers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "affinity/affinity.h"
#include "base/text.h"
#include "config/file_shape.h"
#include "config/manifest.h"
#include "config/plugin_texts.h"

namespace railhead::lint {
namespace {

/// "FILE:3:5: what" in two; line 0 where it does not begin so.
std::pair<data::Mark, std::string> place_in_message(const std::string& file,
                                                    std::string_view message) {
  data::Mark mark;
  if (!file.empty() && message.starts_with(file + ":")) message.remove_prefix(file.size() + 1);
  std::array<unsigned*, 2> parts = {&mark.line, &mark.column};
  for (auto* part : parts) {
    const auto colon = message.find(':');
    if (colon == std::string_view::npos) break;
    const auto number = parse_unsigned(message.substr(0, colon));
    if (!number) break;
    *part = static_cast<unsigned>(*number);
    message.remove_prefix(colon + 1);
  }
  const auto words = trim(message);
  auto [inner, rest] = place_and_words(words);
  if (inner.line > 0) return {inner, rest};
  return {mark, std::string(words)};
}

class OfferReader {
 public:
  /// `lines`: of the object's document.
  OfferReader(Given& given, const Object& object, const std::vector<std::string_view>& lines)
      : given_(given),
        object_(object),
        lines_(lines) {}

  void read_text(const config::ManifestText& text) {
    const auto parsed = config::parse_file_text(text.value->scalar);
    const bool of_plugin = parsed ? is_plugins(*parsed) : names_a_plugin(text.value->scalar);
    if (!of_plugin) return;
    if (parsed && is_of_other_plugin(text, *parsed)) return;
    auto shown = *text.value;
    above_ = 0;
    std::span<const std::string_view> lines;
    // The text of an object of the API has no lines to show.
    if (object_.source != nullptr && shown.mark.line > object_.source->before) {
      above_ = shown.mark.line - 1;
      lines = std::span(lines_).subspan(
          std::min<std::size_t>(above_ - object_.source->before, lines_.size()));
      shown.mark.line = 1;
    }
    auto file = config::file_in_manifest(kFile, lines, {text.path, text.key, &shown});
    is_block_ = file.name == kFile;
    place_ = text.value;
    file_ = file.name;
    config::ConfigSources sources;
    sources.files.push_back(std::move(file));
    const auto config = config::make_config(sources);
    if (!config) return complain(config.error().message, true);
    for (const auto& warning : config->warnings()) complain(warning, false);
    pools::PoolParseOptions options;
    for (const auto role :
         {affinity::Role::compute, affinity::Role::storage, affinity::Role::management,
          affinity::Role::front_end, affinity::Role::nvlink_management,
          affinity::Role::virtual_function, affinity::Role::unused, affinity::Role::unknown}) {
      options.roles.emplace_back(to_string(role));
    }
    // NVIDIA's operator passes this prefix to its plugin.
    if (object_.kind != "ConfigMap") options.sriov_prefix = kNvidiaDomain;
    const auto pools = pools::parse_pools(config->pool_sources(), options);
    if (!pools) return complain(pools.error().message, true);
    for (const auto& warning : pools->warnings) complain(warning, false);
    for (const auto& left_out : pools->left_out) complain(left_out, true);
    for (const auto& spec : pools->specs) {
      if (spec.origin.where.empty()) continue;  // the default, where the text has no pools
      given_.offers.add(
          {spec.name, spec.mode, object_.label() + " (" + text.path + ")", &object_, place_, spec});
    }
  }

 private:
  static constexpr const char* kFile = "manifest";

  /// A section of a NicClusterPolicy whose file is the other plugin's: that one says what is wrong.
  bool is_of_other_plugin(const config::ManifestText& text, const data::Value& root) {
    const auto shape = config::plugin_shape(root);
    const std::string_view path = text.path;
    const bool in_shared = path.find("rdmaSharedDevicePlugin") != std::string_view::npos;
    const bool in_sriov = path.find("sriovDevicePlugin") != std::string_view::npos;
    if (in_shared && shape == config::PoolSource::Shape::sriov_plugin) {
      given_.complaints.push_back({&object_,
                                   text.value,
                                   {},
                                   "resourceList is sriovDevicePlugin's: this plugin reads "
                                   "configList",
                                   true});
      return true;
    }
    if (in_sriov && shape == config::PoolSource::Shape::shared_plugin) {
      given_.complaints.push_back({&object_,
                                   text.value,
                                   {},
                                   "configList is rdmaSharedDevicePlugin's: this plugin reads "
                                   "resourceList",
                                   true});
      return true;
    }
    return false;
  }

  static bool is_plugins(const data::Value& root) {
    const auto shape = config::plugin_shape(root);
    return shape.has_value() || root.find("pools") != nullptr;
  }

  static bool names_a_plugin(std::string_view text) {
    return text.find("configList") != std::string_view::npos ||
           text.find("resourceList") != std::string_view::npos;
  }

  void complain(std::string_view message, bool is_left_out) {
    auto [mark, what] = place_in_message(file_, message);
    Complaint complaint{&object_, place_, {}, what, is_left_out};
    if (is_block_ && mark.line > 0) complaint.mark = {mark.line + above_, mark.column};
    given_.complaints.push_back(std::move(complaint));
  }

  Given& given_;
  const Object& object_;
  const std::vector<std::string_view>& lines_;
  unsigned above_ = 0;  ///< lines of the file that stand above the text
  const data::Value* place_ = nullptr;
  std::string file_;
  bool is_block_ = false;
};

/// "" where neither the operator nor its values are among the objects.
std::string_view stated_sriov_domain(const Given& given) {
  constexpr std::string_view kVariable = "RESOURCE_PREFIX=";
  for (const auto& pod : given.pods) {
    for (const auto& container : pod.containers) {
      for (const std::string_view entry : container.environment) {
        if (entry.starts_with(kVariable)) return entry.substr(kVariable.size());
      }
    }
  }
  for (const auto& object : given.objects) {
    if (!object.kind.empty()) continue;
    const auto of_subchart =
        text_below(object.root, {"sriov-network-operator", "operator", "resourcePrefix"});
    if (!of_subchart.empty()) return of_subchart;
    const auto own = text_below(object.root, {"operator", "resourcePrefix"});
    if (!own.empty()) return own;
  }
  return "";
}

void add_policy(Given& given, const Object& object) {
  const auto* name = below(object.root, {"spec", "resourceName"});
  if (name == nullptr || name->scalar.empty()) return;
  const std::string domain(sriov_domain(given, object, name->scalar));
  given.offers.add(
      {domain + "/" + name->scalar, pools::PoolMode::exclusive, object.label(), &object, name, {}});
}

}  // namespace

std::string_view sriov_domain(const Given& given, const Object& object, std::string_view resource) {
  if (!given.sriov_domain.empty()) return given.sriov_domain;
  if (object.name_space.starts_with("openshift-")) return config::kPolicyPrefix;
  const auto other = std::string(kNvidiaDomain) + "/" + std::string(resource);
  const bool is_of_nvidia = given.offers.is_beyond_objects(other) || given.asked.contains(other);
  return is_of_nvidia ? kNvidiaDomain : config::kPolicyPrefix;
}

void find_offers(Given& given) {
  given.sriov_domain = stated_sriov_domain(given);
  const Source* source = nullptr;
  std::vector<std::string_view> lines;
  for (const auto& object : given.objects) {
    if (config::is_manifest(object.root)) {
      // Items of a List stand behind each other, and share the document.
      if (object.source.get() != source) {
        source = object.source.get();
        lines.clear();
        if (source != nullptr) lines = split(source->text, '\n');
      }
      OfferReader reader(given, object, lines);
      for (const auto& text : config::texts_in_manifest(object.root)) reader.read_text(text);
    }
    if (object.kind == "SriovNetworkNodePolicy") add_policy(given, object);
  }
}

std::vector<Offer> offers_of(const std::vector<pools::PoolSpec>& specs) {
  std::vector<Offer> offers;
  for (const auto& spec : specs) {
    offers.push_back({spec.name, spec.mode, "Railhead's configuration (" + spec.origin.where + ")",
                      nullptr, nullptr, spec});
  }
  return offers;
}

}  // namespace railhead::lint
