// A sender beside the load: a new value of every watched series once a cycle, evenly over it.
import { join } from "node:path";
import { writeBodies } from "../bodies/body-files.mjs";
import { requestsPerRound, watchedRounds } from "../bodies/watched-services.mjs";

/** Sends rounds whose values stand at the time they are sent; the returned function is called before the server ends, and theirs with it. */
export async function sendRounds(context, server, { services, rounds, stepMs }) {
  const file = join(context.workDir, `rounds-${server.port}.bin`);
  const startMs = Math.ceil(Date.now() / 1000) * 1000;
  await writeBodies(file, watchedRounds({ services, rounds, stepMs, startMs }));
  let isOver = false;
  const requestsPerSecond = requestsPerRound(services) / (stepMs / 1000);
  const sending = context.send({ server, file, connections: 1, requestsPerSecond }).then(
    ({ firstRefusal }) => {
      if (firstRefusal !== "") throw new Error(`refused: ${firstRefusal}`);
    },
    (error) => {
      if (!isOver) throw error;
    },
  );
  return () => {
    isOver = true;
    return sending;
  };
}
