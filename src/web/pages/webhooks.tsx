// Outbound webhooks.
import { Head } from "../parts/basics.tsx";
import { Listed } from "./listed.tsx";

export function Webhooks() {
  return (
    <>
      <Head title="Webhooks" about="Where events go, and how their deliveries went." />
      <Listed title="Webhooks" of="GET /api/v1/webhooks" empty="No webhook" />
      <Listed
        title="Key that signs events"
        of="GET /api/v1/webhooks/public-key"
        empty="It is told as PEM by GET /api/v1/webhooks/public-key"
      />
    </>
  );
}
