// SPDX-License-Identifier: Apache-2.0
#include "system/runtime_answer.h"

#include <algorithm>

#include "base/find.h"
#include "base/text.h"

namespace railhead::system {
namespace {

/// The value of all; unknown where they differ.
Known one_of(const std::vector<Known>& all) {
  const bool is_same =
      !all.empty() && std::ranges::all_of(all, [&](Known one) { return one == all.front(); });
  return is_same ? all.front() : Known::unknown;
}

void add_reasons(const std::vector<RuntimeReason>& reasons, const std::string& release,
                 std::vector<RuntimeReason>& all) {
  for (const auto& reason : reasons) {
    auto at = std::ranges::find(all, reason);
    if (at == all.end()) at = all.insert(all.end(), reason);
    at->releases += (at->releases.empty() ? "" : ", ") + release;
  }
}

}  // namespace

std::string_view to_string(Known known) {
  return known == Known::no ? "no" : known == Known::yes ? "yes" : "unknown";
}

std::string RuntimeReason::place() const {
  return mark.line == 0 ? path : path + ":" + std::to_string(mark.line);
}

std::string RuntimeReason::words() const {
  return releases.empty() ? text : text + " (containerd " + releases + ")";
}

std::string RuntimeAnswer::why() const {
  const auto says_on = [](const RuntimeReason& reason) {
    return reason.code == "enabled" || reason.code == "enabled-by-default";
  };
  // What says yes explains nothing where no release has it on.
  const bool is_off = starts == Known::yes && nri == Known::no;
  std::vector<std::string> texts;
  for (const auto& reason : reasons) {
    if (is_off && says_on(reason)) continue;
    const bool is_of_start = reason.is_failure || starts == Known::unknown;
    const bool counts =
        starts == Known::yes ? nri != Known::yes || reasons.size() == 1 : is_of_start;
    if (counts) texts.push_back(reason.place() + ": " + reason.words());
  }
  return join(texts, "; ");
}

std::vector<std::string> places_of_socket(const std::string& path) {
  constexpr std::string_view kLink = "/var/run/";
  constexpr std::string_view kTarget = "/run/";
  if (!path.starts_with('/')) return {};
  if (path.starts_with(kLink)) return {path, std::string(kTarget) + path.substr(kLink.size())};
  if (path.starts_with(kTarget)) return {path, std::string(kLink) + path.substr(kTarget.size())};
  return {path};
}

RuntimeAnswer judge_containerd(const ContainerdFiles& files,
                               std::optional<ContainerdRelease> release) {
  if (release) return read_as(files, *release).answer;
  const auto releases = possible_releases(files);
  std::vector<Known> starts;
  std::vector<Known> nri;
  std::vector<std::string> sockets;
  std::vector<RuntimeAnswer> answers;
  for (const auto one : releases) {
    const auto& answer = answers.emplace_back(read_as(files, one).answer);
    starts.push_back(answer.starts);
    if (answer.starts == Known::yes) nri.push_back(answer.nri);
    if (answer.starts == Known::yes) sockets.push_back(answer.socket);
  }
  RuntimeAnswer all;
  all.starts = one_of(starts);
  std::string everywhere;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    const std::string name(kContainerdReleases[static_cast<std::size_t>(releases[i])]);
    everywhere += (everywhere.empty() ? "" : ", ") + name;
    // What a release that starts makes of NRI explains nothing where another one does not.
    if (all.starts == Known::yes || answers[i].starts != Known::yes)
      add_reasons(answers[i].reasons, name, all.reasons);
  }
  for (auto& reason : all.reasons) {
    if (reason.releases == everywhere) reason.releases.clear();
  }
  all.refused_by_most =
      2 * static_cast<std::size_t>(std::ranges::count(starts, Known::no)) > starts.size();
  all.nri = all.starts == Known::no ? Known::no : one_of(nri);
  const bool is_one_socket = !sockets.empty() && std::ranges::all_of(sockets, [&](const auto& one) {
    return one == sockets.front();
  });
  if (is_one_socket) all.socket = sockets.front();
  return all;
}

}  // namespace railhead::system
