# SPDX-License-Identifier: Apache-2.0
"""Virtual machines: what must come out, from their sources. Entries as in check_expected.py."""

EIGHT_RAILS = "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7"
AZURE_RAILS = EIGHT_RAILS.replace("mlx5_", "mlx5_ib")
TABLE = "table of known machines"

EXPECTED = {
    # ndv4-topo.xml: GPUs 3, 4 (PCI domains) share a switch with NICs 103, 104; 1, 2 with 101, 102.
    "azure-nd-a100-v4": {
        "source": TABLE,
        "gpus": AZURE_RAILS,
        "management": "mlx5_an0",
        "relations": """
             mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7
        GPU0 PIX      PIX      SYS      SYS      SYS      SYS      SYS      SYS
        GPU1 PIX      PIX      SYS      SYS      SYS      SYS      SYS      SYS
        GPU2 SYS      SYS      PIX      PIX      SYS      SYS      SYS      SYS
        GPU3 SYS      SYS      PIX      PIX      SYS      SYS      SYS      SYS
        GPU4 SYS      SYS      SYS      SYS      PIX      PIX      SYS      SYS
        GPU5 SYS      SYS      SYS      SYS      PIX      PIX      SYS      SYS
        GPU6 SYS      SYS      SYS      SYS      SYS      SYS      PIX      PIX
        GPU7 SYS      SYS      SYS      SYS      SYS      SYS      PIX      PIX""",
    },
    # ndv5-topo.xml: one GPU and one NIC a switch.
    "azure-nd-h100-v5": {
        "source": TABLE,
        "gpus": AZURE_RAILS,
        "management": "mlx5_an0",
        "relations": """
             mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7
        GPU0 PIX      NODE     NODE     NODE     SYS      SYS      SYS      SYS
        GPU1 NODE     PIX      NODE     NODE     SYS      SYS      SYS      SYS
        GPU2 NODE     NODE     PIX      NODE     SYS      SYS      SYS      SYS
        GPU3 NODE     NODE     NODE     PIX      SYS      SYS      SYS      SYS
        GPU4 SYS      SYS      SYS      SYS      PIX      NODE     NODE     NODE
        GPU5 SYS      SYS      SYS      SYS      NODE     PIX      NODE     NODE
        GPU6 SYS      SYS      SYS      SYS      NODE     NODE     PIX      NODE
        GPU7 SYS      SYS      SYS      SYS      NODE     NODE     NODE     PIX""",
    },
    # GPU 2 has to share with a GPU of its NUMA node, and that is all that changes.
    "azure-nd-h100-v5-nic-lost": {
        "source": TABLE,
        "gpus": "mlx5_ib0 mlx5_ib1 mlx5_ib0 mlx5_ib2 mlx5_ib3 mlx5_ib4 mlx5_ib5 mlx5_ib6",
        "management": "mlx5_an0",
    },
    # ndv2-topo.xml: one NIC, on NUMA node 0, without a switch in common with anything.
    "azure-ndv2": {
        "source": TABLE,
        "gpus": " ".join(["mlx5_ib0"] * 8),
        "management": "mlx5_an0",
        "relations": """
             mlx5_ib0
        GPU0 NODE
        GPU3 NODE
        GPU4 SYS
        GPU7 SYS""",
    },
    # That file is refused, and the table has the last word.
    "azure-ndv2-wrong-file": {
        "source": TABLE,
        "gpus": " ".join(["mlx5_ib0"] * 8),
        "management": "mlx5_an0",
    },
    # The file pairs GPU 0 (1f3c) with c2b1, 3a07 with 54ee, and so on: NICs by address are not in
    # the order of their GPUs, so a deal by NUMA node alone would be wrong for five of eight. Random
    # PCI domains: the file may be another machine's.
    "azure-topology-file": {
        "source": "topology file",
        "confidence": "low",
        "gpus": "mlx5_ib6 mlx5_ib3 mlx5_ib7 mlx5_ib1 mlx5_ib5 mlx5_ib2 mlx5_ib4 mlx5_ib0",
        "management": "mana_0",
    },
    # RCCL's view of it has NUMA nodes only. Dealt by address, GPU 0011 gets NIC 0010 and so on: names
    # say nothing.
    "azure-mi300x": {
        "source": "NUMA node",
        "confidence": "low",
        "gpus": "mlx5_2 mlx5_0 mlx5_1 mlx5_3 mlx5_5 mlx5_6 mlx5_7 mlx5_4",
        "management": "mana_0",
    },
    # p4d-24xl-topo.xml: two GPUs and one EFA a switch.
    "aws-p4d": {
        "source": TABLE,
        "gpus": "rdmap16s27 rdmap16s27 rdmap32s27 rdmap32s27"
                " rdmap144s27 rdmap144s27 rdmap160s27 rdmap160s27",
        "relations": """
             rdmap16s27 rdmap32s27 rdmap144s27 rdmap160s27
        GPU0 PIX        NODE       SYS         SYS
        GPU1 PIX        NODE       SYS         SYS
        GPU2 NODE       PIX        SYS         SYS
        GPU3 NODE       PIX        SYS         SYS
        GPU4 SYS        SYS        PIX         NODE
        GPU5 SYS        SYS        PIX         NODE
        GPU6 SYS        SYS        NODE        PIX
        GPU7 SYS        SYS        NODE        PIX""",
    },
    # Four EFA below the switch of each GPU.
    "aws-p5": {
        "gpus": "rdmap79s0+rdmap80s0+rdmap81s0+rdmap82s0"
                " rdmap96s0+rdmap97s0+rdmap98s0+rdmap99s0"
                " rdmap113s0+rdmap114s0+rdmap115s0+rdmap116s0"
                " rdmap130s0+rdmap131s0+rdmap132s0+rdmap133s0"
                " rdmap147s0+rdmap148s0+rdmap149s0+rdmap150s0"
                " rdmap164s0+rdmap165s0+rdmap166s0+rdmap167s0"
                " rdmap181s0+rdmap182s0+rdmap183s0+rdmap184s0"
                " rdmap198s0+rdmap199s0+rdmap200s0+rdmap201s0",
    },
    # The two ConnectX-7 are at PIX to GPUs 4 and 5, and come first by nothing but their role.
    "aws-p6-b200": {
        "gpus": "rdmap79s0 rdmap80s0 rdmap96s0 rdmap97s0"
                " rdmap113s0 rdmap114s0 rdmap132s0 rdmap133s0",
        "nvlink-management": "ibp115s0f0 ibp116s0f0",
        "relations": """
             rdmap79s0 rdmap80s0 rdmap96s0 rdmap113s0 rdmap114s0 ibp115s0f0 ibp116s0f0 rdmap132s0
        GPU0 PIX       PIX       NODE      SYS        SYS        SYS        SYS        SYS
        GPU4 SYS       SYS       SYS       PIX        PIX        PIX        PIX        NODE
        GPU5 SYS       SYS       SYS       PIX        PIX        PIX        PIX        NODE
        GPU6 SYS       SYS       SYS       NODE       NODE       NODE       NODE       PIX""",
    },
    # g5.48xl-topo.xml: the EFA is on NUMA node 1, with GPUs 4 to 7.
    "aws-g5": {
        "source": TABLE,
        "gpus": " ".join(["rdmap0s21"] * 8),
    },
    # lstopo: no GPU shares more than the NUMA node with the EFA.
    "aws-g6": {
        "gpus": " ".join(["rdmap150s0"] * 8),
        "relations": """
             rdmap150s0
        GPU0 NODE
        GPU3 NODE
        GPU4 SYS
        GPU7 SYS""",
    },
    # Two GPUs and two NICs a switch: dealt by address.
    "gcp-a3ultra": {
        "gpus": "rocep145s0 rocep146s0 rocep152s0 rocep153s0"
                " rocep198s0 rocep199s0 rocep205s0 rocep206s0",
        "relations": """
             rocep145s0 rocep146s0 rocep152s0 rocep153s0 rocep198s0 rocep199s0 rocep205s0 rocep206s0
        GPU0 PIX        PIX        NODE       NODE       SYS        SYS        SYS        SYS
        GPU1 PIX        PIX        NODE       NODE       SYS        SYS        SYS        SYS
        GPU2 NODE       NODE       PIX        PIX        SYS        SYS        SYS        SYS
        GPU3 NODE       NODE       PIX        PIX        SYS        SYS        SYS        SYS
        GPU4 SYS        SYS        SYS        SYS        PIX        PIX        NODE       NODE
        GPU5 SYS        SYS        SYS        SYS        PIX        PIX        NODE       NODE
        GPU6 SYS        SYS        SYS        SYS        NODE       NODE       PIX        PIX
        GPU7 SYS        SYS        SYS        SYS        NODE       NODE       PIX        PIX""",
    },
    "gcp-a4": {"gpus": EIGHT_RAILS},
    # Device names run against GPU indexes.
    "ibm-vpc-h100": {"gpus": " ".join(reversed(EIGHT_RAILS.split()))},
    # Nothing says who belongs to whom: an even deal, which is all that can be done.
    "h200-flat-kvm": {"source": "NUMA node", "confidence": "low", "gpus": EIGHT_RAILS},
    "h200-pxb-kvm": {
        "confidence": "medium",
        "gpus": EIGHT_RAILS,
        "relations": """
             mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7
        GPU0 PIX    PHB    PHB    PHB    SYS    SYS    SYS    SYS
        GPU3 PHB    PHB    PHB    PIX    SYS    SYS    SYS    SYS
        GPU4 SYS    SYS    SYS    SYS    PIX    PHB    PHB    PHB
        GPU7 SYS    SYS    SYS    SYS    PHB    PHB    PHB    PIX""",
    },
    # The vendor's file has one GPU and one NIC a switch.
    "crusoe-b300": {
        "source": TABLE,
        "gpus": EIGHT_RAILS,
        "relations": """
             mlx5_0 mlx5_3 mlx5_4 mlx5_7
        GPU0 PIX    NODE   SYS    SYS
        GPU3 NODE   PIX    SYS    SYS
        GPU4 SYS    SYS    PIX    NODE
        GPU7 SYS    SYS    NODE   PIX""",
    },
    # The published file pairs NICs with NUMA nodes only.
    "modal-b200": {
        "source": "NUMA node",
        "confidence": "low",
        "gpus": "mlx5_5 mlx5_6 mlx5_7 mlx5_8 mlx5_9 mlx5_10 mlx5_11 mlx5_12",
        "management": "mlx5_0",
        "front-end": "mlx5_1 mlx5_2 mlx5_3 mlx5_4",
    },
    # One RDMA device, and it is the way to the world.
    "h100-front-end-only": {
        "source": "NUMA node",
        "confidence": "medium",
        "gpus": "- - - - - - - -",
        "management": "mlx5_0",
    },
}
