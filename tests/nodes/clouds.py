# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of the clouds, and what a container sees of a machine."""
