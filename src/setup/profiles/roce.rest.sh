#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a Kubernetes on machines of your own to pods with RoCE: what no node can do for itself, for the profile roce. Run it in a clone
# of Railhead; it can be run again. Its arguments go to helm, for Railhead.
# The switches have MTU 9216, priority flow control and ECN as on the nodes: railhead doctor
PROFILE=roce
# part: common
need helm kubectl awk
# part: kubernetes
# part: operators
# part: own-machines
