// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/diagram.h"
#include "report/svg_canvas.h"

namespace railhead::report {

/// Samples of the signs that occur in the picture, each with its meaning, in as many lines of this
/// width as they need. Returns where the next thing may be.
int paint_legend(SvgCanvas& canvas, const Diagram& diagram, const Rect& at);

}  // namespace railhead::report
