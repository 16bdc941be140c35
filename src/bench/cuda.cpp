// SPDX-License-Identifier: Apache-2.0
#include "bench/cuda.h"

#include <dlfcn.h>

#include <algorithm>

#include "node/pci.h"

namespace railhead::bench {
namespace {

// Numbers of the CUDA driver API (cuda.h), which never change.
constexpr int kSuccess = 0;
constexpr int kGpuDirectAttribute = 116;
constexpr int kDmabufAttribute = 124;
constexpr int kPciBusAttribute = 33;
constexpr int kPciDeviceAttribute = 34;
constexpr int kPciDomainAttribute = 50;
constexpr int kSyncMemopsAttribute = 6;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
constexpr int kHandleDmabuf = 1;         // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
constexpr std::uint64_t kPage = 65536;

struct LibraryDeleter {
  void operator()(void* library) const { ::dlclose(library); }
};

}  // namespace

/// The calls that are used. `_v2` is how the library exports them since CUDA 3.2 and 4.0.
struct CudaCalls {
  std::unique_ptr<void, LibraryDeleter> library;
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*release)(int) = nullptr;
  int (*set_current)(void*) = nullptr;
  int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  int (*free)(std::uint64_t) = nullptr;
  int (*to_device)(std::uint64_t, const void*, std::size_t) = nullptr;
  int (*to_host)(void*, std::uint64_t, std::size_t) = nullptr;
  int (*fill)(std::uint64_t, unsigned char, std::size_t) = nullptr;
  int (*set_pointer)(const void*, int, std::uint64_t) = nullptr;
  int (*handle)(void*, std::uint64_t, std::size_t, int, unsigned long long) = nullptr;  // CUDA 11.7
  int (*name)(int, const char**) = nullptr;

  template <typename Call>
  bool find(Call*& call, const char* symbol) {
    call = reinterpret_cast<Call*>(::dlsym(library.get(), symbol));
    return call != nullptr;
  }
};

class Cuda::GpuBuffer : public Buffer {
 public:
  GpuBuffer(Cuda& cuda, std::uint64_t address, std::uint64_t length)
      : cuda_(cuda),
        address_(address),
        length_(length) {}

  ~GpuBuffer() override {
    if (cuda_.enter()) cuda_.calls_->free(address_);
  }

  [[nodiscard]] std::uint64_t address() const override { return address_; }

  [[nodiscard]] std::uint64_t length() const override { return length_; }

  [[nodiscard]] std::byte* bytes() const override { return nullptr; }

  Status write(std::uint64_t offset, std::span<const std::byte> from) override {
    TRY_STATUS(cuda_.enter());
    return cuda_.check("cuMemcpyHtoD",
                       cuda_.calls_->to_device(address_ + offset, from.data(), from.size()));
  }

  Status read(std::uint64_t offset, std::span<std::byte> to) override {
    TRY_STATUS(cuda_.enter());
    return cuda_.check("cuMemcpyDtoH",
                       cuda_.calls_->to_host(to.data(), address_ + offset, to.size()));
  }

 private:
  Cuda& cuda_;
  std::uint64_t address_;
  std::uint64_t length_;
};

Cuda::Cuda()
    : calls_(std::make_unique<CudaCalls>()) {}

Cuda::~Cuda() {
  if (retained_) calls_->release(device_);
}

Result<std::unique_ptr<Cuda>> Cuda::load(const std::string& library, unsigned gpu) {
  std::unique_ptr<Cuda> cuda(new Cuda);
  TRY_STATUS(cuda->begin(library, gpu));
  return Result<std::unique_ptr<Cuda>>(std::move(cuda));
}

Status Cuda::check(const std::string& call, int result) const {
  if (result == kSuccess) return {};
  const char* name = nullptr;
  if (calls_->name != nullptr) calls_->name(result, &name);
  const auto word = name != nullptr ? std::string(name) : std::to_string(result);
  // CUDA_ERROR_OUT_OF_MEMORY is 2.
  return Error{result == 2 ? ErrorCode::too_large : ErrorCode::unsupported, call + ": " + word};
}

Status Cuda::begin(const std::string& library, unsigned gpu) {
  auto& calls = *calls_;
  calls.library.reset(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!calls.library) {
    const char* why = ::dlerror();
    return Error{ErrorCode::unsupported,
                 "no CUDA driver: " + std::string(why != nullptr ? why : "dlopen failed")};
  }
  const bool whole =
      calls.find(calls.init, "cuInit") && calls.find(calls.version, "cuDriverGetVersion") &&
      calls.find(calls.count, "cuDeviceGetCount") && calls.find(calls.device, "cuDeviceGet") &&
      calls.find(calls.attribute, "cuDeviceGetAttribute") &&
      calls.find(calls.retain, "cuDevicePrimaryCtxRetain") &&
      calls.find(calls.release, "cuDevicePrimaryCtxRelease_v2") &&
      calls.find(calls.set_current, "cuCtxSetCurrent") &&
      calls.find(calls.allocate, "cuMemAlloc_v2") && calls.find(calls.free, "cuMemFree_v2") &&
      calls.find(calls.to_device, "cuMemcpyHtoD_v2") &&
      calls.find(calls.to_host, "cuMemcpyDtoH_v2") && calls.find(calls.fill, "cuMemsetD8_v2") &&
      calls.find(calls.set_pointer, "cuPointerSetAttribute");
  if (!whole) {
    return Error{ErrorCode::unsupported, library + " lacks calls of CUDA 11 that are needed"};
  }
  calls.find(calls.handle, "cuMemGetHandleForAddressRange");
  calls.find(calls.name, "cuGetErrorName");
  TRY_STATUS(check("cuInit", calls.init(0)));
  int count = 0;
  TRY_STATUS(check("cuDeviceGetCount", calls.count(&count)));
  if (gpu >= static_cast<unsigned>(std::max(count, 0))) {
    return Error{ErrorCode::unsupported, "no GPU " + std::to_string(gpu) +
                                             ": the CUDA driver has " + std::to_string(count)};
  }
  TRY_STATUS(check("cuDeviceGet", calls.device(&device_, static_cast<int>(gpu))));
  TRY_STATUS(check("cuDevicePrimaryCtxRetain", calls.retain(&context_, device_)));
  retained_ = true;
  return read_facts();
}

Status Cuda::read_facts() {
  const auto ask = [&](int attribute) -> std::optional<int> {
    int value = 0;
    if (calls_->attribute(&value, attribute, device_) != kSuccess) return std::nullopt;
    return value;
  };
  const auto yes = [&](int attribute) -> std::optional<bool> {
    const auto value = ask(attribute);
    return value ? std::optional(*value != 0) : std::nullopt;
  };
  int version = 0;
  if (calls_->version(&version) == kSuccess) {
    facts_.driver_version =
        std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  node::PciAddress pci;
  pci.domain = static_cast<std::uint32_t>(ask(kPciDomainAttribute).value_or(0));
  pci.bus = static_cast<std::uint8_t>(ask(kPciBusAttribute).value_or(0));
  pci.device = static_cast<std::uint8_t>(ask(kPciDeviceAttribute).value_or(0));
  facts_.pci = pci.str();
  facts_.gpudirect = yes(kGpuDirectAttribute);
  facts_.dmabuf = calls_->handle == nullptr ? std::optional(false) : yes(kDmabufAttribute);
  return {};
}

Status Cuda::enter() {
  return check("cuCtxSetCurrent", calls_->set_current(context_));
}

Result<std::unique_ptr<Buffer>> Cuda::allocate(std::uint64_t length) {
  TRY_STATUS(enter());
  const auto whole = (length + kPage - 1) / kPage * kPage;
  std::uint64_t address = 0;
  TRY_STATUS(check("cuMemAlloc of " + std::to_string(whole) + " bytes",
                   calls_->allocate(&address, whole)));
  auto buffer = std::make_unique<GpuBuffer>(*this, address, whole);
  // Without it a copy that the driver makes by itself and one by the NIC may pass each other:
  // CUDA's GPUDirect RDMA guide, "Synchronization and Memory Ordering".
  int on = 1;
  TRY_STATUS(check("cuPointerSetAttribute SYNC_MEMOPS",
                   calls_->set_pointer(&on, kSyncMemopsAttribute, address)));
  TRY_STATUS(check("cuMemsetD8", calls_->fill(address, 0, whole)));
  return Result<std::unique_ptr<Buffer>>(std::move(buffer));
}

Result<host::UniqueFd> Cuda::export_dmabuf(const Buffer& buffer) {
  if (calls_->handle == nullptr) {
    return Error{ErrorCode::unsupported,
                 "this CUDA driver is older than 11.7 and exports no DMA-BUF"};
  }
  TRY_STATUS(enter());
  int descriptor = -1;
  TRY_STATUS(
      check("cuMemGetHandleForAddressRange",
            calls_->handle(&descriptor, buffer.address(), buffer.length(), kHandleDmabuf, 0)));
  return host::UniqueFd(descriptor);
}

Status check_route(Memory route, const GpuFacts& facts, bool peer_client) {
  const auto no = [&](const std::string& why) {
    return Error{ErrorCode::unsupported, "GPU " + facts.pci + ": " + why};
  };
  if (route == Memory::gpu_dmabuf && facts.dmabuf == false) {
    return no(
        "the driver exports no DMA-BUF (it needs CUDA 11.7, the open kernel modules and "
        "Linux 5.12)");
  }
  if (route == Memory::gpu_peermem && facts.gpudirect == false) {
    return no("the driver says that this GPU cannot be reached by other PCIe devices");
  }
  if (route == Memory::gpu_peermem && !peer_client) {
    return no("neither nvidia_peermem nor nv_peer_mem is loaded");
  }
  return {};
}

}  // namespace railhead::bench
