// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "system/kept_files.h"
#include "unit/checks/patients.h"

namespace railhead::test {
namespace {

checks::Finding lnet_of(const Patient& patient, std::string_view subject) {
  return finding_of(patient.examine(), "lnet.networks", subject);
}

TEST(Lnet, is_skipped_where_there_is_none) {
  EXPECT_EQ(lnet_of(healthy(), "node").state, checks::State::skip);
}

TEST(Lnet, an_interface_that_is_down_is_named) {
  auto patient = with_lnet();
  patient.text("/sys/kernel/debug/lnet/nis",
               "nid                      status alive refs peer  rtr   max    tx   min\n"
               "0@lo                         up     0    2    0    0     0     0     0\n"
               "10.0.0.5@o2ib              down    -1    1    8    0   256   256   248\n"
               "10.1.0.5@tcp                 up    -1    1    8    0   256   256   248");
  EXPECT_EQ(lnet_of(patient, "o2ib").state, checks::State::fail);
  EXPECT_EQ(lnet_of(patient, "tcp").observed, "up, not over RDMA");
}

TEST(Lnet, rdma_that_is_declared_needs_its_module) {
  auto patient = with_lnet();
  EXPECT_EQ(lnet_of(patient, "node").state, checks::State::fail);
  patient.text("/sys/module/ko2iblnd/refcnt", "1");
  EXPECT_EQ(lnet_of(patient, "node").state, checks::State::pass);
  patient.text("/sys/module/lnet/parameters/networks", "(null)");
  EXPECT_EQ(lnet_of(patient, "node").state, checks::State::unknown);
}

TEST(Lnet, a_snapshot_keeps_no_address) {
  EXPECT_EQ(system::kept_lnet_interfaces("nid status\n10.0.0.5@o2ib  up -1\nx\n"), "0@o2ib up\n");
}

}  // namespace
}  // namespace railhead::test
