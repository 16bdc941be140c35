// SPDX-License-Identifier: Apache-2.0
//
// A kernel that refuses each question of `railhead pods` with each errno, on every recorded usage
// of tests/pods/usages: the verdict stays, or is unknown with the reason. Nobody falls back who did
// not, and no container is missing without a word.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "host/host_error.h"
#include "node/node.h"
#include "pools/pool_spec.h"
#include "proof/container_records.h"
#include "proof/count.h"
#include "proof/pods.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"
#include "unit/source_dir.h"
#include "usage/usage.h"

namespace railhead::test {
namespace {

using Errnos = std::vector<int>;

const Errnos kEach = {EPERM,  EACCES, ENOENT, EOPNOTSUPP, EINTR,     ENOBUFS, EMSGSIZE,
                      EIO,    EBUSY,  ENODEV, ENOMEM,     ETIMEDOUT, EFBIG,   EINVAL,
                      EPROTO, ENOSYS, EAGAIN, ESRCH,      ENXIO};
const Errnos kFew = {EACCES, EOPNOTSUPP, EIO, ENOENT};

const std::string kQueuePairs = "rdma /.netlink/rdma/10.0";
const std::string kConnections = "rdma /.netlink/rdma/11.0";
const std::string kRegions = "rdma /.netlink/rdma/13.0";
const std::string kDomains = "rdma /.netlink/rdma/14.0";
const std::string kContexts = "rdma /.netlink/rdma/22.0";

/// "read /proc/1/stat", "rdma /.netlink/rdma/10.0"
using Question = std::string;
using Questions = std::set<Question>;

/// A machine that refuses some questions, and notes which it was asked.
class RefusingHost final : public test::EmptyHost {
 public:
  explicit RefusingHost(host::Host& machine)
      : machine_(machine) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return answer<std::string>("read " + path, path, [&] { return machine_.read(path); });
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return answer<std::string>("readlink " + path, path, [&] { return machine_.readlink(path); });
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return answer<std::vector<std::string>>("list " + path, path,
                                            [&] { return machine_.list(path); });
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return answer<host::DeviceNode>("device " + path, path, [&] { return machine_.device(path); });
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override {
    const auto path = host::rdma_path(dump);
    return answer<std::string>("rdma " + path, path, [&] { return machine_.rdma(dump); });
  }

  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(
      const std::string& link) override {
    return answer<std::vector<host::TcpSocket>>("tcp " + link, link,
                                                [&] { return machine_.tcp_sockets(link); });
  }

  void refuse(Questions questions, int error_number) {
    refused_ = std::move(questions);
    error_number_ = error_number;
  }

  [[nodiscard]] const Questions& asked() const { return asked_; }

 private:
  template <typename T, typename Ask>
  Result<std::optional<T>> answer(const Question& question, const std::string& path, Ask ask) {
    asked_.insert(question);
    if (!refused_.contains(question)) return ask();
    if (host::means_absent(error_number_)) return host::kAbsent;
    return host::host_error(path, error_number_);
  }

  host::Host& machine_;
  Questions asked_;
  Questions refused_;
  int error_number_ = 0;
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::unique_ptr<host::Host> machine_at(const std::filesystem::path& path) {
  return snapshot::SnapshotHost::parse(text_of(path)).value();
}

/// One machine of tests/pods/usages, at one moment, two or three.
class RecordedUsage {
 public:
  explicit RecordedUsage(const std::string& name)
      : machine_(machine_at(path_of(name))) {
    if (name.starts_with("not-asked-for")) listed_ = usage::ListQueuePairs::never;
    RefusingHost host(*machine_);
    table_ = table_of(host);
    node_questions_ = host.asked();
    if (const auto path = path_of(name + ".first"); std::filesystem::exists(path)) {
      first_ = reading(*machine_at(path), nullptr);
    }
    if (const auto path = path_of(name + ".before"); std::filesystem::exists(path)) {
      earlier_ = machine_at(path);
      before_ = reading(*earlier_, first());
    }
    clean_ = judge(host);
    for (const auto& question : host.asked()) {
      if (!node_questions_.contains(question)) questions_.insert(question);
    }
  }

  static std::filesystem::path path_of(const std::string& name) {
    return std::filesystem::path(source_dir()) / "tests/pods/usages" / (name + ".node");
  }

  /// What is asked beyond the node itself.
  [[nodiscard]] const Questions& questions() const { return questions_; }

  [[nodiscard]] const Questions& node_questions() const { return node_questions_; }

  [[nodiscard]] const proof::PodsView& clean() const { return clean_; }

  /// What is said where these are refused now.
  [[nodiscard]] proof::PodsView refused(const Questions& questions, int error_number) const {
    RefusingHost host(*machine_);
    host.refuse(questions, error_number);
    return judge(host);
  }

  /// Where they were refused at the moment before.
  [[nodiscard]] proof::PodsView refused_before(const Questions& questions, int error_number) const {
    RefusingHost host(*earlier_);
    host.refuse(questions, error_number);
    const auto before = reading(host, first());
    return view_of(usage::read_usage(*machine_, "/proc", listed_), &before, *table_);
  }

  /// Where the node was read with this refused, too.
  [[nodiscard]] proof::PodsView refused_of_node(const Question& question, int error_number) const {
    RefusingHost host(*machine_);
    host.refuse({question}, error_number);
    const auto table = table_of(host);
    return view_of(usage::read_usage(host, "/proc", listed_), before(), *table);
  }

  [[nodiscard]] bool has_before() const { return before_.has_value(); }

 private:
  static std::shared_ptr<const inject::DecisionTable> table_of(host::Host& host) {
    inject::InjectionPolicy policy;
    policy.pools = {pools::default_pool()};
    return std::make_shared<const inject::DecisionTable>(
        node::read_node(host), affinity::OperatorRules(), std::move(policy));
  }

  static proof::PodsView view_of(const usage::Usage& now, const usage::Usage* before,
                                 const inject::DecisionTable& table) {
    return proof::judge_pods(now, before, table.node(), proof::records_of(now, table), {});
  }

  [[nodiscard]] const usage::Usage* first() const { return first_ ? &*first_ : nullptr; }

  [[nodiscard]] const usage::Usage* before() const { return before_ ? &*before_ : nullptr; }

  /// One to compare the next with.
  usage::Usage reading(host::Host& host, const usage::Usage* before) const {
    auto now = usage::read_usage(host, "/proc", listed_);
    proof::note_who_moved_alone(now, view_of(now, before, *table_));
    return now;
  }

  proof::PodsView judge(host::Host& host) const {
    return view_of(usage::read_usage(host, "/proc", listed_), before(), *table_);
  }

  std::unique_ptr<host::Host> machine_;
  std::unique_ptr<host::Host> earlier_;
  usage::ListQueuePairs listed_ = usage::ListQueuePairs::always;
  std::optional<usage::Usage> first_;
  std::optional<usage::Usage> before_;
  std::shared_ptr<const inject::DecisionTable> table_;
  Questions questions_;
  Questions node_questions_;
  proof::PodsView clean_;
};

std::vector<std::string> recorded_usages() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(RecordedUsage::path_of("").parent_path())) {
    const auto name = entry.path().stem().string();
    if (name.find('.') == std::string::npos) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

const proof::PodUse* find(const proof::PodsView& view, const proof::PodUse& pod) {
  for (const auto& one : view.pods) {
    if (one.record.container_id == pod.record.container_id) return &one;
  }
  return nullptr;
}

/// The words of an errno; "" for one that means absent, which is an answer.
std::string words_of(int error_number) {
  if (host::means_absent(error_number)) return "";
  return host::host_error("", error_number).message;  // ": permission denied"
}

bool any_has(const std::vector<std::string>& texts, const std::string& words) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

/// What may not be said; "" for none.
std::string wrong(const proof::PodsView& clean, const proof::PodsView& now, int error_number) {
  for (const auto& pod : clean.pods) {
    const auto name = pod.record.pod;
    const auto words = words_of(error_number);
    const auto* same = find(now, pod);
    if (same == nullptr) {
      if (now.complete) return name + " is missing, and nothing is said";
      if (!any_has(now.warnings, words)) return name + " is missing, and no warning says why";
      continue;
    }
    const auto verdict = std::string(to_string(same->verdict));
    if (same->silent_fallback && !pod.silent_fallback) return name + " is a fallback now";
    if (same->verdict == pod.verdict) continue;
    if (same->verdict != proof::Verdict::unknown) return name + " is " + verdict + " now";
    if (same->why.empty()) return name + " is unknown without a reason";
    // What only traffic proves is unknown without it, for the reasons that it had all the time.
    const bool was_by_traffic = pod.rung == proof::Rung::sole_user;
    if (!was_by_traffic && same->why.find(words) == std::string::npos) {
      return name + " is unknown for another reason: " + same->why;
    }
  }
  return "";
}

/// Usages that say something only by the list that is refused.
bool is_moot(const std::string& usage, const Questions& questions, int error_number) {
  const auto has = [&](const Question& question) { return questions.contains(question); };
  // Who opened a device and registered no memory moves nothing, on a kernel without contexts.
  if (usage == "opened-only") return has(kContexts) && error_number == EOPNOTSUPP;
  // Queue pairs of nobody and no context: a contradiction of the two.
  if (usage == "without-owner") return has(kQueuePairs);
  // SMC-R is seen by either of two lists.
  if (usage == "smc-of-the-kernel") return has(kQueuePairs) && has(kDomains);
  // Owners that are none; others of the same domains are believed where it is not contradicted.
  return usage == "lists-lie" && (has(kContexts) || (has(kQueuePairs) && has(kRegions)));
}

/// A shim's folder that is gone is one of a container that is being deleted, and the names of a
/// process that is gone are, too.
bool is_an_end(const Question& question, int error_number) {
  if (!host::means_absent(error_number)) return false;
  return question.starts_with("read /run/") || question.ends_with("/cwd") ||
         question.ends_with("/stat") || question.ends_with("/status") ||
         question.ends_with("/cgroup") || question.ends_with("/ns/net") ||
         question.find("/fd") != std::string::npos;
}

/// "Verdict: job: TCP nothing fallback", as the file says of each pod.
std::string said_of(const proof::PodUse& pod) {
  auto rung = std::string(to_string(pod.rung));
  std::ranges::transform(rung, rung.begin(), [](unsigned char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return "# Verdict: " + pod.record.pod + ": " + std::string(to_string(pod.verdict)) + " " + rung +
         (pod.silent_fallback ? " fallback" : "") + "\n";
}

class Refusals : public testing::TestWithParam<std::string> {};

TEST_P(Refusals, without_any_the_verdict_is_that_of_a_person) {
  const auto text = text_of(RecordedUsage::path_of(GetParam()));
  EXPECT_NE(text.find("\n# Source: "), std::string::npos);
  const RecordedUsage usage(GetParam());
  for (const auto& pod : usage.clean().pods) {
    EXPECT_NE(text.find(said_of(pod)), std::string::npos) << said_of(pod) << pod.why;
  }
}

TEST_P(Refusals, of_one_question_leave_the_verdict_or_say_why_not) {
  const RecordedUsage usage(GetParam());
  const std::set<std::string> whole = {
      "nccl-rc", "nccl-on-tcp", "ucx-devx-moves", "efa-srd", "sglang-on-tcp-host-network", "psm2"};
  const auto& errnos = whole.contains(GetParam()) ? kEach : kFew;
  ASSERT_FALSE(usage.clean().pods.empty());
  for (const auto& question : usage.questions()) {
    for (const int number : errnos) {
      if (is_an_end(question, number) || is_moot(GetParam(), {question}, number)) continue;
      EXPECT_EQ(wrong(usage.clean(), usage.refused({question}, number), number), "")
          << question << " with " << host::errno_name(number);
      if (!usage.has_before()) continue;
      EXPECT_EQ(wrong(usage.clean(), usage.refused_before({question}, number), ENOENT), "")
          << question << " with " << host::errno_name(number) << " at the moment before";
    }
  }
}

TEST_P(Refusals, of_several_lists_make_nobody_fall_back) {
  const RecordedUsage usage(GetParam());
  const std::array<Question, 5> kLists = {kQueuePairs, kConnections, kRegions, kDomains, kContexts};
  for (unsigned set = 0; set < 1U << kLists.size(); ++set) {
    Questions some;
    for (std::size_t i = 0; i < kLists.size(); ++i) {
      if ((set >> i & 1U) != 0) some.insert(kLists[i]);
    }
    for (const int number : {EPERM, EOPNOTSUPP, EINVAL}) {
      if (is_moot(GetParam(), some, number)) continue;
      EXPECT_EQ(wrong(usage.clean(), usage.refused(some, number), number), "")
          << testing::PrintToString(some) << " with " << host::errno_name(number);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachUsage, Refusals, testing::ValuesIn(recorded_usages()),
                         [](const auto& usage) {
                           auto name = usage.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Refusals, of_sysfs_make_nobody_fall_back) {
  for (const auto* name : {"ucx-devx", "nccl-rc", "efa-srd", "irdma-equal-numbers"}) {
    const RecordedUsage usage(name);
    for (const auto& question : usage.node_questions()) {
      if (question.find("infiniband") == std::string::npos &&
          question.find("0000:31:00.0") == std::string::npos) {
        continue;
      }
      for (const int number : {EACCES, EIO}) {
        const auto now = usage.refused_of_node(question, number);
        for (const auto& pod : now.pods) {
          EXPECT_TRUE(pod.verdict == proof::Verdict::unknown || pod.verdict == proof::Verdict::rdma)
              << name << " " << question << ": " << pod.why;
        }
      }
    }
  }
}

}  // namespace
}  // namespace railhead::test
