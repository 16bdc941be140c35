// SPDX-License-Identifier: Apache-2.0
#include "setup/wanted.h"

#include <algorithm>

#include "base/text.h"
#include "data/value.h"

namespace railhead::setup {
namespace {

using data::Value;

/// Names of modules, units and sysctls become parts of paths.
bool is_name(std::string_view text, std::string_view more) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
         text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  more.find(static_cast<char>(c)) != std::string_view::npos;
         });
}

Result<std::vector<std::string>> names(const Value& value, std::string_view more) {
  auto found = TRY(value.as_strings());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (is_name(found[i], more)) continue;
    return data::malformed_at(value.items[i].mark, in_quotes(found[i]) + " is no name");
  }
  return found;
}

Result<Value> map_of(const Value& value, std::string_view key) {
  if (value.kind == Value::Kind::map) return value;
  return data::malformed_at(value.mark, std::string(key) + " is no map");
}

Status read_modules(const Value& value, Wanted& wanted) {
  wanted.modules = TRY(names(value, "_-"));
  // As the kernel names them: modprobe(8) takes both.
  for (auto& name : wanted.modules) std::replace(name.begin(), name.end(), '-', '_');
  return {};
}

Status read_memlock(const Value& value, Wanted& wanted) {
  for (const auto& [key, mark, entry] : TRY(map_of(value, "memlock")).entries) {
    if (key == "services") {
      wanted.memlock_services = TRY(names(entry, "_-@."));
    } else if (key == "limitsFile") {
      wanted.limits_file = TRY(entry.as_bool());
    } else {
      return data::malformed_at(mark, "memlock has no key " + in_quotes(key));
    }
  }
  return {};
}

Status read_nri(const Value& value, Wanted& wanted) {
  wanted.nri = TRY(value.as_bool());
  return {};
}

Status read_namespaces(const Value& value, Wanted& wanted) {
  const auto text = TRY(value.as_string());
  if (text != "shared" && text != "exclusive") {
    return data::malformed_at(value.mark, in_quotes(text) + " is neither shared nor exclusive");
  }
  wanted.rdma_namespaces = text == "shared" ? node::RdmaNetns::shared : node::RdmaNetns::exclusive;
  return {};
}

Status read_sysctl(const Value& value, Wanted& wanted) {
  for (const auto& [key, mark, entry] : TRY(map_of(value, "sysctl")).entries) {
    if (!is_name(key, "_-./")) return data::malformed_at(mark, in_quotes(key) + " is no name");
    const auto text = TRY(entry.as_string());
    if (text.find_first_of("\n\r") != std::string::npos || text.size() > 256) {
      return data::malformed_at(entry.mark, "no value of a sysctl");
    }
    wanted.sysctl[key] = text;
  }
  return {};
}

struct Key {
  std::string_view name;
  Status (*read)(const Value& value, Wanted& wanted);
};

constexpr Key kKeys[] = {
    {"modules", read_modules},           {"memlock", read_memlock}, {"nri", read_nri},
    {"rdmaNamespaces", read_namespaces}, {"sysctl", read_sysctl},
};

Status read_key(const Value::Entry& entry, Wanted& wanted) {
  for (const auto& key : kKeys) {
    if (key.name != entry.key) continue;
    const auto status = key.read(entry.value, wanted);
    return status ? status : Status(status.error().context(entry.key));
  }
  return data::malformed_at(entry.mark, "there is no key " + in_quotes(entry.key));
}

}  // namespace

Result<Wanted> parse_wanted(const std::string& source, std::string_view text) {
  const auto root = data::parse_yaml(text);
  if (!root) return root.error().context(source);
  Wanted wanted;
  wanted.source = source;
  if (root->kind != Value::Kind::map) {
    return Error{ErrorCode::malformed, source + ": no map of what is wanted"};
  }
  for (const auto& entry : root->entries) {
    const auto status = read_key(entry, wanted);
    if (!status) return status.error().context(source);
  }
  return wanted;
}

Result<Wanted> find_profile(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& profile : profiles()) {
    if (profile.name == name) return parse_wanted("profile " + std::string(name), profile.text);
    known.emplace_back(profile.name);
  }
  return Error{ErrorCode::usage, "there is no profile " + in_quotes(std::string(name)) + ", but " +
                                     join(known, ", ")};
}

}  // namespace railhead::setup
