// HTTP/1.1 load sender: one thread, epoll, keep-alive, no pipelining.
//
// Closed loop: each connection sends its next body when the last was answered. Open loop (--rate): body i is due at start + i / rate, and its
// latency counts from then, so that a slow server does not hide its own queue. The first ones may have a rate of their own (--early, --early-rate). Bodies of one shard always go through one connection, in file
// order, so the order within a series holds. Prints one JSON object.
//
// With --slices what follows the cold part is sent in slices, so that several contestants can share a few seconds of the machine: it prints "ready" and then
// takes lines from its input. "slice S" sends for S seconds, waits for the answers and prints the slice as JSON, "end I J ..." makes the warm part of the
// slices with these numbers, from 0 on. An open loop's schedule stands still between slices.
//
// A file of bodies is a run of [u32le shard][u32le samples][u32le length][length bytes].
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t READ_BYTES = 64 * 1024;
constexpr uint32_t TIMER = UINT32_MAX;  // epoll's name for the timer of the open loop
constexpr size_t REFUSAL_BYTES_SHOWN = 300;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "send: %s%s%s\n", what.c_str(), errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
  std::exit(2);
}

double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double now() { return secondsOf(CLOCK_MONOTONIC); }

struct Options {
  int port = 0;
  pid_t pid = 0;  // server whose CPU time is read; 0: none
  std::string path = "/";
  std::string file;
  std::string headers;
  size_t connections = 5;
  size_t coldRequests = 0;
  size_t maxRequests = SIZE_MAX;
  double seconds = INFINITY;  // after the last cold answer
  double rate = 0;            // requests per second; 0: closed loop
  double earlyRequests = 0;   // of an open loop, due at earlyRate; the others follow at rate
  double earlyRate = 1;
  double wakeSeconds = 0;     // of an open loop: so long before a request is due, and while an answer is awaited, the sender does not sleep
  bool loop = false;
  bool slices = false;
  std::string timesFile;
};

Options parseOptions(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i++) {
    const std::string name = arguments[i];
    if (name == "--loop" || name == "--slices") {
      (name == "--loop" ? options.loop : options.slices) = true;
      continue;
    }
    if (++i == count) fail("no value for " + name);
    const char* value = arguments[i];
    if (name == "--port") options.port = std::atoi(value);
    else if (name == "--pid") options.pid = std::atoi(value);
    else if (name == "--path") options.path = value;
    else if (name == "--file") options.file = value;
    else if (name == "--header") options.headers += std::string(value) + "\r\n";
    else if (name == "--connections") options.connections = std::strtoul(value, nullptr, 10);
    else if (name == "--cold") options.coldRequests = std::strtoul(value, nullptr, 10);
    else if (name == "--max-requests") options.maxRequests = std::strtoul(value, nullptr, 10);
    else if (name == "--seconds") options.seconds = std::atof(value);
    else if (name == "--rate") options.rate = std::atof(value);
    else if (name == "--early") options.earlyRequests = std::atof(value);
    else if (name == "--early-rate") options.earlyRate = std::atof(value);
    else if (name == "--wake") options.wakeSeconds = std::atof(value);
    else if (name == "--times") options.timesFile = value;
    else fail("unknown option " + name);
  }
  if (options.port == 0 || options.file.empty() || options.connections == 0) fail("--port, --file and at least one connection are needed");
  return options;
}

struct Body {
  uint32_t shard;
  uint32_t samples;
  uint32_t bytes;
  const char* data;
};

/** Maps the file for the life of the process and lists its bodies. */
std::vector<Body> readBodies(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) fail(path);
  const size_t size = static_cast<size_t>(status.st_size);
  void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (map == MAP_FAILED) fail(path);
  const char* start = static_cast<const char*>(map);
  std::vector<Body> bodies;
  for (size_t at = 0; at + 12 <= size;) {
    uint32_t head[3];
    std::memcpy(head, start + at, sizeof head);
    if (head[2] > size - at - 12) fail(path + " ends within a body");
    bodies.push_back({head[0], head[1], head[2], start + at + 12});
    at += 12 + head[2];
  }
  errno = 0;
  if (bodies.empty()) fail(path + " has no bodies");
  return bodies;
}

/** Length of the first whole response in `text`, 0 when it has not all arrived; sets `status`. */
size_t responseBytes(std::string_view text, int& status) {
  const size_t headEnd = text.find("\r\n\r\n");
  if (headEnd == std::string_view::npos) return 0;
  status = std::atoi(text.data() + 9);
  size_t bodyBytes = 0;
  for (size_t line = text.find("\r\n"); line < headEnd; line = text.find("\r\n", line + 2)) {
    const char* field = text.data() + line + 2;
    if (strncasecmp(field, "content-length:", 15) == 0) bodyBytes = std::strtoul(field + 15, nullptr, 10);
    if (strncasecmp(field, "transfer-encoding:", 18) == 0) {
      const size_t last = text.find("0\r\n\r\n", headEnd + 4);
      return last == std::string_view::npos ? 0 : last + 5;
    }
  }
  const size_t bytes = headEnd + 4 + bodyBytes;
  return text.size() < bytes ? 0 : bytes;
}

struct Connection {
  int socket = -1;
  std::vector<uint32_t> queue;  // indices of its bodies
  size_t next = 0;              // in queue
  uint64_t round = 0;           // times the queue was begun again
  bool waiting = false;         // for an answer
  uint32_t body = 0;            // being sent or awaited
  std::string head;
  size_t sent = 0;  // bytes of head and body
  double dueAt = 0;
  std::string received;
};

/** Totals of the answers between two moments, or of several such times. */
struct Phase {
  size_t requests = 0;
  double samples = 0;
  double seconds = 0;
  double serverCpuSeconds = 0;
  std::vector<float> latenciesMs;
  double startAt = 0;
  double serverCpuStart = 0;

  void begin(double time, double serverCpu) {
    startAt = time;
    serverCpuStart = serverCpu;
  }

  void end(double time, double serverCpu) {
    seconds += std::max(0.0, time - startAt);
    serverCpuSeconds += serverCpu - serverCpuStart;
  }

  void add(const Phase& other) {
    requests += other.requests;
    samples += other.samples;
    seconds += other.seconds;
    serverCpuSeconds += other.serverCpuSeconds;
    latenciesMs.insert(latenciesMs.end(), other.latenciesMs.begin(), other.latenciesMs.end());
  }
};

class Sender {
 public:
  Sender(const Options& options, const std::vector<Body>& bodies) : options_(options), bodies_(bodies), connections_(options.connections), warmSeconds_(options.seconds) {
    head_ = "POST " + options.path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + options.headers + "Content-Length: ";
    for (uint32_t i = 0; i < bodies.size(); i++) connections_[bodies[i].shard % options.connections].queue.push_back(i);
    epoll_ = epoll_create1(0);
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    watch(timer_, EPOLLIN, TIMER);
    for (uint32_t i = 0; i < connections_.size(); i++) connect(i);
    if (options.pid != 0 && clock_getcpuclockid(options.pid, &serverClock_) != 0) fail("no process " + std::to_string(options.pid));
    if (!options.timesFile.empty() && (times_ = std::fopen(options.timesFile.c_str(), "w")) == nullptr) fail(options.timesFile);
  }

  void run() {
    ownCpuStart_ = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
    startAt_ = beganAt_ = now();
    realtimeOffset_ = secondsOf(CLOCK_REALTIME) - startAt_;
    phase_->begin(startAt_, serverCpu());
    if (options_.coldRequests == 0) coldEnds(startAt_);
    drive();
    if (options_.slices) takeSlices();
    else phase_->end(lastAnswerAt_, serverCpu());
    ownCpuSeconds_ = secondsOf(CLOCK_PROCESS_CPUTIME_ID) - ownCpuStart_;
    if (times_ != nullptr) std::fclose(times_);
  }

  void print();

 private:
  void watch(int descriptor, uint32_t events, uint32_t name) {
    epoll_event event{};
    event.events = events;
    event.data.u32 = name;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  }

  void connect(uint32_t index) {
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(options_.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    watch(descriptor, EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, index);
    connections_[index].socket = descriptor;
  }

  /** A server may close what is idle: a connection whose bodies are all sent while others have some left. */
  void disconnect(Connection& connection) {
    close(connection.socket);
    connection.socket = -1;
  }

  /** Sends for as long as anything may be sent, then waits for the answers. */
  void drive() {
    const double start = now();
    for (Connection& connection : connections_) startNext(connection, start);
    while (armTimer() || awaited_ > 0) {
      takeEvents(mustStayAwake() ? 0 : 1000);
      if (options_.rate > 0) {
        const double time = now();
        for (Connection& connection : connections_) startNext(connection, time);
      }
    }
  }

  /** Where it matters that neither the sending nor the answer waits until an idle core is awake, which takes up to a millisecond on a virtual machine. */
  bool mustStayAwake() const {
    return options_.wakeSeconds > 0 && (awaited_ > 0 || nextDueAt_ - now() < options_.wakeSeconds);
  }

  void takeEvents(int timeoutMs) {
    epoll_event events[256];
    const int count = epoll_wait(epoll_, events, 256, timeoutMs);
    for (int i = 0; i < count; i++) handle(events[i]);
  }

  void takeSlices() {
    if (options_.coldRequests > 0) cold_.end(lastAnswerAt_, serverCpu());
    std::printf("ready\n");
    std::fflush(stdout);
    std::vector<Phase> slices;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string command;
      words >> command;
      if (command == "slice") {
        words >> warmSeconds_;
        slices.emplace_back();
        takeSlice(slices.back());
      } else if (command == "end") {
        for (size_t place; words >> place;) warm_.add(slices.at(place));
        return;
      } else {
        fail("unknown command " + line);
      }
    }
    fail("no end of the slices");
  }

  void takeSlice(Phase& slice);

  double serverCpu() const { return options_.pid == 0 ? 0 : secondsOf(serverClock_); }

  /** Slices begin when they are asked for, the warm part otherwise at once. */
  void coldEnds(double time) {
    isPaused_ = options_.slices;
    if (isPaused_) return;
    const double cpu = serverCpu();
    cold_.end(time, cpu);
    phase_ = &warm_;
    warm_.begin(time, cpu);
  }

  /** When the connection's next body is due; infinity when it has none left. */
  double nextDue(const Connection& connection) const {
    if (connection.next >= connection.queue.size()) return INFINITY;
    if (options_.rate <= 0) return 0;
    const double place = static_cast<double>(connection.round * bodies_.size() + connection.queue[connection.next]);
    const double early = std::min(place, options_.earlyRequests);
    return startAt_ + early / options_.earlyRate + (place - early) / options_.rate;
  }

  bool mayStart(double time) const {
    return started_ < options_.maxRequests && !isPaused_ && !(phase_ != &cold_ && time - phase_->startAt >= warmSeconds_);
  }

  /** Sets the timer to the next due time of an idle connection; false when nothing more will be sent. */
  bool armTimer() {
    if (options_.rate <= 0) return false;
    const double time = now();
    double due = INFINITY;
    for (const Connection& connection : connections_) {
      if (!connection.waiting) due = std::min(due, nextDue(connection));
    }
    if (!std::isfinite(due) || !mayStart(time)) return false;
    nextDueAt_ = due;
    const double wait = std::max(due - options_.wakeSeconds - time, 1e-9);
    itimerspec setting{};
    setting.it_value.tv_sec = static_cast<time_t>(wait);
    setting.it_value.tv_nsec = static_cast<long>((wait - std::floor(wait)) * 1e9) + 1;
    if (setting.it_value.tv_nsec >= 1'000'000'000) setting.it_value.tv_nsec = 999'999'999;
    timerfd_settime(timer_, 0, &setting, nullptr);
    return true;
  }

  void startNext(Connection& connection, double time) {
    if (connection.waiting || connection.queue.empty() || !mayStart(time)) return;
    if (connection.next >= connection.queue.size()) {
      if (!options_.loop) return;
      connection.next = 0;
      connection.round++;
    }
    const double due = nextDue(connection);
    if (options_.rate > 0 && due > time) return;
    if (connection.socket < 0) connect(static_cast<uint32_t>(&connection - connections_.data()));
    connection.dueAt = options_.rate > 0 ? due : time;
    connection.body = connection.queue[connection.next++];
    connection.head = head_;
    connection.head += std::to_string(bodies_[connection.body].bytes);
    connection.head += "\r\n\r\n";
    connection.sent = 0;
    connection.waiting = true;
    started_++;
    awaited_++;
    flush(connection);
  }

  /** Writes as much of the request as the socket takes. */
  void flush(Connection& connection) {
    if (!connection.waiting) return;
    const Body& body = bodies_[connection.body];
    const size_t total = connection.head.size() + body.bytes;
    while (connection.sent < total) {
      iovec parts[2];
      int count = 0;
      size_t bodySent = 0;
      if (connection.sent < connection.head.size()) {
        parts[count++] = {connection.head.data() + connection.sent, connection.head.size() - connection.sent};
      } else {
        bodySent = connection.sent - connection.head.size();
      }
      parts[count++] = {const_cast<char*>(body.data) + bodySent, body.bytes - bodySent};
      const ssize_t written = writev(connection.socket, parts, count);
      if (written < 0 && errno == EAGAIN) return;
      if (written < 0) fail("write");
      connection.sent += static_cast<size_t>(written);
    }
  }

  void handle(const epoll_event& event) {
    if (event.data.u32 == TIMER) {
      uint64_t expirations = 0;
      if (read(timer_, &expirations, sizeof expirations) < 0 && errno != EAGAIN) fail("timer");
      return;
    }
    Connection& connection = connections_[event.data.u32];
    if ((event.events & EPOLLOUT) != 0) flush(connection);
    const bool isClosing = (event.events & (EPOLLHUP | EPOLLRDHUP)) != 0;
    if (isClosing || (event.events & EPOLLIN) != 0) receive(connection, isClosing);
  }

  void receive(Connection& connection, bool isClosing) {
    static char buffer[READ_BYTES];
    for (;;) {
      const ssize_t bytes = read(connection.socket, buffer, sizeof buffer);
      if (bytes < 0 && errno == EAGAIN) break;
      if (bytes < 0) fail("read");
      if (bytes == 0) {
        if (!connection.waiting && connection.received.empty()) return disconnect(connection);
        errno = 0;
        fail("the server closed a connection after " + std::to_string(answered_) + " answers; last seen: " + connection.received);
      }
      connection.received.append(buffer, static_cast<size_t>(bytes));
      // Drained: edge-triggered epoll tells of what comes later, but of an end that it has told of it does not tell again.
      if (static_cast<size_t>(bytes) < sizeof buffer && !isClosing) break;
    }
    int status = 0;
    for (size_t bytes; connection.waiting && (bytes = responseBytes(connection.received, status)) > 0;) {
      if (status / 100 != 2 && refusal_.empty()) refusal_ = connection.received.substr(0, std::min(bytes, REFUSAL_BYTES_SHOWN));
      connection.received.erase(0, bytes);
      finish(connection, status);
    }
  }

  void finish(Connection& connection, int status) {
    const double time = now();
    phase_->requests++;
    const uint32_t taken = status / 100 == 2 ? bodies_[connection.body].samples : 0;
    phase_->samples += taken;
    samples_ += taken;
    phase_->latenciesMs.push_back(static_cast<float>((time - connection.dueAt) * 1e3));
    statuses_[status]++;
    if (times_ != nullptr) {
      std::fprintf(times_, "%u %.3f %.3f %d\n", connection.body, (connection.dueAt + realtimeOffset_) * 1e3, (time + realtimeOffset_) * 1e3, status);
    }
    connection.waiting = false;
    awaited_--;
    lastAnswerAt_ = time;
    if (++answered_ == options_.coldRequests) coldEnds(time);
    startNext(connection, time);
  }

  const Options& options_;
  const std::vector<Body>& bodies_;
  std::vector<Connection> connections_;
  std::string head_;
  int epoll_ = -1;
  int timer_ = -1;
  clockid_t serverClock_{};
  FILE* times_ = nullptr;
  double ownCpuStart_ = 0;
  double ownCpuSeconds_ = 0;
  double beganAt_ = 0;
  double startAt_ = 0;  // of the open loop's schedule
  double realtimeOffset_ = 0;
  double lastAnswerAt_ = 0;
  size_t started_ = 0;
  size_t awaited_ = 0;
  double nextDueAt_ = INFINITY;
  size_t answered_ = 0;
  double samples_ = 0;
  bool isPaused_ = false;
  double warmSeconds_;
  Phase cold_;
  Phase warm_;
  Phase* phase_ = &cold_;
  std::map<int, size_t> statuses_;
  std::string refusal_;
};

/** Nearest-rank quantile; reorders `values`. */
double quantile(std::vector<float>& values, double q) {
  if (values.empty()) return 0;
  const size_t rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
  const size_t place = std::min(values.size() - 1, rank == 0 ? 0 : rank - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<long>(place), values.end());
  return values[place];
}

void printPhase(const char* name, Phase& phase) {
  const double perSecond = phase.seconds > 0 ? 1 / phase.seconds : 0;
  std::printf(
      "%s{\"requests\":%zu,\"samples\":%.0f,\"seconds\":%.4f,\"samplesPerSecond\":%.1f,\"requestsPerSecond\":%.1f,"
      "\"serverCpuSeconds\":%.4f,\"p50Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f}",
      name, phase.requests, phase.samples, phase.seconds, phase.samples * perSecond, static_cast<double>(phase.requests) * perSecond,
      phase.serverCpuSeconds, quantile(phase.latenciesMs, 0.5), quantile(phase.latenciesMs, 0.99),
      quantile(phase.latenciesMs, 1));
}

std::string jsonString(const std::string& text) {
  std::string quoted = "\"";
  for (const char character : text) {
    char escaped[8];
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') (quoted += '\\') += character;
    else if (code >= 0x20 && code < 0x7f) quoted += character;
    else quoted.append(escaped, static_cast<size_t>(std::snprintf(escaped, sizeof escaped, "\\u%04x", code)));
  }
  return quoted + "\"";
}

/** A server may have closed connections meanwhile: they are opened again. */
void Sender::takeSlice(Phase& slice) {
  takeEvents(0);
  double due = INFINITY;
  for (const Connection& connection : connections_) due = std::min(due, nextDue(connection));
  const double time = now();
  if (options_.rate > 0 && std::isfinite(due)) startAt_ += time - due;
  phase_ = &slice;
  isPaused_ = false;
  slice.begin(time, serverCpu());
  drive();
  slice.end(lastAnswerAt_, serverCpu());
  printPhase("", slice);
  std::printf("\n");
  std::fflush(stdout);
}

void Sender::print() {
  std::printf("{\"requests\":%zu,\"samples\":%.0f,\"seconds\":%.4f,\"senderCpuSeconds\":%.4f,", answered_, samples_,
              lastAnswerAt_ - beganAt_, ownCpuSeconds_);
  printPhase("\"cold\":", cold_);
  printPhase(",\"warm\":", warm_);
  std::printf(",\"statuses\":{");
  const char* separator = "";
  for (const auto& [status, count] : statuses_) {
    std::printf("%s\"%d\":%zu", separator, status, count);
    separator = ",";
  }
  std::printf("},\"firstRefusal\":%s}\n", jsonString(refusal_).c_str());
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  const Options options = parseOptions(count, arguments);
  const std::vector<Body> bodies = readBodies(options.file);
  Sender sender(options, bodies);
  sender.run();
  sender.print();
}
