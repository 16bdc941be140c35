// SPDX-License-Identifier: Apache-2.0
// What CRI-O makes of its files: pkg/config/config.go (UpdateFromDropInFile, UpdateFromPath),
// internal/config/nri/nri.go and internal/criocli/criocli.go (mergeConfigFiles, mergeNRIConfig) of
// v1.26.0 to v1.36.0. Its TOML library (BurntSushi) takes a key in any case; of two that differ in
// case alone either may count (decode.go, unifyStruct: the order of a Go map).
#include <algorithm>
#include <array>
#include <span>

#include "base/contains.h"
#include "base/text.h"
#include "system/crio_types.h"
#include "system/runtime_answer.h"

namespace railhead::system {
namespace {

using data::Value;

constexpr unsigned kOnByDefault = 30;

/// The value of a key in a table. Absent: it has none.
const Value* value_of(const Value& table, std::string_view key) {
  const auto found = entries_in_any_case(table, key);
  return found.empty() ? nullptr : &found.front()->value;
}

bool is_table(const Value* value) {
  return value != nullptr && value->kind == Value::Kind::map;
}

class CrioReader {
 public:
  CrioReader(const CrioFiles& files, std::optional<unsigned> minor)
      : files_(files),
        minor_(minor) {}

  RuntimeAnswer make() && {
    for (const auto& file : files_.files) read(file);
    for (const auto& unread : files_.unread) {
      can_tell_ = false;
      note("unread", unread.path, {}, "cannot be read whole: " + unread.pattern);
    }
    options();
    const bool has_failure =
        std::ranges::any_of(answer_.reasons, [](const auto& reason) { return reason.is_failure; });
    answer_.starts = has_failure ? Known::no : can_tell_ ? Known::yes : Known::unknown;
    answer_.nri = has_failure ? Known::no : can_tell_ ? nri() : Known::unknown;
    if (answer_.socket.empty()) answer_.socket = std::string(kNriSocket);
    return std::move(answer_);
  }

 private:
  RuntimeReason& note(std::string_view code, const std::string& path, data::Mark mark,
                      std::string text) {
    answer_.reasons.push_back({.code = code, .path = path, .mark = mark, .text = std::move(text)});
    return answer_.reasons.back();
  }

  void fail(std::string_view code, const std::string& path, data::Mark mark, std::string text) {
    note(code, path, mark, std::move(text)).is_failure = true;
  }

  void read(const ConfigFile& file) {
    const bool is_main = &file == &files_.files.front();
    if (file.content.absent()) {
      // A drop-in that is not there is a link to nowhere.
      if (!is_main || files_.options.is_named) fail("missing", file.path, {}, "is not there");
      return;
    }
    if (!file.content.value && file.is_beyond_us) {
      can_tell_ = false;
      note("unread", file.path, {}, file.content.error);
      return;
    }
    if (!file.content.value) return fail("malformed", file.path, {}, file.content.error);
    const auto* crio = value_of(*file.content.value, "crio");
    note_twice(file, *file.content.value, std::array<std::string_view, 1>{"crio"});
    note_misplaced(file, *file.content.value, crio);
    if (crio == nullptr) return;
    if (!is_table(crio)) return fail("type", file.path, crio->mark, "\"crio\" is not a table");
    check_types(file, *crio, "");
    const auto* nri = value_of(*crio, "nri");
    if (nri == nullptr) return;
    if (!is_table(nri)) return fail("type", file.path, nri->mark, "\"crio.nri\" is not a table");
    note_twice(file, *crio, std::array<std::string_view, 1>{"nri"});
    note_twice(file, *nri, kCrioNriKeys);
    for (const auto& entry : nri->entries) {
      if (!contains(kCrioNriKeys, to_lower(entry.key)))
        note("unknown-key", file.path, entry.mark, "CRI-O has no key " + in_quotes(entry.key));
    }
    read_nri(file, *nri);
  }

  /// Of keys that differ in case alone it is not known which one counts.
  void note_twice(const ConfigFile& file, const Value& table,
                  std::span<const std::string_view> keys) {
    for (const auto key : keys) {
      const auto all = entries_in_any_case(table, key);
      if (all.size() < 2) continue;
      can_tell_ = false;
      note("unread", file.path, all.back()->mark, in_quotes(key) + " stands there more than once");
    }
  }

  /// Fails where a key has a value that CRI-O cannot decode.
  void check_types(const ConfigFile& file, const Value& table, const std::string& name) {
    for (const auto& [written, mark, value] : table.entries) {
      const auto key = to_lower(written);
      const auto type = type_in_crio(name, key);
      if (type && !has_crio_type(value, *type))
        fail("type", file.path, value.mark,
             in_quotes(written) + " is not " + std::string(to_string(*type)));
      if (!name.empty() || !is_table_of_crio(key)) continue;
      if (value.kind == Value::Kind::map) {
        check_types(file, value, key);
      } else {
        fail("type", file.path, value.mark, in_quotes("crio." + written) + " is not a table");
      }
    }
  }

  /// A key of NRI's that stands where CRI-O does not look for it.
  void note_misplaced(const ConfigFile& file, const Value& root, const Value* crio) {
    const auto look = [&](const Value& table, const std::string& name) {
      for (const auto& entry : table.entries) {
        if (is_crio_nri_key(to_lower(entry.key)))
          note("unknown-key", file.path, entry.mark,
               "CRI-O has no key " + in_quotes(entry.key) + " in " + name + ", but in [crio.nri]");
      }
    };
    look(root, "the file's top");
    for (const auto& [key, mark, value] : root.entries) {
      if (&value != crio && value.kind == Value::Kind::map) look(value, "[" + key + "]");
    }
    if (!is_table(crio)) return;
    look(*crio, "[crio]");
    for (const auto& [key, mark, value] : crio->entries) {
      if (to_lower(key) != "nri" && value.kind == Value::Kind::map)
        look(value, "[crio." + key + "]");
    }
  }

  void read_nri(const ConfigFile& file, const Value& nri) {
    read_flag(file, nri, "enable_nri", enabled_);
    read_flag(file, nri, "nri_disable_connections", closed_);
    for (const auto* key : {"nri_listen", "nri_plugin_dir", "nri_plugin_config_dir"}) {
      const auto* value = value_of(nri, key);
      if (value == nullptr) continue;
      if (value->kind != Value::Kind::scalar || !value->quoted)
        fail("type", file.path, value->mark, in_quotes(key) + " is not a text");
      if (std::string_view(key) == "nri_listen") answer_.socket = value->scalar;
    }
    for (const auto* key : {"nri_plugin_registration_timeout", "nri_plugin_request_timeout"}) {
      const auto* value = value_of(nri, key);
      if (value == nullptr) continue;
      const bool is_right =
          value->kind == Value::Kind::scalar &&
          (value->quoted ? is_go_duration(value->scalar) : value->as_signed().has_value());
      if (!is_right) fail("type", file.path, value->mark, in_quotes(key) + " is no duration");
    }
  }

  /// What was said last.
  struct Said {
    bool is_true = false;
    std::string path;
    data::Mark mark{};
  };

  void read_flag(const ConfigFile& file, const Value& nri, std::string_view key,
                 std::optional<Said>& into) {
    const auto* value = value_of(nri, key);
    if (value == nullptr) return;
    const auto all = entries_in_any_case(nri, key);
    for (const auto* entry : all) {
      if (!entry->value.as_bool())
        return fail("type", file.path, entry->mark, in_quotes(key) + " is not true or false");
    }
    into = Said{*value->as_bool(), file.path, value->mark};
  }

  void options() {
    option("enable-nri", files_.options.enable_nri, enabled_);
    option("nri-disable-connections", files_.options.nri_disable_connections, closed_);
    if (!files_.options.nri_listen.empty()) answer_.socket = files_.options.nri_listen;
  }

  void option(const std::string& name, const std::string& text, std::optional<Said>& into) {
    if (text.empty()) return;
    // As Go's strconv.ParseBool.
    constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "true", "TRUE", "True"};
    constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "false", "FALSE", "False"};
    const std::string path = "--" + name;
    if (!contains(kTrue, std::string_view(text)) && !contains(kFalse, std::string_view(text)))
      return fail("type", path, {}, in_quotes(text) + " is not true or false");
    into = Said{contains(kTrue, std::string_view(text)), path, {}};
  }

  Known nri() {
    if (closed_ && closed_->is_true)
      note("connections-disabled", closed_->path, closed_->mark, "nri_disable_connections = true");
    if (enabled_)
      note(enabled_->is_true ? "enabled" : "disabled", enabled_->path, enabled_->mark,
           enabled_->is_true ? "enable_nri = true" : "enable_nri = false");
    if (closed_ && closed_->is_true) return Known::no;
    if (enabled_) return enabled_->is_true ? Known::yes : Known::no;
    const bool is_on = minor_ && *minor_ >= kOnByDefault;
    note(!minor_ ? "default-by-release"
         : is_on ? "enabled-by-default"
                 : "disabled-by-default",
         files_.files.front().path, {},
         "no file says enable_nri: it is off before CRI-O 1.30, on from there");
    return !minor_ ? Known::unknown : is_on ? Known::yes : Known::no;
  }

  const CrioFiles& files_;
  std::optional<unsigned> minor_;
  std::optional<Said> enabled_;
  std::optional<Said> closed_;
  bool can_tell_ = true;
  RuntimeAnswer answer_;
};

}  // namespace

RuntimeAnswer judge_crio(const CrioFiles& files, std::optional<unsigned> minor) {
  return CrioReader(files, minor).make();
}

}  // namespace railhead::system
