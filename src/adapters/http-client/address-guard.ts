/**
 * Which addresses a URL that a tenant has set may lead to. IPv4 and IPv6; addresses that carry an IPv4 address (mapped, compatible, NAT64, 6to4) are judged by
 * that one too, since a gateway or the kernel may unpack it. The registries are IANA's of special-purpose addresses (RFC 6890 and its successors).
 *
 * The guard's look at a URL before it is stored: its host, and where its name leads now.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { sleep } from "../../core/faults/guard.ts";

const LOOKUP_MS_MAX = 2_000;

/** Addresses that give credentials to whoever asks from inside: never, whatever is allowed. */
const METADATA = listOf([
  ["169.254.169.254", 32], // AWS, Azure, Google Cloud, OpenStack, Oracle
  ["169.254.42.42", 32], // Scaleway
  ["169.254.0.23", 32], // Tencent Cloud
  ["169.254.170.2", 32], // AWS ECS
  ["169.254.170.23", 32], // AWS EKS
  ["100.100.100.200", 32], // Alibaba Cloud
  ["168.63.129.16", 32], // Azure's wire server
  ["192.0.0.192", 32], // Oracle, older
  ["fd00:ec2::254", 128], // AWS
  ["fd00:ec2::23", 128],
  ["fd20:ce::254", 128], // Google Cloud
  ["fd00:42::42", 128], // Scaleway
]);
/** Loopback, link-local and private ranges: opened by WEBHOOK_ALLOW_PRIVATE. */
const PRIVATE = listOf([
  ["0.0.0.0", 8], // "this host": Linux takes it for loopback
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["::", 127], // unspecified and loopback
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
]);
/** Groups, tests, documentation, reserved: nobody's server. */
const NOWHERE = listOf([
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["64:ff9b:1::", 48], // NAT64 of a local network
  ["100::", 64],
  ["2001::", 23], // Teredo, ORCHID, benchmarks
  ["2001:db8::", 32],
  ["3fff::", 20],
  ["5f00::", 16],
  ["ff00::", 8],
]);

type Range = readonly [address: string, bits: number];

/** Why an address may not be connected to, in a few words; null where it may. `address` is one as Node prints it, with or without a zone. */
export function forbiddenAddress(address: string, allowPrivate: boolean): string | null {
  const plain = address.split("%", 1)[0] ?? "";
  const family = isIP(plain);
  if (family === 0) return "no address";
  if (family === 4) return forbiddenPlain(plain, "ipv4", allowPrivate);
  const groups = groupsOf(plain);
  const inner = innerIpv4(groups);
  if (inner !== null) {
    const forbidden = forbiddenPlain(inner, "ipv4", allowPrivate);
    if (forbidden !== null) return forbidden;
    return isMapped(groups) ? null : forbiddenPlain(plain, "ipv6", allowPrivate);
  }
  return forbiddenPlain(plain, "ipv6", allowPrivate);
}

/** Why a URL may not be asked for, before a name is resolved; null where it may be tried. */
export function forbiddenUrl(text: string, allowPrivate: boolean): string | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "it is no URL";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return `its scheme is ${url.protocol.slice(0, -1)}, not http or https`;
  if (url.username !== "" || url.password !== "") return "it carries a user or a password: put credentials into a header";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "") return "it names no host";
  // The URL parser has turned 127.1, 0x7f.1, 2130706433 and their like into four numbers.
  if (isIP(host) === 0) return null;
  return forbiddenAddress(host, allowPrivate);
}

function forbiddenPlain(address: string, family: "ipv4" | "ipv6", allowPrivate: boolean): string | null {
  if (METADATA.check(address, family)) return "a metadata address";
  if (NOWHERE.check(address, family)) return "an address that is nobody's server";
  if (!allowPrivate && PRIVATE.check(address, family)) return "a loopback, link-local or private address";
  return null;
}

/** The eight 16-bit words of an IPv6 address that `isIP` has taken. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted === null ? address : `${dotted[1]}${hexOf(dotted[2], dotted[3])}:${hexOf(dotted[4], dotted[5])}`;
  const [head = "", tail] = text.split("::");
  const before = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - before.length - behind.length }, () => "0");
  return [...before, ...zeros, ...behind].map((word) => Number.parseInt(word, 16));
}

function hexOf(high = "0", low = "0"): string {
  return ((Number(high) << 8) | Number(low)).toString(16);
}

function isMapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((word) => word === 0) && groups[5] === 0xffff;
}

/** The IPv4 address within: mapped and translated (::ffff:0:0/96, ::ffff:0:0:0/96), compatible (::/96), NAT64 (64:ff9b::/96), 6to4 (2002::/16). */
function innerIpv4(groups: readonly number[]): string | null {
  const [first = 0, second = 0, third = 0] = groups;
  const zeros = (from: number, to: number) => groups.slice(from, to).every((word) => word === 0);
  if (first === 0x2002) return dottedOf(second, third);
  const isCarrier =
    isMapped(groups) ||
    (zeros(0, 4) && groups[4] === 0xffff && groups[5] === 0) ||
    (zeros(0, 6) && (groups[6] !== 0 || (groups[7] as number) > 1)) ||
    (first === 0x64 && second === 0xff9b && zeros(2, 6));
  return isCarrier ? dottedOf(groups[6] as number, groups[7] as number) : null;
}

function dottedOf(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) list.addSubnet(address, bits, address.includes(":") ? "ipv6" : "ipv4");
  return list;
}

/** Why a URL may not be stored, in a few words; null where it may. A name that cannot be resolved now is taken: each request asks again. */
export async function forbiddenTarget(url: string, allowPrivate: boolean): Promise<string | null> {
  const problem = forbiddenUrl(url, allowPrivate);
  if (problem !== null) return problem;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const late = sleep(LOOKUP_MS_MAX, { unref: true }).then(() => []);
  const found = await Promise.race([lookup(host, { all: true }).catch(() => []), late]);
  const allowed = found.filter(({ address }) => forbiddenAddress(address, allowPrivate) === null);
  return found.length > 0 && allowed.length === 0 ? forbiddenAddress(found[0]?.address ?? "", allowPrivate) : null;
}
