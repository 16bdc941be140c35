#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""vfio_open.py PCI_ADDRESS FILE: opens a function as a virtual machine monitor does, makes the file, and holds the
function open until the file is gone (Linux include/uapi/linux/vfio.h)."""

import fcntl
import os
import pathlib
import sys
import time

VFIO_SET_IOMMU, VFIO_GROUP_SET_CONTAINER, VFIO_GROUP_GET_DEVICE_FD = 0x3B66, 0x3B68, 0x3B6A
VFIO_TYPE1_IOMMU = 1

address, told = sys.argv[1], pathlib.Path(sys.argv[2])
group_name = os.path.basename(os.readlink(f"/sys/bus/pci/devices/{address}/iommu_group"))
container = os.open("/dev/vfio/vfio", os.O_RDWR)
group = os.open(f"/dev/vfio/{group_name}", os.O_RDWR)
fcntl.ioctl(group, VFIO_GROUP_SET_CONTAINER, container.to_bytes(4, "little"))
fcntl.ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU)
device = fcntl.ioctl(group, VFIO_GROUP_GET_DEVICE_FD, address.encode() + b"\0")
told.touch()
print("open", device if isinstance(device, int) else "", flush=True)
while told.exists():
    time.sleep(0.1)
print("closed")
