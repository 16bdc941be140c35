// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "config/config.h"
#include "pools/parse_pools.h"
#include "pools/pool_spec.h"
#include "pools/section.h"

namespace railhead::pools {

/// More slots than this would fill the kubelet's message (4 MiB) for nothing.
inline constexpr std::int64_t kMaxSlots = 65536;
inline constexpr std::int64_t kMaxSlotsPerNic = 1024;
/// Each is a service of its own at the kubelet, and judges every function of the node.
inline constexpr std::size_t kMaxPools = 256;

/// `pools:` of our file.
Status parse_our_pools(const config::PoolSource& source, const PoolParseOptions& options,
                       PoolSpecs& into);

/// One entry of `include` or `exclude` there.
Result<Selector> parse_our_selector(Section section, const PoolParseOptions& options,
                                    std::vector<std::string>& warnings);

/// The file of k8s-rdma-shared-dev-plugin.
Status parse_shared_plugin_pools(const config::PoolSource& source, const PoolParseOptions& options,
                                 PoolSpecs& into);

/// The file of sriov-network-device-plugin.
Status parse_sriov_plugin_pools(const config::PoolSource& source, const PoolParseOptions& options,
                                PoolSpecs& into);

/// `selectors` of one of its resources, an object or one of a list. `device_type` as written.
Result<Selector> parse_sriov_selector(Section section, const std::string& device_type,
                                      std::vector<std::string>& warnings);

/// The one pool that the file and the variables of k8s-rdma-device-plugin describe together, if
/// any of them says something about a pool.
struct FlatPool {
  bool wanted = false;  ///< a file of that plugin is there, or a variable names the resource
  bool enabled = true;  ///< enableDevicePlugin
  PoolSpec spec = default_pool();
};

Status add_flat_source(const config::PoolSource& source, FlatPool& into,
                       std::vector<std::string>& warnings);

/// A condition on `key` of a plugin's section if it has values; an empty list is no condition.
Status add_condition(Section& section, std::string_view key, Fact fact, Selector& into,
                     std::vector<std::string>& warnings);

/// Warns of a value that nothing has.
void check_form(const Section& section, std::string_view key, Fact fact, std::string_view value,
                std::vector<std::string>& warnings);

/// Malformed where `read` has as many pools as a node can have; `place` is that of one more.
Status check_room(const std::string& place, const PoolSpecs& read);

/// The one of `words` that `text` names, as to_string() spells them. Malformed at `key` otherwise.
template <typename Word, std::size_t N>
Result<Word> word_in(const Section& section, std::string_view key, std::string_view text,
                     const std::array<Word, N>& words) {
  std::vector<std::string> known;
  for (const auto word : words) {
    if (text == to_string(word)) return word;
    known.emplace_back(to_string(word));
  }
  return section.error(key, in_quotes(text) + " is none of " + join(known, ", "));
}

/// What `key` names; the first of `words` where the key does not stand there.
template <typename Word, std::size_t N>
Result<Word> read_word(Section& section, std::string_view key, const std::array<Word, N>& words) {
  const auto text = TRY(section.text(key));
  return text ? word_in(section, key, *text, words) : words.front();
}

/// `health`; a key of ours that the other plugins' files may have, too: those plugins ignore what
/// they do not know.
inline constexpr std::array kHealths{PoolHealth::link, PoolHealth::device};

/// `narrow`, which may stand there, too; true where it does not.
Result<bool> read_narrow(Section& item);

/// A file of another plugin, which is a list of resources.
struct PluginFile {
  PoolFlavour flavour = PoolFlavour::shared_plugin;
  std::string_view list;             ///< key of the resources
  std::string prefix;                ///< of those that name none
  std::string_view name_characters;  ///< besides ASCII letters and digits
  std::string_view setting;          ///< another key, which src/config has read; may be ""
  /// All of a resource but name and origin; absent where it is passed over with a warning.
  std::function<Result<std::optional<PoolSpec>>(Section& item, std::vector<std::string>& warnings)>
      read;
};

/// Reads each resource by itself: PoolSpecs::left_out has those that are wrong. An empty list is no
/// pool, also where there were some before. Malformed: not such a file.
Status read_plugin_file(const config::PoolSource& source, const PluginFile& plugin,
                        const PoolParseOptions& options, PoolSpecs& into);

/// The resource name, checked where it stands.
Status check_name_at(const std::string& place, const std::string& name);

}  // namespace railhead::pools
