// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "shell/command_page.h"

namespace railhead::shell {
namespace {

OptionPage option_page(const CLI::Option& option) {
  OptionPage page;
  for (const auto& name : option.get_snames()) page.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) page.names.push_back("--" + name);
  page.is_argument = option.get_positional();
  if (page.is_argument) page.names = {option.get_name(true)};
  const bool is_switch = option.get_items_expected_max() == 0;
  page.shape = option.get_type_name();
  page.value_may_be_left_out = is_switch && !page.shape.empty();
  page.help = option.get_description();
  page.is_required = option.get_required();
  page.takes_several = page.is_argument && option.get_items_expected_max() > 1;
  page.group = page.is_argument ? "Arguments" : option.get_group();
  return page;
}

}  // namespace

std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return (parent != nullptr ? full_name(*parent) + " " : "") + command.get_name();
}

CommandPage page_of(const CLI::App& app, const std::string& parents) {
  CommandPage page;
  page.name = parents.empty() ? app.get_name() : parents + " " + app.get_name();
  page.help = app.get_description();
  page.footer = app.get_footer();
  for (const auto* option : app.get_options()) {
    if (!option->get_group().empty()) page.options.push_back(option_page(*option));
  }
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    page.commands.push_back(page_of(*command, page.name));
  }
  return page;
}

}  // namespace railhead::shell
