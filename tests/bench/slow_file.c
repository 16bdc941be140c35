/* SPDX-License-Identifier: Apache-2.0
 *
 * slow_file FILE SECONDS: mounts a file system of one file over FILE, with the content that FILE has.
 * After SIGUSR1 each read takes SECONDS, as an attribute of sysfs does while a card's firmware does
 * not answer; after SIGUSR2 reads are quick again, those under way too. It ends when the file is unmounted.
 *
 * A file system whose root is a regular file can be mounted over a regular file (fuse(4), rootmode).
 */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char content[4096]; /* an attribute of sysfs is at most a page */
static size_t size;
static int naps;
static atomic_int slow;

static void become(int signal) { slow = signal == SIGUSR1; }

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *info) {
  (void)path, (void)info;
  out->st_mode = S_IFREG | 0644;
  out->st_nlink = 1;
  out->st_size = sizeof content;
  return 0;
}

static int open_file(const char *path, struct fuse_file_info *info) {
  (void)path;
  info->direct_io = 1; /* each read comes here */
  return 0;
}

static int read_file(const char *path, char *out, size_t wanted, off_t offset, struct fuse_file_info *info) {
  (void)path, (void)info;
  const struct timespec nap = {0, 10 * 1000 * 1000};
  for (int i = 0; offset == 0 && slow && i < naps; ++i) nanosleep(&nap, NULL);
  if (offset < 0 || (size_t)offset >= size) return 0;
  if (wanted > size - (size_t)offset) wanted = size - (size_t)offset;
  memcpy(out, content + offset, wanted);
  return (int)wanted;
}

int main(int count, char **arguments) {
  static const struct fuse_operations kOperations = {
      .getattr = get_attributes, .open = open_file, .read = read_file};
  FILE *file = count == 3 ? fopen(arguments[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: slow_file FILE SECONDS: %s\n", strerror(count == 3 ? errno : EINVAL));
    return 64;
  }
  size = fread(content, 1, sizeof content, file);
  fclose(file);
  naps = atoi(arguments[2]) * 100;
  signal(SIGUSR1, become);
  signal(SIGUSR2, become);
  char *command[] = {arguments[0], "-f", arguments[1], NULL};
  return fuse_main(3, command, &kOperations, NULL);
}
