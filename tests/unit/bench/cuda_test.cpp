// SPDX-License-Identifier: Apache-2.0
#include "bench/cuda.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>

namespace railhead::bench {
namespace {

Result<std::unique_ptr<Cuda>> load(const char* mode) {
  ::setenv("FAKE_CUDA", mode, 1);
  return Cuda::load(RAILHEAD_FAKE_CUDA, 0);
}

TEST(Cuda, without_a_driver_it_is_unsupported_and_says_so) {
  const auto cuda = Cuda::load("libno-such-cuda.so.1", 0);
  ASSERT_FALSE(cuda);
  EXPECT_EQ(cuda.error().code, ErrorCode::unsupported);
  EXPECT_EQ(cuda.error().message.rfind("no CUDA driver: ", 0), 0U);
}

TEST(Cuda, a_library_that_is_not_the_drivers_is_named) {
  EXPECT_EQ(Cuda::load("libm.so.6", 0).error().message,
            "libm.so.6 lacks calls of CUDA 11 that are needed");
}

TEST(Cuda, a_machine_without_gpus_is_unsupported) {
  EXPECT_EQ(load("none").error().message, "no GPU 0: the CUDA driver has 0");
}

TEST(Cuda, facts_are_the_drivers) {
  const auto cuda = load("new");
  ASSERT_TRUE(cuda) << cuda.error().message;
  EXPECT_EQ((*cuda)->facts(), (GpuFacts{"0000:19:00.0", "12.4", true, true}));
}

TEST(Cuda, memory_is_whole_pages_and_keeps_what_is_copied) {
  auto cuda = load("new");
  auto buffer = (*cuda)->allocate(100000);
  ASSERT_TRUE(buffer);
  EXPECT_EQ((*buffer)->length(), 131072U);
  EXPECT_EQ((*buffer)->bytes(), nullptr);
  const std::array<std::byte, 2> in{std::byte{1}, std::byte{2}};
  std::array<std::byte, 2> out{};
  ASSERT_TRUE((*buffer)->write(70000, in));
  ASSERT_TRUE((*buffer)->read(70000, out));
  EXPECT_EQ(in, out);
  EXPECT_TRUE((*cuda)->export_dmabuf(**buffer));
}

TEST(Cuda, a_full_gpu_is_no_memory) {
  auto cuda = load("full");
  const auto buffer = (*cuda)->allocate(1);
  EXPECT_EQ(buffer.error().code, ErrorCode::too_large);
  EXPECT_EQ(buffer.error().message, "cuMemAlloc of 65536 bytes: CUDA_ERROR_OUT_OF_MEMORY");
}

TEST(GpuRoute, each_is_refused_for_its_own_reason) {
  GpuFacts facts;
  facts.pci = "0000:19:00.0";
  facts.dmabuf = false;
  facts.gpudirect = true;
  EXPECT_FALSE(check_route(Memory::gpu_dmabuf, facts, true));
  EXPECT_TRUE(check_route(Memory::gpu_peermem, facts, true));
  EXPECT_EQ(check_route(Memory::gpu_peermem, facts, false).error().message,
            "GPU 0000:19:00.0: neither nvidia_peermem nor nv_peer_mem is loaded");
  facts.gpudirect = false;
  EXPECT_FALSE(check_route(Memory::gpu_peermem, facts, true));
}

TEST(GpuRoute, what_the_driver_does_not_know_is_tried) {
  EXPECT_TRUE(check_route(Memory::gpu_dmabuf, GpuFacts(), false));
  EXPECT_TRUE(check_route(Memory::gpu_peermem, GpuFacts(), true));
}

}  // namespace
}  // namespace railhead::bench
