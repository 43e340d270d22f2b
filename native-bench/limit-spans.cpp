// What one core can do with OTLP trace bodies in native code: protobuf walk of every field, xxh3 of a resource and of a span's name, look-up of the
// operation in an open table, counts, errors and a logarithmic histogram of durations. Nothing joined, stored or checked: a ceiling, not a server.
// Prints {"operations": n, "spans": n, "spansPerSecond": x} by CPU time, after COLD_BODIES bodies that fill the table.
//
//   limit-spans FILE COLD_BODIES SECONDS
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "limit.hpp"

namespace {

constexpr size_t TABLE_SLOTS = 1 << 14;
constexpr size_t BUCKETS = 64;
constexpr int WIRE_VARINT = 0;
constexpr int WIRE_FIXED64 = 1;
constexpr int WIRE_BYTES = 2;
constexpr int WIRE_FIXED32 = 5;

struct Operation {
  uint64_t hash = 0;  // 0: free
  uint64_t calls = 0;
  uint64_t errors = 0;
  uint64_t children = 0;
  uint64_t ids = 0;  // keeps the compiler from leaving out what reads them
  uint32_t durations[BUCKETS] = {};
};

class Table {
 public:
  Operation& find(uint64_t hash) {
    for (size_t slot = hash % TABLE_SLOTS;; slot = (slot + 1) % TABLE_SLOTS) {
      Operation& operation = slots_[slot];
      if (operation.hash == hash) return operation;
      if (operation.hash != 0) continue;
      if (++count_ == TABLE_SLOTS) fail("more operations than the table holds");
      operation.hash = hash;
      return operation;
    }
  }

  size_t count() const { return count_; }

 private:
  std::vector<Operation> slots_ = std::vector<Operation>(TABLE_SLOTS);
  size_t count_ = 0;
};

inline uint64_t fixed64(const uint8_t* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/** One field: its number, and where its content lies; `value` of a varint. */
struct Field {
  uint32_t number = 0;
  uint64_t value = 0;
  const uint8_t* from = nullptr;
  const uint8_t* to = nullptr;
};

inline Field next(const uint8_t*& at) {
  Field field;
  const uint64_t tag = varint(at);
  field.number = static_cast<uint32_t>(tag >> 3);
  field.from = at;
  switch (tag & 7) {
    case WIRE_VARINT:
      field.value = varint(at);
      break;
    case WIRE_FIXED64:
      at += 8;
      break;
    case WIRE_BYTES: {
      const uint64_t bytes = varint(at);
      field.from = at;
      at += bytes;
      break;
    }
    case WIRE_FIXED32:
      at += 4;
      break;
    default:
      fail("an unknown wire type");
  }
  field.to = at;
  return field;
}

/** Walks a KeyValue: key, then the value within. Returns the bytes of both. */
inline uint64_t walkAttribute(const uint8_t* at, const uint8_t* end) {
  uint64_t bytes = 0;
  while (at < end) {
    const Field field = next(at);
    if (field.number == 1) bytes += static_cast<uint64_t>(field.to - field.from);
    for (const uint8_t* inside = field.from; field.number == 2 && inside < field.to;) {
      const Field value = next(inside);
      bytes += static_cast<uint64_t>(value.to - value.from) + value.value;
    }
  }
  return bytes;
}

void takeSpan(const uint8_t* at, const uint8_t* end, uint64_t resource, Table& table) {
  uint64_t ids = 0;
  uint64_t name = 0;
  uint64_t startNs = 0;
  uint64_t endNs = 0;
  bool isChild = false;
  bool isError = false;
  while (at < end) {
    const Field field = next(at);
    switch (field.number) {
      case 1:
        ids ^= fixed64(field.from) + fixed64(field.from + 8);
        break;
      case 4:
        isChild = true;
        [[fallthrough]];
      case 2:
        ids ^= fixed64(field.from);
        break;
      case 5:
        name = XXH3_64bits(field.from, static_cast<size_t>(field.to - field.from));
        break;
      case 7:
        startNs = fixed64(field.from);
        break;
      case 8:
        endNs = fixed64(field.from);
        break;
      case 9:
        ids += walkAttribute(field.from, field.to);
        break;
      case 15:
        for (const uint8_t* inside = field.from; inside < field.to;) {
          const Field status = next(inside);
          if (status.number == 3) isError = status.value == 2;
        }
        break;
    }
  }
  Operation& operation = table.find((resource ^ (name * 0x9e3779b97f4a7c15)) | 1);
  operation.calls++;
  operation.errors += isError ? 1 : 0;
  operation.children += isChild ? 1 : 0;
  operation.ids += ids;
  const double microseconds = static_cast<double>(endNs - startNs) * 1e-3;
  operation.durations[std::min<size_t>(BUCKETS - 1, static_cast<size_t>(std::log2(microseconds + 1) * 2))]++;
}

/** Walks one ExportTraceServiceRequest; returns its spans. The bodies are our own, so lengths are trusted. */
uint64_t walk(const uint8_t* at, const uint8_t* end, Table& table) {
  uint64_t spans = 0;
  while (at < end) {
    const Field group = next(at);
    uint64_t resource = 0;
    for (const uint8_t* inside = group.from; inside < group.to;) {
      const Field part = next(inside);
      if (part.number == 1) resource = XXH3_64bits(part.from, static_cast<size_t>(part.to - part.from));
      if (part.number != 2) continue;
      for (const uint8_t* scoped = part.from; scoped < part.to;) {
        const Field field = next(scoped);
        if (field.number != 2) continue;
        takeSpan(field.from, field.to, resource, table);
        spans++;
      }
    }
  }
  return spans;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) fail("usage: limit-spans FILE COLD_BODIES SECONDS");
  const std::vector<Body> bodies = readBodies(arguments[1]);
  const size_t coldBodies = std::min(static_cast<size_t>(std::strtoul(arguments[2], nullptr, 10)), bodies.size());
  const double seconds = std::atof(arguments[3]);
  if (bodies.empty()) fail("no bodies");
  Table table;
  const auto take = [&](const Body& body) {
    const auto* start = reinterpret_cast<const uint8_t*>(body.data);
    const uint64_t spans = walk(start, start + body.bytes, table);
    if (spans != body.items) fail("a body holds other spans than it says");
    return spans;
  };
  for (size_t i = 0; i < coldBodies; i++) take(bodies[i]);

  uint64_t spans = 0;
  const double start = cpuSeconds();
  double elapsed = 0;
  for (size_t i = coldBodies % bodies.size(); elapsed < seconds; i = (i + 1) % bodies.size()) {
    spans += take(bodies[i]);
    elapsed = cpuSeconds() - start;
  }
  std::printf("{\"operations\":%zu,\"spans\":%llu,\"spansPerSecond\":%.1f}\n", table.count(), static_cast<unsigned long long>(spans),
              static_cast<double>(spans) / elapsed);
}
