import { type DefinedKind, type Kind, keyOfKind, kinds } from "../kinds.ts";

/** What a definition of a shape has beside the keys that its schema requires. */
interface Shape {
  kind: DefinedKind;
  /** Groups of keys of which it has one each. */
  one?: readonly (readonly string[])[];
  /** Keys of which it has at least one. */
  some?: readonly string[];
  /** The kinds of the items that its arrays of references name, by key. */
  references?: Readonly<Record<string, Kind>>;
  /** Keys with code of the pack. */
  code?: readonly string[];
}

/** The kinds of the items that a server is composed of, by key. */
const served = Object.fromEntries(
  kinds.filter((kind) => kind !== "server").map((kind) => [keyOfKind[kind], kind]),
);
export const servedKeys = Object.keys(served);

const table = {
  tool: { kind: "tool", one: [["inputSchema", "parameters"]], code: ["handler", "initialize"] },
  composedServer: { kind: "server", some: servedKeys, references: served, code: ["initialize"] },
  subprocessServer: { kind: "server", one: [["command", "script", "package"]] },
  // The entries of a document's `tools` are bundles, which are toolsets.
  serverDocument: { kind: "server", references: { tools: "toolset" } },
  toolsetList: {
    kind: "toolset",
    some: ["tools", "toolsets"],
    references: { tools: "tool", toolsets: "toolset" },
  },
  toolsBundle: { kind: "toolset" },
  prompt: { kind: "prompt", one: [["content", "handler"]], code: ["handler"] },
  resource: {
    kind: "resource",
    one: [
      ["uri", "uriTemplate"],
      ["text", "file", "handler"],
    ],
    code: ["handler", "subscribe"],
  },
} satisfies Readonly<Record<string, Shape>>;

export type DefinitionShape = keyof typeof table;

export const shapes: Readonly<Record<DefinitionShape, Shape>> = table;

export const shapesOf = (kind: Kind): DefinitionShape[] =>
  (Object.keys(table) as DefinitionShape[]).filter((shape) => shapes[shape].kind === kind);

/** The keys that tell a shape from the others of its kind. */
export const marksOf = (shape: DefinitionShape): readonly string[] =>
  shapes[shape].some ?? shapes[shape].one?.[0] ?? ["kind"];
