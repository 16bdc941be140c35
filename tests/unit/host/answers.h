// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace railhead::test {

template <typename T, typename Show>
std::string shown(const Result<std::optional<T>>& result, Show show) {
  if (!result) return "error " + result.error().message;
  return *result ? show(**result) : "absent";
}

/// For Host::read_keeping(): all of it.
inline std::string whole(std::string_view content) {
  return std::string(content);
}

/// The answer to one of the four questions about a path, as text to be compared.
inline std::string answer(host::Host& host, unsigned question, const std::string& path) {
  const auto same = [](const std::string& text) { return "text " + text; };
  const auto names = [](const std::vector<std::string>& list) {
    std::string text = "names";
    for (const auto& name : list) text += " " + name;
    return text;
  };
  const auto node = [](const host::DeviceNode& device) {
    return std::to_string(device.major) + ":" + std::to_string(device.minor);
  };
  switch (question % 4) {
    case 0: return "read " + path + ": " + shown(host.read_keeping(path, whole), same);
    case 1: return "readlink " + path + ": " + shown(host.readlink(path), same);
    case 2: return "list " + path + ": " + shown(host.list(path), names);
    default: return "device " + path + ": " + shown(host.device(path), node);
  }
}

inline std::vector<std::string> answers(host::Host& host, const std::string& path) {
  return {answer(host, 0, path), answer(host, 1, path), answer(host, 2, path),
          answer(host, 3, path)};
}

}  // namespace railhead::test
