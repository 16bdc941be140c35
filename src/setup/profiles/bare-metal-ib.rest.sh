# SPDX-License-Identifier: Apache-2.0
# What no node can do for itself, for the profile bare-metal-ib. Read it, then run it with bash.
# Railhead is in no registry: ./dev image makes the image, push it to one of yours.
: "${IMAGE_REPOSITORY:?of the image of Railhead, without its tag}"

# 1. A subnet manager runs on the fabric, in a switch or as opensm on one machine:
#   railhead doctor --check link.sm

# 2. NVIDIA's driver with its open kernel module is on the nodes, by the distribution or by:
helm repo add nvidia "${NVIDIA_CHARTS:?the address of the Helm repository that NVIDIA names}"
helm install gpu-operator nvidia/gpu-operator --namespace gpu-operator --create-namespace \
  --set driver.kernelModuleType=open --set driver.rdma.enabled=true

# 3. Setup at each start of a node, a look each hour, and the agent.
#   install -D -m 0644 -t /etc/systemd/system deploy/systemd/railhead-setup*
#   railhead setup profile bare-metal-ib > /etc/railhead/setup.yaml
#   systemctl enable --now railhead-setup.service railhead-setup-verify.timer
helm install railhead deploy/charts --namespace kube-system \
  --set image.repository="$IMAGE_REPOSITORY"

# 4. How it is checked, on each node:
#   railhead setup verify
#   railhead doctor
