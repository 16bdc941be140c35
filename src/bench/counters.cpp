// SPDX-License-Identifier: Apache-2.0
#include "bench/counters.h"

#include "base/text.h"

namespace railhead::bench {

Counters read_counters(host::Host& host, const Place& place) {
  Counters counters;
  const auto port =
      "/sys/class/infiniband/" + place.nic + "/ports/" + std::to_string(place.port) + "/";
  for (const std::string folder : {"counters/", "hw_counters/"}) {
    const auto names = host.list(port + folder);
    if (!names || !*names) continue;
    for (const auto& name : **names) {
      // Some answer EINVAL on some ports; the others still count.
      const auto text = host.read(port + folder + name);
      if (!text || !*text) continue;
      if (const auto number = parse_unsigned(trim(**text))) counters[folder + name] = *number;
    }
  }
  return counters;
}

data::Json changes(const Counters& before, const Counters& after) {
  data::Json json = data::Json::object();
  for (const auto& [name, value] : after) {
    const auto was = before.find(name);
    if (was == before.end() || was->second == value) continue;
    json[name] = {{"before", was->second}, {"after", value}};
  }
  return json;
}

std::optional<PortBytes> port_bytes(const Counters& before, const Counters& after) {
  constexpr std::uint64_t kWord = 4;
  const auto grown = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto was = before.find(name);
    const auto is = after.find(name);
    if (was == before.end() || is == after.end() || is->second < was->second) return std::nullopt;
    return (is->second - was->second) * kWord;
  };
  const auto sent = grown("counters/port_xmit_data");
  const auto received = grown("counters/port_rcv_data");
  if (!sent || !received) return std::nullopt;
  return PortBytes{*sent, *received};
}

}  // namespace railhead::bench
