// SPDX-License-Identifier: Apache-2.0
#include "transports/variables.h"

#include <string>

#include <gtest/gtest.h>

namespace railhead::transports {
namespace {

TEST(TransportVariables, are_known_by_their_whole_names) {
  for (const auto name : kVariables) {
    EXPECT_TRUE(is_transport_variable(std::string(name) + "=x")) << name;
    EXPECT_TRUE(is_transport_variable(std::string(name) + "=")) << name;
    EXPECT_FALSE(is_transport_variable(name)) << name;
    EXPECT_FALSE(is_transport_variable(std::string(name) + "X=x")) << name;
  }
  for (const char* entry : {"", "=", "N", "NCCL_IB_HC=x", "NCCL_SOCKET_IFNAME=eth0", "PATH=/bin"}) {
    EXPECT_FALSE(is_transport_variable(entry)) << entry;
  }
}

TEST(TransportVariables, have_their_last_value_as_it_stands) {
  const Values values({"NCCL_NET=IB", "UCX_TLS=", "NCCL_NET= Socket "});
  EXPECT_EQ(values.text(Variable::nccl_net), " Socket ");
  EXPECT_EQ(values.find(Variable::ucx_tls), "");
  EXPECT_EQ(values.find(Variable::nccl_ib_hca), std::nullopt);
  EXPECT_EQ(values.text(Variable::nccl_ib_hca), "");
  EXPECT_FALSE(values.empty());
  EXPECT_TRUE(Values({"PATH=/bin"}).empty());
}

}  // namespace
}  // namespace railhead::transports
