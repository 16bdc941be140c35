// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace railhead::system {

/// Who writes a configuration file, and takes away what others write into it.
struct FileOwner {
  std::string name{};  ///< "K3s", "k0s", "Talos", "another program"; "": nobody is known to
  std::string sign{};  ///< what says so: a line of the file, its folder, or a unit

  [[nodiscard]] bool is_somebody() const { return !name.empty(); }

  friend bool operator==(const FileOwner&, const FileOwner&) = default;
};

/// By the first lines of a file, its place, and the unit of the process that reads it.
FileOwner owner_of_file(const std::string& path, std::string_view text, std::string_view unit);

}  // namespace railhead::system
