# SPDX-License-Identifier: Apache-2.0
"""Bare-metal machines: what must come out, from their sources. Entries as in check_expected.py."""

EIGHT_RAILS = "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7"

EXPECTED = {
    # The user guide names mlx5_1, 2, 7 and 8 as the storage ports of the two dual-port cards.
    "dgx-h100": {
        "gpus": "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
        "storage": "mlx5_1 mlx5_2 mlx5_7 mlx5_8",
        "relations": """
             mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7 mlx5_8 mlx5_9 mlx5_10 mlx5_11
        GPU0 PXB    NODE   NODE   NODE   NODE   NODE   SYS    SYS    SYS    SYS    SYS     SYS
        GPU1 NODE   NODE   NODE   PXB    NODE   NODE   SYS    SYS    SYS    SYS    SYS     SYS
        GPU2 NODE   NODE   NODE   NODE   PXB    NODE   SYS    SYS    SYS    SYS    SYS     SYS
        GPU3 NODE   NODE   NODE   NODE   NODE   PXB    SYS    SYS    SYS    SYS    SYS     SYS
        GPU4 SYS    SYS    SYS    SYS    SYS    SYS    PXB    NODE   NODE   NODE   NODE    NODE
        GPU5 SYS    SYS    SYS    SYS    SYS    SYS    NODE   NODE   NODE   PXB    NODE    NODE
        GPU6 SYS    SYS    SYS    SYS    SYS    SYS    NODE   NODE   NODE   NODE   PXB     NODE
        GPU7 SYS    SYS    SYS    SYS    SYS    SYS    NODE   NODE   NODE   NODE   NODE    PXB""",
    },
    "dgx-a100": {
        "gpus": EIGHT_RAILS,
        "storage": "mlx5_8 mlx5_9",
        "relations": """
             mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7 mlx5_8 mlx5_9
        GPU0 PXB    PXB    SYS    SYS    SYS    SYS    SYS    SYS    SYS    SYS
        GPU1 PXB    PXB    SYS    SYS    SYS    SYS    SYS    SYS    SYS    SYS
        GPU2 SYS    SYS    PXB    PXB    SYS    SYS    SYS    SYS    SYS    SYS
        GPU3 SYS    SYS    PXB    PXB    SYS    SYS    SYS    SYS    SYS    SYS
        GPU4 SYS    SYS    SYS    SYS    PXB    PXB    SYS    SYS    SYS    SYS
        GPU5 SYS    SYS    SYS    SYS    PXB    PXB    SYS    SYS    SYS    SYS
        GPU6 SYS    SYS    SYS    SYS    SYS    SYS    PXB    PXB    SYS    SYS
        GPU7 SYS    SYS    SYS    SYS    SYS    SYS    PXB    PXB    SYS    SYS""",
    },
    "seed-8gpu-4nic": {
        "gpus": "mlx5_0 mlx5_0 mlx5_1 mlx5_1 mlx5_2 mlx5_2 mlx5_3 mlx5_3",
    },
    # On GPU 0's and GPU 4's own switch there is a ConnectX-6 Dx as well.
    "hgx-h100-roce": {
        "gpus": "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
        "management": "mlx5_1",
        "front-end": "mlx5_2 mlx5_7 mlx5_8",
    },
    "amd-mi300x": {"gpus": EIGHT_RAILS},
    # Ports that are down keep their role; without GPUs, all is spare.
    "nics-only": {"spare": "mlx5_1 mlx5_2 mlx5_3", "management": "mlx5_0"},
    "gpus-only": {"gpus": "- - - -"},
    "renamed-devices": {"gpus": "ibp25s0 ibp59s0 ibp25s0", "front-end": "rocep93s0f0"},
    "soft-roce": {"spare": "rxe0"},
    "mig-a100": {"gpus": "mlx5_0 mlx5_1"},
    "broken-host": {"gpus": "mlx5_0 mlx5_0", "unusable": "mlx5_1"},
}
