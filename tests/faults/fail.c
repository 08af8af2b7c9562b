/* Preloaded into a program: the n-th call of one kind fails, or the process is killed there.
 *   FAIL=write:3:ENOSPC   KIND:N:ERROR, KIND one of write, rename, link, open, truncate, sync, memory; ERROR also EIO, EACCES, KILL;
 *                         with a + behind N that call and all after it, as of a disk that is full
 *   FAIL=clock:0:JUMP     the time of day jumps by an hour, to and fro, from one look at it to the next
 *   FAIL_COUNT=FILE       how many calls of the kind there were is written there at the end
 * Calls on the standard streams do not count, nor does memory before main. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static char kind[16];
static long nth = -1, seen;
static int error_number, kills, from_there_on, ready;

__attribute__((constructor)) static void read_plan(void) {
  const char* plan = getenv("FAIL");
  char text[64] = "", *colon;
  if (!plan) return;
  strncpy(text, plan, sizeof text - 1);
  if (!(colon = strchr(text, ':'))) return;
  *colon = 0;
  strncpy(kind, text, sizeof kind - 1);
  char* end;
  nth = strtol(colon + 1, &end, 10);
  from_there_on = *end == '+';
  const char* name = strrchr(plan, ':') + 1;
  kills = strcmp(name, "KILL") == 0;
  error_number = strcmp(name, "EIO") == 0 ? EIO : strcmp(name, "EACCES") == 0 ? EACCES : ENOSPC;
  ready = 1;
}

__attribute__((destructor)) static void tell(void) {
  const char* file = getenv("FAIL_COUNT");
  ready = 0;
  if (!file) return;
  FILE* out = fopen(file, "w");
  if (!out) return;
  fprintf(out, "%ld\n", seen);
  fclose(out);
}

/* Whether this call is to fail. */
static int fails(const char* what) {
  if (!ready || strcmp(what, kind) != 0) return 0;
  const long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
  if (number != nth && !(from_there_on && number > nth)) return 0;
  if (kills) raise(SIGKILL);
  errno = error_number;
  return 1;
}

#define REAL(type, name, ...)                                                    \
  static type (*real)(__VA_ARGS__);                                              \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void* bytes, size_t count) {
  REAL(ssize_t, "write", int, const void*, size_t);
  return fd > 2 && fails("write") ? -1 : real(fd, bytes, count);
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) {
  REAL(ssize_t, "pwrite", int, const void*, size_t, off_t);
  return fails("write") ? -1 : real(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t at) {
  REAL(ssize_t, "pwrite64", int, const void*, size_t, off64_t);
  return fails("write") ? -1 : real(fd, bytes, count, at);
}
int rename(const char* from, const char* to) {
  REAL(int, "rename", const char*, const char*);
  return fails("rename") ? -1 : real(from, to);
}
int linkat(int a, const char* from, int b, const char* to, int flags) {
  REAL(int, "linkat", int, const char*, int, const char*, int);
  return fails("link") ? -1 : real(a, from, b, to, flags);
}
int ftruncate(int fd, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  return fails("truncate") ? -1 : real(fd, size);
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return fails("sync") ? -1 : real(fd);
}
static int writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }
int open(const char* path, int flags, ...) {
  REAL(int, "open", const char*, int, ...);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return writes(flags) && fails("open") ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  REAL(int, "open64", const char*, int, ...);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return writes(flags) && fails("open") ? -1 : real(path, flags, mode);
}
int clock_gettime(clockid_t which, struct timespec* out) {
  REAL(int, "clock_gettime", clockid_t, struct timespec*);
  const int result = real(which, out);
  static int to_and_fro;
  if (result == 0 && ready && which == CLOCK_REALTIME && strcmp(kind, "clock") == 0)
    out->tv_sec += (to_and_fro = !to_and_fro) ? 3600 : -3600;
  return result;
}
void* malloc(size_t size) {
  static void* (*real)(size_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "malloc");
  return fails("memory") ? NULL : real(size);
}
