// SPDX-License-Identifier: Apache-2.0
//
// The journal says what was there before we changed it. Each entry is on the disk before the change
// that it is of. So whatever ends the program, at whatever point, a machine can be taken back: what
// is still as it was needs nothing, what is as we made it is restored, and what is neither was
// changed by somebody else and stays.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/tree.h"
#include "setup/step.h"

namespace railhead::setup {

struct JournalEntry {
  enum class Kind : std::uint8_t {
    folder,
    file,
    module,
    attribute,
    functions,
    unit,
    pci,
    link,
    driver
  };
  Kind kind = Kind::file;
  std::string subject;
  std::string step;  ///< id of the step that changed it first
  /// The file as it was; absent where there was none. Folders and modules have nothing here,
  /// because they were not there before.
  std::optional<host::FileContent> file;
  /// An attribute, a field, a setting or a driver before, or the number of virtual functions.
  std::string attribute;
  /// Every content that we gave it, and what it passes on the way; of a file only what may stand
  /// there now.
  std::vector<std::string> ours;
  std::string boot = {};  ///< host::boot_id() when it was changed last; "": not known
};

/// "folder", "file", …: as the journal names it.
std::string_view to_string(JournalEntry::Kind kind);

/// Whether setup changes a file, or makes a folder, at this path: the journal names no others.
bool may_change_file(std::string_view path);
bool may_make_folder(std::string_view path);

/// Whether a reboot since took it away: it was in the kernel alone, no file of ours brings it
/// again, and `boot` is another one than that of the change.
bool ended_by_boot(const JournalEntry& entry, const std::string& boot);

/// That a unit was restarted, so that no second restart is planned where the first did not help.
struct RestartRecord {
  std::string unit;
  std::string why;   ///< what it was to mend: "nri", "memlock"
  std::string boot;  ///< host::boot_id()
  /// A hash of the files that it was to read anew: where they change, it is due again.
  std::string files;

  friend bool operator==(const RestartRecord&, const RestartRecord&) = default;
};

class Journal {
 public:
  static constexpr const char* kFolder = "/var/lib/railhead/setup";
  static constexpr const char* kPath = "/var/lib/railhead/setup/journal.json";
  static constexpr const char* kLock = "/var/lib/railhead/setup/lock";  ///< for Tree::lock()

  /// Empty where there is none. An error names the file, and what is wrong in it.
  /// One that others than root may write is an error, too: what it says is done as root.
  static Result<Journal> read(host::Tree& tree);

  /// The same of its text, of which nothing is believed that setup would not have written. One of
  /// another release that we do not know is an error.
  static Result<Journal> parse(std::string_view text);

  [[nodiscard]] const std::vector<JournalEntry>& entries() const { return entries_; }

  [[nodiscard]] const std::vector<RestartRecord>& restarts() const { return restarts_; }

  [[nodiscard]] const JournalEntry* find(JournalEntry::Kind kind, const std::string& subject) const;

  /// Notes an entry, or that a known one gets one more content; on the disk when it returns. What
  /// was there before is what others made last. An error where the journal could not be read again:
  /// then nothing is noted.
  Status note(host::Tree& tree, const JournalEntry& entry);

  /// Notes a restart in place of what is known of that unit; on the disk when it
  /// returns.
  Status note_restart(host::Tree& tree, const RestartRecord& restart);

  /// Forgets an entry; where that cannot be written, it is known on. After the last one the journal
  /// goes, with the folders that we made for it where nobody else put anything.
  Status forget(host::Tree& tree, const JournalEntry& entry);

  /// Removes the journal, and its folders where they are empty: a run that was ended before the
  /// first entry leaves them, too.
  Status remove(host::Tree& tree);

 private:
  /// Leaves nothing behind where it fails.
  Status save(host::Tree& tree);
  Status write(host::Tree& tree);

  std::vector<JournalEntry> entries_;  ///< in the order of the changes
  std::vector<RestartRecord> restarts_;
  std::vector<std::string> folders_;  ///< made for the journal itself, above kFolder
};

}  // namespace railhead::setup
