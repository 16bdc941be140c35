// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "bench/memory.h"

namespace railhead::bench {
namespace {

class HostBuffer : public Buffer {
 public:
  HostBuffer(std::byte* bytes, std::uint64_t length)
      : bytes_(bytes),
        length_(length) {}

  ~HostBuffer() override { ::munmap(bytes_, length_); }

  [[nodiscard]] std::uint64_t address() const override {
    return reinterpret_cast<std::uintptr_t>(bytes_);
  }

  [[nodiscard]] std::uint64_t length() const override { return length_; }

  [[nodiscard]] std::byte* bytes() const override { return bytes_; }

  Status write(std::uint64_t offset, std::span<const std::byte> from) override {
    std::memcpy(bytes_ + offset, from.data(), from.size());
    return {};
  }

  Status read(std::uint64_t offset, std::span<std::byte> to) override {
    std::memcpy(to.data(), bytes_ + offset, to.size());
    return {};
  }

 private:
  std::byte* bytes_;
  std::uint64_t length_;
};

}  // namespace

bool pin_thread(const std::vector<unsigned>& cpus) {
  if (cpus.empty()) return false;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const auto cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &wanted);
  }
  // The kernel takes the allowed ones of these, and refuses (EINVAL) when there is none.
  return ::sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

Result<std::unique_ptr<Buffer>> allocate_host(std::uint64_t length,
                                              const std::vector<unsigned>& cpus) {
  void* memory =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorCode::too_large, "cannot map " + std::to_string(length) +
                                           " bytes of memory: " + std::strerror(errno)};
  }
  auto buffer = std::make_unique<HostBuffer>(static_cast<std::byte*>(memory), length);
  std::thread([&] {
    pin_thread(cpus);
    std::memset(memory, 0, length);
  }).join();
  return std::unique_ptr<Buffer>(std::move(buffer));
}

}  // namespace railhead::bench
