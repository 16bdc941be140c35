# SPDX-License-Identifier: Apache-2.0
"""Published guides, one file each."""
