// Pictures of alerts: who may see one without a session, by an address that this server has signed, and the drawing, which is not the coordinator's work.
import { isChartSignature } from "../../adapters/credentials/chart-signature.ts";
import { pngFile } from "../../adapters/picture/png-file.ts";
import type { EndpointName } from "../../api/endpoints.ts";
import type { Refusal } from "../../api/refusal.ts";
import type { Principal } from "../../core/protocol/query.ts";
import { DEFAULT_TENANT } from "../../domain/access/access-policy.ts";
import { COLOURS, drawSeries, type SeriesPicture } from "../../domain/picture/series-picture.ts";
import type { DocumentAnswer } from "./documents.ts";

export const ALERT_CHART: EndpointName = "alertChart";
const WRONG: Refusal = {
  code: "forbidden",
  message: "the address of this picture has ended, or was not signed by this server; the alert's page has its chart",
};

/** What a signed address comes to. */
export type SignedAddress = { readonly ok: true; readonly principal: Principal } | { readonly ok: false; readonly refusal: Refusal };

export class AlertCharts {
  readonly #key: Uint8Array;
  readonly #wallMs: () => number;

  constructor(key: Uint8Array, wallMs: () => number) {
    this.#key = key;
    this.#wallMs = wallMs;
  }

  /** Whom an address with a signature acts as; undefined where it has none. */
  signed(endpoint: string, path: Readonly<Record<string, string>>, query: string): SignedAddress | undefined {
    if (endpoint !== ALERT_CHART || !query.includes("signature")) return undefined;
    const parameters = new URLSearchParams(query);
    const tenant = parameters.get("tenant_id") ?? DEFAULT_TENANT;
    const chart = { tenant, alertId: path.alert_id ?? "" };
    const input = { expires: parameters.get("expires") ?? "", signature: parameters.get("signature") ?? "" };
    if (!isChartSignature(this.#key, chart, input, this.#wallMs())) return { ok: false, refusal: WRONG };
    return { ok: true, principal: { tenant, subject: "chart address", role: "viewer" } };
  }
}

/** The answer with a picture; `body` is what the coordinator says is to be drawn. */
export async function chartAnswer(body: string): Promise<DocumentAnswer> {
  const file = await pngFile(drawSeries(JSON.parse(body) as SeriesPicture), COLOURS);
  return { status: 200, headers: [["Content-Type", "image/png"]], body: file };
}
