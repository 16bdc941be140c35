// SPDX-License-Identifier: Apache-2.0
#include "usage/nfs_declarations.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "data/below.h"
#include "data/documents.h"
#include "host/keep.h"
#include "host/mounts.h"
#include "host/unit_files.h"
#include "usage/nfs_mounts.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kMaxUnits = 4096;
constexpr std::size_t kMaxDeclarations = 4096;  ///< as many as mounts are looked at
constexpr std::string_view kSuffix = ".mount";

/// The last value of each key of a section, as systemd has it; lines that end in a backslash go on.
std::map<std::string, std::string, std::less<>> section_of(std::string_view text,
                                                           std::string_view wanted) {
  std::map<std::string, std::string, std::less<>> values;
  std::string section;
  std::string line;
  for (const auto piece : split(text, '\n')) {
    const auto trimmed = trim(piece);
    if (line.empty() && (trimmed.starts_with('#') || trimmed.starts_with(';'))) continue;
    line += trimmed;
    if (line.ends_with('\\')) {
      line.back() = ' ';
      continue;
    }
    const auto whole = std::exchange(line, "");
    if (whole.starts_with('[')) section = whole;
    const auto equal = whole.find('=');
    if (section != wanted || equal == std::string::npos) continue;
    values[std::string(trim(std::string_view(whole).substr(0, equal)))] =
        trim(std::string_view(whole).substr(equal + 1));
  }
  return values;
}

/// Absent where a specifier is in it.
std::optional<std::string> without_specifiers(std::string_view value) {
  std::string plain;
  for (std::size_t i = 0; i < value.size(); ++i) {
    plain += value[i];
    if (value[i] != '%') continue;
    if (++i == value.size() || value[i] != '%') return std::nullopt;
  }
  return plain;
}

bool is_deferred(std::string_view options) {
  return mount_option(options, "noauto") || mount_option(options, "x-systemd.automount");
}

using Names = std::vector<std::string>;

bool is_mount(std::string_view name) {
  return name.ends_with(kSuffix) || name.ends_with(".automount");
}

bool is_mount_or_wants(std::string_view name) {
  return name.ends_with(kSuffix) || name.ends_with(".wants") || name.ends_with(".requires");
}

Names list_of(host::Host& host, const std::string& folder, host::KeepName keep,
              std::vector<std::string>& unknown) {
  const auto names = host.list_keeping(folder, keep);
  if (!names) unknown.push_back(names.error().message);
  return names && *names ? **names : Names();
}

/// The units of all folders by name, and what is wanted at the start.
struct Units {
  std::set<std::string> names;
  std::set<std::string> wanted;
};

Units units_of(host::Host& host, std::vector<std::string>& unknown) {
  Units units;
  for (const auto path : host::kUnitFolders) {
    const std::string folder(path);
    for (const auto& name : list_of(host, folder, is_mount_or_wants, unknown)) {
      if (name.ends_with(kSuffix)) {
        if (units.names.size() < kMaxUnits) units.names.insert(name);
      } else if (name.ends_with(".wants") || name.ends_with(".requires")) {
        for (auto& one : list_of(host, folder + "/" + name, is_mount, unknown))
          units.wanted.insert(one);
      }
    }
  }
  return units;
}

std::optional<NfsDeclaration> read_unit(host::Host& host, const std::string& name,
                                        const Units& units, std::vector<std::string>& unknown) {
  auto found = host::read_unit_files(host, name, kept_mount_unit);
  std::move(found.unknown.begin(), found.unknown.end(), std::back_inserter(unknown));
  if (found.files.empty() || found.files.front().path != found.path) return std::nullopt;
  std::string text;
  for (const auto& file : found.files) text += file.text + "\n";
  auto unit = parse_mount_unit(found.path, name, text);
  if (!unit) return std::nullopt;
  const auto stem = name.substr(0, name.size() - kSuffix.size());
  unit->deferred =
      unit->deferred || !units.wanted.contains(name) || units.wanted.contains(stem + ".automount");
  return unit;
}

void add_machine_config(const data::Value& object, std::vector<NfsDeclaration>& found) {
  for (const auto& unit : items_below(object, {"spec", "config", "systemd", "units"})) {
    const std::string name(text_below(unit, {"name"}));
    if (!name.ends_with(kSuffix)) continue;
    const auto where =
        "MachineConfig " + std::string(text_below(object, {"metadata", "name"})) + ", " + name;
    auto declaration = parse_mount_unit(where, name, text_below(unit, {"contents"}));
    if (!declaration) continue;
    declaration->deferred = declaration->deferred || text_below(unit, {"enabled"}) != "true";
    found.push_back(*std::move(declaration));
  }
}

/// The kubelet mounts it for a pod, at a place that has the pod's UID: it is known by its source.
/// The NFS CSI driver (nfs.csi.k8s.io) has server and share among the attributes of the volume.
void add_volume(const data::Value& object, std::vector<NfsDeclaration>& found) {
  NfsDeclaration volume;
  volume.where = "PersistentVolume " + std::string(text_below(object, {"metadata", "name"}));
  volume.server = text_below(object, {"spec", "nfs", "server"});
  volume.path = text_below(object, {"spec", "nfs", "path"});
  if (volume.server.empty()) {
    volume.server = text_below(object, {"spec", "csi", "volumeAttributes", "server"});
    volume.path = text_below(object, {"spec", "csi", "volumeAttributes", "share"});
  }
  if (volume.server.empty() || volume.path.empty()) return;
  volume.path = plain_place(volume.path);
  volume.deferred = true;
  Names words;
  for (const auto& option : items_below(object, {"spec", "mountOptions"}))
    words.push_back(option.scalar);
  volume.options = join(words, ",");
  found.push_back(std::move(volume));
}

void add_object(const data::Value& object, std::vector<NfsDeclaration>& found) {
  const auto kind = text_below(object, {"kind"});
  if (kind == "MachineConfig") add_machine_config(object, found);
  if (kind == "PersistentVolume") add_volume(object, found);
  if (!kind.ends_with("List")) return;
  for (const auto& item : items_below(object, {"items"})) add_object(item, found);
}

}  // namespace

std::vector<NfsDeclaration> parse_fstab(std::string_view fstab) {
  std::vector<NfsDeclaration> declarations;
  for (const auto line : split(fstab, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 4 || words[0].starts_with('#') || !is_nfs_type(words[2])) continue;
    NfsDeclaration declaration;
    declaration.where = "/etc/fstab";
    std::tie(declaration.server, declaration.path) =
        split_nfs_source(host::unescaped_mount(words[0]));
    declaration.mount_point = plain_place(host::unescaped_mount(words[1]));
    declaration.options = words[3];
    declaration.deferred = is_deferred(words[3]);
    declarations.push_back(std::move(declaration));
  }
  return declarations;
}

std::string kept_fstab(std::string_view fstab) {
  return host::keep_lines(fstab, [](std::string_view line) -> std::string {
    const auto words = split_words(line);
    if (words.size() < 4 || words[0].starts_with('#') || !is_nfs_type(words[2])) return "";
    return kept_source(words[0]) + " " + std::string(words[1]) + " " + std::string(words[2]) + " " +
           kept_options(words[3]) + " 0 0";
  });
}

/// A drop-in of a mount unit may have any of these lines alone, so the lines decide, not the whole.
std::string kept_mount_unit(std::string_view text) {
  constexpr std::string_view kSection = "[Mount]";
  const auto values = section_of(text, kSection);
  const auto value = [&](std::string_view key) {
    const auto at = values.find(key);
    return at == values.end() ? std::string_view() : std::string_view(at->second);
  };
  const bool is_other = value("Type").empty()
                            ? !value("What").empty() && !is_nfs_source(value("What"))
                            : !is_nfs_type(value("Type"));
  if (is_other || values.empty()) return "";
  std::string kept;
  const auto add = [&](std::string_view key, std::string_view what) {
    // A line that ends in a backslash would go on in the next.
    if (values.contains(key) && !what.ends_with('\\'))
      kept.append(key).append("=").append(what).append("\n");
  };
  if (is_nfs_source(value("What"))) add("What", value("What"));
  add("Where", value("Where"));
  add("Type", value("Type"));
  add("Options", kept_options(value("Options")));
  return kept.empty() ? "" : std::string(kSection) + "\n" + kept;
}

std::string mount_unit_name(std::string_view place) {
  const auto plain = plain_place(place);
  if (plain == "/") return "-.mount";
  std::string name;
  for (const char c : std::string_view(plain).substr(1)) {
    const bool is_kept =
        is_letter_or_digit(c) || c == ':' || c == '_' || (c == '.' && !name.empty());
    const auto byte = static_cast<unsigned char>(c);
    name += c == '/' ? "-" : is_kept ? std::string(1, c) : "\\x" + to_hex(byte, 2);
  }
  return name + ".mount";
}

std::optional<NfsDeclaration> parse_mount_unit(const std::string& where, std::string_view name,
                                               std::string_view text) {
  const auto values = section_of(text, "[Mount]");
  const auto value = [&](std::string_view key) {
    const auto at = values.find(key);
    return without_specifiers(at == values.end() ? "" : at->second);
  };
  const auto what = value("What");
  const auto place = value("Where");
  const auto options = value("Options");
  const auto type = value("Type");
  if (!what || !options || !type || !place || !place->starts_with('/')) return std::nullopt;
  NfsDeclaration unit;
  std::tie(unit.server, unit.path) = split_nfs_source(*what);
  // Without a type mount(8) takes SERVER:/PATH for NFS.
  if (!is_nfs_type(*type) && !(type->empty() && is_nfs_source(*what))) return std::nullopt;
  unit.where = where;
  unit.mount_point = plain_place(*place);
  unit.options = *options;
  unit.deferred = is_deferred(*options);
  const auto wanted = mount_unit_name(*place);
  if (name != wanted) {
    unit.refused =
        "systemd refuses the unit: for " + unit.mount_point + " its name has to be " + wanted;
  }
  return unit;
}

std::vector<NfsDeclaration> read_nfs_declarations(host::Host& host,
                                                  std::vector<std::string>& unknown) {
  std::vector<NfsDeclaration> found;
  const auto units = units_of(host, unknown);
  for (const auto& name : units.names) {
    if (auto unit = read_unit(host, name, units, unknown)) found.push_back(*std::move(unit));
  }
  const auto fstab = host.read_keeping("/etc/fstab", kept_fstab);
  if (!fstab) unknown.push_back(fstab.error().message);
  if (!fstab || !*fstab) return found;
  for (auto& line : parse_fstab(**fstab)) {
    if (found.size() == kMaxDeclarations) {
      unknown.push_back("/etc/fstab: more NFS mounts than " + std::to_string(kMaxDeclarations));
      break;
    }
    found.push_back(std::move(line));
  }
  return found;
}

Result<std::vector<NfsDeclaration>> parse_nfs_manifests(const std::string& file,
                                                        std::string_view text) {
  // The time grows with the square, because of the empty lines in Document::in_place().
  constexpr std::size_t kMaxDocuments = 1024;
  const auto documents = data::documents_in(text);
  if (documents.size() > kMaxDocuments) {
    return Error{ErrorCode::too_large,
                 file + ": more than " + std::to_string(kMaxDocuments) + " documents"};
  }
  std::vector<NfsDeclaration> found;
  for (const auto& document : documents) {
    const auto value = data::parse_yaml(document.in_place());
    if (!value) return value.error().context(file);
    add_object(*value, found);
  }
  return found;
}

}  // namespace railhead::usage
