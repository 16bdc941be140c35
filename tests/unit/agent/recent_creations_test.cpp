// SPDX-License-Identifier: Apache-2.0
#include "agent/recent_creations.h"

#include <gtest/gtest.h>

namespace railhead::agent {
namespace {

bool note(RecentCreations& recent, std::string_view uid, std::string_view name,
          std::string_view id) {
  container::Identity container;
  container.pod_uid = uid;
  container.name = name;
  container.id = id;
  return recent.note(container);
}

TEST(RecentCreations, the_same_container_under_a_new_id_was_created_again) {
  RecentCreations recent;
  EXPECT_FALSE(note(recent, "pod-1", "main", "a"));
  EXPECT_FALSE(note(recent, "pod-1", "main", "a"));
  EXPECT_TRUE(note(recent, "pod-1", "main", "b"));
}

TEST(RecentCreations, other_pods_and_containers_are_others) {
  RecentCreations recent;
  note(recent, "pod-1", "main", "a");
  EXPECT_FALSE(note(recent, "pod-2", "main", "b"));
  EXPECT_FALSE(note(recent, "pod-1", "side", "c"));
}

TEST(RecentCreations, remembers_a_bounded_number) {
  RecentCreations recent;
  note(recent, "pod-0", "main", "a");
  for (std::size_t i = 1; i <= RecentCreations::kRemembered; ++i) {
    note(recent, "pod-" + std::to_string(i), "main", "a");
  }
  EXPECT_FALSE(note(recent, "pod-0", "main", "b"));
}

}  // namespace
}  // namespace railhead::agent
