// SPDX-License-Identifier: Apache-2.0
//
// A job of two ranks whose log was cut, torn, wrapped, mixed with others, encoded or prefixed.
// Where a rank on TCP may hide, the verdict is not RDMA; where nothing hides, it stays RDMA.
#include <gmock/gmock.h>

#include "proof/nccl_job.h"

namespace railhead::proof {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

const std::string kHostA = "node-a:100:101 [0] NCCL INFO ";
const std::string kHostB = "node-b:200:201 [0] NCCL INFO ";
const std::string kOnIb = "Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/0/GDRDMA";
const std::string kOnSocket = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0";
const std::string kGood = kHostA + kOnIb + "\n";
const std::string kBad = kHostB + kOnSocket + "\n";

NcclJob judge_bytes(const std::string& log, std::size_t chunk = SIZE_MAX) {
  NcclLogReader reader;
  for (std::size_t at = 0; at < log.size(); at += std::min(chunk, log.size() - at)) {
    reader.feed(std::string_view(log).substr(at, chunk));
  }
  return judge(reader.finish());
}

NcclVerdict verdict_of_log(const std::string& log) {
  return judge_bytes(log).verdict;
}

bool is_safe(NcclVerdict verdict) {
  return verdict == NcclVerdict::mixed || verdict == NcclVerdict::unknown ||
         verdict == NcclVerdict::tcp;
}

struct Hostile {
  std::string name;
  std::string log;
};

std::string random_bytes(std::size_t size) {
  std::string bytes;
  std::uint32_t state = 7;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    bytes += static_cast<char>(state >> 24);
  }
  return bytes;
}

/// What collectors, launchers and viewers put in front of each line.
const std::vector<std::string>& fronts() {
  static const std::vector<std::string> kFronts = {
      "",
      "  ",
      "\t",
      "> ",
      "+ ",
      "| ",
      "[rank1]: ",
      "[rank1]:",
      "[default0]:",
      "[1,0]<stdout>:",
      "[1,0]<stderr>: ",
      "0: ",
      "12:",
      "(RayWorkerWrapper pid=285, ip=10.0.0.2) ",
      "\x1b[36m(RayWorkerWrapper pid=285)\x1b[0m ",
      "[pod/trainer-0/main] ",
      "trainer-0 main ",
      "worker-1  | ",
      "node1: ",
      "2026-01-02T03:04:05.678901234Z ",
      "2026-01-02T03:04:05.678901234Z stdout F ",
      "2026-01-02T03:04:05.678901234+00:00 stderr F ",
      "Nov 24 05:24:32 node1 python[4711]: ",
      "2026-11-24T05:24:32+0000 node1 containerd[77]: ",
      "[2026-01-04 21:33:04] ",
      "2026/01/02 03:04:05 [INFO] ",
      "{\"log\":\"",
      "{\"level\":\"info\",\"ts\":1700000000.1,\"msg\":\"",
      "2026-01-02 03:04:05 +0000 kube.var.log: {\"stream\":\"stdout\",\"message\":\"",
      "[\"1700000000000000000\",\"",
      "1|trainer  | ",
      "(head, rank=0, pid=21170) ",
      "stdout: ",
      "worker main stdout "};
  return kFronts;
}

std::string prefixed(const std::string& front, const std::string& line) {
  const bool is_json = front.find('"') != std::string::npos;
  return front + line + (is_json ? "\\n\",\"time\":\"2026-01-02T03:04:05Z\"}\n" : "\n");
}

TEST(NcclHostile, whatever_stands_in_front_tcp_beside_rdma_is_mixed) {
  for (const auto& front : fronts()) {
    EXPECT_EQ(verdict_of_log(prefixed(front, kHostA + kOnIb) + prefixed(front, kHostB + kOnSocket)),
              NcclVerdict::mixed)
        << front;
    EXPECT_EQ(verdict_of_log(prefixed(front, kHostA + kOnIb) + prefixed(front, kHostB + kOnIb)),
              NcclVerdict::rdma)
        << front;
    EXPECT_EQ(verdict_of_log(prefixed(front, kHostA + "Using network IB") +
                             prefixed(front, kHostB + "Using network Socket")),
              NcclVerdict::mixed)
        << front;
  }
}

/// A line of the log in two, at each of its characters.
void break_everywhere(const std::string& good, const std::string& bad, const std::string& between,
                      const std::string& front) {
  for (std::size_t at = 1; at < bad.size(); ++at) {
    const auto log = good + "\n" + prefixed(front, bad.substr(0, at)) + between +
                     prefixed(front, bad.substr(at)) + good + "\n";
    EXPECT_TRUE(is_safe(verdict_of_log(log))) << at << " " << front << bad.substr(0, at);
  }
}

TEST(NcclHostile, a_line_on_tcp_that_is_wrapped_anywhere_hides_nothing) {
  const std::string chosen = kHostB + "Using network Socket";
  for (const std::string front :
       {"", "2026-01-02T03:04:05.678901234Z stdout F ", "[pod/trainer-0/main] ", "{\"log\":\"",
        "Nov 24 05:24:32 node1 python[4711]: ", "[rank1]: "}) {
    break_everywhere(kHostA + kOnIb, kHostB + kOnSocket, "", front);
    break_everywhere(kHostA + "Using network IB", chosen, "", front);
  }
}

TEST(NcclHostile, nor_if_other_lines_came_between) {
  for (const std::string& between : {kGood, "epoch 1 loss 3.2\n"s, "\n"s, kGood + kGood}) {
    break_everywhere(kHostA + kOnIb, kHostB + kOnSocket, between, "");
    break_everywhere(kHostA + "Using network IB", kHostB + "Using network Socket", between, "");
  }
}

TEST(NcclHostile, a_line_on_rdma_may_be_wrapped_anywhere) {
  // Before the message it names no process, and the rest of it is a connection all the same.
  for (const std::string front : {"", "2026-01-02T03:04:05.678901234Z stdout F ",
                                  "[pod/trainer-0/main] ", "{\"log\":\"", "[rank1]: "}) {
    const auto whole = kHostB + kOnIb;
    for (std::size_t at = 1; at < whole.size(); ++at) {
      // JSON of docker's has an end of line in the text only where the line has one.
      const std::string end = front.find('"') == front.npos ? "\n" : "\",\"stream\":\"stdout\"}\n";
      const auto log =
          kGood + front + whole.substr(0, at) + end + prefixed(front, whole.substr(at)) + kGood;
      EXPECT_EQ(verdict_of_log(log), NcclVerdict::rdma)
          << at << " " << front << whole.substr(0, at);
    }
  }
}

TEST(NcclHostile, a_narrow_terminal_wraps_a_line_more_than_once) {
  for (const std::size_t width : {20U, 30U, 40U, 50U, 64U, 80U}) {
    for (const bool is_bad : {true, false}) {
      std::string log = kGood;
      const auto line = kHostB + (is_bad ? kOnSocket : kOnIb);
      for (std::size_t at = 0; at < line.size(); at += width) {
        log += line.substr(at, width) + "\n";
      }
      const auto verdict = verdict_of_log(log + kGood);
      EXPECT_EQ(is_safe(verdict), is_bad) << width;
    }
  }
}

TEST(NcclHostile, a_line_of_any_length_is_read_to_its_end) {
  const std::string filler = "{\"prompt\":\"";
  for (std::size_t length = 16384 - 120; length < 16384 + 20; ++length) {
    const auto blank = filler + std::string(length - filler.size() - 1, 'x') + " ";
    EXPECT_TRUE(is_safe(verdict_of_log(kGood + blank + kBad + kGood))) << length;
  }
  EXPECT_EQ(verdict_of_log(kGood + std::string(100000, 'y') + " " + kBad), NcclVerdict::mixed);
  const auto job = judge_bytes(kGood + std::string(100000, 'y') + " no more\n" + kGood);
  EXPECT_EQ(job.verdict, NcclVerdict::rdma);
  EXPECT_THAT(job.warnings, testing::Contains(HasSubstr("read in pieces")));
}

TEST(NcclHostile, what_is_no_text_may_be_tcp) {
  const std::vector<Hostile> logs = {
      {"gzip", kGood + "\x1f\x8b\x08\0\0\0\0\0\0\x03"s + random_bytes(80)},
      {"gzip without a line", kGood + "\x1f\x8b\x08\0\0\0\0\0\0\x03"s},
      {"gzip between lines",
       kGood + "\x1f\x8b\x08\0\0\0\0\0\0\x03"s + random_bytes(80) + "\n" + kGood},
      {"zstd", kGood + "\x28\xb5\x2f\xfd"s + random_bytes(80)},
      {"xz", kGood + "\xfd\x37\x7a\x58\x5a\0"s + random_bytes(80)},
      {"bzip2", kGood + "BZh91AY&SY" + random_bytes(80)},
      {"lz4", kGood + "\x04\x22\x4d\x18"s + random_bytes(80)},
      {"zip", kGood + "PK\x03\x04"s + random_bytes(80)},
      {"deflate", kGood + "\x78\x9c"s + random_bytes(200)},
      {"a core", kGood + "\x7f" + "ELF\x02\x01\x01"s + random_bytes(200)},
      {"noise", kGood + random_bytes(400)},
      {"behind a line without an end",
       kGood + kHostB + kOnIb + "\x1f\x8b\x08\0\0\0\0\0\0\x03"s + random_bytes(80)},
      {"a choice", kHostA + "Using network IB\n" + random_bytes(400)},
      {"one node",
       "a:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2\n" + random_bytes(400)}};
  for (const auto& hostile : logs) {
    const auto job = judge_bytes(hostile.log);
    EXPECT_EQ(job.verdict, NcclVerdict::unknown) << hostile.name;
    EXPECT_THAT(job.why, HasSubstr("is not text")) << hostile.name;
    EXPECT_THAT(job.warnings, testing::Contains(HasSubstr("is not text"))) << hostile.name;
    EXPECT_EQ(judge_bytes(hostile.log, 7).verdict, NcclVerdict::unknown) << hostile.name;
  }
  // TCP that was read is known all the same.
  EXPECT_EQ(verdict_of_log(kBad + random_bytes(400)), NcclVerdict::tcp);
  EXPECT_EQ(verdict_of_log(kGood + kBad + random_bytes(400)), NcclVerdict::mixed);
}

TEST(NcclHostile, a_file_that_was_not_read_may_be_tcp) {
  NcclLogReader reader;
  reader.begin_file("a");
  reader.feed(kGood);
  reader.begin_file("b");
  reader.feed("\x1f\x8b\x08\0\0\0"s);
  EXPECT_EQ(judge(reader.finish()).verdict, NcclVerdict::unknown);
  NcclLogReader other;
  other.begin_file("a");
  other.feed(kGood);
  other.begin_file("d");
  other.give_up_file("d: is a directory");
  const auto job = judge(other.finish());
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_THAT(job.why, HasSubstr("d: is a directory"));
}

TEST(NcclHostile, tcp_is_read_in_whatever_spelling) {
  const std::string chosen = kHostA + "Using network IB\n";
  const std::vector<Hostile> logs = {
      {"JSON of Go", "{\"log\":\"" + kHostB +
                         "Channel 00/0 : 0[0] -\\u003e 1[0] [send] via NET/Socket/0\\n\"}\n"},
      {"slashes of JSON",
       "{\"log\":\"" + kHostB + "Channel 00\\/0 : 0[0] -> 1[0] [send] via NET\\/Socket\\/0\"}\n"},
      {"letters of JSON", "{\"log\":\"" + kHostB + "Using network \\u0053ocket\"}\n"},
      {"JSON in JSON", R"({"message":"{\"log\":\")" + kHostB + kOnSocket +
                           R"(\\n\",\"stream\":\"stdout\"}"})"
                           "\n"},
      {"a list of JSON", "[\"" + kHostA + kOnIb + "\", \"" + kHostB + kOnSocket + "\"]\n"},
      {"bytes of Python", "b'" + kHostB + kOnSocket + "\\n'\n"},
      {"CSV", "\"2026-01-02\",\"" + kHostB + kOnSocket + "\"\n"},
      {"numbers of HTML",
       kHostB + "Channel 00&#47;0 : 0[0] -&#62; 1[0] [send] via NET&#x2F;Socket&#x2F;0\n"},
      {"names of HTML",
       kHostB + "Channel 00/0 : 0[0] -&gt; 1[0] [send]&nbsp;via&nbsp;NET/Socket/0\n"},
      {"no width", kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/\xe2\x80\x8bSocket/0\n"},
      {"soft hyphen", kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Soc\xc2\xadket/0\n"},
      {"byte order mark", "\xef\xbb\xbf" + kBad},
      {"colour within",
       kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/\x1b[31mSocket\x1b[0m/0\n"},
      {"a link of a terminal",
       kHostB +
           "Channel 00/0 : 0[0] -> 1[0] [send] via \x1b]8;;http://x\x07NET/Socket/0\x1b]8;;\x07\n"},
      {"erased line", "50%|###|\x1b[2K\x1b[1G" + kBad},
      {"steps back", "1/9 [>...]\b\b\b\b\b" + kBad},
      {"carriage return", "10%|#\r" + kBad},
      {"CRLF", kHostB + kOnSocket + "\r\n"},
      {"NULs", std::string("\0\0\0", 3) + kBad},
      {"vertical tab", kHostA + kOnIb + "\x0b" + kBad},
      {"form feed", kHostA + kOnIb + "\x0c" + kBad},
      {"line separator", kHostA + kOnIb + "\xe2\x80\xa8" + kBad},
      {"two on one line", kHostA + kOnIb + kBad},
      {"after a word", kHostA + kOnIb + " # ok " + kBad},
      {"a frame of docker", "\x01\0\0\0\0\0\0\x50"s + kBad},
      {"Latin-1", "Entra\xeenement\n" + kBad},
      {"no end of line", kHostB + kOnSocket},
      {"cut in the name", kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/S"},
      {"cut in the choice", kHostB + "Using network So"},
      {"shared", kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0/Shared\n"},
      {"through another rank",
       kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0(1)/Shared\n"},
      {"old", kHostB + "Ring 00 : 0[0] -> 1[0] via NET/Socket/0\n"},
      {"Ray thinned it", kHostB + kOnSocket + "\x1b[32m [repeated 7x across cluster]\x1b[0m\n"}};
  for (const auto& hostile : logs) {
    EXPECT_TRUE(is_safe(verdict_of_log(chosen + hostile.log))) << hostile.name;
    EXPECT_NE(verdict_of_log(chosen + hostile.log), NcclVerdict::unknown) << hostile.name;
    EXPECT_TRUE(is_safe(verdict_of_log(kGood + hostile.log + kGood))) << hostile.name;
  }
}

TEST(NcclHostile, jobs_restarts_and_contradictions_in_one_file_hide_nothing) {
  const std::string ib = kHostA + "Using network IB\n";
  const std::vector<Hostile> logs = {
      {"TCP first, then RDMA of the same name", kHostA + kOnSocket + "\n" + kGood},
      {"RDMA first, then TCP of the same name", kGood + kHostA + kOnSocket + "\n"},
      {"another process", kGood + "node-a:900:901 [0] NCCL INFO " + kOnSocket + "\n"},
      {"another GPU", kGood + "node-a:100:102 [1] NCCL INFO " + kOnSocket + "\n"},
      {"another version",
       "NCCL version 2.7.8+cuda11\n" + kBad + "NCCL version 2.21.5+cuda12\n" + kGood},
      {"a restart that fell back",
       ib + kHostA + "NET/IB : No device found.\n" + kHostA + "Using network Socket\n"},
      {"a restart that did not", kHostA + "Using network Socket\n" + ib},
      {"nameless TCP", kGood + "NCCL INFO " + kOnSocket + "\n"},
      {"bare TCP", kGood + kOnSocket + "\n"},
      {"bare choice", kGood + "Using network Socket\n"},
      {"a rank that says nothing but TCP",
       kGood + kHostB + "NET/Socket: Using 2 threads and 8 sockets per thread\n"},
      {"Mooncake beside NCCL",
       kGood +
           "I0708 09:26:26.332921 36 tcp_transport.cpp:241] TcpTransport: listen on port 16050\n"},
      {"UCX beside NCCL",
       kGood + "[1.0] [b:1:0] ucp_worker.c:1 UCX  INFO  x inter-node cfg#1 am(tcp/eth0)\n"},
      {"UCX of both",
       "[1.0] [b:1:0] ucp_worker.c:1 UCX  INFO  x inter-node cfg#1 am(rc_mlx5/mlx5_0:1 "
       "tcp/eth0)\n"},
      {"NIXL", kGood + "2026-01-08 13:36:27 NIXL INFO falling back to TCP transport\n"},
      {"Mooncake of both",
       "I0401 1 59 rdma_context.cpp:140] RDMA device: mlx5_0, LID: 0, GID: (3) 00\nI0708 1 36 "
       "tcp_transport.cpp:241] TcpTransport: listen on port 16050\n"},
      {"the environment says sockets", kHostA + "NCCL_NET set by environment to Socket.\n" + ib},
      {"the environment switches IB off",
       kHostA + "NCCL_IB_DISABLE set by environment to 1.\n" + ib},
      {"FastSocket", kGood + kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/FastSocket/0\n"},
      {"TCPX with GDRDMA",
       kGood + kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/GPUDirectTCPX_v7/0/GDRDMA\n"},
      {"an unknown network",
       kGood + kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/MyNet/0\n"},
      {"an unknown choice", kGood + kHostB + "Using network MyNet\n"}};
  for (const auto& hostile : logs) {
    EXPECT_TRUE(is_safe(verdict_of_log(hostile.log))) << hostile.name;
  }
}

TEST(NcclHostile, what_is_cut_or_torn_may_be_tcp) {
  const std::string torn = kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/";
  const std::string ucx = "[1.0] [b:1:0] ucp_worker.c:1 UCX  INFO  x inter-node cfg#1 ";
  const std::string ucx_good = ucx + "am(rc_mlx5/mlx5_0:1)\n";
  std::string many = kGood;
  for (int i = 0; i < 80; ++i) {
    many += kHostA + "Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/" + std::to_string(i) + "\n";
  }
  std::string choices;
  for (int i = 0; i < 10; ++i)
    choices += kHostA + "Using network IBext_v" + std::to_string(i) + "\n";
  std::string lanes = ucx + "am(";
  for (int i = 0; i < 40; ++i) lanes += "rc_mlx5/mlx5_" + std::to_string(i) + ":1 ";
  const std::vector<Hostile> logs = {
      {"tail", kGood + torn},
      {"tail of a choice", kGood + kHostB + "Using network"},
      {"head", "Socket/0\n" + kGood},
      {"head in the name", "ket/0\n" + kGood},
      {"head in the connection", "0] [send] via NET/Socket/0\n" + kGood},
      {"torn by another writer", kGood + torn + kGood + "Socket/0\n"},
      {"torn in the name", kGood + torn + "Soc" + kGood + "ket/0\n"},
      {"a remark", kGood + torn + " # what now\n"},
      {"the other stream between",
       kGood + "2026-01-02T03:04:05Z stdout P " + torn +
           "\n2026-01-02T03:04:05Z stderr F step 1\n2026-01-02T03:04:05Z stdout F Socket/0\n"},
      {"more devices than are kept, then TCP", many + kHostA + kOnSocket + "\n"},
      {"more networks than are kept, then TCP",
       choices + kHostA + "Using network Socket\n" + kHostA + "Using network IB\n"},
      {"UCX wrapped", ucx_good + ucx + "am(\ntcp/eth0)\n"},
      {"UCX cut", ucx_good + ucx + "am("},
      {"UCX cut behind RDMA", ucx + "rma(rc_mlx5/mlx5_0:1) am("},
      {"UCX cut in a name", ucx_good + ucx + "am(rc_mlx5/mlx5_0:1 t"},
      {"more lanes than are kept", lanes + "tcp/eth0)\n"},
      {"a table torn",
       "[1.0] [b:1:0] +---+---+\n[1.0] [b:1:0] | x inter-node cfg#1 | tagged message |\n[1.0] "
       "[b:1:0] | 0..92 | eager | rc_mlx5/mlx5_0:1 |\nstep 1\n[1.0] [b:1:0] | 93..inf | eager | "
       "tcp/eth0 |\n"},
      {"Mooncake wrapped",
       "I0401 1 59 rdma_context.cpp:140] RDMA device: mlx5_0, LID: 0, GID: (3) 00\nI0708 1 36 "
       "tcp_transport.cpp:241] TcpTransport: listen\n on port 16050\n"},
      {"Mooncake cut",
       "I0401 1 59 rdma_context.cpp:140] RDMA device: mlx5_0, LID: 0, GID: (3) 00\nI0708 1 36 "
       "tcp_transport.cpp:241] TcpTransport: listen"}};
  for (const auto& hostile : logs) {
    EXPECT_TRUE(is_safe(verdict_of_log(hostile.log))) << hostile.name;
  }
  const auto job = judge_bytes(kGood + torn);
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_THAT(job.why, HasSubstr("line 2"));
  EXPECT_THAT(job.warnings, testing::Contains(HasSubstr("breaks off before the network")));
}

TEST(NcclHostile, untidy_logs_of_rdma_stay_rdma) {
  const std::vector<Hostile> logs = {
      {"frames of docker",
       "\x01\0\0\0\0\0\0\x50"s + kGood + "\x02\0\0\0\0\0\0\x1f"s + "a warning\n"},
      {"Latin-1", "Entra\xeenement d\xe9marr\xe9\n"},
      {"GBK", "\xd1\xb5\xc1\xb7\xbf\xaa\xca\xbc\n"},
      {"Chinese", "\xe8\xae\xad\xe7\xbb\x83\xe5\xbc\x80\xe5\xa7\x8b\n"},
      {"a progress bar",
       "Epoch 1:  50%|\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88   | 1/2 [00:01<00:01]\r\n"},
      {"bells and steps back", "done\a 1/9\b\b\b2/9\b\b\b3/9\n"},
      {"letters of a terminal", "\x1b(B\x0f\x1b[m ok \x0e\x0f\n"},
      {"an interrupt", "^C \x03\nKeyboardInterrupt\n"},
      {"base64", std::string(4000, 'Q') + "==\n"},
      {"a long prompt", std::string(50000, 'w') + "\n"},
      {"a sentence", "If the log says that it goes via NET/Socket/0, RDMA is not used.\n"},
      {"a list of sockets", kHostA + "NET/Socket : Using [0]eth0:10.0.0.1<0>\n"},
      {"the environment", kHostA + "NCCL_SOCKET_IFNAME set by environment to eth0\n"},
      {"an order of ranks",
       kHostA + "Channel 00/02 :    0   1\n" + kHostA + "Channel 01/02 :    0   1\n"},
      {"a tail before the network", kGood + kHostB + "Channel 00/0 : 0[0] -> 1[0] [send] via"},
      {"a tail", kGood + kHostA + "Channel 01/0 : 1[0"},
      {"a tail in the name", kGood + kHostA + "Channel 01/0 : 1[0] -> 0[0] [send] via NET/I"},
      {"a tail behind the name",
       kGood + kHostA + "Channel 01/0 : 1[0] -> 0[0] [send] via NET/IB/0/GDR"},
      {"a thinned line", kHostA + "Channel 00/0 : 6[ [repeated 27x across cluster]\n"},
      {"interfaces of UCX",
       "[1.0] [a:1:0] ucp_worker.c:1 UCX  DEBUG created interface[4]=0x1 using tcp/eth0 on worker "
       "0x2\n"},
      {"a file's own words", "loading /data/NET/models\nusing network storage\nNetwork: ResNet\n"},
      {"blank lines", "\n\n \n\t\n"},
      {"CRLF", kHostA + kOnIb + "\r\n" + kHostA + "Using network IB\r\n"},
      {"within the node", kHostA + "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read\n" + kHostA +
                              "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"},
      {"NVLink of a rack", kHostA + "Channel 00/0 : 0[0] -> 1[1] via P2P/MNNVL\n"},
      {"a diff", "+" + kGood + "-" + kGood},
      {"a quotation", "> " + kGood + ">> " + kGood}};
  for (const auto& hostile : logs) {
    const auto job = judge_bytes(kGood + hostile.log);
    EXPECT_EQ(job.verdict, NcclVerdict::rdma) << hostile.name << ": " << job.why;
    if (hostile.name.starts_with("a tail")) continue;
    EXPECT_EQ(verdict_of_log(hostile.log + "\n" + kGood), NcclVerdict::rdma) << hostile.name;
  }
}

}  // namespace
}  // namespace railhead::proof
