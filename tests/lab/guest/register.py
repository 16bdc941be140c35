#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""register.py DEVICE BYTES: registers a buffer of that size with an RDMA device, by libibverbs.

Says what came of it, with the error's name; exit code 1 if it was refused.
"""

import ctypes
import errno
import mmap
import sys

IBV_ACCESS_LOCAL_WRITE = 1

verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_get_device_name.restype = ctypes.c_char_p
for function in (verbs.ibv_open_device, verbs.ibv_alloc_pd, verbs.ibv_reg_mr):
    function.restype = ctypes.c_void_p
verbs.ibv_get_device_name.argtypes = verbs.ibv_open_device.argtypes = [ctypes.c_void_p]
verbs.ibv_alloc_pd.argtypes = [ctypes.c_void_p]
verbs.ibv_reg_mr.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def refused(what: str) -> None:
    number = ctypes.get_errno()
    sys.exit(f"{what}: {errno.errorcode.get(number, number)}")


def opened(wanted: str) -> int:
    count = ctypes.c_int()
    devices = verbs.ibv_get_device_list(ctypes.byref(count))
    for device in devices[: count.value]:
        if verbs.ibv_get_device_name(device).decode() == wanted:
            return verbs.ibv_open_device(device) or refused(f"ibv_open_device {wanted}")
    return refused(f"{wanted} is not among {count.value} devices")


def main() -> None:
    name, size = sys.argv[1], int(sys.argv[2])
    domain = verbs.ibv_alloc_pd(opened(name)) or refused("ibv_alloc_pd")
    buffer = mmap.mmap(-1, size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    if not verbs.ibv_reg_mr(domain, address, size, IBV_ACCESS_LOCAL_WRITE):
        refused(f"ibv_reg_mr of {size} bytes on {name}")
    print(f"registered {size} bytes on {name}")


if __name__ == "__main__":
    main()
