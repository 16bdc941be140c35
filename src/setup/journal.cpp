// SPDX-License-Identifier: Apache-2.0
#include "setup/journal.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/below.h"
#include "data/json.h"
#include "data/value.h"
#include "node/pci.h"
#include "setup/link_control.h"
#include "setup/pci_control.h"
#include "setup/wanted.h"

namespace railhead::setup {
namespace {

constexpr std::array<std::string_view, 9> kKinds{
    "folder", "file", "module", "attribute", "functions", "unit", "pci", "link", "driver"};

bool has_text_before(JournalEntry::Kind kind) {
  using Kind = JournalEntry::Kind;
  return kind == Kind::attribute || kind == Kind::functions || kind == Kind::pci ||
         kind == Kind::link || kind == Kind::driver;
}

/// Nothing that setup changes has more.
constexpr std::uint32_t kPermissions = 0777;

constexpr std::string_view kVersion = "railhead.io/v1alpha1";
constexpr std::string_view kDocument = "SetupJournal";

/// Files of a few KiB, and the journal has a few of them.
constexpr data::ParseLimits kJournalLimits{std::size_t{16} << 20, 16, 65536};

data::Json file_json(const host::FileContent& file) {
  return {{"text", file.bytes},
          {"mode", file.mode & kPermissions},
          {"uid", file.uid.value_or(0)},
          {"gid", file.gid.value_or(0)}};
}

data::Json entry_json(const JournalEntry& entry) {
  data::Json json{
      {"kind", to_string(entry.kind)}, {"subject", entry.subject}, {"step", entry.step}};
  if (entry.kind == JournalEntry::Kind::file)
    json["before"] = entry.file ? file_json(*entry.file) : data::Json(nullptr);
  if (has_text_before(entry.kind)) json["before"] = entry.attribute;
  if (!entry.boot.empty()) json["boot"] = entry.boot;
  json["ours"] = data::Json::array();
  for (const auto& text : entry.ours) json["ours"].push_back(text);
  return json;
}

data::Json restart_json(const RestartRecord& restart) {
  return {{"unit", restart.unit},
          {"why", restart.why},
          {"boot", restart.boot},
          {"files", restart.files}};
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

Result<std::uint32_t> number_at(const data::Value& value, std::string_view key,
                                std::uint32_t most = ~std::uint32_t{0}) {
  const auto* found = TRY(member(value, key));
  const auto number = TRY(found->as_unsigned());
  if (number <= most) return static_cast<std::uint32_t>(number);
  return data::malformed_at(found->mark, std::string(key) + " is " + found->scalar + ", too large");
}

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// A component of a path.
bool is_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && text.front() != '-' &&
         text.find('/') == std::string_view::npos && !has_control_characters(text);
}

bool is_path(std::string_view text) {
  const auto slash = text.rfind('/');
  return text.starts_with('/') && is_name(text.substr(slash + 1)) &&
         text.find("/../") == std::string_view::npos &&
         text.find("/./") == std::string_view::npos && text.find("//") == std::string_view::npos &&
         !has_control_characters(text);
}

constexpr std::string_view kSysctls = "/proc/sys/";

/// A "*" is of one component, but for those with which a pattern begins.
bool matches(std::string_view text, std::span<const std::string_view> patterns) {
  const auto slashes = std::ranges::count(text, '/');
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    return glob_match(pattern, text) &&
           (pattern.starts_with('*') || std::ranges::count(pattern, '/') == slashes);
  });
}

/// Also the sysctls that a person may name.
bool is_attribute(std::string_view text) {
  constexpr std::string_view kPatterns[] = {
      "/sys/class/net/*/mtu",
      "/sys/class/net/*/ecn/*/enable/*",
      "/sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos",
  };
  if (!is_path(text)) return false;
  return text.starts_with(kSysctls) ? may_be_set(text.substr(kSysctls.size()))
                                    : matches(text, kPatterns);
}

/// "ens8f0/rings.rx"
bool is_link(const std::string& text) {
  const auto slash = text.find('/');
  return slash != std::string::npos && is_name(text.substr(0, slash)) &&
         is_link_setting(text.substr(slash + 1));
}

/// "0000:18:00.0/relaxed-ordering"
bool is_field(const std::string& text) {
  const auto address = text.substr(0, text.find('/'));
  return node::pci_address_of(address) &&
         (text == pci_subject(address, PciField::relaxed_ordering) ||
          text == pci_subject(address, PciField::max_read_request));
}

}  // namespace

/// The files that setup/files.h makes, and those of the runtime, which are made or edited. A name
/// that is given by a person has no slash.
bool may_change_file(std::string_view path) {
  constexpr std::string_view kPatterns[] = {
      "/etc/modules-load.d/railhead.conf",
      "/etc/modprobe.d/railhead-*.conf",
      "/etc/sysctl.d/90-railhead.conf",
      "/etc/systemd/system/*.service.d/90-railhead-memlock.conf",
      "/etc/systemd/system/*mount",
      "/etc/systemd/system/multi-user.target.d/railhead-*.conf",
      "/etc/security/limits.d/99-railhead-memlock.conf",
      "/etc/udev/rules.d/10-railhead-vfs-*.rules",
      "*cri*/99-railhead-nri.conf",
      "*/50-railhead-nri.toml",
      "*containerd*.toml",
      "/etc/cri/*.toml",
  };
  return is_path(path) && matches(path, kPatterns);
}

/// Those that such a file lies in.
bool may_make_folder(std::string_view path) {
  constexpr std::string_view kPatterns[] = {"/etc",
                                            "/etc/*",
                                            "/etc/*/*",
                                            "/etc/*/*/*",
                                            "*containerd*",
                                            "*crio*",
                                            "/sys/kernel/config/rdma_cm/*"};
  return is_path(path) && matches(path, kPatterns);
}

namespace {

/// Whether setup could have written it: what it says is done as root.
bool is_possible(const JournalEntry& entry) {
  using Kind = JournalEntry::Kind;
  switch (entry.kind) {
    case Kind::folder: return may_make_folder(entry.subject);
    case Kind::file: return may_change_file(entry.subject);
    case Kind::attribute: return is_attribute(entry.subject);
    case Kind::module: return is_name(entry.subject);
    case Kind::unit: return is_name(entry.subject) && entry.subject.ends_with(".automount");
    case Kind::pci: return is_field(entry.subject);
    case Kind::link: return is_link(entry.subject);
    case Kind::functions:
      return node::pci_address_of(entry.subject) && parse_unsigned(entry.attribute);
    case Kind::driver:
      return node::pci_address_of(entry.subject) &&
             (entry.attribute.empty() || is_name(entry.attribute));
  }
  return false;
}

Result<JournalEntry> read_entry(const data::Value& value) {
  JournalEntry entry;
  const auto kind = TRY(text_at(value, "kind"));
  const auto* const known = std::ranges::find(kKinds, kind);
  if (known == kKinds.end())
    return data::malformed_at(value.mark, "there is no kind " + in_quotes(kind));
  entry.kind = static_cast<JournalEntry::Kind>(known - kKinds.begin());
  entry.subject = TRY(text_at(value, "subject"));
  entry.step = TRY(text_at(value, "step"));
  for (const auto& text : TRY(member(value, "ours"))->items)
    entry.ours.push_back(TRY(text.as_string()));
  if (has_text_before(entry.kind)) entry.attribute = TRY(text_at(value, "before"));
  if (value.find("boot") != nullptr) entry.boot = TRY(text_at(value, "boot"));
  if (!is_possible(entry)) {
    return data::malformed_at(value.mark,
                              in_quotes(entry.subject) + " is no " + kind + " that setup changes");
  }
  if (entry.kind != JournalEntry::Kind::file) return entry;
  const auto& before = *TRY(member(value, "before"));
  if (before.kind == data::Value::Kind::null) return entry;
  auto text = TRY(text_at(before, "text"));
  const auto mode = TRY(number_at(before, "mode", kPermissions));
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

/// What we give to what we have changed before. A file that another program writes at each boot
/// would otherwise make the journal grow for ever.
void add(JournalEntry& known, const JournalEntry& now) {
  const bool is_gone = ended_by_boot(known, now.boot);
  if (is_gone || !is_ours(known, now)) {
    known.file = now.file;
    known.attribute = now.attribute;
    if (is_gone || now.kind == JournalEntry::Kind::file) known.ours.clear();
  } else if (now.kind == JournalEntry::Kind::file) {
    known.ours = {now.file->bytes};
  }
  known.boot = now.boot;
  for (const auto& text : now.ours) {
    if (!contains(known.ours, text)) known.ours.push_back(text);
  }
}

/// The folders above a path, from the root down: "/var", "/var/lib".
std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  for (auto at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    folders.push_back(path.substr(0, at));
  return folders;
}

/// Whether this release knows what it says.
Status check_kind(const data::Value& root) {
  const auto text_of = [&](std::string_view key) {
    const auto* found = root.find(key);
    return found == nullptr ? std::string() : found->scalar;
  };
  if (text_of("kind") == kDocument && text_of("apiVersion") == kVersion) return {};
  return Error{ErrorCode::unsupported, "is " + in_quotes(text_of("kind")) + " of " +
                                           in_quotes(text_of("apiVersion")) + ", and not " +
                                           std::string(kDocument) + " of " + std::string(kVersion)};
}

}  // namespace

std::string_view to_string(JournalEntry::Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

bool ended_by_boot(const JournalEntry& entry, const std::string& boot) {
  if (entry.boot.empty() || boot.empty() || entry.boot == boot) return false;
  const bool is_sysctl =
      entry.kind == JournalEntry::Kind::attribute && entry.subject.starts_with(kSysctls);
  return has_text_before(entry.kind) && !is_sysctl;
}

Result<Journal> Journal::read(host::Tree& tree) {
  const auto content = TRY(tree.find(kPath, kJournalLimits.bytes));
  if (!content) return Journal();
  for (const std::string path : {kPath, kFolder}) {
    const auto owner = TRY(tree.owner_of(path));
    if (!owner || host::is_written_by_us(*owner)) continue;
    return Error{ErrorCode::denied,
                 path +
                     ": others than root may write it, or own it, and what it "
                     "says is done as root: look at it, then chown and chmod it"};
  }
  auto journal = parse(content->bytes);
  if (!journal) return journal.error().context(kPath);
  return journal;
}

Result<Journal> Journal::parse(std::string_view text) {
  Journal journal;
  const auto root = TRY(data::parse_json(text, kJournalLimits));
  TRY_STATUS(check_kind(root));
  if (const auto* folders = root.find("folders")) {
    journal.folders_ = TRY(folders->as_strings());
    for (const auto& folder : journal.folders_) {
      if (is_path(folder)) continue;
      return data::malformed_at(folders->mark, in_quotes(folder) + " is no folder");
    }
  }
  const auto* entries = root.find("entries");
  if (entries == nullptr || entries->kind != data::Value::Kind::list)
    return Error{ErrorCode::malformed, "no list of entries"};
  for (const auto& value : entries->items) journal.entries_.push_back(TRY(read_entry(value)));
  for (const auto& value : data::items_below(root, {"restarts"})) {
    journal.restarts_.push_back({TRY(text_at(value, "unit")), TRY(text_at(value, "why")),
                                 TRY(text_at(value, "boot")), TRY(text_at(value, "files"))});
  }
  return journal;
}

const JournalEntry* Journal::find(JournalEntry::Kind kind, const std::string& subject) const {
  return find_where(entries_, [&](const JournalEntry& entry) {
    return entry.kind == kind && entry.subject == subject;
  });
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
    const bool is_new = TRY(tree.make_folder(folder)) || tree.has_made(folder);
    if (is_new && !contains(folders_, folder)) folders_.push_back(folder);
  }
  data::Json json{{"apiVersion", kVersion}, {"kind", kDocument}};
  json["folders"] = data::json_list(folders_, [](const std::string& path) { return path; });
  json["entries"] = data::json_list(entries_, entry_json);
  if (!restarts_.empty()) json["restarts"] = data::json_list(restarts_, restart_json);
  const auto text = data::to_json_text(json);
  const auto readable = parse(text);
  if (!readable) return readable.error().context("the journal would be unreadable");
  return tree.write(kPath, {text, 0600, {}, {}});
}

Status Journal::note(host::Tree& tree, const JournalEntry& entry) {
  auto entries = entries_;
  const auto known = std::ranges::find_if(entries_, [&](const auto& one) {
    return one.kind == entry.kind && one.subject == entry.subject;
  });
  if (known == entries_.end()) {
    // A folder that was made again comes before what is known of it already: it goes last.
    const auto below = std::ranges::find_if(entries_, [&](const auto& one) {
      return entry.kind == JournalEntry::Kind::folder &&
             one.subject.starts_with(entry.subject + "/");
    });
    entries_.insert(below, entry);
  } else {
    add(*known, entry);
  }
  auto status = save(tree);
  if (!status) entries_ = std::move(entries);
  return status;
}

Status Journal::note_restart(host::Tree& tree, const RestartRecord& restart) {
  auto before = restarts_;
  std::erase_if(restarts_, [&](const RestartRecord& known) { return known.unit == restart.unit; });
  restarts_.push_back(restart);
  auto status = save(tree);
  if (!status) restarts_ = std::move(before);
  return status;
}

Status Journal::forget(host::Tree& tree, const JournalEntry& entry) {
  const auto found = std::ranges::find_if(entries_, [&](const JournalEntry& known) {
    return known.kind == entry.kind && known.subject == entry.subject;
  });
  auto entries = entries_;
  if (found != entries_.end()) entries_.erase(found);
  auto status = entries_.empty() ? remove(tree) : save(tree);
  if (!status) entries_ = std::move(entries);
  return status;
}

Status Journal::remove(host::Tree& tree) {
  TRY_STATUS(tree.remove(kPath));
  tree.remove_lock_file();
  TRY_STATUS(tree.remove_folder(kFolder));
  TRY_STATUS(tree.remove_folder("/var/lib/railhead"));
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder)
    TRY_STATUS(tree.remove_folder(*folder));
  return {};
}

}  // namespace railhead::setup
