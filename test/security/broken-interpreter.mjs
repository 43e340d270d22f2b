// A sandbox process whose interpreter is broken: its own JavaScript is the attacker's. It puts up the walls as the runner does, then tries the machine, and
// answers on descriptor 4 what each attempt came to. Descriptors 0 to 4 and the environment are those of a sandbox process.
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { loadKoffi } from "../../dist/adapters/platform/native-functions.js";
import { endWithParent, putUpWalls } from "../../dist/adapters/sandbox/child/own-walls.js";

const [secret, parent] = process.argv.slice(2);
const koffi = loadKoffi();
const libc = koffi.load(null);
const syscall = libc.func("long syscall(long number, long a, long b, long c, long d, long e)");
const textCall = libc.func("long syscall(long number, long a, const char *b, long c)");
const errno = (result) => (result === -1 || result === -1n ? `errno ${koffi.errno()}` : `returned ${result}`);
const raw = (number, ...rest) => errno(syscall(number, ...[...rest, 0, 0, 0, 0, 0].slice(0, 5)));
// Everything is loaded before the walls stand, as an interpreter is.
spawnSync("/bin/true");
endWithParent();
const walls = putUpWalls();

const AT_FDCWD = -100;
const attempts = {
  readFile: () => readFileSync(secret),
  openOwnMemory: () => openSync("/proc/self/mem", "r+"),
  openParentMemory: () => openSync(`/proc/${parent}/mem`, "r"),
  parentEnvironment: () => readFileSync(`/proc/${parent}/environ`),
  writeFile: () => writeFileSync(`${secret}.written`, "x"),
  truncate: () => truncateSync(secret, 0),
  unlink: () => unlinkSync(secret),
  rename: () => renameSync(secret, `${secret}.moved`),
  symlink: () => symlinkSync("/etc/passwd", `${secret}.link`),
  mkdir: () => mkdirSync(`${secret}.folder`),
  readdir: () => readdirSync("/"),
  readlink: () => readlinkSync("/proc/self/exe"),
  killParent: () => process.kill(Number(parent), "SIGKILL"),
  killAll: () => process.kill(-1, 0),
  priority: () => setPriority(Number(parent), 19),
  spawn: () => {
    const { error } = spawnSync("/bin/true");
    if (error) throw error;
  },
  worker: () => new Worker("1", { eval: true }),
  loadLibrary: () => createRequire(import.meta.url)("../../node_modules/koffi/package.json"),
  openat: () => errno(textCall(257, AT_FDCWD, secret, 0)),
  open: () => raw(2, 0),
  execve: () => raw(59),
  fork: () => raw(57),
  vfork: () => raw(58),
  clone: () => raw(56, 17),
  clone3: () => raw(435),
  socket: () => raw(41, 2, 1),
  socketpair: () => raw(53, 1, 1),
  ptraceParent: () => raw(101, 16, Number(parent)),
  ptraceMe: () => raw(101, 0),
  readParent: () => raw(310, Number(parent)),
  writeParent: () => raw(311, Number(parent)),
  killCall: () => raw(62, Number(parent), 9),
  tgkill: () => raw(234, Number(parent), Number(parent), 9),
  pidfd: () => raw(434, Number(parent)),
  prlimitParent: () => raw(302, Number(parent), 7),
  raiseLimit: () => raw(160, 2),
  uring: () => raw(425, 1),
  bpf: () => raw(321),
  userfault: () => raw(323),
  mount: () => raw(165),
  unshare: () => raw(272, 0x10000000),
  setns: () => raw(308),
  chroot: () => raw(161),
  keyctl: () => raw(250),
  perf: () => raw(298),
  memfd: () => errno(textCall(319, 0, "x", 0)),
  prctl: () => raw(157, 22, 0),
  seccomp: () => raw(317, 0),
  x32: () => raw(0x40000000 + 1, 1),
  dup: () => raw(32, 4),
  sendmsg: () => raw(46, 4),
  ioctl: () => raw(16, 4),
};

const results = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    const result = attempt();
    results[name] = typeof result === "string" ? result : "done";
  } catch (error) {
    results[name] = error.info?.code ?? error.code ?? error.message;
  }
}
writeSync(4, JSON.stringify({ walls, environment: process.env, results }));
syscall(231, 0, 0, 0, 0, 0); // exit_group: an orderly exit makes calls that the filter refuses
