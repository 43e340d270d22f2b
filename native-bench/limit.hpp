// What the native limits share: files of bodies, the clock of the CPU, varints. A file of bodies is a run of
// [u32le shard][u32le items][u32le length][length bytes].
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "limit: %s\n", what.c_str());
  std::exit(2);
}

inline double cpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Body {
  uint32_t items;
  uint32_t bytes;
  const char* data;
};

inline std::vector<Body> readBodies(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) fail(path + " cannot be read");
  const size_t size = static_cast<size_t>(status.st_size);
  void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (map == MAP_FAILED) fail(path + " cannot be mapped");
  const char* start = static_cast<const char*>(map);
  std::vector<Body> bodies;
  for (size_t at = 0; at + 12 <= size;) {
    uint32_t head[3];
    std::memcpy(head, start + at, sizeof head);
    if (head[2] > size - at - 12) fail(path + " ends within a body");
    bodies.push_back({head[1], head[2], start + at + 12});
    at += 12 + head[2];
  }
  return bodies;
}

inline uint64_t varint(const uint8_t*& at) {
  uint64_t value = *at++;
  if (value < 0x80) return value;
  value &= 0x7f;
  for (int shift = 7;; shift += 7) {
    const uint64_t byte = *at++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}
