// SPDX-License-Identifier: Apache-2.0
//
// Compiled by CMakeLists.txt with one of the macros, each of which has to keep it from compiling,
// and without any.
#include "agent/metrics.h"
#include "config/config.h"

namespace railhead {

#ifdef WRONG_SETTING
constexpr config::SettingRow kSetting = "nri.enable";
#else
constexpr config::SettingRow kSetting = "nri.enabled";
#endif

void count(agent::Metrics& metrics) {
#if defined(WRONG_LABEL_VALUE)
  metrics.config_reloads.add("load");
#elif defined(WRONG_LABEL)
  metrics.config_reloads.add("loaded", "again");
#else
  metrics.config_reloads.add("loaded");
#endif
}

#ifdef WRONG_SHAPE
bool set(config::Settings& settings) {
  return settings.nri.enabled == "true";
}
#endif

}  // namespace railhead
