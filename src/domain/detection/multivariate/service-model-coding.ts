/**
 * A service's model as bytes, little-endian; reading makes views of them and copies nothing, so that a model takes as much memory as it has bytes:
 *
 *   0  u32 x 12: version, metrics, numbers of season, kept components of levels and of steps, trees, nodes, vectors a tree was grown from,
 *      bytes of a feature and of a right child (1 or 2), zeros
 *  48  f64: 4 medians, the two calibrations, means and scales of levels, means and scales of steps
 *   .  f32: components and deviations of levels, those of steps, cuts of all nodes      u32: roots of the trees      then features, then right children
 */
import { CALIBRATION_LENGTH, TailCalibration } from "../calibration/tail-calibration.ts";
import { IsolationForest } from "./isolation-forest.ts";
import { PrincipalComponents } from "./principal-components.ts";
import { type ModelParts, ServiceModel } from "./service-model.ts";

const VERSION = 1;
const HEADER_LENGTH = 12;
const HEADER_BYTES = 4 * HEADER_LENGTH;
const MEDIANS = 4;

interface Shape {
  readonly width: number;
  readonly season: number;
  readonly retainedLevels: number;
  readonly retainedSteps: number;
  readonly trees: number;
  readonly nodes: number;
  readonly sample: number;
  readonly indexBytes: number;
}

/** Bytes of a model. */
export function encodeServiceModel({ parts }: ServiceModel): Uint8Array<ArrayBuffer> {
  const { levels, steps, forest, season, medians, componentTail, forestTail } = parts;
  const { roots, cuts, features, rights, sample } = forest.nodes;
  const width = levels.parts.means.length;
  const [retainedLevels, retainedSteps] = [levels.parts.deviations.length, steps.parts.deviations.length];
  const shape = {
    width,
    season,
    retainedLevels,
    retainedSteps,
    trees: roots.length,
    nodes: cuts.length,
    sample,
    indexBytes: features.BYTES_PER_ELEMENT,
  };
  const bytes = new Uint8Array(bytesOf(shape));
  new Uint32Array(bytes.buffer, 0, HEADER_LENGTH).set([
    VERSION,
    width,
    season,
    retainedLevels,
    retainedSteps,
    shape.trees,
    shape.nodes,
    sample,
    shape.indexBytes,
  ]);
  const sections = [
    Float64Array.of(medians.shape, medians.level, medians.step, medians.jump),
    componentTail.floats,
    forestTail.floats,
    ...[levels, steps].flatMap((each) => [each.parts.means, each.parts.scales]),
    ...[levels, steps].flatMap((each) => [each.parts.components, each.parts.deviations]),
    cuts,
    roots,
    features,
    rights,
  ];
  let at = HEADER_BYTES;
  for (const section of sections) {
    bytes.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), at);
    at += section.byteLength;
  }
  return bytes;
}

/** Reads a model over its bytes, which have a buffer of their own or begin at a multiple of eight in it; undefined where they are none of this version. */
export function decodeServiceModel(bytes: Uint8Array): ServiceModel | undefined {
  const shape = bytes.length < HEADER_BYTES ? undefined : shapeOf(new Uint32Array(bytes.buffer, bytes.byteOffset, HEADER_LENGTH));
  if (shape === undefined || bytes.length !== bytesOf(shape)) return undefined;
  return new ServiceModel(partsOf(shape, bytes));
}

function shapeOf(header: Uint32Array): Shape | undefined {
  const [version, width = 0, season = 0, retainedLevels = 0, retainedSteps = 0, trees = 0, nodes = 0, sample = 0, indexBytes = 0] = header;
  const isTree = trees > 0 && nodes >= trees && (indexBytes === 1 || indexBytes === 2);
  const isWhole = version === VERSION && width > 0 && retainedLevels <= width && retainedSteps <= width && isTree;
  return isWhole ? { width, season, retainedLevels, retainedSteps, trees, nodes, sample, indexBytes } : undefined;
}

function bytesOf({ width, retainedLevels, retainedSteps, trees, nodes, indexBytes }: Shape): number {
  const doubles = MEDIANS + 2 * CALIBRATION_LENGTH + 4 * width;
  const length = (retainedLevels + retainedSteps) * (width + 1) + nodes + trees;
  return HEADER_BYTES + 8 * doubles + 4 * length + 2 * indexBytes * nodes;
}

function partsOf(shapeRead: Shape, { buffer, byteOffset }: Uint8Array): ModelParts {
  const { width, season, retainedLevels, retainedSteps, trees, nodes, sample, indexBytes } = shapeRead;
  let at = byteOffset + HEADER_BYTES;
  const index = (length: number, size: number): number => {
    at += length * size;
    return at - length * size;
  };
  const doubles = (length: number) => new Float64Array(buffer, index(length, 8), length);
  const floats = (length: number) => new Float32Array(buffer, index(length, 4), length);
  const places = (length: number) =>
    indexBytes === 1 ? new Uint8Array(buffer, index(length, 1), length) : new Uint16Array(buffer, index(length, 2), length);
  const [shape = 1, level = 1, step = 1, jump = 1] = doubles(MEDIANS);
  const componentTail = new TailCalibration(doubles(CALIBRATION_LENGTH));
  const forestTail = new TailCalibration(doubles(CALIBRATION_LENGTH));
  const [levelScales, stepScales] = [0, 1].map(() => ({ means: doubles(width), scales: doubles(width) }));
  const vectors = (retained: number) => ({ components: floats(retained * width), deviations: floats(retained) });
  const levels = new PrincipalComponents({ ...(levelScales as Scales), ...vectors(retainedLevels) });
  const steps = new PrincipalComponents({ ...(stepScales as Scales), ...vectors(retainedSteps) });
  const cuts = floats(nodes);
  const roots = new Uint32Array(buffer, index(trees, 4), trees);
  const forest = new IsolationForest({ roots, cuts, features: places(nodes), rights: places(nodes), sample });
  return { levels, steps, forest, season, medians: { shape, level, step, jump }, componentTail, forestTail };
}

interface Scales {
  readonly means: Float64Array;
  readonly scales: Float64Array;
}
