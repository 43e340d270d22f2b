// Clients that hold connections and do harm by doing little. Ends when the server does; then prints {opened, usuallyOpen, fewestOpen}.
//   node connection-crowd.mjs <port> <file that is written once all are connected>
// Silent ones never ask, slow askers ask every 6 s, slow writers send a batch at a byte every 200 ms, slow readers ask for event streams and
// pages of anomalies and read nothing. What the server closes is opened again.
import { writeFileSync } from "node:fs";
import { connect } from "node:net";

const counts = { silent: 3_000, slowAsker: 6_600, slowWriter: 200, slowReader: 200 };
/** Connections being opened at a time: below the usual backlog of 511. */
const openingMax = 200;
const reopenAfterMs = 100;
const sampleMs = 250;

const get = (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${process.argv[2]}\r\n\r\n`;
const batchHead =
  "POST /api/v1/telemetry/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n[";

/** What each kind does once it is connected. */
const BEHAVIOURS = {
  silent: (socket) => socket.resume(),
  slowAsker: (socket) => repeat(socket.resume(), 6_000, get("/healthz")),
  slowWriter: (socket) => {
    socket.resume().write(batchHead);
    repeat(socket, 200, " ");
  },
  slowReader: (socket, place) => socket.pause().write(get(place % 2 === 0 ? "/api/v1/stream" : "/api/v1/anomalies?limit=1000")),
};

function repeat(socket, intervalMs, text) {
  const timer = setInterval(() => socket.write(text), intervalMs);
  socket.on("close", () => clearInterval(timer));
}

class Crowd {
  #port;
  #open = 0;
  #opened = 0;
  /** Open connections, one number a sample; the newest may show the server's end. */
  #samples = [];

  constructor(port) {
    this.#port = port;
  }

  /** Opens all; then samples how many are open. */
  async gather() {
    const clients = Object.entries(counts).flatMap(([kind, count]) => Array.from({ length: count }, (_, place) => ({ kind, place })));
    for (let first = 0; first < clients.length; first += openingMax) {
      await Promise.all(clients.slice(first, first + openingMax).map((client) => this.#connect(client)));
    }
    setInterval(() => this.#samples.push(this.#open), sampleMs);
  }

  #connect(client) {
    return new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: this.#port });
      let isOpen = false;
      socket.on("connect", () => {
        isOpen = true;
        this.#open++;
        this.#opened++;
        BEHAVIOURS[client.kind](socket, client.place);
        resolve();
      });
      socket.on("error", (error) => {
        if (error.code === "ECONNREFUSED") this.#end();
      });
      socket.on("close", () => {
        if (isOpen) this.#open--;
        setTimeout(() => this.#connect(client), reopenAfterMs);
        resolve();
      });
    });
  }

  /** Nobody listens any more. */
  #end() {
    const samples = this.#samples.slice(0, -2).sort((a, b) => a - b);
    const totals = { opened: this.#opened, usuallyOpen: samples[samples.length >> 1], fewestOpen: samples[0] };
    process.stdout.write(`${JSON.stringify(totals)}\n`, () => process.exit(0));
  }
}

await new Crowd(Number(process.argv[2])).gather();
writeFileSync(process.argv[3], "");
