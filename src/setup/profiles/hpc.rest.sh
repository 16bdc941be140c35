#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One machine of a cluster without Kubernetes, for the profile hpc: run it as root on each, after NVIDIA's driver and the NICs' are there.
# It can be run again. deploy/ansible/railhead.yaml does the same on many.
PROFILE=hpc
# part: common
need systemctl install
[ "$(id -u)" = 0 ] || stop "only root may change the machine: run this by sudo"

# 1. The package, with the units of setup. Nothing starts by itself.
if ! command -v railhead >/dev/null; then
  : "${RAILHEAD_PACKAGE:?is the Debian package that ./dev package made: railhead_VERSION_ARCH.deb}"
  need apt-get
  apt-get install --yes "$(realpath "$RAILHEAD_PACKAGE")" || stop "the package was not installed: apt says above what it needs"
fi

# 2. What is wanted of the machine: now, and at each boot. A file that is there stays.
if [ ! -e /etc/railhead/setup.yaml ]; then
  install -d -m 0755 /etc/railhead
  railhead setup profile "$PROFILE" >/etc/railhead/setup.yaml
fi
railhead setup apply --allow R1 || stop "the machine is not prepared: the lines above name the step, and railhead setup plan shows all"
systemctl enable railhead-setup.service
systemctl enable --now railhead-setup-verify.timer

# 3. The result. A subnet manager runs on the fabric, in a switch or as opensm on one machine.
railhead doctor --check link.port-state --check link.sm || stop "the fabric is not up: railhead doctor says what to do"
echo "$PROFILE: done. To look: railhead setup verify, railhead nics, railhead doctor"
