// SPDX-License-Identifier: Apache-2.0
#include "host/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace railhead {
namespace {

Error system_error(const std::string& path, int number) {
  const bool denied = number == EACCES || number == EPERM;
  return {denied ? ErrorCode::denied : ErrorCode::unavailable, path + ": " + std::strerror(number)};
}

Status write_whole(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_input_file(const std::string& path, std::size_t max_bytes) {
  const bool standard = path == "-";
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error(path, errno);
  std::string text;
  char buffer[65536];
  Status status;
  for (;;) {
    const auto size = ::read(descriptor, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) status = system_error(path, errno);
    if (size <= 0) break;
    text.append(buffer, static_cast<std::size_t>(size));
    if (text.size() > max_bytes) {
      status =
          Error{ErrorCode::too_large, path + ": more than " + std::to_string(max_bytes) + " bytes"};
      break;
    }
  }
  if (!standard) ::close(descriptor);
  if (!status) return status.error();
  return text;
}

bool input_file_exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Status write_file_atomic(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return system_error(path, errno);
  auto status = write_whole(descriptor, bytes, path);
  if (status && ::fchmod(descriptor, 0644) != 0) status = system_error(path, errno);
  if (::close(descriptor) != 0 && status) status = system_error(path, errno);
  if (status && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = system_error(path, errno);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

}  // namespace railhead
