// SPDX-License-Identifier: Apache-2.0
#include "host/unit_files.h"

#include <gtest/gtest.h>

#include "unit/host/answers.h"
#include "unit/node/hosts.h"

namespace railhead::host {
namespace {

std::string texts_of(const UnitFiles& unit) {
  std::string all = unit.path + ":";
  for (const auto& file : unit.files) all += " " + file.text;
  return all;
}

TEST(UnitFiles, a_drop_in_hides_those_of_its_name_and_all_are_read_by_name) {
  const auto host =
      test::host_of(test::file_entry("/usr/lib/systemd/system/a.service", "unit") +
                    test::file_entry("/lib/systemd/system/a.service", "lesser") +
                    test::file_entry("/etc/systemd/system/a.service.d/10-x.conf", "x") +
                    test::file_entry("/lib/systemd/system/a.service.d/10-x.conf", "h") +
                    test::file_entry("/lib/systemd/system/a.service.d/20-y.conf", "y") +
                    test::file_entry("/run/systemd/system/a.service.d/05-w.conf", "w") +
                    test::file_entry("/run/systemd/system/a.service.d/note.txt", "n"));
  EXPECT_EQ(texts_of(read_unit_files(*host, "a.service", test::whole)),
            "/usr/lib/systemd/system/a.service: unit w x y");
}

TEST(UnitFiles, a_unit_that_cannot_be_read_is_there_and_says_why) {
  const auto host = test::host_of("e /etc/systemd/system/a.service EACCES\n" +
                                  test::file_entry("/lib/systemd/system/a.service", "lesser"));
  const auto unit = read_unit_files(*host, "a.service", test::whole);
  EXPECT_EQ(texts_of(unit), "/etc/systemd/system/a.service:");
  ASSERT_EQ(unit.unknown.size(), 1U);
  EXPECT_TRUE(unit.unknown[0].starts_with("/etc/systemd/system/a.service: ")) << unit.unknown[0];
  EXPECT_EQ(texts_of(read_unit_files(*host, "b.service", test::whole)), ":");
}

}  // namespace
}  // namespace railhead::host
