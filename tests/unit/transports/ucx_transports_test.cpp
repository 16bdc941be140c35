// SPDX-License-Identifier: Apache-2.0
#include "transports/ucx_transports.h"

#include <string>

#include <gtest/gtest.h>

namespace railhead::transports {
namespace {

TEST(UcxTransports, a_list_with_a_transport_over_rdma_has_one) {
  for (const char* value :
       {"all", "ib", "rc", "rc_x,self", "tcp,rc_verbs", "dc", "dc_x,sm", "ud", "ud_v", "ud_mlx5",
        "srd,tcp", "rc_gda", "cuda_copy,tcp,all", "\\rc_mlx5"}) {
    EXPECT_TRUE(has_rdma_transport(value)) << value;
  }
}

TEST(UcxTransports, a_list_without_one_has_none) {
  for (const char* value :
       {"tcp", "tcp,self", "sm,cuda,cuda_copy,gdr_copy", "self,shm,tcp,", "tcp,ud_mlx5:aux",
        "\\tcp,self", "gga", "rocm,ze,tcp", "tcp,sockcm,rdmacm"}) {
    EXPECT_FALSE(has_rdma_transport(value)) << value;
  }
}

TEST(UcxTransports, exclusions_leave_the_others) {
  EXPECT_TRUE(has_rdma_transport("^tcp"));
  EXPECT_TRUE(has_rdma_transport("^rc,ud"));
  EXPECT_TRUE(has_rdma_transport("^ib:aux"));
  EXPECT_TRUE(has_rdma_transport("^none-such"));
  EXPECT_FALSE(has_rdma_transport("^ib"));
  EXPECT_FALSE(has_rdma_transport("^rc,ud,dc,srd,rc_gda"));
}

TEST(UcxTransports, a_list_ends_where_ucx_ends_it) {
  std::string words;
  for (int i = 0; i < 128; ++i) words += ",tcp";
  EXPECT_FALSE(has_rdma_transport(words + ",rc"));
  EXPECT_FALSE(has_rdma_transport("self,tcp,,,,," + words + ",all"));
  EXPECT_TRUE(has_rdma_transport("^" + words + ",ib"));
}

TEST(UcxTransports, nothing_is_said_of_what_is_not_known) {
  for (const char* value : {"", "^", ",", "tcp,new_transport", "RC", "tcp, rc"}) {
    EXPECT_TRUE(has_rdma_transport(value)) << value;
  }
}

}  // namespace
}  // namespace railhead::transports
