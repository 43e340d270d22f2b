// What one core can do with remote-write bodies in native code: snappy, protobuf walk, xxh3 of the span of a series' labels, look-up in an open
// table, rolling statistics (Welford's mean and variance, exponentially weighted mean and variance, newest value and time). No HTTP, nothing
// stored, nothing checked: a ceiling, not a server. Prints {"series": n, "samples": n, "samplesPerSecond": x} by CPU time, after
// COLD_BODIES bodies that fill the table.
//
//   limit FILE COLD_BODIES SECONDS
#include <snappy.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "limit.hpp"

namespace {

constexpr size_t TABLE_SLOTS = 1 << 18;  // for 100,000 series: filled to 0.4
constexpr double EWMA_WEIGHT = 0.05;
constexpr uint8_t FIELD_1_BYTES = 0x0a;   // WriteRequest.timeseries and TimeSeries.labels
constexpr uint8_t FIELD_2_BYTES = 0x12;   // TimeSeries.samples
constexpr uint8_t FIELD_1_DOUBLE = 0x09;  // Sample.value

/** One series: a cache line. */
struct alignas(64) Series {
  uint64_t hash = 0;  // 0: free
  double count = 0;
  double mean = 0;
  double sumOfSquares = 0;
  double weightedMean = 0;
  double weightedVariance = 0;
  double newest = 0;
  int64_t newestMs = 0;

  void add(double value, int64_t timeMs) {
    count += 1;
    const double distance = value - mean;
    mean += distance / count;
    sumOfSquares += distance * (value - mean);
    const double weightedDistance = value - weightedMean;
    weightedMean += EWMA_WEIGHT * weightedDistance;
    weightedVariance = (1 - EWMA_WEIGHT) * (weightedVariance + EWMA_WEIGHT * weightedDistance * weightedDistance);
    newest = value;
    newestMs = timeMs;
  }
};

class Table {
 public:
  Series& find(uint64_t hash) {
    for (size_t slot = hash % TABLE_SLOTS;; slot = (slot + 1) % TABLE_SLOTS) {
      Series& series = slots_[slot];
      if (series.hash == hash) return series;
      if (series.hash != 0) continue;
      if (++count_ == TABLE_SLOTS) fail("more series than the table holds");
      series.hash = hash;
      return series;
    }
  }

  size_t count() const { return count_; }

 private:
  std::vector<Series> slots_ = std::vector<Series>(TABLE_SLOTS);
  size_t count_ = 0;
};

/** Reads one Sample into its series. */
inline void takeSample(const uint8_t* at, const uint8_t* end, Series& series) {
  double value = 0;  // proto3 leaves out a zero
  int64_t timeMs = 0;
  while (at < end) {
    if (*at++ == FIELD_1_DOUBLE) {
      std::memcpy(&value, at, sizeof value);
      at += sizeof value;
    } else {
      timeMs = static_cast<int64_t>(varint(at));
    }
  }
  series.add(value, timeMs);
}

/** Walks one WriteRequest; returns its samples. The bodies are our own, so lengths are trusted. */
uint64_t walk(const uint8_t* at, const uint8_t* end, Table& table) {
  uint64_t samples = 0;
  while (at < end) {
    const uint64_t tag = varint(at);
    const uint64_t bytes = varint(at);
    const uint8_t* const seriesEnd = at + bytes;
    if (tag != FIELD_1_BYTES) {
      at = seriesEnd;
      continue;
    }
    const uint8_t* const labels = at;
    while (at < seriesEnd && *at == FIELD_1_BYTES) {
      at++;
      const uint64_t labelBytes = varint(at);
      at += labelBytes;
    }
    Series& series = table.find(XXH3_64bits(labels, static_cast<size_t>(at - labels)) | 1);
    while (at < seriesEnd && *at == FIELD_2_BYTES) {
      at++;
      const uint64_t sampleBytes = varint(at);
      takeSample(at, at + sampleBytes, series);
      at += sampleBytes;
      samples++;
    }
    at = seriesEnd;
  }
  return samples;
}

size_t largestRaw(const std::vector<Body>& bodies) {
  size_t largest = 0;
  for (const Body& body : bodies) {
    size_t bytes = 0;
    if (!snappy::GetUncompressedLength(body.data, body.bytes, &bytes)) fail("a body is not snappy");
    largest = std::max(largest, bytes);
  }
  return largest;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) fail("usage: limit FILE COLD_BODIES SECONDS");
  const std::vector<Body> bodies = readBodies(arguments[1]);
  const size_t coldBodies = std::min(static_cast<size_t>(std::strtoul(arguments[2], nullptr, 10)), bodies.size());
  const double seconds = std::atof(arguments[3]);
  if (bodies.empty()) fail("no bodies");

  const auto raw = std::make_unique<char[]>(largestRaw(bodies));
  Table table;
  const auto take = [&](const Body& body) {
    size_t bytes = 0;
    snappy::GetUncompressedLength(body.data, body.bytes, &bytes);
    if (!snappy::RawUncompress(body.data, body.bytes, raw.get())) fail("a body is not snappy");
    const auto* start = reinterpret_cast<const uint8_t*>(raw.get());
    const uint64_t samples = walk(start, start + bytes, table);
    if (samples != body.items) fail("a body holds other samples than it says");
    return samples;
  };
  for (size_t i = 0; i < coldBodies; i++) take(bodies[i]);

  uint64_t samples = 0;
  const double start = cpuSeconds();
  double elapsed = 0;
  for (size_t i = coldBodies % bodies.size(); elapsed < seconds; i = (i + 1) % bodies.size()) {
    samples += take(bodies[i]);
    elapsed = cpuSeconds() - start;
  }
  std::printf("{\"series\":%zu,\"samples\":%llu,\"samplesPerSecond\":%.1f}\n", table.count(), static_cast<unsigned long long>(samples),
              static_cast<double>(samples) / elapsed);
}
