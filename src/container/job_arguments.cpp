// SPDX-License-Identifier: Apache-2.0
#include "container/job_arguments.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "container/job_signs.h"

namespace railhead::container {
namespace {

constexpr std::size_t kProgramArguments = 3;  // python3 -m torch.distributed.run
constexpr std::size_t kMaxArguments = 4096;
constexpr std::size_t kMaxWord = 255;

/// The first of these words that the text holds; "" where it holds none.
std::string word_in(std::string_view text, std::string_view words) {
  for (const auto word : split(words, '|')) {
    if (text.find(word) != std::string_view::npos) return std::string(word);
  }
  return "";
}

bool holds_one_of(std::string_view text, std::string_view words) {
  return words.empty() || !word_in(text, words).empty();
}

/// "--tp_size" as "--tp-size"; the value behind '=' apart.
struct Argument {
  std::string name;
  std::string value;
};

/// Whether `argument` is one by itself or "--name=value".
Argument split_argument(std::string_view argument) {
  const auto equals = argument.find('=');
  Argument parts{std::string(argument.substr(0, equals)), ""};
  std::ranges::replace(parts.name, '_', '-');
  if (equals != std::string_view::npos) parts.value = argument.substr(equals + 1);
  return parts;
}

struct FoundSign {
  const JobSign* sign;
  std::string value;
};

/// Arguments of a shell script that starts the program are one text: "sh -c 'vllm serve …'".
std::vector<std::string_view> words_of(std::string_view command_line) {
  std::vector<std::string_view> words;
  for (const auto argument : split(command_line, '\0')) {
    const bool is_script = words.size() == 2 && (words[1] == "-c" || words[1] == "-lc");
    if (!is_script) words.push_back(argument);
    if (!is_script || words.size() >= kMaxArguments) continue;
    for (const auto word : split_words(argument)) words.push_back(word);
  }
  if (words.size() > kMaxArguments) words.resize(kMaxArguments);
  return words;
}

/// The last component of what is run; "" where that is no name.
std::string_view program_of(std::string_view word) {
  const auto name = word.substr(word.rfind('/') + 1);
  return name.size() > kMaxWord || name.starts_with('-') ? std::string_view() : name;
}

std::string programs_of(const std::vector<std::string_view>& words) {
  std::string programs;
  for (std::size_t i = 0; i < words.size() && i < kProgramArguments; ++i) {
    if (!words[i].starts_with('-')) programs += std::string(program_of(words[i])) + " ";
  }
  return programs;
}

/// Of a name those words that tell a program of kJobArguments: a first argument may be a secret.
std::string known_programs_in(std::string_view name) {
  std::string known;
  for (const auto& sign : kJobArguments) {
    for (const auto program : split(sign.program, '|')) {
      const bool is_new = !program.empty() && known.find(program) == std::string::npos;
      if (is_new && name.find(program) != std::string_view::npos) known.append(program).append("+");
    }
  }
  if (!known.empty()) known.pop_back();
  return known;
}

std::vector<FoundSign> find_signs(const std::vector<std::string_view>& words) {
  std::vector<FoundSign> found;
  const auto programs = programs_of(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) continue;
    auto [name, value] = split_argument(words[i]);
    for (const auto& sign : kJobArguments) {
      if (sign.name != name || !holds_one_of(programs, sign.program)) continue;
      const bool is_next = value.empty() && i + 1 < words.size() && !words[i + 1].starts_with('-');
      if (is_next) value = words[i + 1];
      if (holds_one_of(to_lower(value), sign.values)) found.push_back({&sign, value});
    }
  }
  return found;
}

/// Where Ray's head is: "10.0.0.1:6379" without the port.
std::string_view host_of(std::string_view address) {
  return address.substr(0, address.rfind(':'));
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b ? a : a * b;
}

}  // namespace

JobSize job_size_of_arguments(std::string_view command_line) {
  JobSize size;
  std::uint64_t ranks = 1;
  std::uint64_t replicas = 1;
  bool experts = false;
  bool factors = false;
  std::string head;
  std::string own;
  const auto most = [](std::optional<std::uint64_t>& into,
                       const std::optional<std::uint64_t>& count) {
    if (count) into = std::max(into.value_or(0), *count);
  };
  for (const auto& [sign, value] : find_signs(words_of(command_line))) {
    const auto count = count_of(value);
    switch (sign->says) {
      case Says::nodes: most(size.nodes, count); break;
      case Says::ranks: most(size.ranks, count); break;
      case Says::rank_factor:
        ranks = product(ranks, count.value_or(1));
        factors = factors || count;
        break;
      case Says::expert_factor: replicas = product(replicas, count.value_or(1)); break;
      case Says::experts: experts = true; break;
      case Says::asks: size.asks = sign->name; break;
      case Says::gcs_address: head = value.substr(0, kMaxWord); break;
      case Says::node_address: own = value.substr(0, kMaxWord); break;
      default: break;  // of variables alone
    }
  }
  if (experts) ranks = product(ranks, replicas);
  if (factors || (experts && replicas > 1)) most(size.ranks, ranks);
  if (!head.empty() && !own.empty() && host_of(head) != own) most(size.nodes, 2);
  return size;
}

std::string shortened_arguments(std::string_view command_line) {
  const auto words = words_of(command_line);
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kProgramArguments; ++i) {
    if (!words[i].starts_with('-')) text += known_programs_in(program_of(words[i])) + '\0';
  }
  // Whatever follows is no program.
  while (std::ranges::count(text, '\0') < static_cast<std::ptrdiff_t>(kProgramArguments))
    text += '\0';
  // Of addresses it counts only which are the same.
  std::vector<std::string> hosts;
  const auto stand_in = [&](std::string_view host) {
    const auto at = std::ranges::find(hosts, host) - hosts.begin();
    if (at == std::ssize(hosts)) hosts.emplace_back(host);
    return "=host-" + std::to_string(at + 1);
  };
  for (const auto& [sign, value] : find_signs(words)) {
    const auto address = std::string_view(value).substr(0, kMaxWord);
    text += std::string(sign->name);
    if (sign->says == Says::gcs_address && !value.empty()) {
      text += stand_in(host_of(address));
    } else if (sign->says == Says::node_address && !value.empty()) {
      text += stand_in(address);
    } else if (count_of(value)) {
      text += "=" + value.substr(0, kMaxWord);
    }
    if (!sign->values.empty()) text += "=" + word_in(to_lower(value), sign->values);
    text += '\0';
  }
  return text;
}

}  // namespace railhead::container
