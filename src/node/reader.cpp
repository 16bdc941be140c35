// SPDX-License-Identifier: Apache-2.0
#include "node/reader.h"

#include <cerrno>
#include <limits>

#include "base/hex.h"
#include "base/text.h"
#include "base/utf8.h"
#include "host/host_error.h"

namespace railhead::node {
std::optional<std::pair<std::uint64_t, std::string>> parse_numbered_name(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_unsigned(text.substr(0, colon));
  const auto name = trim(text.substr(colon + 1));
  if (!number || name.empty()) return std::nullopt;
  return std::pair{*number, std::string(name)};
}

std::optional<unsigned> trailing_number(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = parse_unsigned(name.substr(prefix.size()));
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<unsigned>(*number);
}

bool is_hex_groups(std::string_view text, std::size_t groups) {
  if (text.size() != groups * 5 - 1) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at % 5 == 4 ? text[at] != ':' : !is_hex(text[at])) return false;
  }
  return true;
}

template <typename Question>
auto Reader::ask(Question question, Answers who) -> decltype(question()) {
  if (shortage_) return host::kAbsent;
  auto answer = question();
  if (answer) return answer;
  const int number = host::errno_of(answer.error());
  const bool is_drivers = number == ENOMEM && who == Answers::driver;
  if (host::means_shortage(number) && !is_drivers) shortage_ = answer.error();
  return answer;
}

Result<std::optional<std::string>> Reader::read(const std::string& path, host::Keep keep) {
  return ask([&] { return host_.read_keeping(path, keep); }, Answers::driver);
}

std::optional<std::string> Reader::raw(const std::string& path, host::Keep keep) {
  auto content = read(path, keep);
  if (content) return *std::move(content);
  failed(path, content.error());
  return std::nullopt;
}

std::optional<std::string> Reader::quiet(const std::string& path, host::Keep keep) {
  auto content = read(path, keep);
  if (content) return *std::move(content);
  return std::nullopt;
}

std::optional<std::string> Reader::text(const std::string& path, host::Keep keep) {
  return checked_text(path, raw(path, keep));
}

std::optional<std::string> Reader::text_if_any(const std::string& path) {
  auto content = read(path, host::keep_line);
  if (content) return checked_text(path, *std::move(content));
  if (content.error().code != ErrorCode::unavailable) failed(path, content.error());
  return std::nullopt;
}

std::optional<std::string> Reader::checked_text(const std::string& path,
                                                std::optional<std::string> raw) {
  if (!raw) return std::nullopt;
  const auto trimmed = trim(*raw);
  if (trimmed.empty()) return std::nullopt;
  if (trimmed.size() > kMaxAttributeBytes) {
    malformed(path, std::to_string(trimmed.size()) + " bytes are too many for an attribute");
    return std::nullopt;
  }
  if (!is_plain_text(trimmed)) {
    malformed(path, in_quotes(trimmed) + " is not one line of text");
    return std::nullopt;
  }
  return std::string(trimmed);
}

std::optional<std::uint64_t> Reader::number(const std::string& path, std::uint64_t limit) {
  return checked_number(path, text(path, host::keep_numbers), limit);
}

std::optional<std::optional<std::uint64_t>> Reader::slot(const std::string& path,
                                                         std::uint64_t limit) {
  auto content = read(path, host::keep_numbers);
  if (content && !*content) return std::nullopt;
  if (!content) {
    failed(path, content.error());
    return std::optional<std::uint64_t>();
  }
  return checked_number(path, checked_text(path, *std::move(content)), limit);
}

std::optional<std::uint64_t> Reader::checked_number(const std::string& path,
                                                    const std::optional<std::string>& text,
                                                    std::uint64_t limit) {
  if (!text) return std::nullopt;
  const auto number = parse_number(*text);
  if (number && *number <= limit) return *number;
  malformed(path, in_quotes(*text) + (number ? " is out of range" : " is not a number"));
  return std::nullopt;
}

std::optional<int> Reader::number_or_minus_one(const std::string& path, int limit) {
  const auto value = text(path, host::keep_numbers);
  if (!value || *value == "-1") return std::nullopt;
  const auto number = parse_signed(*value);
  if (number && *number >= 0 && *number <= limit) return static_cast<int>(*number);
  malformed(path, in_quotes(*value) + (number ? " is out of range" : " is not a number"));
  return std::nullopt;
}

std::optional<std::string> Reader::link(const std::string& path) {
  const auto target = ask([&] { return host_.readlink(path); }, Answers::kernel);
  if (!target) {
    failed(path, target.error());
    return std::nullopt;
  }
  if (!*target) return std::nullopt;
  return host::join_link(path, **target);
}

std::optional<std::vector<std::string>> Reader::list(const std::string& path) {
  auto entries = ask([&] { return host_.list(path); }, Answers::kernel);
  if (!entries) {
    failed(path, entries.error());
    return std::nullopt;
  }
  if (!*entries) return std::nullopt;
  std::erase_if(**entries, [&](const std::string& name) {
    if (is_plain_text(name)) return false;
    malformed(path, "the name " + in_quotes(name) + " is not text");
    return true;
  });
  return *std::move(entries);
}

std::vector<std::string> Reader::names(const std::string& path) {
  return list(path).value_or(std::vector<std::string>{});
}

std::optional<host::DeviceNode> Reader::device(const std::string& path) {
  const auto node = ask([&] { return host_.device(path); }, Answers::kernel);
  if (node) return *node;
  failed(path, node.error());
  return std::nullopt;
}

std::optional<std::string> Reader::devlink_info(const std::string& pci_address) {
  auto answer = ask([&] { return host_.devlink_info(pci_address); }, Answers::driver);
  if (answer) return *std::move(answer);
  failed(host::devlink_path(pci_address), answer.error());
  return std::nullopt;
}

void Reader::malformed(const std::string& path, std::string what) {
  add({Problem::Kind::malformed, path, std::move(what)});
}

void Reader::unseen(const std::string& link_path, const std::string& folder) {
  if (!link(link_path)) return;
  add({Problem::Kind::unreadable, link_path, "it leads to " + folder + ", which cannot be read"});
}

void Reader::report(const std::vector<Problem>& problems) {
  for (const auto& problem : problems) add(problem);
}

void Reader::failed(const std::string& path, const Error& error) {
  const bool bad = error.code == ErrorCode::malformed || error.code == ErrorCode::too_large;
  std::string_view what = error.message;
  if (what.starts_with(path + ": ")) what.remove_prefix(path.size() + 2);
  add({bad ? Problem::Kind::malformed : Problem::Kind::unreadable, path, std::string(what)});
}

void Reader::add(Problem problem) {
  if (problems_.size() < kMaxProblems) {
    problems_.push_back(std::move(problem));
  } else if (problems_.size() == kMaxProblems) {
    problems_.push_back(
        {Problem::Kind::malformed, problem.path,
         "more than " + std::to_string(kMaxProblems) + " problems, the rest is not listed"});
  }
}

}  // namespace railhead::node
