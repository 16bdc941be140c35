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
    # GPU 1 and 2 get the first of the nearest usable ones in place of theirs, each as if the other had
    # its own; GPU 5 shares the first of its socket with GPU 4. Nobody else gets another NIC than on a
    # good day.
    "dgx-h100-degraded": {
        "gpus": "mlx5_0 mlx5_0 mlx5_0 mlx5_5 mlx5_6 mlx5_6 mlx5_10 mlx5_11",
        "unusable": "mlx5_3",
        "storage": "mlx5_1 mlx5_2 mlx5_7 mlx5_8",
    },
    # The deal is the machine's, whatever part of it the container has: as for dgx-h100.
    "dgx-h100-from-a-pod": {
        "gpus": "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
        "storage": "mlx5_1 mlx5_2 mlx5_7 mlx5_8",
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
    "soft-roce": {"spare": "rxe0", "confidence": "medium"},
    "mig-a100": {"gpus": "mlx5_0 mlx5_1"},
    "broken-host": {"gpus": "mlx5_0 mlx5_0", "unusable": "mlx5_1"},
    "dgx1-v100": {
        "gpus": "mlx5_0 mlx5_0 mlx5_1 mlx5_1 mlx5_2 mlx5_2 mlx5_3 mlx5_3",
        "relations": """
             0   2   1   3
        GPU0 PIX SYS PHB SYS
        GPU1 PIX SYS PHB SYS
        GPU2 PHB SYS PIX SYS
        GPU3 PHB SYS PIX SYS
        GPU4 SYS PIX SYS PHB
        GPU5 SYS PIX SYS PHB
        GPU6 SYS PHB SYS PIX
        GPU7 SYS PHB SYS PIX
        0    X   SYS PHB SYS
        2    SYS X   SYS PHB""",
    },
    # The matrix stops at GPU 3; the other three quarters have the same shape in the hwloc export.
    "dgx2": {
        "gpus": "mlx5_0 mlx5_0 mlx5_1 mlx5_1 mlx5_2 mlx5_2 mlx5_3 mlx5_3"
                " mlx5_6 mlx5_6 mlx5_7 mlx5_7 mlx5_8 mlx5_8 mlx5_9 mlx5_9",
        "storage": "mlx5_4 mlx5_5",
        "relations": """
             0   1   2    3    4   5   6   7   8   9
        GPU0 PIX PXB NODE NODE SYS SYS SYS SYS SYS SYS
        GPU1 PIX PXB NODE NODE SYS SYS SYS SYS SYS SYS
        GPU2 PXB PIX NODE NODE SYS SYS SYS SYS SYS SYS
        GPU3 PXB PIX NODE NODE SYS SYS SYS SYS SYS SYS""",
    },
    # The post's ibv_devinfo: 0, 3, 4, 5, 6, 9, 10, 11 are the fabric, though 1, 2, 7, 8 are as near.
    "xe9680-three-nics-near": {
        "gpus": "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
        "front-end": "mlx5_1 mlx5_2 mlx5_7 mlx5_8",
        "relations": """
             0    1    2    3    4    5    6    7    8    9    10   11
        GPU0 PIX  PIX  PIX  NODE NODE NODE SYS  SYS  SYS  SYS  SYS  SYS
        GPU1 NODE NODE NODE PIX  NODE NODE SYS  SYS  SYS  SYS  SYS  SYS
        GPU2 NODE NODE NODE NODE PIX  NODE SYS  SYS  SYS  SYS  SYS  SYS
        GPU3 NODE NODE NODE NODE NODE PIX  SYS  SYS  SYS  SYS  SYS  SYS
        GPU4 SYS  SYS  SYS  SYS  SYS  SYS  PIX  PIX  PIX  NODE NODE NODE
        GPU5 SYS  SYS  SYS  SYS  SYS  SYS  NODE NODE NODE PIX  NODE NODE
        GPU6 SYS  SYS  SYS  SYS  SYS  SYS  NODE NODE NODE NODE PIX  NODE
        GPU7 SYS  SYS  SYS  SYS  SYS  SYS  NODE NODE NODE NODE NODE PIX""",
    },
    # As above: the BlueFields are nobody's, whether the NIC beside them is there or not.
    "xe9680-roce": {
        "gpus": "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
        "front-end": "mlx5_1 mlx5_2 mlx5_7 mlx5_8",
    },
    "xe9680-roce-nic-lost": {
        "gpus": "mlx5_3 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
        "front-end": "mlx5_1 mlx5_2 mlx5_7 mlx5_8",
    },
    "hgx-b200": {
        "gpus": "mlx5_4 mlx5_7 mlx5_8 mlx5_9 mlx5_10 mlx5_13 mlx5_14 mlx5_15",
        "nvlink-management": "mlx5_0 mlx5_1 mlx5_2 mlx5_3",
        "storage": "mlx5_5 mlx5_6 mlx5_11 mlx5_12",
        "relations": """
             0    1    2    3    4    5    6    7    8    9    10   11   12   13   14   15
        GPU0 NODE NODE NODE NODE PXB  NODE NODE NODE NODE NODE SYS  SYS  SYS  SYS  SYS  SYS
        GPU1 NODE NODE NODE NODE NODE NODE NODE PXB  NODE NODE SYS  SYS  SYS  SYS  SYS  SYS
        GPU2 NODE NODE NODE NODE NODE NODE NODE NODE PXB  NODE SYS  SYS  SYS  SYS  SYS  SYS
        GPU3 NODE NODE NODE NODE NODE NODE NODE NODE NODE PXB  SYS  SYS  SYS  SYS  SYS  SYS
        GPU4 SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  PXB  NODE NODE NODE NODE NODE
        GPU5 SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  NODE NODE NODE PXB  NODE NODE
        GPU6 SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  NODE NODE NODE NODE PXB  NODE
        GPU7 SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  SYS  NODE NODE NODE NODE NODE PXB
        0    X    PIX  PIX  PIX  NODE NODE NODE NODE NODE NODE SYS  SYS  SYS  SYS  SYS  SYS
        5    NODE NODE NODE NODE NODE X    PIX  NODE NODE NODE SYS  SYS  SYS  SYS  SYS  SYS""",
    },
    # The file's order is InfiniBand first; those four are the wrong answer for every GPU.
    "cx8-is-the-switch": {
        "gpus": "mlx5_bond_0 mlx5_bond_1 mlx5_bond_2 mlx5_bond_3"
                " mlx5_bond_4 mlx5_bond_5 mlx5_bond_6 mlx5_bond_7",
        "nvlink-management": "mlx5_2 mlx5_3 mlx5_4 mlx5_5",
        "relations": """
             mlx5_bond_0 mlx5_bond_1 mlx5_bond_4 2
        GPU0 PXB         NODE        SYS         NODE
        GPU1 NODE        PXB         SYS         NODE
        GPU4 SYS         SYS         PXB         SYS""",
    },
    "b200-storage-bond": {
        "gpus": " ".join(f"mlx5_{10 + rail}" for rail in range(8)),
        "front-end": "mlx5_bond_0",
        "relations": """
             10   11   12   13   14   15   16   17   mlx5_bond_0
        GPU0 PXB  NODE NODE NODE SYS  SYS  SYS  SYS  SYS
        GPU1 NODE PXB  NODE NODE SYS  SYS  SYS  SYS  SYS
        GPU2 NODE NODE PXB  NODE SYS  SYS  SYS  SYS  SYS
        GPU3 NODE NODE NODE PXB  SYS  SYS  SYS  SYS  SYS
        GPU4 SYS  SYS  SYS  SYS  PXB  NODE NODE NODE NODE
        GPU5 SYS  SYS  SYS  SYS  NODE PXB  NODE NODE NODE
        GPU6 SYS  SYS  SYS  SYS  NODE NODE PXB  NODE NODE
        GPU7 SYS  SYS  SYS  SYS  NODE NODE NODE PXB  NODE""",
    },
    "hgx-b300-planes": {"gpus": EIGHT_RAILS},
    "h200-shuffled-nics": {
        "gpus": "mlx5_4 mlx5_1 mlx5_0 mlx5_3 mlx5_6 mlx5_7 mlx5_5 mlx5_2",
        "relations": """
             0    1    2    3    4    5    6    7
        GPU0 NODE NODE SYS  NODE PIX  SYS  SYS  SYS
        GPU1 NODE PIX  SYS  NODE NODE SYS  SYS  SYS
        GPU2 PIX  NODE SYS  NODE NODE SYS  SYS  SYS
        GPU3 NODE NODE SYS  PIX  NODE SYS  SYS  SYS
        GPU4 SYS  SYS  NODE SYS  SYS  NODE PIX  NODE
        GPU5 SYS  SYS  NODE SYS  SYS  NODE NODE PIX
        GPU6 SYS  SYS  NODE SYS  SYS  PIX  NODE NODE
        GPU7 SYS  SYS  PIX  SYS  SYS  NODE NODE NODE""",
    },
    "h100-reversed-nics": {
        "gpus": "mlx5_8 mlx5_7 mlx5_6 mlx5_5 mlx5_4 mlx5_3 mlx5_2 mlx5_1",
        "management": "mlx5_0",
        "relations": """
             0    1    2    3    4    5    6    7    8
        GPU0 SYS  SYS  SYS  SYS  SYS  NODE NODE NODE PIX
        GPU1 SYS  SYS  SYS  SYS  SYS  NODE NODE PIX  NODE
        GPU2 SYS  SYS  SYS  SYS  SYS  NODE PIX  NODE NODE
        GPU3 SYS  SYS  SYS  SYS  SYS  PIX  NODE NODE NODE
        GPU4 SYS  NODE NODE NODE PIX  SYS  SYS  SYS  SYS
        GPU5 SYS  NODE NODE PIX  NODE SYS  SYS  SYS  SYS
        GPU6 SYS  NODE PIX  NODE NODE SYS  SYS  SYS  SYS
        GPU7 SYS  PIX  NODE NODE NODE SYS  SYS  SYS  SYS""",
    },
    "h200-numa-off": {
        "gpus": "mlx5_0 mlx5_1 mlx5_2 mlx5_5 mlx5_6 mlx5_7 mlx5_8 mlx5_11",
        "storage": "mlx5_3 mlx5_4 mlx5_9 mlx5_10",
        "relations": """
             0    1    2    3    4    5    6    7    8    9    10   11
        GPU0 PIX  NODE NODE NODE NODE NODE NODE NODE NODE NODE NODE NODE
        GPU1 NODE PIX  NODE NODE NODE NODE NODE NODE NODE NODE NODE NODE
        GPU2 NODE NODE PIX  NODE NODE NODE NODE NODE NODE NODE NODE NODE
        GPU3 NODE NODE NODE NODE NODE PIX  NODE NODE NODE NODE NODE NODE
        GPU4 NODE NODE NODE NODE NODE NODE PIX  NODE NODE NODE NODE NODE
        GPU5 NODE NODE NODE NODE NODE NODE NODE PIX  NODE NODE NODE NODE
        GPU6 NODE NODE NODE NODE NODE NODE NODE NODE PIX  NODE NODE NODE
        GPU7 NODE NODE NODE NODE NODE NODE NODE NODE NODE NODE NODE PIX""",
    },
    # The source prints SYS where NODE stands here, see the machine. GPU 4 to 7 have no NIC near: they
    # share what has fewest GPUs, not the card that GPU 2 and 3 share already.
    "a100-nics-on-one-socket": {
        "gpus": "mlx5_0 mlx5_1 mlx5_2+mlx5_3 mlx5_2+mlx5_3 mlx5_0 mlx5_0 mlx5_1 mlx5_1",
        "relations": """
             0    1    2    3
        GPU0 PXB  PXB  NODE NODE
        GPU1 PXB  PXB  NODE NODE
        GPU2 NODE NODE PXB  PXB
        GPU3 NODE NODE PXB  PXB
        GPU4 SYS  SYS  SYS  SYS
        GPU7 SYS  SYS  SYS  SYS
        0    X    PXB  NODE NODE
        2    NODE NODE X    PIX""",
    },
    # Physical functions with virtual ones are not dealt, nor are virtual functions that no pool has:
    # who wants them configures a pool.
    "bonds-with-vfs": {
        "gpus": "- - - - - - - -",
        "unusable": "mlx5_bond_0 mlx5_bond_1 mlx5_bond_2 mlx5_bond_3",
        "virtual-function": " ".join(f"mlx5_{number}" for number in range(32)),
        "relations": """
             0    8    16   24   mlx5_bond_0 mlx5_bond_1 mlx5_bond_2 mlx5_bond_3
        GPU0 PIX  NODE SYS  SYS  SYS         SYS         NODE        PIX
        GPU1 NODE NODE SYS  SYS  SYS         SYS         NODE        NODE
        GPU2 NODE PIX  SYS  SYS  SYS         SYS         PIX         NODE
        GPU3 NODE NODE SYS  SYS  SYS         SYS         NODE        NODE
        GPU4 SYS  SYS  PIX  NODE PIX         NODE        SYS         SYS
        GPU5 SYS  SYS  NODE NODE NODE        NODE        SYS         SYS
        GPU6 SYS  SYS  NODE PIX  NODE        PIX         SYS         SYS
        GPU7 SYS  SYS  NODE NODE NODE        NODE        SYS         SYS""",
    },
    "vfs-on-one-socket": {
        "gpus": "mlx5_18 mlx5_21 mlx5_20 mlx5_19 mlx5_24 mlx5_23 mlx5_22 mlx5_25",
        "front-end": "mlx5_0 mlx5_9",
        "virtual-function": " ".join(f"mlx5_{number}" for number in range(18) if number % 9),
        "relations": """
             0    9    18   19   20   21   22   23   24   25
        GPU0 SYS  SYS  PIX  NODE NODE NODE SYS  SYS  SYS  SYS
        GPU1 SYS  SYS  NODE NODE PHB  PIX  SYS  SYS  SYS  SYS
        GPU2 SYS  SYS  NODE NODE PIX  PHB  SYS  SYS  SYS  SYS
        GPU3 SYS  SYS  NODE PIX  NODE NODE SYS  SYS  SYS  SYS
        GPU4 NODE NODE SYS  SYS  SYS  SYS  NODE NODE PIX  NODE
        GPU5 NODE NODE SYS  SYS  SYS  SYS  NODE PIX  NODE NODE""",
    },
    # Two GPUs and a NIC below each inner switch; the NIC of the sibling switch is PXB.
    "l20-nested-switches": {
        "gpus": "mlx5_1 mlx5_1 mlx5_2 mlx5_2 mlx5_3 mlx5_3 mlx5_4 mlx5_4"
                " mlx5_5 mlx5_5 mlx5_6 mlx5_6 mlx5_7 mlx5_7 mlx5_8 mlx5_8",
        "management": "mlx5_0",
        "relations": """
              1    2    3    4    5    6    7    8
        GPU0  PIX  SYS  PXB  SYS  NODE SYS  NODE SYS
        GPU2  SYS  PIX  SYS  PXB  SYS  NODE SYS  NODE
        GPU4  PXB  SYS  PIX  SYS  NODE SYS  NODE SYS
        GPU15 SYS  NODE SYS  NODE SYS  PXB  SYS  PIX""",
    },
    "rtx3090-one-nic": {"gpus": " ".join(["mlx5_0"] * 8)},
    "rtx4090-one-socket": {
        "gpus": " ".join(["ibp177s0f0+ibp177s0f1"] * 8),
        "relations": """
                   GPU0 GPU3 GPU4 GPU7 ibp177s0f0 ibp177s0f1
        GPU0       X    PIX  NODE NODE NODE       NODE
        GPU7       NODE NODE PIX  X    NODE       NODE
        ibp177s0f0 NODE NODE NODE NODE X          PIX""",
    },
    "h100-six-gpus": {
        "gpus": " ".join(["mlx5_0+mlx5_1"] * 6),
        "relations": """
             0    1
        GPU0 NODE NODE
        GPU2 NODE NODE
        GPU3 SYS  SYS
        GPU5 SYS  SYS""",
    },
    # All SYS but two pairs: GPU 0 and 3 go to the NIC of their socket.
    "levante-a100": {
        "gpus": "mlx5_0 mlx5_0 mlx5_1 mlx5_1",
        "relations": """
             0   1
        GPU0 SYS SYS
        GPU1 PIX SYS
        GPU2 SYS PIX
        GPU3 SYS SYS""",
    },
    # The four ConnectX-7 are the compute network of the tray, two on each Grace. The source has SYS
    # where NODE stands here: NICs of one Grace.
    "gb200-tray": {
        "gpus": "mlx5_0 mlx5_1 mlx5_4 mlx5_5",
        "management": "mlx5_2",
        "front-end": "mlx5_3 mlx5_6 mlx5_7",
        "relations": """
             0   1   2   3   4   5   6   7
        GPU0 SYS SYS SYS SYS SYS SYS SYS SYS
        GPU1 SYS SYS SYS SYS SYS SYS SYS SYS
        GPU2 SYS SYS SYS SYS SYS SYS SYS SYS
        GPU3 SYS SYS SYS SYS SYS SYS SYS SYS
        2    NODE NODE X   PIX SYS SYS SYS SYS
        6    SYS SYS SYS SYS NODE NODE X   PIX""",
    },
    "lassen-power9": {
        "gpus": "mlx5_0+mlx5_1 mlx5_0+mlx5_1 mlx5_2+mlx5_3 mlx5_2+mlx5_3",
        "relations": """
             0    1    2    3
        GPU0 NODE NODE SYS  SYS
        GPU1 NODE NODE SYS  SYS
        GPU2 SYS  SYS  NODE NODE
        GPU3 SYS  SYS  NODE NODE""",
    },
    "tioga-slingshot": {"gpus": "- - - - - - - -"},
    "corona-mi50": {
        "gpus": " ".join(["mlx5_0"] * 8),
        "relations": """
             0
        GPU0 SYS
        GPU3 SYS
        GPU4 NODE
        GPU5 NODE
        GPU6 PHB
        GPU7 NODE""",
    },
    # Both PCI domains of the cabled port; the other port is dealt as well and down.
    "dgx-spark": {
        "gpus": "rocep1s0f1+roceP2p1s0f1",
        "unusable": "rocep1s0f0 roceP2p1s0f0",
    },
    # The source pairs the GPUs of a switch with the two ports of the NIC there, one each; both ports are
    # one NIC here, which the two share.
    "intel-battlemage": {
        "gpus": "mlx5_4+mlx5_5 mlx5_4+mlx5_5 mlx5_6+mlx5_7 mlx5_6+mlx5_7",
        "relations": """
             mlx5_4 mlx5_5 mlx5_6 mlx5_7
        GPU0 PIX    PIX    NODE   NODE
        GPU1 PIX    PIX    NODE   NODE
        GPU2 NODE   NODE   PIX    PIX
        GPU3 NODE   NODE   PIX    PIX""",
    },
    # GPU 3 and GPU 6 share the inner switch with a NIC, the others only the outer one. Both GPUs and
    # both ports of a card: four GPUs share each card. 2 and 3 are the 10 Gb/s card.
    "hygon-dcu": {
        "gpus": " ".join(["mlx5_0+mlx5_1"] * 4 + ["mlx5_4+mlx5_5"] * 4),
        "management": "mlx5_3",
        "front-end": "mlx5_2",
        "relations": """
             0   1   2   3   4   5
        GPU0 PXB PXB SYS SYS SYS SYS
        GPU3 PXB PXB SYS SYS SYS SYS
        GPU4 SYS SYS SYS SYS PXB PXB
        GPU6 SYS SYS SYS SYS PXB PXB
        2    SYS SYS X   PIX SYS SYS""",
    },
}
