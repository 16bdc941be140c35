// SPDX-License-Identifier: Apache-2.0
#include "proof/drivers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/rdma_models.h"

namespace railhead::test {
namespace {

TEST(Drivers, are_those_of_the_table_of_nics_with_the_same_modules) {
  for (const auto& model : node::rdma_models()) {
    if (model.promise == node::RdmaPromise::without_verbs) continue;
    const bool known = std::ranges::any_of(proof::kDriverRows, [&](const proof::DriverRow& row) {
      return row.driver == model.driver && row.module == model.module;
    });
    EXPECT_TRUE(known) << model.driver << " " << model.module;
  }
}

}  // namespace
}  // namespace railhead::test
