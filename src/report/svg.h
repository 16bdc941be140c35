// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/diagram.h"

namespace railhead::report {

/// The diagram as a picture of its own: an SVG 1.1 document without scripts, references or fonts,
/// on a white ground, with a legend and the notes below. The same diagram gives the same bytes.
std::string to_svg(const Diagram& diagram);

}  // namespace railhead::report
