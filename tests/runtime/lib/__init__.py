# SPDX-License-Identifier: Apache-2.0
"""A private container runtime, a kubelet's calls to it, and the agent beside it."""
