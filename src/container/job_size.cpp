// SPDX-License-Identifier: Apache-2.0
#include "container/job_size.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "base/find.h"
#include "base/text.h"
#include "base/variable.h"
#include "container/job_signs.h"
#include "gpu/vendors.h"

namespace railhead::container {
namespace {

constexpr std::string_view kWorldSize = "WORLD_SIZE";
constexpr std::string_view kRank = "RANK";

std::optional<std::uint64_t> positive(std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number == 0) return std::nullopt;
  return *number;
}

/// A pattern has one '*', for at least one character.
bool is_named(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  return name.size() >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

constexpr std::size_t kMaxName = 64;  ///< Volcano's have the name of a task in them

/// What names of kJobVariables begin with, up to their '*', in the order of their first characters;
/// those with the first character c are from `begin[c]` to `begin[c + 1]`.
struct Heads {
  std::array<std::string_view, kJobVariables.size()> all{};
  std::array<std::uint8_t, 257> begin{};
};

constexpr Heads heads_of_variables() {
  Heads heads;
  std::uint8_t count = 0;
  for (std::size_t c = 0; c < 256; ++c) {
    heads.begin[c] = count;
    for (const auto& sign : kJobVariables) {
      if (static_cast<unsigned char>(sign.name.front()) != c) continue;
      heads.all[count++] = sign.name.substr(0, sign.name.find('*'));
    }
  }
  heads.begin[256] = count;
  return heads;
}

/// Of dozens of variables nearly all differ from every name there already, in the first two
/// characters.
bool begins_as_one(std::string_view variable) {
  static constexpr auto kHeads = heads_of_variables();
  static_assert(std::ranges::all_of(kHeads.all, [](auto head) { return head.size() >= 2; }));
  if (variable.size() < 2) return false;
  const auto c = static_cast<unsigned char>(variable.front());
  return std::any_of(
      kHeads.all.begin() + kHeads.begin[c], kHeads.all.begin() + kHeads.begin[c + 1],
      [&](std::string_view head) { return variable[1] == head[1] && variable.starts_with(head); });
}

const JobSign* sign_of(std::string_view name) {
  return find_where(kJobVariables, [&](const auto& sign) { return is_named(name, sign.name); });
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.substr(0, kMaxName + 1).find('='));
}

void most(std::optional<std::uint64_t>& into, const std::optional<std::uint64_t>& count) {
  if (count) into = std::max(into.value_or(0), *count);
}

/// Adds what the last value of one variable says.
void add_sign(const JobSign& sign, std::string_view value, JobSize& size,
              std::optional<std::uint64_t>& pods) {
  const auto count = count_of(value);
  switch (sign.says) {
    case Says::nodes: return most(size.nodes, count);
    case Says::ranks: return most(size.ranks, count);
    case Says::nodes_summed:
      if (count && *count <= 1'000'000) pods = pods.value_or(0) + *count;
      return;
    case Says::asks:
      if (!value.empty()) size.asks = sign.name;
      return;
    default: return;  // of arguments alone, or read below
  }
}

}  // namespace

std::optional<std::uint64_t> count_of(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return positive(text);
  const auto least = positive(text.substr(0, colon));
  const auto largest = positive(text.substr(colon + 1));
  if (!least || !largest || (*least == 1 && *largest != 1)) return std::nullopt;
  return least;
}

bool is_job_variable(std::string_view variable) {
  if (!begins_as_one(variable)) return false;
  const auto name = name_of(variable);
  return name.size() < variable.size() && variable[name.size()] == '=' && sign_of(name) != nullptr;
}

JobSize job_size(const std::vector<std::string_view>& all) {
  // Few containers have any of these, and each name below is looked for by itself.
  std::vector<std::string_view> env;
  std::ranges::copy_if(all, std::back_inserter(env), is_job_variable);
  if (env.empty()) return {};
  JobSize size;
  std::optional<std::uint64_t> pods;
  std::set<std::string_view> seen;
  for (auto variable = env.rbegin(); variable != env.rend(); ++variable) {
    const auto name = name_of(*variable);
    if (!seen.insert(name).second) continue;  // set again later
    add_sign(*sign_of(name), trim(variable->substr(name.size() + 1)), size, pods);
  }
  most(size.nodes, pods);
  const auto world = variable_in(env, kWorldSize);
  if (!size.nodes && world && variable_in(env, kRank)) size.nodes = positive(*world);
  return size;
}

JobSize larger(const JobSize& a, const JobSize& b) {
  JobSize size = a;
  most(size.nodes, b.nodes);
  most(size.ranks, b.ranks);
  if (size.asks.empty()) size.asks = b.asks;
  return size;
}

bool asks_for_all_gpus(const std::vector<std::string_view>& env) {
  return std::ranges::any_of(gpu::kGpuRows, [&](const gpu::GpuRow& row) {
    return !row.variable.empty() && variable_in(env, row.variable) == "all";
  });
}

}  // namespace railhead::container
