# SPDX-License-Identifier: Apache-2.0
"""What the machines are made of, as configuration space and sysfs name it.

Vendor and device ids: pci.ids. Subsystem ids, boards and firmware versions are those of a machine's
source where it has them, else chosen.
"""
# Bridges: vendor, device, subsystem vendor, subsystem device, driver. Root ports first.
INTEL_ROOT_PORT = (0x8086, 0x352a, 0x8086, 0x0000, "pcieport")   # Sapphire Rapids, PCI Express 5.0
AMD_ROOT_PORT = (0x1022, 0x1483, 0x1022, 0x1453, "pcieport")     # Rome and Milan
AMD_GENOA_ROOT_PORT = (0x1022, 0x14ab, 0x1022, 0x1453, "pcieport")
QEMU_ROOT_PORT = (0x1b36, 0x000c, 0x1b36, 0x0000, "pcieport")
SKYLAKE_ROOT_PORT = (0x8086, 0x2030, 0x8086, 0x0000, "pcieport")
POWER9_ROOT_PORT = (0x1014, 0x04c1, 0x0000, 0x0000, "pcieport")
GRACE_ROOT_PORT = (0x10de, 0x22b2, 0x10de, 0x0000, "pcieport")
TRENTO_NIC_PORT = (0x1022, 0x14be, 0x1022, 0x1234, "pcieport")
TRENTO_GPU_PORT = (0x1022, 0x14bf, 0x1022, 0x14bf, "pcieport")

PEX890XX = (0x1000, 0xc030, 0x1000, 0x100b, "pcieport")          # Broadcom, PCI Express 5.0 switch
PEX88096 = (0x1000, 0xc010, 0x1000, 0xa096, "pcieport")          # Broadcom, PCI Express 4.0 switch
NITRO_BRIDGE = (0x1d0f, 0x0200, 0x1d0f, 0x0200, "pcieport")      # AWS, root and switch ports alike
PFX_GEN4 = (0x11f8, 0x4128, 0x10de, 0x1643, "pcieport")          # Microchip, in front of NVSwitches
PEX8796 = (0x10b5, 0x8796, 0x10b5, 0x8796, "pcieport")           # PLX, PCI Express 3.0 switches
PEX9781 = (0x10b5, 0x9781, 0x10b5, 0x9781, "pcieport")
PEX8725 = (0x10b5, 0x8725, 0x10b5, 0x8725, "pcieport")
PSX_GEN4 = (0x11f8, 0x4000, 0x11f8, 0xbeef, "pcieport")          # Microchip
CX8_SWITCH = (0x15b3, 0x197c, 0x0000, 0x0000, "pcieport")        # the switch inside a ConnectX-8
MI50_UPSTREAM = (0x1002, 0x14a0, 0x0000, 0x0000, "pcieport")     # the card's own switch
MI50_DOWNSTREAM = (0x1002, 0x14a1, 0x1002, 0x14a1, "pcieport")
HYGON_BRIDGE = (0x1d94, 0x23b7, 0x0000, 0x0000, "pcieport")      # on the card
MI300X_UPSTREAM = (0x1002, 0x1500, 0x1002, 0x1500, "pcieport")   # the GPU's own switch
MI300X_DOWNSTREAM = (0x1002, 0x1501, 0x1002, 0x1501, "pcieport")
BATTLEMAGE_UPSTREAM = (0x8086, 0xe2ff, 0x0000, 0x0000, "pcieport")    # the card's own switch
BATTLEMAGE_DOWNSTREAM = (0x8086, 0xe2f0, 0x0000, 0x0000, "pcieport")
QEMU_UPSTREAM = (0x104c, 0x8232, 0x0000, 0x0000, "pcieport")
QEMU_DOWNSTREAM = (0x104c, 0x8233, 0x0000, 0x0000, "pcieport")

# Functions: class, vendor, device, subsystem vendor, subsystem device, driver, GT/s, lanes.
V100_SXM2 = (0x030200, 0x10de, 0x1db1, 0x10de, 0x1212, "nvidia", 8, 16)
V100_SXM3 = (0x030200, 0x10de, 0x1db8, 0x10de, 0x131d, "nvidia", 8, 16)
A100_SXM = (0x030200, 0x10de, 0x20b0, 0x10de, 0x144e, "nvidia", 16, 16)
A100_64 = (0x030200, 0x10de, 0x20b2, 0x10de, 0x1463, "nvidia", 16, 16)
A100_PCIE = (0x030200, 0x10de, 0x20f1, 0x10de, 0x145f, "nvidia", 16, 16)
H100 = (0x030200, 0x10de, 0x2330, 0x10de, 0x16c1, "nvidia", 32, 16)
H200 = (0x030200, 0x10de, 0x2335, 0x10de, 0x18be, "nvidia", 32, 16)
B200 = (0x030200, 0x10de, 0x2901, 0x10de, 0x1999, "nvidia", 32, 16)
B300 = (0x030200, 0x10de, 0x3182, 0x10de, 0x20e6, "nvidia", 64, 16)
GB200 = (0x030200, 0x10de, 0x2941, 0x10de, 0x2046, "nvidia", 32, 16)
GB10 = (0x030000, 0x10de, 0x2e12, 0x10de, 0x21ec, "nvidia", 8, 1)
L20 = (0x030200, 0x10de, 0x26ba, 0x10de, 0x1957, "nvidia", 16, 16)
RTX3090 = (0x030000, 0x10de, 0x2204, 0x10de, 0x1454, "nvidia", 16, 16)
RTX4090 = (0x030000, 0x10de, 0x2684, 0x10de, 0x16f4, "nvidia", 16, 16)
MI50 = (0x038000, 0x1002, 0x66a1, 0x1002, 0x0834, "amdgpu", 16, 16)
MI250X = (0x038000, 0x1002, 0x7408, 0x1002, 0x0b0c, "amdgpu", 16, 16)
MI300X = (0x120000, 0x1002, 0x74a1, 0x1002, 0x74a1, "amdgpu", 32, 16)
HYGON_DCU = (0x038000, 0x1d94, 0x55b7, 0x1d94, 0x55b7, "hydcu", 16, 16)
ARC_PRO_B70 = (0x030000, 0x8086, 0xe223, 0x172f, 0x0105, "xe", None, None)  # its switch has the link
NVSWITCH_3 = (0x068000, 0x10de, 0x22a3, 0x10de, 0x1796, "nvidia-nvswitch", 16, 2)

CX4_LX = (0x020000, 0x15b3, 0x1015, 0x15b3, 0x0102, "mlx5_core", 8, 8)
CX5_IB = (0x020700, 0x15b3, 0x1017, 0x15b3, 0x0006, "mlx5_core", 8, 16)
CX5_EX_IB = (0x020700, 0x15b3, 0x1019, 0x1014, 0x0617, "mlx5_core", 16, 8)
CX6_IB = (0x020700, 0x15b3, 0x101b, 0x15b3, 0x0007, "mlx5_core", 16, 16)
CX6DX = (0x020000, 0x15b3, 0x101d, 0x15b3, 0x0016, "mlx5_core", 16, 16)
CX7_IB = (0x020700, 0x15b3, 0x1021, 0x15b3, 0x0041, "mlx5_core", 32, 16)
CX7_ETH = (0x020000, 0x15b3, 0x1021, 0x15b3, 0x0041, "mlx5_core", 32, 16)
CX8_IB = (0x020700, 0x15b3, 0x1023, 0x15b3, 0x0101, "mlx5_core", 64, 16)
CX8_ETH = (0x020000, 0x15b3, 0x1023, 0x15b3, 0x0101, "mlx5_core", 64, 16)
CX8_DATA_DIRECT = (0x080100, 0x15b3, 0x2100, 0x15b3, 0x0101, "mlx5_core", 64, 16)
BF3_ETH = (0x020000, 0x15b3, 0xa2dc, 0x15b3, 0x0022, "mlx5_core", 32, 16)
MLX5_VF = (0x020700, 0x15b3, 0x101e, 0x15b3, 0x0041, "mlx5_core", None, None)
EFA = (0x020000, 0x1d0f, 0xefa0, 0x1d0f, 0xefa0, "efa", None, None)
CASSINI = (0x020000, 0x17db, 0x0501, 0x17db, 0x0000, "cxi_ss1", 16, 16)  # Slingshot-11

ASPEED_VGA = (0x030000, 0x1a03, 0x2000, 0x1a03, 0x2000, "ast", None, None)
ENA = (0x020000, 0x1d0f, 0xec20, 0x1d0f, 0xec20, "ena", None, None)
VIRTIO_NET = (0x020000, 0x1af4, 0x1041, 0x1af4, 0x1100, "virtio-pci", None, None)
NVME = (0x010802, 0x144d, 0xa80a, 0x144d, 0xa801, "nvme", 16, 4)
RTL8127 = (0x020000, 0x10ec, 0x8127, 0x10ec, 0x0123, "r8127", 16, 1)
X550 = (0x020000, 0x8086, 0x1563, 0x8086, 0x001a, "ixgbe", 8, 4)
E810 = (0x020000, 0x8086, 0x1592, 0x8086, 0x0002, "ice", 16, 16)
BCM5720 = (0x020000, 0x14e4, 0x165f, 0x1028, 0x0b73, "tg3", 5, 1)

# RDMA device models: hca_type, PSID, firmware.
FIRMWARE = {
    0x00ba: (None, None, "0.0.0.0"),  # Microsoft's MANA
    0x1015: ("MT4117", "MT_2420110034", "14.32.1010"),
    0x1016: ("MT4118", "MT_0000000012", "14.30.1210"),
    0x1017: ("MT4119", "MT_0000000008", "16.35.3006"),
    0x1018: ("MT4120", "MT_0000000010", "16.31.1014"),
    0x1019: ("MT4121", "IBM0000000023", "16.35.3006"),
    0x101b: ("MT4123", "MT_0000000225", "20.31.1014"),
    0x101c: ("MT4124", "MT_0000000225", "20.31.1014"),
    0x101d: ("MT4125", "MT_0000000359", "22.39.1002"),
    0x101e: ("MT4126", "MT_0000000838", "28.39.1002"),
    0x1021: ("MT4129", "MT_0000000838", "28.39.1002"),
    0x1023: ("MT4131", "MT_0000001222", "40.45.1200"),
    0xa2dc: ("MT41692", "MT_0000000884", "32.39.2048"),
}
RATES = {800: "800 Gb/sec (4X XDR)", 400: "400 Gb/sec (4X NDR)", 200: "200 Gb/sec (4X HDR)",
         100: "100 Gb/sec (4X EDR)", 56: "56 Gb/sec (4X FDR)", 40: "40 Gb/sec (4X QDR)",
         25: "25 Gb/sec (1X EDR)", 10: "10 Gb/sec (1X QDR)"}
PLANE_RATE = "200 Gb/sec (1X XDR)"  # one of the four planes of a ConnectX-8
