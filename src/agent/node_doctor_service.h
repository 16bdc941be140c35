// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/hosted_service.h"
#include "agent/node_doctor.h"

namespace railhead::agent {

/// The doctor's checks of the node, now and then: a NodeDoctor, which reads all of the machine.
class NodeDoctorService final : public HostedService<NodeDoctor> {
 public:
  NodeDoctorService(Context context, const NodeDoctorOptions& options,
                    const NodeDoctor::Links& links)
      : HostedService("doctor", "doctor", [=](loop::LoopThread& thread) {
          auto doctor = std::make_unique<NodeDoctor>(context.on(thread), options, links);
          doctor->start();
          return doctor;
        }) {}
};

}  // namespace railhead::agent
