// SPDX-License-Identifier: Apache-2.0
#include "agent/nfs_counts.h"

#include <gmock/gmock.h>

#include "unit/node/hosts.h"

namespace railhead::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::string& process) {
  Metrics metrics;
  const auto host = test::host_of(
      test::file_entry("/proc/" + process + "/mountstats",
                       "device nas:/a mounted on /a with fstype nfs4 statvers=1.1\n"
                       "\topts:\trw,vers=4.1,proto=tcp\n\txprt:\ttcp 0 0 1 0 5 14 13 0\n") +
      test::file_entry("/etc/fstab", "nas:/a /a nfs4 rdma 0 0\nnas:/b /b nfs4 rdma 0 0\n"));
  count_nfs(*host, metrics);
  return metrics.expose();
}

TEST(NfsCounts, each_verdict_has_a_sample) {
  const auto page = page_of("1");
  for (const char* sample : {"{verdict=\"fallback\"} 1\n", "{verdict=\"absent\"} 1\n",
                             "{verdict=\"rdma\"} 0\n", "{verdict=\"unknown\"} 0\n"}) {
    EXPECT_THAT(page, HasSubstr("railhead_nfs_mounts" + std::string(sample)));
  }
}

TEST(NfsCounts, of_another_namespace_nothing_is_said) {
  EXPECT_THAT(page_of("self"), Not(HasSubstr("railhead_nfs_mounts{")));
}

}  // namespace
}  // namespace railhead::agent
