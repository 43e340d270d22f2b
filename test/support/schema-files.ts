// The files of schemas/ as protobufjs reads them, for the twins of the decoders and the benches.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import protobuf from "protobufjs";

const FOLDER = join(import.meta.dirname, "../../schemas");

/** A root of these files and all that they import, fields in camel case. */
export function loadSchema(...files: readonly string[]): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => join(FOLDER, target);
  root.loadSync([...files]).resolveAll();
  return root;
}

const OTLP_FILES = ["metrics", "trace", "logs"].map((signal) => `opentelemetry/proto/collector/${signal}/v1/${signal}_service.proto`);
const ADDITIONS = "otlp-additions.proto";

/**
 * OpenTelemetry's messages as they are today: the pinned files, with the fields of otlp-additions.proto, and without those that are deprecated there and have been
 * removed since. `extra` are further fields of all messages, of types that need no look-up.
 */
export function loadOtlpSchema(extra: Readonly<Record<string, readonly [id: number, type: string, rule?: string]>> = {}): protobuf.Root {
  const root = loadSchema(...OTLP_FILES);
  const additions = protobuf.parse(readFileSync(join(FOLDER, ADDITIONS), "utf8")).root;
  const added = new Set<string>();
  for (const type of typesIn(root)) {
    for (const field of type.fieldsArray) if (field.options?.["deprecated"] === true) type.remove(field);
    const later = additions.lookup(`.additions.${type.name}`);
    if (later instanceof protobuf.Type) {
      added.add(type.name);
      for (const { name, id, type: of, rule } of later.fieldsArray) type.add(new protobuf.Field(name, id, typeNamed(of), rule));
    }
    for (const [name, [id, of, rule]] of Object.entries(extra)) type.add(new protobuf.Field(name, id, of, rule));
  }
  const lost = typesIn(additions).filter(({ name, fieldsArray }) => fieldsArray.length > 0 && !added.has(name));
  if (lost.length > 0) throw new Error(`${ADDITIONS} has messages that OpenTelemetry has not: ${lost.map(({ name }) => name).join(", ")}`);
  root.resolveAll();
  return root;
}

/** A message of the additions has its home in the package of common messages. */
function typeNamed(name: string): string {
  return /^[A-Z]/.test(name) ? `.opentelemetry.proto.common.v1.${name}` : name;
}

/** All messages, those inside others too. */
export function typesIn(space: protobuf.NamespaceBase): protobuf.Type[] {
  return space.nestedArray.flatMap((each) => {
    const inside = each instanceof protobuf.Namespace ? typesIn(each) : [];
    return each instanceof protobuf.Type ? [each, ...inside] : inside;
  });
}
