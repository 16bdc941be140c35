// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "node/node.h"
#include "topology/layout.h"
#include "topology/topology.h"

namespace railhead::topology {

/// Whether a layout is of this machine.
struct LayoutFit {
  std::string refusal;  ///< why it is not, as the rest of "<file> is not used: it …"; "" if it is
  Confidence confidence = Confidence::high;
  std::vector<std::string> remarks;  ///< what lowers it, each as the rest of "<file> …"
};

/// It has to know every GPU, and a NIC if there are any that do not hold the default route. It
/// should know all NICs of the models that it knows one of: others (storage, front-end) may be left
/// out on purpose. PCI domains that a hypervisor draws at random fit one machine only.
LayoutFit fit_of(const Layout& layout, const node::Node& node);

}  // namespace railhead::topology
