#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bind.py ADDRESS: binds an rdma_cm identifier to an address, as every connection by address begins.

Says which RDMA device it belongs to, or why there is none; exit code 1 then.
"""

import ctypes
import errno
import socket
import struct
import sys

RDMA_PS_TCP = 0x0106

verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_name.restype = ctypes.c_char_p
verbs.ibv_get_device_name.argtypes = [ctypes.c_void_p]
cm = ctypes.CDLL("librdmacm.so.1", use_errno=True)
cm.rdma_create_event_channel.restype = ctypes.c_void_p
Identifier = ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))  # begins with its ibv_context, and
cm.rdma_create_id.argtypes = [  # that with its ibv_device
    ctypes.c_void_p, ctypes.POINTER(Identifier), ctypes.c_void_p, ctypes.c_int]
cm.rdma_bind_addr.argtypes = [Identifier, ctypes.c_char_p]


def failed(what: str) -> None:
    number = ctypes.get_errno()
    sys.exit(f"{what}: {errno.errorcode.get(number, number)}")


def main() -> None:
    address, identifier = sys.argv[1], Identifier()
    channel = cm.rdma_create_event_channel() or failed("rdma_create_event_channel")
    if cm.rdma_create_id(channel, ctypes.byref(identifier), None, RDMA_PS_TCP) != 0:
        failed("rdma_create_id")
    place = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
    if cm.rdma_bind_addr(identifier, place) != 0:
        failed(f"rdma_bind_addr {address}")
    if not identifier[0]:
        sys.exit(f"{address} is no address of an RDMA device")
    print(f"{address} is an address of {verbs.ibv_get_device_name(identifier[0][0]).decode()}")


if __name__ == "__main__":
    main()
