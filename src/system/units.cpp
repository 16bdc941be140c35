// SPDX-License-Identifier: Apache-2.0
#include "system/units.h"

#include "base/text.h"
#include "host/unit_files.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

void take_limit(const std::string& path, const std::string& text, Unit& unit) {
  for (const auto line : split(text, '\n')) {
    const auto assignment = trim(line);
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || trim(assignment.substr(0, equals)) != "LimitMEMLOCK")
      continue;
    unit.memlock = trim(assignment.substr(equals + 1));
    unit.memlock_path = path;
  }
}

}  // namespace

Unit read_unit(host::Host& host, const std::string& name) {
  const auto found = host::read_unit_files(host, name + ".service", kept_memlock);
  Unit unit{name, found.path};
  for (const auto& file : found.files) take_limit(file.path, file.text, unit);
  return unit;
}

}  // namespace railhead::system
