// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "unit/cli/program.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A file of this content in the test's folder, gone at its end.
class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "railhead-" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".xml") {
    std::ofstream(path_) << text;
  }

  ~File() { std::filesystem::remove(path_); }

  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string two_pairs() {
  std::string text = "<system version='1'>\n<cpu numaid='0'>\n";
  for (const std::string pair : {"1", "2"}) {
    text += "<pci busid='ffff:ff:0" + pair + ".0' class='0x060400'>\n<pci busid='000" + pair +
            ":00:00.0' class='0x030200'/>\n<pci busid='010" + pair +
            ":00:00.0' class='0x020700'/>\n</pci>\n";
  }
  return text + "</cpu>\n</system>\n";
}

TEST(NcclTopo, stands_for_a_machine_in_every_read_only_command) {
  const File file(two_pairs());
  const auto topology = run({"topology", "--nccl-topo", file.path(), "-o", "json"});
  ASSERT_EQ(topology.code, cli::kExitOk) << topology.err;
  const auto document = topology.json();
  EXPECT_EQ(document["relations"], data::Json::parse(R"([["PIX","NODE"],["NODE","PIX"]])"));
  EXPECT_EQ(document["source"], "topology file");
  EXPECT_EQ(document["origin"], file.path());
  const auto affinity = run({"affinity", "--nccl-topo", file.path(), "-o", "json"}).json();
  EXPECT_EQ(affinity["gpus"][1]["nics"][0]["name"], "0102:00:00.0");
  // The address is not a name that NCCL knows.
  EXPECT_EQ(affinity["env"], data::Json::object());
  const auto nics = run({"nics", "--nccl-topo", file.path()});
  EXPECT_EQ(nics.code, cli::kExitOk);
  EXPECT_THAT(nics.out, HasSubstr("0101:00:00.0"));
}

TEST(NcclTopo, is_written_and_read_back) {
  const auto written = run_on("dgx-h100", "topology", {"-o", "nccl"});
  ASSERT_EQ(written.code, cli::kExitOk) << written.err;
  EXPECT_THAT(written.out, StartsWith("<system version=\"1\">\n  <cpu numaid=\"0\""));
  const File file(written.out);
  const auto again = run({"topology", "-o", "nccl", "--nccl-topo", file.path()});
  EXPECT_EQ(again.out, written.out);
}

TEST(NcclTopo, gives_containers_with_amds_gpus_their_nics_too) {
  const File file(
      "<system version='2'><cpu numaid='0'><pci busid='ffff:ff:01.0' class='0x060400'>"
      "<pci busid='0000:05:00.0' class='0x120000' vendor='0x1002'><gpu dev='0'/></pci>"
      "<pci busid='0000:09:00.0' class='0x020000'><nic><net name='mlx5_0' port='1'/></nic></pci>"
      "</pci></cpu></system>");
  const auto said = run({"affinity", "--nccl-topo", file.path(), "-o", "json"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_EQ(said.json()["nics"], data::Json::parse(R"(["mlx5_0"])"));
  EXPECT_EQ(said.json()["env"]["NCCL_IB_HCA"], "=mlx5_0:1");
  EXPECT_EQ(said.json()["warnings"], data::Json::array());
}

TEST(NcclTopo, a_file_that_says_nowhere_what_a_function_is_is_no_answer) {
  const File file(
      "<system version='1'><cpu numaid='0'>\n<pci busid='0000:00:16.0'/>\n"
      "<pci busid='0000:00:17.0'/></cpu></system>");
  const auto text = run({"affinity", "--nccl-topo", file.path()});
  EXPECT_EQ(text.code, cli::kExitCannotTell);
  EXPECT_THAT(text.out, HasSubstr("no GPU is known, and of 2 functions"));
  EXPECT_THAT(text.out, HasSubstr("line 2: 0000:00:16.0 has no class"));
  const auto document = run({"affinity", "--nccl-topo", file.path(), "-o", "json"}).json();
  EXPECT_EQ(document["warnings"].size(), 2U);
  EXPECT_EQ(document["confidence"], "low");
}

TEST(NcclTopo, a_name_with_terminal_escapes_is_shown_nowhere) {
  const File file(
      "<system version='1'><cpu numaid='0'><pci busid='0000:05:00.0' class='0x030200'/>"
      "<pci busid='0000:09:00.0' class='0x020700'><nic><net name='a\x1b[31mb' "
      "port='1'/></nic></pci>"
      "</cpu></system>");
  for (const std::string command : {"topology", "affinity", "nics"}) {
    const auto said = run({command, "--nccl-topo", file.path()});
    EXPECT_THAT(said.out + said.err, testing::Not(HasSubstr("\x1b"))) << command;
    EXPECT_THAT(said.out, HasSubstr("0000:09:00.0")) << command;
  }
  for (const std::string form : {"nccl", "tree", "svg", "dot"}) {
    const auto said = run({"topology", "-o", form, "--nccl-topo", file.path()});
    EXPECT_THAT(said.out + said.err, testing::Not(HasSubstr("\x1b"))) << form;
  }
}

TEST(NcclTopo, and_a_snapshot_exclude_each_other) {
  const auto said = run({"topology", "--nccl-topo", "a.xml", "--snapshot", "b.node"});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr("--nccl-topo and --snapshot exclude each other"));
}

TEST(NcclTopo, a_file_that_is_none_is_named_with_the_line) {
  const File file("<system version='1'>\n<cpu numaid='0'>\n");
  const auto said = run({"topology", "--nccl-topo", file.path()});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr(file.path() + ": line 2: not XML"));
  EXPECT_EQ(run({"topology", "--nccl-topo", file.path() + ".gone"}).code, cli::kExitCannotTell);
}

TEST(NcclTopo, cannot_be_recorded_nor_be_the_machine_of_an_agent) {
  const host::Environment environment{{"RAILHEAD_NCCL_TOPO", "a.xml"}};
  EXPECT_EQ(run({"snapshot"}, environment).code, cli::kExitUsage);
  const auto agent = run({"agent", "--log-level", "error"}, environment);
  EXPECT_EQ(agent.code, cli::kExitUsage);
  EXPECT_THAT(agent.err, HasSubstr("not a machine to read"));
  EXPECT_EQ(run({"agent", "--nccl-topo", "a.xml"}).code, cli::kExitUsage);
}

}  // namespace
}  // namespace railhead::test
