// Headers of every answer.
import type { HttpHeaders } from "../../adapters/http/http-server.ts";

/** Nothing that the server says is to be taken for another kind of file, or kept by a cache. */
export const COMMON_HEADERS: HttpHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-store"],
];
