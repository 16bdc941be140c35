# SPDX-License-Identifier: Apache-2.0
"""What a container gets, seen from inside it."""
