/* SPDX-License-Identifier: Apache-2.0
 *
 * The floor: what a plugin in another process costs if it does nothing. It answers every
 * CreateContainer with the same bytes (two devices, one limit, one variable: what Railhead gives to a
 * container with one GPU) and looks only at the frame headers, at one letter of the method's name, and at the last bytes of a Synchronize, which
 * may say that more follows. No error handling beyond leaving: it is a measure, not a plugin.
 *
 * Frames (containerd/nri pkg/net/multiplex/mux.go, containerd/ttrpc PROTOCOL.md), big-endian:
 *   multiplexer: connection u32, length u32        1: we serve, 2: we call
 *   ttrpc:       length u32, stream u32, type u8, flags u8
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { kMux = 8, kTtrpc = 10, kHead = 48, kTail = 32, kRequest = 1, kResponse = 2 };

/* Where the second letter of the method stands in a Request: tag, length, 27 bytes of
 * "nri.pkg.api.v1alpha1.Plugin", tag, length, "?X". */
enum { kMethod = 2 + 27 + 2 };

static const char kRegister[] =
    "\x0a\x1cnri.pkg.api.v1alpha1.Runtime"
    "\x12\x0eRegisterPlugin"
    "\x1a\x0b\x0a\x05"
    "floor"
    "\x12\x02"
    "90";
static const char kConfigured[] = "\x12\x02\x10\x08"; /* events: CreateContainer */
static const char kMore[] = "\x12\x02\x10\x01";
static const char kAdjustment[] =
    "\x12\x9b\x01"
    "\x0a\x98\x01" /* payload; adjust */
    "\x22\x18"
    "\x0a\x0bNCCL_IB_HCA"
    "\x12\x09=mlx5_0:1" /* env */
    "\x32\x60"
    "\x0a\x2f" /* linux; a device */
    "\x0a\x17/dev/infiniband/uverbs0"
    "\x12\x01"
    "c"
    "\x18\xe7\x01"
    "\x20\xc0\x01"
    "\x2a\x03\x08\xb6\x03"
    "\x32\x02\x08\x00"
    "\x3a\x02\x08\x00"
    "\x0a\x2d" /* another device */
    "\x0a\x17/dev/infiniband/rdma_cm"
    "\x12\x01"
    "c"
    "\x18\x0a"
    "\x20\x3a"
    "\x2a\x03\x08\xb6\x03"
    "\x32\x02\x08\x00"
    "\x3a\x02\x08\x00"
    "\x3a\x1a"
    "\x0a\x0eRLIMIT_MEMLOCK"
    "\x10\x80\x80\x80\x04"
    "\x18\x80\x80\x80\x04";

/* The ttrpc stream of connection 1, whatever pieces it comes in. */
static struct {
  unsigned char head[kHead]; /* of the message: ttrpc header and the beginning of the body */
  unsigned char tail[kTail]; /* its last bytes */
  uint32_t seen, size;
} message;

static uint32_t read_u32(const unsigned char* p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void write_u32(unsigned char* p, uint32_t v) {
  for (int i = 3; i >= 0; --i, v >>= 8) p[i] = (unsigned char)v;
}

static int send_message(int fd, uint32_t conn, uint32_t stream, int type, const char* body,
                        uint32_t n) {
  unsigned char frame[kMux + kTtrpc + 512];
  write_u32(frame, conn);
  write_u32(frame + 4, kTtrpc + n);
  write_u32(frame + 8, n);
  write_u32(frame + 12, stream);
  frame[16] = (unsigned char)type;
  frame[17] = 0;
  memcpy(frame + kMux + kTtrpc, body, n);
  return write(fd, frame, kMux + kTtrpc + n) == (ssize_t)(kMux + kTtrpc + n) ? 0 : -1;
}

/* SynchronizeRequest.more (3, true) is the last field of the payload, and timeout_nano (4) follows.
 */
static int more_follows(void) {
  for (int i = 0; i + 2 < kTail; ++i) {
    if (memcmp(message.tail + i, "\x18\x01\x20", 3) == 0) return 1;
  }
  return 0;
}

static int answer(int fd) {
  const uint32_t stream = read_u32(message.head + 4);
  const unsigned char* method = message.head + kTtrpc + kMethod;
  if (method[0] == 'C' && method[1] == 'r') {
    return send_message(fd, 1, stream, kResponse, kAdjustment, sizeof kAdjustment - 1);
  }
  if (method[0] == 'C')
    return send_message(fd, 1, stream, kResponse, kConfigured, sizeof kConfigured - 1);
  if (more_follows()) return send_message(fd, 1, stream, kResponse, kMore, sizeof kMore - 1);
  return send_message(fd, 1, stream, kResponse, "", 0);
}

static int consume(int fd, const unsigned char* data, uint32_t n) {
  while (n > 0) {
    uint32_t take = message.seen < kTtrpc ? kTtrpc - message.seen : message.size - message.seen;
    if (take > n) take = n;
    if (message.seen < kHead) {
      const uint32_t room = kHead - message.seen;
      memcpy(message.head + message.seen, data, take < room ? take : room);
    }
    if (take >= kTail) {
      memcpy(message.tail, data + take - kTail, kTail);
    } else {
      memmove(message.tail, message.tail + take, kTail - take);
      memcpy(message.tail + kTail - take, data, take);
    }
    message.seen += take;
    data += take;
    n -= take;
    if (message.seen == kTtrpc) message.size = kTtrpc + read_u32(message.head);
    if (message.seen >= kTtrpc && message.seen == message.size) {
      if (message.head[8] == kRequest && answer(fd) != 0) return -1;
      message.seen = 0;
    }
  }
  return 0;
}

static int serve(int fd) {
  static unsigned char buffer[65536];
  unsigned char header[kMux];
  uint32_t have = 0, left = 0, conn = 0;
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0) {
    for (uint32_t at = 0; at < (uint32_t)n;) {
      if (have < kMux) {
        header[have++] = buffer[at++];
        if (have == kMux) {
          conn = read_u32(header);
          left = read_u32(header + 4);
        }
      } else {
        const uint32_t piece = left < (uint32_t)n - at ? left : (uint32_t)n - at;
        if (conn == 1 && consume(fd, buffer + at, piece) != 0) return 1;
        at += piece;
        left -= piece;
      }
      if (have == kMux && left == 0) have = 0;
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) {
    fprintf(stderr, "usage: floor SOCKET\n");
    return 64;
  }
  memcpy(address.sun_path, argv[1], strlen(argv[1]) + 1);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
    perror(argv[1]);
    return 1;
  }
  if (send_message(fd, 2, 1, kRequest, kRegister, sizeof kRegister - 1) != 0) return 1;
  return serve(fd);
}
