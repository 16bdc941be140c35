// SPDX-License-Identifier: Apache-2.0
#include "transports/nic_list.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace railhead::transports {
namespace {

struct ListRow {
  std::string value;
  std::string taken;  ///< of the ports below, joined by blanks
};

constexpr const char* kAll = "mlx5_1:1 mlx5_1:2 mlx5_10:1 ibp3s0:1";

/// Which of the ports above a list takes.
std::string taken_by(const NicList& list) {
  struct Port {
    const char* nic;
    unsigned number;
  };

  std::string out;
  for (const Port port : {Port{"mlx5_1", 1}, {"mlx5_1", 2}, {"mlx5_10", 1}, {"ibp3s0", 1}}) {
    if (!list.takes(port.nic, port.number)) continue;
    if (!out.empty()) out += ' ';
    out += std::string(port.nic) + ":" + std::to_string(port.number);
  }
  return out;
}

void expect_taken(NicList (*read)(std::string_view), const std::vector<ListRow>& rows) {
  for (const ListRow& row : rows) EXPECT_EQ(taken_by(read(row.value)), row.taken) << row.value;
}

std::string many(const std::string& entry, std::size_t count, const std::string& last) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += entry + ",";
  return out + last;
}

TEST(NicList, nccl_takes_beginnings_whole_names_and_exclusions) {
  expect_taken(nccl_list, {
                              {"", kAll},
                              {"=", kAll},
                              {",,", kAll},
                              {"^", ""},
                              {"^=", ""},
                              {"mlx5", "mlx5_1:1 mlx5_1:2 mlx5_10:1"},
                              {"mlx5_1", "mlx5_1:1 mlx5_1:2 mlx5_10:1"},
                              {"=mlx5_1", "mlx5_1:1 mlx5_1:2"},
                              {"=mlx5", ""},
                              {"mlx5_10", "mlx5_10:1"},
                              {"mlx5_0", ""},
                              {"ib", "ibp3s0:1"},
                              {"^mlx5_1", "ibp3s0:1"},
                              {"^=mlx5_1", "mlx5_10:1 ibp3s0:1"},
                              {"=^mlx5_1", ""},
                              {"^mlx5,ib", ""},
                              {"MLX5", ""},
                          });
}

TEST(NicList, nccl_reads_ports_as_numbers_of_c) {
  expect_taken(nccl_list, {
                              {"=mlx5_1:2", "mlx5_1:2"},
                              {"mlx5_1:1", "mlx5_1:1 mlx5_10:1"},
                              {"=mlx5_1:", "mlx5_1:1 mlx5_1:2"},
                              {"=mlx5_1:-1", "mlx5_1:1 mlx5_1:2"},
                              {"=mlx5_1:2:0:1", "mlx5_1:2"},
                              {"=mlx5_1:0", ""},
                              {"=mlx5_1:x", ""},
                              {"=mlx5_1:2x", "mlx5_1:2"},
                              {"=mlx5_1:99999999999999999999", ""},
                              {":1", kAll},
                              {"=:1,ibp3s0", "ibp3s0:1"},
                              {"^=mlx5_1:1", "mlx5_1:2 mlx5_10:1 ibp3s0:1"},
                          });
}

TEST(NicList, nccl_takes_white_space_as_part_of_a_name) {
  expect_taken(nccl_list, {{"=mlx5_10, ibp3s0", "mlx5_10:1"}, {" =mlx5_10", ""}});
}

TEST(NicList, nccl_looks_at_32_entries_and_63_bytes_of_a_name) {
  EXPECT_EQ(taken_by(nccl_list(many("x", 31, "ib"))), "ibp3s0:1");
  EXPECT_EQ(taken_by(nccl_list(many("x", 32, "ib"))), "");
  EXPECT_EQ(taken_by(nccl_list(many(":1", 40, "ib"))), "ibp3s0:1") << "no name is no entry";
  const std::string longest(63, 'n');
  EXPECT_TRUE(nccl_list("=" + longest + "more").takes(longest, 1));
}

NicList newest_ucx_list(std::string_view value) {
  return ucx_list(value, UcxRelease::since_1_22);
}

TEST(NicList, ucx_takes_devices_with_or_without_port) {
  expect_taken(newest_ucx_list, {
                                    {"", kAll},
                                    {"^", kAll},
                                    {"all", kAll},
                                    {"mlx5_1:2,all", kAll},
                                    {"mlx5_1:2", "mlx5_1:2"},
                                    {"mlx5_1", "mlx5_1:1 mlx5_1:2"},
                                    {"mlx5_", ""},
                                    {"eth0", ""},
                                    {"eth0,,ibp3s0:1", "ibp3s0:1"},
                                    {"^mlx5_1", "mlx5_10:1 ibp3s0:1"},
                                    {"^mlx5_1:1,ibp3s0:1", "mlx5_1:2 mlx5_10:1"},
                                    {" mlx5_1", ""},
                                    {"All", ""},
                                });
  EXPECT_EQ(taken_by(newest_ucx_list(many("x", 127, "mlx5_10"))), "mlx5_10:1");
  EXPECT_EQ(taken_by(newest_ucx_list(many("x", 128, "mlx5_10"))), "");
}

TEST(NicList, ucx_takes_ranges_of_numbers) {
  expect_taken(newest_ucx_list, {
                                    {"mlx5_[0-1]", "mlx5_1:1 mlx5_1:2"},
                                    {"mlx5_[0-10]:1", "mlx5_1:1 mlx5_10:1"},
                                    {"mlx5_1:[2-3]", "mlx5_1:2"},
                                    {"ibp[3-3]s0", "ibp3s0:1"},
                                    {"^mlx5_[0-9]", "mlx5_10:1 ibp3s0:1"},
                                    {"mlx5_[2-9]", ""},
                                    {"mlx5_[1-0]", ""},
                                    {"mlx5_[1]", ""},
                                    {"mlx5_[1-1][0-0]", ""},
                                    {"mlx5_]1-1[", ""},
                                });
  EXPECT_FALSE(newest_ucx_list("mlx5_[0-9]").takes("mlx5_01", 1));
  EXPECT_FALSE(newest_ucx_list("mlx5_[0-9]").takes("mlx5_", 1));
}

TEST(NicList, ucx_before_1_21_takes_names_with_ports_alone) {
  const auto read = [](std::string_view value) { return ucx_list(value, UcxRelease::before_1_21); };
  expect_taken(read, {
                         {"mlx5_1", ""},
                         {"mlx5_1:2", "mlx5_1:2"},
                         {"mlx5_1,ibp3s0:1", "ibp3s0:1"},
                         {"^mlx5_1:1", ""},
                         {"mlx5_[0-9]:1", ""},
                         {"all", kAll},
                         {"mlx5_1,all", kAll},
                     });
  EXPECT_FALSE(read("mlx5_1").entries.at(0).names("mlx5_1"));
  EXPECT_TRUE(read("mlx5_1:2").entries.at(0).names("mlx5_1"));
}

TEST(NicList, ucx_1_21_takes_names_without_ports_and_no_ranges) {
  const auto read = [](std::string_view value) { return ucx_list(value, UcxRelease::v1_21); };
  expect_taken(read, {
                         {"mlx5_1", "mlx5_1:1 mlx5_1:2"},
                         {"^mlx5_1", "mlx5_10:1 ibp3s0:1"},
                         {"mlx5_[0-9]:1", ""},
                         {"^mlx5_[0-9]", kAll},
                     });
}

TEST(NicList, ucx_syntax_of_new_releases_is_found) {
  struct Row {
    std::string_view value;
    std::string_view since;  ///< "": all releases read it alike
    std::string_view entry;
    std::string_view for_all;
  };

  const auto is_nic = [](std::string_view name) { return name.starts_with("mlx5_"); };
  for (const Row& row : {
           Row{"mlx5_0,mlx5_1", "1.21", "mlx5_0", "mlx5_0:1,mlx5_1:1"},
           {"mlx5_0:1,mlx5_1", "1.21", "mlx5_1", "mlx5_0:1,mlx5_1:1"},
           {"mlx5_1,eth0", "1.21", "mlx5_1", "mlx5_1:1,eth0"},
           {"^mlx5_0:1", "1.21", "^mlx5_0:1", ""},
           {"mlx5_[0-2]:1", "1.22", "mlx5_[0-2]:1", "mlx5_0:1,mlx5_1:1,mlx5_2:1"},
           {"mlx5_[0-1]", "1.22", "mlx5_[0-1]", "mlx5_0:1,mlx5_1:1"},
           {"mlx5_[0-99]:1", "1.22", "mlx5_[0-99]:1", ""},
           {"mlx5_0:1", "", "", ""},
           {"eth0", "", "", ""},
           {"all", "", "", ""},
           {"mlx5_0,all", "", "", ""},
           {"", "", "", ""},
       }) {
    const auto found = ucx_new_syntax(row.value, is_nic);
    EXPECT_EQ(found.has_value(), !row.since.empty()) << row.value;
    if (!found) continue;
    EXPECT_EQ(found->since, row.since) << row.value;
    EXPECT_EQ(found->entry, row.entry) << row.value;
    EXPECT_EQ(found->for_all, row.for_all) << row.value;
  }
}

TEST(NicList, nvshmem_takes_whole_names) {
  expect_taken(nvshmem_list, {
                                 {"", kAll},
                                 {"^", kAll},
                                 {"mlx5_1", "mlx5_1:1 mlx5_1:2"},
                                 {"mlx5_1:2,ibp3s0:1", "mlx5_1:2 ibp3s0:1"},
                                 {"mlx5", ""},
                                 {"=mlx5_1", ""},
                                 {"mlx5_1:", ""},
                                 {"^mlx5_1:1,ibp3s0", "mlx5_1:2 mlx5_10:1"},
                             });
  EXPECT_EQ(taken_by(nvshmem_list(many("x", 47, "ibp3s0"))), "ibp3s0:1");
  EXPECT_EQ(taken_by(nvshmem_list(many("x", 48, "ibp3s0"))), "");
}

TEST(NicList, a_mapping_of_nvshmem_excludes_nothing) {
  expect_taken(nvshmem_mapping, {
                                    {"", kAll},
                                    {"mlx5_1:2:4,mlx5_10:1:4", "mlx5_1:2 mlx5_10:1"},
                                    {"^ibp3s0:1:8", "ibp3s0:1"},
                                });
  EXPECT_EQ(taken_by(nvshmem_mapping(many("x", 31, "ibp3s0"))), "ibp3s0:1");
  EXPECT_EQ(taken_by(nvshmem_mapping(many("x", 32, "ibp3s0"))), "");
}

TEST(NicList, an_entry_names_a_nic_whatever_its_port) {
  EXPECT_TRUE(nccl_list("mlx5_1:7").entries.at(0).names("mlx5_10"));
  EXPECT_TRUE(nvshmem_list("mlx5_1:7").entries.at(0).names("mlx5_1"));
  EXPECT_FALSE(nvshmem_list("mlx5_1:7").entries.at(0).names("mlx5_10"));
  EXPECT_TRUE(newest_ucx_list("mlx5_1:7").entries.at(0).names("mlx5_1"));
  EXPECT_TRUE(newest_ucx_list("mlx5_[0-3]:7").entries.at(0).names("mlx5_1"));
  EXPECT_FALSE(newest_ucx_list("mlx5_1:256").entries.at(0).names("mlx5_1"));
  EXPECT_FALSE(newest_ucx_list("mlx5_1:x").entries.at(0).names("mlx5_1"));
}

}  // namespace
}  // namespace railhead::transports
