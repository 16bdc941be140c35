// SPDX-License-Identifier: Apache-2.0
#include "setup/machine.h"

#include "base/text.h"
#include "host/directory_host.h"

namespace railhead::setup {

Result<Machine> Machine::open(const std::string& root) {
  Machine machine;
  machine.host = TRY(host::DirectoryHost::open(root));
  machine.tree = TRY(host::Tree::open(root));
  machine.is_live = machine.tree->is_live();
  return machine;
}

std::string text_of(host::Host& host, const std::string& path) {
  const auto text = host.read(path);
  return text && *text ? **text : "";
}

std::string line_in(host::Host& host, const std::string& path) {
  return std::string(trim(text_of(host, path)));
}

std::string link_name(host::Host& host, const std::string& path) {
  const auto target = host.readlink(path);
  return target && *target ? host::base_name(**target) : "";
}

bool has_folder(host::Host& host, const std::string& path) {
  const auto names = host.list(path);
  return names && *names;
}

std::string with_single_spaces(std::string_view text) {
  return join(split_words(text), " ", std::identity());
}

std::vector<std::string> names_in(host::Host& host, const std::string& folder,
                                  std::string_view suffix) {
  const auto names = host.list(folder);
  if (!names || !*names) return {};
  std::vector<std::string> found;
  for (const auto& name : **names) {
    if (name.ends_with(suffix)) found.push_back(name);
  }
  return found;
}

}  // namespace railhead::setup
