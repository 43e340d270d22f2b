// Header names that show a request to have come through a proxy, a load balancer or a CDN. A client on the machine itself sends none of them. A header that is
// not known here is no proof of anything: that is why `READ_AUTH=required` and a Unix socket exist.

const NAMES: ReadonlySet<string> = new Set([
  "via",
  "true-client-ip",
  "cdn-loop",
  "x-varnish",
  "x-scheme",
  "x-url-scheme",
  "x-real-port",
  "x-remote-addr",
  "x-host",
  "x-rewrite-url",
  "x-cloud-trace-context",
  "front-end-https",
  "wl-proxy-client-ip",
  "x-sucuri-clientip",
  "max-forwards",
  "remote-user",
]);
const PREFIXES = [
  "forwarded", // RFC 7239; forwarded-for
  "x-forwarded", // -for, -host, -proto, -port, -server, -prefix, -ssl, -user ...
  "x-original-", // -forwarded-for, -host, -url
  "x-proxy",
  "proxy-", // proxy-connection, proxy-client-ip
  "cf-", // Cloudflare
  "fastly-",
  "akamai-",
  "x-akamai-",
  "x-azure-",
  "x-appengine-",
  "x-amzn-",
  "x-amz-cf-",
  "x-envoy-",
  "x-arr-", // IIS
  "x-nf-", // Netlify
  "x-vercel-",
  "fly-",
  "incap-",
  "surrogate-", // Varnish, Akamai, Squid
  "tailscale-",
  "x-nginx-",
  "x-goog-", // Google's Identity-Aware Proxy
  "x-ms-client-principal", // Azure App Service
  "x-auth-request-", // oauth2-proxy
  "x-remote-user",
  "x-webauth-",
  "x-ssl-",
  "ssl-client-",
  "x-pomerium-",
] as const;
/** x-real-ip, x-client-ip, x-cluster-client-ip, x-originating-ip, do-connecting-ip, ali-cdn-real-ip ... */
const ADDRESS = /(?:^|-)(?:client|real|remote|source|origin|originating|connecting|user)-?ip$/;

/** Whether a header of that name, in lower case, is one that proxies add. With `_` in place of `-` it counts as well: node:http takes such names. */
export function isForwardingHeader(written: string): boolean {
  const name = written.replaceAll("_", "-");
  return NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix)) || ADDRESS.test(name);
}

/**
 * Whether a head begins as nginx writes the one of a request that it passes on by HTTP/1.1, where its configuration says nothing more: Host, then
 * `Connection: close`, then what the client sent. Clients that close put that line last. (From 1.29.7 on nginx keeps connections, and nothing shows.)
 */
export function beginsAsNginx(firstNames: readonly string[], connection: string | undefined): boolean {
  return firstNames[0] === "host" && firstNames[1] === "connection" && connection === "close";
}
