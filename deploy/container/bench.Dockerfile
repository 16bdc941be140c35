# SPDX-License-Identifier: Apache-2.0
# The image of `railhead bench`: apart, because it carries libibverbs and its drivers. `./dev image` makes
# rootfs/ and runs this file with buildah:
#   rootfs/usr/bin/railhead and railhead-bench, the libraries and drivers that the second loads, and
#   rootfs/var/lib/dpkg/status.d/, the Debian packages that all of it is from.
FROM scratch
ARG VERSION
ARG REVISION
ARG CREATED
LABEL org.opencontainers.image.title="railhead-bench" \
      org.opencontainers.image.description="Measures RDMA bandwidth and latency between two NICs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY rootfs/ /
ENV PATH=/usr/bin
ENTRYPOINT ["/usr/bin/railhead", "bench"]
CMD ["--help"]
