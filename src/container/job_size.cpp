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

/// The first four bytes of a name, and which of them count: a name may be shorter up to its '*'.
struct Head {
  std::uint32_t bytes = 0;
  std::uint32_t mask = 0;
};

constexpr std::size_t kHeadBytes = sizeof(std::uint32_t);

constexpr std::uint32_t first_bytes(std::string_view text) {
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < std::min(text.size(), kHeadBytes); ++i) {
    bytes |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  }
  return bytes;
}

/// Those of kJobVariables, in the order of their first bytes; those with the first byte c are from
/// `begin[c]` to `begin[c + 1]`.
struct Heads {
  std::array<Head, kJobVariables.size()> all{};
  std::array<std::uint8_t, 257> begin{};
};

constexpr Heads heads_of_variables() {
  Heads heads;
  std::uint8_t count = 0;
  for (std::size_t c = 0; c < 256; ++c) {
    heads.begin[c] = count;
    for (const auto& sign : kJobVariables) {
      if (static_cast<unsigned char>(sign.name.front()) != c) continue;
      const auto head = sign.name.substr(0, sign.name.find('*'));
      const std::size_t unused = kHeadBytes - std::min(head.size(), kHeadBytes);
      heads.all[count++] = {first_bytes(head), ~std::uint32_t{0} >> (8 * unused)};
    }
  }
  heads.begin[256] = count;
  return heads;
}

/// Of dozens of variables nearly all differ from every name there already.
bool begins_as_one(std::string_view variable) {
  static constexpr auto kHeads = heads_of_variables();
  static_assert(std::ranges::all_of(
      kJobVariables, [](const auto& sign) { return sign.name.size() >= kHeadBytes; }));
  if (variable.size() < kHeadBytes) return false;
  const std::uint32_t bytes = first_bytes(variable.substr(0, kHeadBytes));
  const std::size_t c = bytes & 0xffU;
  return std::any_of(kHeads.all.begin() + kHeads.begin[c], kHeads.all.begin() + kHeads.begin[c + 1],
                     [&](const Head& head) { return (bytes & head.mask) == head.bytes; });
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
