// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "agent/feature_file.h"
#include "agent/kube_events.h"
#include "agent/machine_reader.h"
#include "agent/node_conditions.h"
#include "agent/node_doctor.h"
#include "agent/pods_monitor.h"
#include "agent/pool_publisher.h"
#include "agent/startup_taint.h"
#include "base/result.h"
#include "config/config.h"
#include "host/environment.h"
#include "nri/session.h"

namespace railhead::agent {

/// Absent where devicePlugin.enabled is false. Fails where nodes should be handed out by NRI while
/// that is off.
Result<std::optional<KubeletOptions>> kubelet_options(const config::Settings& settings);

/// Absent where kubernetes.startupTaint is false.
std::optional<StartupTaintOptions> startup_taint_options(const config::Settings& settings,
                                                         host::Environment environment);
NodeDoctorOptions node_doctor_options(const config::Settings& settings);
/// Absent where kubernetes.events is false.
std::optional<KubeEventsOptions> kube_events_options(const config::Settings& settings,
                                                     host::Environment environment);
/// Absent where kubernetes.conditions is false.
std::optional<NodeConditionsOptions> node_conditions_options(const config::Settings& settings,
                                                             host::Environment environment);
/// Absent where nfd.file names none.
std::optional<FeatureFileOptions> feature_file_options(const config::Settings& settings);
PodsOptions pods_options(const config::Settings& settings);
ReadTimes read_times(const config::Settings& settings);
nri::SessionOptions session_options(const config::Settings& settings);

}  // namespace railhead::agent
