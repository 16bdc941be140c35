#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a Kubernetes on machines of your own to pods with InfiniBand: what no node can do for itself, for the profile bare-metal-ib.
# Run it in a clone of Railhead; it can be run again. Its arguments go to helm, for Railhead.
# A subnet manager runs on the fabric, in a switch or as opensm on one machine: railhead doctor --check link.sm
PROFILE=bare-metal-ib
# part: common
need helm kubectl awk
# part: kubernetes
# part: operators
# part: own-machines
