# SPDX-License-Identifier: Apache-2.0
"""Independent implementations of the protocols that Railhead speaks, for tests to talk to."""
