// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/host.h"
#include "host/keep.h"
#include "node/node.h"

namespace railhead::node {

/// What all parts of read_node() share: the host, and the list of what could not be used. Every
/// function answers nothing both for absent and for bad; the second leaves a Problem behind.
class Reader {
 public:
  /// A sysfs attribute is at most one page, and ours stay below the smallest there is (arm64 has
  /// pages of 64 KiB, too); text above it is not an attribute.
  static constexpr std::size_t kMaxAttributeBytes = 4096;
  /// A machine that is broken everywhere must not fill the memory with complaints.
  static constexpr std::size_t kMaxProblems = 256;

  explicit Reader(host::Host& host)
      : host_(host) {}

  /// Whole file, as it is. `keep`, here and below: see Host::read_keeping().
  std::optional<std::string> raw(const std::string& path, host::Keep keep);

  /// raw(), where not being able to read it is no Problem.
  std::optional<std::string> quiet(const std::string& path, host::Keep keep);

  /// One-line attribute without white space around it; nothing when it is empty.
  std::optional<std::string> text(const std::string& path, host::Keep keep = host::keep_line);

  /// text(), where a driver answers EINVAL or EIO for "there is none".
  std::optional<std::string> text_if_any(const std::string& path);

  /// Attribute in the notation of C (0x… or decimal), at most `limit`.
  std::optional<std::uint64_t> number(const std::string& path, std::uint64_t limit);

  /// number() of a slot of a table. Nothing at all: there is no such slot.
  std::optional<std::optional<std::uint64_t>> slot(const std::string& path, std::uint64_t limit);

  /// A number that says "none" with -1, such as numa_node.
  std::optional<int> number_or_minus_one(const std::string& path, int limit);

  /// Absolute path that a symbolic link points to, by its text.
  std::optional<std::string> link(const std::string& path);

  /// Names in a directory, sorted; nothing when the directory is absent or cannot be listed.
  std::optional<std::vector<std::string>> list(const std::string& path);

  /// The same where absent and empty mean the same.
  std::vector<std::string> names(const std::string& path);

  std::optional<host::DeviceNode> device(const std::string& path);

  /// Host::devlink_info; its path for malformed() is devlink_path().
  std::optional<std::string> devlink_info(const std::string& pci_address);

  void malformed(const std::string& path, std::string what);

  /// Says of a device that is listed, and whose folder could not be, that it was not seen, if its
  /// link is still there. A device that goes loses the link first (device_del() in Linux
  /// drivers/base/core.c), so that one that leads to nothing is a part of /sys that is missing.
  void unseen(const std::string& link, const std::string& folder);

  /// Adds what was found at an earlier reading of a part.
  void report(const std::vector<Problem>& problems);

  /// Set where we lacked a descriptor or memory: the machine was not seen, and nothing that was
  /// answered counts. Nothing more is asked from there on.
  [[nodiscard]] const std::optional<Error>& shortage() const { return shortage_; }

  [[nodiscard]] bool has_problems() const { return !problems_.empty(); }

  std::vector<Problem> take_problems() { return std::exchange(problems_, {}); }

 private:
  /// Who answers. ENOMEM of the kernel is a shortage that passes; a driver that answers it for an
  /// attribute means its device, and will answer it every time.
  enum class Answers : std::uint8_t { kernel, driver };

  template <typename Question>
  auto ask(Question question, Answers who) -> decltype(question());
  Result<std::optional<std::string>> read(const std::string& path, host::Keep keep);
  void failed(const std::string& path, const Error& error);
  void add(Problem problem);
  std::optional<std::uint64_t> checked_number(const std::string& path,
                                              const std::optional<std::string>& text,
                                              std::uint64_t limit);
  std::optional<std::string> checked_text(const std::string& path, std::optional<std::string> raw);

  host::Host& host_;
  std::vector<Problem> problems_;
  std::optional<Error> shortage_;
};

/// "4: ACTIVE" -> 4 and "ACTIVE", the form of enumerations in sysfs of RDMA devices.
std::optional<std::pair<std::uint64_t, std::string>> parse_numbered_name(std::string_view text);

/// The digits behind a prefix: trailing_number("uverbs12", "uverbs") is 12.
std::optional<unsigned> trailing_number(std::string_view name, std::string_view prefix);

/// `groups` groups of four hexadecimal digits between colons, as GUIDs and GIDs are printed.
bool is_hex_groups(std::string_view text, std::size_t groups);

}  // namespace railhead::node
