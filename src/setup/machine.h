// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "host/host.h"
#include "host/tree.h"

namespace railhead::setup {

/// The machine that is prepared: read as every machine is, and changed as a tree of files.
struct Machine {
  std::unique_ptr<host::Host> host;
  std::unique_ptr<host::Tree> tree;
  bool is_live = false;  ///< a kernel runs on it, and not only a tree of files

  static Result<Machine> open(const std::string& root);
};

/// What reading says, or "": for what is only looked for.
std::string text_of(host::Host& host, const std::string& path);

/// The same without white space at its ends.
std::string line_in(host::Host& host, const std::string& path);

/// The last name of where a link points; "" where there is none.
std::string link_name(host::Host& host, const std::string& path);

/// Whether a folder is there, and may be looked into.
bool has_folder(host::Host& host, const std::string& path);

/// A text with one space between its words: the kernel prints several numbers with tabs.
std::string with_single_spaces(std::string_view text);

/// Names that end with `suffix`, in their order; those of a folder that cannot be read: none.
std::vector<std::string> names_in(host::Host& host, const std::string& folder,
                                  std::string_view suffix);

}  // namespace railhead::setup
