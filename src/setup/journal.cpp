// SPDX-License-Identifier: Apache-2.0
#include "setup/journal.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "data/json.h"
#include "data/value.h"

namespace railhead::setup {
namespace {

constexpr std::array<std::string_view, 9> kKinds{
    "folder", "file", "module", "attribute", "functions", "unit", "pci", "link", "driver"};

bool has_text_before(JournalEntry::Kind kind) {
  using Kind = JournalEntry::Kind;
  return kind == Kind::attribute || kind == Kind::functions || kind == Kind::pci ||
         kind == Kind::link || kind == Kind::driver;
}

/// Files of a few KiB, and the journal has a few of them.
constexpr data::ParseLimits kJournalLimits{std::size_t{16} << 20, 16, 65536};

data::Json file_json(const host::FileContent& file) {
  return {{"text", file.bytes},
          {"mode", file.mode},
          {"uid", file.uid.value_or(0)},
          {"gid", file.gid.value_or(0)}};
}

data::Json entry_json(const JournalEntry& entry) {
  data::Json json{{"kind", kKinds[static_cast<std::size_t>(entry.kind)]},
                  {"subject", entry.subject},
                  {"step", entry.step}};
  if (entry.kind == JournalEntry::Kind::file)
    json["before"] = entry.file ? file_json(*entry.file) : data::Json(nullptr);
  if (has_text_before(entry.kind)) json["before"] = entry.attribute;
  json["ours"] = data::Json::array();
  for (const auto& text : entry.ours) json["ours"].push_back(text);
  return json;
}

Result<const data::Value*> member(const data::Value& value, std::string_view key) {
  const auto* found = value.find(key);
  if (found != nullptr) return found;
  return data::malformed_at(value.mark, "no " + std::string(key));
}

Result<std::string> text_at(const data::Value& value, std::string_view key) {
  const auto* found = TRY(member(value, key));
  return found->as_string();
}

Result<std::uint32_t> number_at(const data::Value& value, std::string_view key) {
  const auto* found = TRY(member(value, key));
  return static_cast<std::uint32_t>(TRY(found->as_unsigned()));
}

Result<JournalEntry> read_entry(const data::Value& value) {
  JournalEntry entry;
  const auto kind = TRY(text_at(value, "kind"));
  const auto* const known = std::find(kKinds.begin(), kKinds.end(), kind);
  if (known == kKinds.end())
    return data::malformed_at(value.mark, "there is no kind " + in_quotes(kind));
  entry.kind = static_cast<JournalEntry::Kind>(known - kKinds.begin());
  entry.subject = TRY(text_at(value, "subject"));
  entry.step = TRY(text_at(value, "step"));
  for (const auto& text : TRY(member(value, "ours"))->items)
    entry.ours.push_back(TRY(text.as_string()));
  if (has_text_before(entry.kind)) entry.attribute = TRY(text_at(value, "before"));
  if (entry.kind != JournalEntry::Kind::file) return entry;
  const auto& before = *TRY(member(value, "before"));
  if (before.kind == data::Value::Kind::null) return entry;
  auto text = TRY(text_at(before, "text"));
  const auto mode = TRY(number_at(before, "mode"));
  const auto uid = TRY(number_at(before, "uid"));
  const auto gid = TRY(number_at(before, "gid"));
  entry.file = host::FileContent{std::move(text), mode, uid, gid};
  return entry;
}

/// Whether what there is now is what we made of it. Else somebody else made it since, and that is
/// to come back.
bool is_ours(const JournalEntry& known, const JournalEntry& now) {
  if (known.kind == JournalEntry::Kind::file)
    return now.file && contains(known.ours, now.file->bytes);
  return !has_text_before(known.kind) || contains(known.ours, now.attribute);
}

/// The folders above a path, from the root down: "/var", "/var/lib".
std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  for (auto at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    folders.push_back(path.substr(0, at));
  return folders;
}

}  // namespace

Result<Journal> Journal::read(host::Tree& tree) {
  Journal journal;
  const auto text = TRY(tree.read(kPath, kJournalLimits.bytes));
  if (!text) return journal;
  const auto root = data::parse_json(*text, kJournalLimits);
  if (!root) return root.error().context(kPath);
  if (const auto* folders = root->find("folders")) {
    auto names = folders->as_strings();
    if (!names) return names.error().context(kPath);
    journal.folders_ = *std::move(names);
  }
  const auto* entries = root->find("entries");
  if (entries == nullptr) return Error{ErrorCode::malformed, std::string(kPath) + ": no entries"};
  for (const auto& value : entries->items) {
    auto entry = read_entry(value);
    if (!entry) return entry.error().context(kPath);
    journal.entries_.push_back(*std::move(entry));
  }
  return journal;
}

const JournalEntry* Journal::find(JournalEntry::Kind kind, const std::string& subject) const {
  for (const auto& entry : entries_) {
    if (entry.kind == kind && entry.subject == subject) return &entry;
  }
  return nullptr;
}

Status Journal::save(host::Tree& tree) {
  const auto known = folders_.size();
  auto status = write(tree);
  if (status) return status;
  // Nobody would know of them.
  (void)tree.remove_half_written(kPath);
  for (; folders_.size() > known; folders_.pop_back()) (void)tree.remove_folder(folders_.back());
  return status;
}

Status Journal::write(host::Tree& tree) {
  for (const auto& folder : folders_of(kPath)) {
    if (TRY(tree.make_folder(folder))) folders_.push_back(folder);
  }
  data::Json json{{"apiVersion", "railhead.io/v1alpha1"}, {"kind", "SetupJournal"}};
  json["folders"] = data::json_list(folders_, [](const std::string& path) { return path; });
  json["entries"] = data::json_list(entries_, entry_json);
  return tree.write(kPath, {data::to_json_text(json), 0600, {}, {}});
}

Status Journal::note(host::Tree& tree, const JournalEntry& entry) {
  for (auto& known : entries_) {
    if (known.kind != entry.kind || known.subject != entry.subject) continue;
    if (!is_ours(known, entry)) {
      known.file = entry.file;
      known.attribute = entry.attribute;
    }
    for (const auto& text : entry.ours) {
      if (!contains(known.ours, text)) known.ours.push_back(text);
    }
    return save(tree);
  }
  entries_.push_back(entry);
  return save(tree);
}

Status Journal::forget(host::Tree& tree, const JournalEntry& entry) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const JournalEntry& known) {
    return known.kind == entry.kind && known.subject == entry.subject;
  });
  if (found != entries_.end()) entries_.erase(found);
  return entries_.empty() ? remove(tree) : save(tree);
}

Status Journal::remove(host::Tree& tree) {
  TRY_STATUS(tree.remove(kPath));
  TRY_STATUS(tree.remove_folder(kFolder));
  TRY_STATUS(tree.remove_folder("/var/lib/railhead"));
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder)
    TRY_STATUS(tree.remove_folder(*folder));
  return {};
}

}  // namespace railhead::setup
