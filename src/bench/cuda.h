// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "bench/memory.h"
#include "bench/plan.h"
#include "host/unique_fd.h"

namespace railhead::bench {

/// What the driver says of a GPU. Absent: it does not know the question.
struct GpuFacts {
  std::string pci;  ///< "0000:19:00.0"
  std::string driver_version;
  std::optional<bool> gpudirect;  ///< CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
  std::optional<bool> dmabuf;     ///< CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED

  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

/// Whether a route to GPU memory can exist; unsupported with the reason where not. `peer_client` is
/// whether a kernel module offers GPU memory to the RDMA core (nvidia_peermem or its predecessor).
Status check_route(Memory route, const GpuFacts& facts, bool peer_client);

struct CudaCalls;

/// One GPU through the CUDA driver's own library, loaded when it is asked for: nothing of CUDA is
/// needed to build or to run without a GPU. Used from any thread, by one at a time.
class Cuda {
 public:
  /// Loads the library and retains the GPU's primary context. Unsupported when there is no library,
  /// no such GPU or a call is missing; the error names what.
  static Result<std::unique_ptr<Cuda>> load(const std::string& library, unsigned gpu);

  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  ~Cuda();

  [[nodiscard]] const GpuFacts& facts() const { return facts_; }

  /// Zeroed memory of the GPU, at least so long: whole pages of 64 KiB, as a DMA-BUF must be. Must
  /// not outlive this object.
  Result<std::unique_ptr<Buffer>> allocate(std::uint64_t length);

  /// A DMA-BUF of memory that allocate() gave.
  Result<host::UniqueFd> export_dmabuf(const Buffer& buffer);

 private:
  class GpuBuffer;

  Cuda();
  Status begin(const std::string& library, unsigned gpu);
  Status read_facts();
  /// What a call returned: an error names the call and the driver's word for the result.
  [[nodiscard]] Status check(const std::string& call, int result) const;
  Status enter();

  std::unique_ptr<CudaCalls> calls_;
  GpuFacts facts_;
  int device_ = -1;
  bool retained_ = false;
  void* context_ = nullptr;
};

}  // namespace railhead::bench
