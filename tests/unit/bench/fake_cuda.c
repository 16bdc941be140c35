// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1: one GPU whose memory is the host's. FAKE_CUDA in the environment says
// what it is like: "none" has no GPU, "old" exports no DMA-BUF, "full" is out of memory.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* word) {
  const char* mode = getenv("FAKE_CUDA");
  return mode != NULL && strcmp(mode, word) == 0;
}

int cuInit(unsigned flags) { return (int)flags; }

int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = is("none") ? 0 : 1;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  switch (attribute) {
    case 33:
      *value = 0x19;
      return 0;
    case 34:
    case 50:
      *value = 0;
      return 0;
    case 116:
      *value = 1;
      return 0;
    case 124:
      *value = !is("old");
      return 0;
    default:
      return 1;
  }
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)device;
  *context = context;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return 0;
}

int cuCtxSetCurrent(void* context) { return context == NULL ? 201 : 0; }

int cuMemAlloc_v2(uint64_t* address, size_t length) {
  if (is("full")) return 2;
  *address = (uint64_t)(uintptr_t)malloc(length);
  return 0;
}

int cuMemFree_v2(uint64_t address) {
  free((void*)(uintptr_t)address);
  return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t length) {
  memcpy((void*)(uintptr_t)to, from, length);
  return 0;
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t length) {
  memcpy(to, (const void*)(uintptr_t)from, length);
  return 0;
}

int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t length) {
  memset((void*)(uintptr_t)address, value, length);
  return 0;
}

int cuPointerSetAttribute(const void* value, int attribute, uint64_t pointer) {
  (void)pointer;
  return attribute == 6 && *(const int*)value == 1 ? 0 : 1;
}

int cuMemGetHandleForAddressRange(void* handle, uint64_t address, size_t length, int type,
                                  unsigned long long flags) {
  (void)flags;
  if (address == 0 || length % 65536 != 0 || type != 1) return 1;
  *(int*)handle = dup(0);
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
