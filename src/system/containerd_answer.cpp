// SPDX-License-Identifier: Apache-2.0
// What containerd does with its files before its plugins start: LoadConfig, mergeConfig and
// ValidateV2 of services/server/config/config.go and New of services/server/server.go in 1.7;
// LoadConfig, mergeConfig and ValidateVersion of cmd/containerd/server/config/config.go and New of
// cmd/containerd/server/server.go in 2.0.7, 2.2.5, 2.3.4 and 2.4.2.
#include <algorithm>
#include <map>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "system/containerd_types.h"
#include "system/runtime_answer.h"

namespace railhead::system {
namespace {

using data::Value;
using Release = ContainerdRelease;

constexpr std::string_view kCriPlugin = "io.containerd.grpc.v1.cri";
/// Without one of these containerd 2 has no CRI plugin, and nothing starts NRI
/// (plugins/cri/cri.go).
constexpr std::string_view kPartsOfCri[] = {"io.containerd.cri.v1.runtime",
                                            "io.containerd.cri.v1.images"};
/// What CRI does without, by the beginning of its name, or by its name in a file of version 1.
constexpr std::string_view kNoPartOfCri[] = {"io.containerd.snapshotter.v1.aufs",
                                             "io.containerd.snapshotter.v1.btrfs",
                                             "io.containerd.snapshotter.v1.blockfile",
                                             "io.containerd.snapshotter.v1.devmapper",
                                             "io.containerd.snapshotter.v1.erofs",
                                             "io.containerd.snapshotter.v1.native",
                                             "io.containerd.snapshotter.v1.zfs",
                                             "io.containerd.tracing.processor.v1.",
                                             "io.containerd.internal.v1.opt",
                                             "io.containerd.internal.v1.restart",
                                             "io.containerd.internal.v1.tracing",
                                             "io.containerd.image-verifier.v1.",
                                             "io.containerd.runtime.v1.linux",
                                             "io.containerd.grpc.v1.nri",
                                             "aufs",
                                             "btrfs",
                                             "devmapper",
                                             "zfs",
                                             "restart",
                                             "otlp",
                                             "linux"};

/// A text of a list, and the file that has it.
struct Named {
  std::string text;
  const ConfigFile* file = nullptr;
  data::Mark mark{};
  std::string said{};  ///< in the file, where the release takes it for `text`
};

/// The newest version of a file that the release knows (version/version.go).
std::int64_t newest_version(Release release) {
  return release == Release::v1_7 ? 2 : release < Release::v2_3 ? 3 : 4;
}

/// Ends a reading: the runtime does not start, or that is not known.
struct Stop {
  RuntimeReason reason;
};

class ContainerdReader {
 public:
  ContainerdReader(const ContainerdFiles& files, Release release)
      : files_(files),
        release_(release),
        version_(is_1() ? 1 : newest_version(release)) {}

  ContainerdReading make() && {
    ContainerdReading out;
    try {
      load();
      validate();
      start();
      decode();
      out.answer = std::move(answer_);
      out.answer.starts = Known::yes;
    } catch (Stop& stop) {
      out.answer.starts = stop.reason.is_failure ? Known::no : Known::unknown;
      out.answer.nri = stop.reason.is_failure ? Known::no : Known::unknown;
      out.answer.reasons = {std::move(stop.reason)};
    }
    out.version = version_;
    return out;
  }

 private:
  [[nodiscard]] bool is_1() const { return release_ == Release::v1_7; }

  [[noreturn]] static void stop(std::string_view code, const ConfigFile* file, data::Mark mark,
                                std::string text, bool is_failure = true) {
    throw Stop{{.code = code,
                .path = file == nullptr ? "" : file->path,
                .mark = mark,
                .text = std::move(text),
                .is_failure = is_failure}};
  }

  void load() {
    const bool has_none = files_.files.size() == 1 && files_.files[0].content.absent();
    if (has_none && !files_.is_named) return;
    for (const auto& file : files_.files) merge(file);
    if (!files_.bad_patterns.empty()) {
      const auto& bad = files_.bad_patterns.front();
      throw Stop{{.code = "import-pattern",
                  .path = bad.path,
                  .text = "imports " + in_quotes(bad.pattern) + ", which is no pattern",
                  .is_failure = true}};
    }
    if (files_.unread.empty()) return;
    const auto& unread = files_.unread.front();
    throw Stop{{.code = "import-unread",
                .path = unread.path,
                .text = "the files that " + in_quotes(unread.pattern) + " names are not known"}};
  }

  void merge(const ConfigFile& file) {
    const bool is_main = &file == &files_.files.front();
    if (file.content.absent())
      stop(is_main ? "missing" : "import-missing", &file, {},
           is_main ? "is not there" : "is imported, and is not there");
    if (file.is_beyond_us) stop("unread", &file, {}, file.content.error, false);
    if (!file.content.value) stop("malformed", &file, {}, file.content.error);
    const auto& root = *file.content.value;
    if (!is_1() && file.text.starts_with("\xEF\xBB\xBF"))
      stop("malformed", &file, {1, 1}, "begins with a byte order mark");
    if (is_1() && is_read_otherwise_by_1(root, file.text))
      stop("unread", &file, {}, "has a date, or an escape in the name of a table", false);
    if (auto reason = bad_type(root, release_)) {
      reason->path = file.path;
      throw Stop{*std::move(reason)};
    }
    take_version(file);
    take_lists(file);
    take_plugins(file);
    take_texts(file);
  }

  /// 2.x makes the newest version of each file that is older; 2.3 takes none that is newer than the
  /// first that says one.
  void take_version(const ConfigFile& file) {
    const auto said = values_of(*file.content.value, "version", release_);
    const auto mark = said.empty() ? data::Mark{} : said.back()->mark;
    std::int64_t version = said.empty() ? 0 : said.back()->as_signed().value_or(0);
    if (release_ == Release::v2_3) {
      if (first_version_ == 0) first_version_ = version;
      if (version > first_version_)
        stop("version-higher", &file, mark,
             "version " + std::to_string(version) + " is higher than " +
                 std::to_string(first_version_) + " of the file that imports it");
    }
    const bool is_old =
        release_ >= Release::v2_3 ? version < version_ : !is_1() && (version == 0 || version == 1);
    if (is_old) {
      check_migration(version, version_, &file, mark);
      is_renamed_ = version <= 1 && version_ > 1;
      version = std::max(version, version_);
    } else {
      is_renamed_ = false;
    }
    if (version == 0) return;
    version_ = version;
    version_by_ = {"", said.empty() ? nullptr : &file, mark};
  }

  /// containerd 2 ends where it has no migration from a version (config.go, MigrateConfigTo).
  void check_migration(std::int64_t from, std::int64_t to, const ConfigFile* file,
                       data::Mark mark) const {
    if (from >= to || (from >= 0 && to <= newest_version(release_))) return;
    stop("version", file, mark,
         "no release migrates version " + std::to_string(from) + " to " + std::to_string(to));
  }

  void take_lists(const ConfigFile& file) {
    for (auto [key, into] :
         {std::pair{"disabled_plugins", &disabled_}, std::pair{"required_plugins", &required_}}) {
      const auto lists = values_of(*file.content.value, key, release_);
      if (lists.empty()) continue;
      for (const auto& item : lists.back()->items)
        into->push_back({renamed(item.scalar), &file, item.mark, item.scalar});
    }
  }

  /// What 2.x calls a plugin that a file of version 1 names (config.go, v1MigratePluginName).
  [[nodiscard]] std::string renamed(const std::string& name) const {
    if (!is_renamed_ || name.find('.') != std::string::npos) return name;
    if (name == "cri" || name == "nri") return "io.containerd.grpc.v1." + name;
    return name + ".of-version-1";
  }

  /// 1.7 takes a section whole where a later file has it, 2.x merges them key by key.
  void take_plugins(const ConfigFile& file) {
    for (const auto* plugins : values_of(*file.content.value, "plugins", release_)) {
      for (const auto& [name, mark, value] : plugins->entries) {
        if (is_1()) names_.push_back({name, &file, value.mark});
        if (contains(kCriPlugins, std::string_view(name))) take_cri(value, file);
        if (name != kNriPlugin && !(is_1() && name == kNriPluginBefore2)) continue;
        auto& section = sections_[name];
        if (is_1() || value.kind != Value::Kind::map || section.whole) section = {};
        section.last = &file;
        section.mark = value.mark;
        if (value.kind != Value::Kind::map) section.whole = value;
        for (const auto& entry : value.entries) section.take(entry, file);
      }
    }
  }

  void take_cri(const Value& section, const ConfigFile& file) {
    auto reason = bad_cri_type(section, release_);
    if (!reason || bad_cri_) return;
    reason->path = file.path;
    bad_cri_ = std::move(reason);
  }

  void take_texts(const ConfigFile& file) {
    const auto& root = *file.content.value;
    for (const auto* debug : values_of(root, "debug", release_)) {
      check_word(file, *debug, "level",
                 {"panic", "fatal", "error", "warn", "warning", "info", "debug", "trace"});
      check_word(file, *debug, "format", {"text", "json"});
    }
    for (const auto* timeouts : values_of(root, "timeouts", release_)) {
      for (const auto& entry : timeouts->entries) {
        if (is_go_duration(entry.value.scalar)) {
          bad_timeouts_.erase(entry.key);
        } else {
          bad_timeouts_[entry.key] = {in_quotes(entry.value.scalar) + " is no duration", &file,
                                      entry.value.mark};
        }
      }
    }
  }

  /// Notes a word of [debug] that is none of these; a later file may say another.
  void check_word(const ConfigFile& file, const Value& debug, const std::string& key,
                  std::initializer_list<std::string_view> words) {
    const auto said = values_of(debug, key, release_);
    if (said.empty() || said.back()->scalar.empty()) return;
    const auto word = key == "level" ? to_lower(said.back()->scalar) : said.back()->scalar;
    bad_words_.erase(key);
    if (std::ranges::find(words, word) == words.end())
      bad_words_[key] = {"debug." + key + " cannot be " + in_quotes(word), &file,
                         said.back()->mark};
  }

  void validate() {
    if (version_ > newest_version(release_))
      stop("version", version_by_.file, version_by_.mark,
           "version " + std::to_string(version_) + " is higher than " +
               std::to_string(newest_version(release_)));
    if (is_1() && version_ != 2) return;
    for (const auto* list : {&disabled_, &required_}) {
      for (const auto& name : *list) {
        if (!is_uri(name.text))
          stop("plugin-name", name.file, name.mark,
               in_quotes(name.said) + " is not the whole name of a plugin");
      }
    }
    for (const auto& name : names_) {
      if (!is_uri(name.text))
        stop("plugin-name", name.file, name.mark,
             "[plugins." + in_quotes(name.text) + "] is not the whole name of a plugin");
    }
  }

  [[nodiscard]] bool is_uri(std::string_view name) const {
    if (!is_1()) return name.find('.') != std::string_view::npos;
    return name.starts_with("io.containerd.") && std::ranges::count(name, '.') >= 3;
  }

  void start() {
    for (const auto* bad : {&bad_words_, &bad_timeouts_}) {
      if (bad->empty()) continue;
      const auto& first = bad->begin()->second;
      stop("value", first.file, first.mark, first.text);
    }
    if (!is_1()) check_migration(version_, newest_version(release_), version_by_.file, {});
  }

  [[nodiscard]] bool is_of_version_1() const { return is_1() && (version_ == 0 || version_ == 1); }

  [[nodiscard]] const Named* named(const std::vector<Named>& list, std::string_view uri) const {
    const auto name = is_of_version_1() ? uri.substr(uri.rfind('.') + 1) : uri;
    const auto at = std::ranges::find(list, name, &Named::text);
    return at == list.end() ? nullptr : &*at;
  }

  void note(std::string_view code, const ConfigFile* file, data::Mark mark, std::string text) {
    answer_.reasons.push_back({.code = code,
                               .path = file == nullptr ? files_.path : file->path,
                               .mark = mark,
                               .text = std::move(text)});
  }

  void decode() {
    const auto* disabled = named(disabled_, kNriPlugin);
    const std::string name(is_of_version_1() ? kNriPluginBefore2 : kNriPlugin);
    const auto at = sections_.find(name);
    const auto* section = at == sections_.end() ? nullptr : &at->second;
    if (disabled == nullptr && section != nullptr) check_section(*section);
    check_required();
    if (bad_cri_ && named(disabled_, kCriPlugin) == nullptr) throw Stop{*bad_cri_};
    answer_.nri = Known::yes;
    answer_.socket = std::string(kNriSocket);
    const auto other = std::string(is_of_version_1() ? kNriPlugin : kNriPluginBefore2);
    if (const auto wrong = sections_.find(other); is_1() && wrong != sections_.end())
      note("section-ignored", wrong->second.last, wrong->second.mark,
           "[plugins." + in_quotes(other) + "] says nothing in a file " +
               (is_of_version_1() ? "without version = 2" : "of version 2"));
    if (disabled != nullptr) {
      note("plugin-disabled", disabled->file, disabled->mark,
           "disabled_plugins has " + in_quotes(disabled->said));
      answer_.nri = Known::no;
    }
    check_cri();
    if (disabled == nullptr) take_section(section);
  }

  void check_required() const {
    for (const auto& name : required_) {
      const bool is_nri = named({name}, kNriPlugin) != nullptr;
      const bool is_cri = named({name}, kCriPlugin) != nullptr;
      const bool is_off = (is_nri && named(disabled_, kNriPlugin) != nullptr) ||
                          (is_cri && named(disabled_, kCriPlugin) != nullptr);
      if (is_off)
        stop("required-disabled", name.file, name.mark,
             in_quotes(name.said) + " is required, and disabled");
      if (is_nri || is_cri) continue;
      const bool is_never = is_of_version_1() && name.text.find('.') != std::string::npos;
      stop("required-unknown", name.file, name.mark,
           in_quotes(name.said) + (is_never ? " is required, and a file without version names no "
                                              "plugin so"
                                            : " is required, and may not be there"),
           is_never);
    }
  }

  /// NRI is started by CRI.
  void check_cri() {
    if (const auto* cri = named(disabled_, kCriPlugin)) {
      note("cri-disabled", cri->file, cri->mark,
           "disabled_plugins has " + in_quotes(cri->said) + ", which starts NRI");
      answer_.nri = Known::no;
    }
    for (const auto& name : disabled_) {
      const bool is_part =
          !is_1() && std::ranges::find(kPartsOfCri, name.text) != std::end(kPartsOfCri);
      const bool is_none = std::ranges::any_of(
          kNoPartOfCri, [&](std::string_view part) { return name.text.starts_with(part); });
      if (is_part) {
        note("cri-disabled", name.file, name.mark,
             "disabled_plugins has " + in_quotes(name.said) + ", which starts NRI");
        answer_.nri = Known::no;
      } else if (!is_none && answer_.nri == Known::yes && !is_known(name)) {
        note("disabled-unknown", name.file, name.mark,
             "disabled_plugins has " + in_quotes(name.said) + ", and CRI may need it");
        answer_.nri = Known::unknown;
      }
    }
  }

  [[nodiscard]] bool is_known(const Named& name) const {
    return named({name}, kNriPlugin) != nullptr || named({name}, kCriPlugin) != nullptr ||
           name.text == kNriPlugin || name.text == kCriPlugin || name.text == kNriPluginBefore2;
  }

  /// What files say of NRI, key by key.
  struct Section {
    struct Said {
      Value value;
      const ConfigFile* file = nullptr;
    };

    std::map<std::string, Said> keys;
    std::optional<Value> whole;  ///< where it is no table
    const ConfigFile* last = nullptr;
    data::Mark mark{};

    void take(const Value::Entry& entry, const ConfigFile& file) {
      auto& said = keys[entry.key];
      const bool both = said.value.kind == Value::Kind::map && entry.value.kind == Value::Kind::map;
      if (both) {
        for (const auto& inner : entry.value.entries) {
          std::erase_if(said.value.entries, [&](const auto& old) { return old.key == inner.key; });
          said.value.entries.push_back(inner);
        }
      } else {
        said.value = entry.value;
      }
      said.file = &file;
    }

    /// As containerd 2 writes it down to read it again: sorted, so that of two keys that differ in
    /// case the later in the alphabet counts.
    [[nodiscard]] Value value() const {
      if (whole) return *whole;
      Value table{.kind = Value::Kind::map, .scalar = {}, .items = {}, .entries = {}, .mark = mark};
      unsigned line = 0;
      for (const auto& [key, said] : keys) {
        table.entries.push_back({key, {++line, 0}, said.value});
      }
      return table;
    }
  };

  void check_section(const Section& section) const {
    auto reason = bad_nri_type(section.value(), release_);
    if (!reason) return;
    reason->path = section.last->path;
    for (const auto& [key, said] : section.keys) {
      if (said.value.mark.line == reason->mark.line) reason->path = said.file->path;
    }
    throw Stop{*std::move(reason)};
  }

  void take_section(const Section* section) {
    const Value none{
        .kind = Value::Kind::map, .scalar = {}, .items = {}, .entries = {}, .mark = {}};
    const Value table = section == nullptr ? none : section->value();
    const auto last_of = [&](std::string_view key) -> const Value* {
      const auto all = values_of(table, key, release_);
      return all.empty() ? nullptr : all.back();
    };
    const auto file_of = [&](const Value& value) {
      const ConfigFile* file = nullptr;
      for (const auto& [key, said] : section->keys) {
        if (said.value.mark.line == value.mark.line && said.value.scalar == value.scalar)
          file = said.file;
      }
      return file;
    };
    const auto* disable = last_of("disable");
    const bool is_disabled = disable != nullptr ? disable->as_bool().value_or(false) : is_1();
    if (disable != nullptr && is_disabled)
      note("disabled", file_of(*disable), disable->mark, "NRI has disable = true");
    if (disable == nullptr && is_disabled)
      note("disabled-by-default", section == nullptr ? nullptr : section->last, {},
           "nothing says disable = false of NRI");
    if (disable != nullptr && !is_disabled)
      note("enabled", file_of(*disable), disable->mark, "NRI has disable = false");
    if (disable == nullptr && !is_disabled)
      note("enabled-by-default", section == nullptr ? nullptr : section->last, {},
           "containerd 2 has NRI on by default");
    const auto* connections = last_of("disable_connections");
    const bool is_closed = connections != nullptr && connections->as_bool().value_or(false);
    if (is_closed)
      note("connections-disabled", file_of(*connections), connections->mark,
           "NRI has disable_connections = true");
    const auto* socket = last_of("socket_path");
    if (socket != nullptr && !socket->scalar.empty()) answer_.socket = socket->scalar;
    if (is_disabled || is_closed) answer_.nri = Known::no;
  }

  const ContainerdFiles& files_;
  Release release_;
  std::int64_t version_;
  std::int64_t first_version_ = 0;
  bool is_renamed_ = false;  ///< the file at hand is one of version 1 that is migrated
  Named version_by_{};
  std::vector<Named> disabled_;
  std::vector<Named> required_;
  std::vector<Named> names_;  ///< of all plugins; in 1.7
  std::map<std::string, Section> sections_;
  std::optional<RuntimeReason> bad_cri_;
  std::map<std::string, Named> bad_words_;
  std::map<std::string, Named> bad_timeouts_;
  RuntimeAnswer answer_;
};

}  // namespace

ContainerdReading read_as(const ContainerdFiles& files, ContainerdRelease release) {
  return ContainerdReader(files, release).make();
}

std::vector<ContainerdRelease> possible_releases(const ContainerdFiles& files) {
  const auto* said = files.files.empty() || !files.files.front().content.value
                         ? nullptr
                         : files.files.front().content.value->find("version");
  const auto version = said == nullptr ? 0 : said->as_signed().value_or(0);
  std::vector<Release> all;
  for (const auto release :
       {Release::v1_7, Release::v2_0, Release::v2_2, Release::v2_3, Release::v2_4}) {
    // 1.7 starts where a drop-in says a version that it knows.
    const bool is_possible = version <= newest_version(release) || version > 4 ||
                             read_as(files, release).answer.starts == Known::yes;
    if (is_possible) all.push_back(release);
  }
  return all;
}

}  // namespace railhead::system
