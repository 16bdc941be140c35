// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/diagram.h"

namespace railhead::report {

/// The diagram as a graph for Graphviz (`dot -Tsvg`): boxes are clusters, links are edges. Notes
/// are left out; of the legend, the marks are in the labels. The same diagram gives the same bytes.
std::string to_dot(const Diagram& diagram);

}  // namespace railhead::report
