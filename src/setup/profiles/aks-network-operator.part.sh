# SPDX-License-Identifier: Apache-2.0
# The operator's own rule labels each Mellanox function, and so every machine of Azure with accelerated networking. This one labels
# machines with InfiniBand.
install_chart network-operator nvidia/network-operator network-operator "$NETWORK_OPERATOR_VERSION" --set nfd.deployNodeFeatureRules=false
kubectl apply -f - <<'RULE'
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: railhead-infiniband}
spec:
  rules:
    - name: InfiniBand of NVIDIA
      labels: {feature.node.kubernetes.io/pci-15b3.present: "true"}
      matchFeatures:
        - feature: pci.device
          matchExpressions:
            vendor: {op: In, value: ["15b3"]}
            class: {op: In, value: ["0207"]}
RULE
# The variable keeps the kernel's own modules off while OFED's load (Mellanox/doca-driver-build#52).
install_ofed '[{name: OFED_BLACKLIST_MODULES_FILE, value: /host/etc/modprobe.d/blacklist-ofed-modules.conf}]'
