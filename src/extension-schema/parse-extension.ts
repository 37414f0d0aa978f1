import { describeType, isRecord } from "../data/parse-json.ts";
import { type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { whyInvalidItemName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { knownKeys, prompt, server, tool, toolset } from "./generated/declaration-validators.js";

/** An item as its pack's package.json declares it. */
export interface Declaration {
  kind: Kind;
  name: string;
  description: string | null;
  /** Where it stands in the field, for example `["tools", 1]`. */
  path: readonly (string | number)[];
  /** The other keys of form 3: plain data, not to be trusted. */
  extra: Readonly<Record<string, unknown>>;
}

/** The value of a `trailblaze` field, read: every declaration that is usable, in its order. */
export type Extension = {
  /** Folder of the definition files, relative to the package; not yet checked to stay inside it. */
  root: string;
} & Record<KindKey, Declaration[]>;

const defaultRoot = "trailblaze";

const mapValidators = { server, tool, toolset, prompt };

/** A key that nobody defined and that is not free for the pack's own use. */
function reportUnknownKeys(
  map: Record<string, unknown>,
  known: readonly string[],
  path: readonly (string | number)[],
  context: ProblemContext,
): Problem[] {
  return Object.keys(map)
    .filter((key) => !known.includes(key) && !key.startsWith("x-"))
    .map((key) => {
      const [suggestion] = findNearestNames(key, known);
      return createProblem(
        "UnknownExtensionKey",
        { key, known, suggestion },
        { path: [...path, key] },
        context,
      );
    });
}

/** Reads one declaration in any of its three forms; a string says why it has none of them. */
function readForm(
  value: unknown,
  kind: Kind,
): { name: string; description: string | null; extra: Record<string, unknown> } | string {
  if (typeof value === "string") return { name: value, description: null, extra: {} };
  if (Array.isArray(value)) {
    const [name, description] = value as unknown[];
    if (value.length !== 2) return `a list here holds a name and a description, not ${value.length} entries`;
    if (typeof name !== "string") return `the name is ${describeType(name)}, not a string`;
    if (typeof description !== "string")
      return `the description is ${describeType(description)}, not a string`;
    return { name, description, extra: {} };
  }
  if (!isRecord(value)) return `it is ${describeType(value)}`;
  const validate = mapValidators[kind];
  if (!validate(value)) {
    const [error] = validate.errors ?? [];
    const where = error?.instancePath.slice(1).replaceAll("/", ".");
    const what = error?.message ?? "it does not fit";
    return where ? `\`${where}\` ${what}` : what;
  }
  const { name, description, ...extra } = value;
  return { name: name as string, description: (description as string | undefined) ?? null, extra };
}

function readDeclarations(
  list: unknown,
  kind: Kind,
  context: ProblemContext,
): { declarations: Declaration[]; problems: Problem[] } {
  const key = keyOfKind[kind];
  const declarations: Declaration[] = [];
  const problems: Problem[] = [];
  if (list === undefined) return { declarations, problems };
  if (!Array.isArray(list)) {
    const args = { what: `"${key}"`, expected: "a list", found: describeType(list) };
    problems.push(createProblem("MalformedExtension", args, { path: [key] }, context));
    return { declarations, problems };
  }

  const firstByCase = new Map<string, string>();
  for (const [index, value] of list.entries()) {
    const path = [key, index];
    const form = readForm(value, kind);
    if (typeof form === "string") {
      problems.push(createProblem("InvalidDeclaration", { reason: form, key }, { kind, path }, context));
      continue;
    }
    const { name, description, extra } = form;
    if (isRecord(value)) problems.push(...reportUnknownKeys(value, knownKeys[kind], path, context));
    const whyNot = whyInvalidItemName(name);
    if (whyNot !== undefined) {
      problems.push(createProblem("InvalidItemName", { name, reason: whyNot }, { kind, path }, context));
      continue;
    }
    const other = firstByCase.get(name.toLowerCase());
    if (other !== undefined) {
      const place = { kind, item: name, path };
      problems.push(createProblem("DuplicateDeclaration", { name, other, key }, place, context));
      continue;
    }
    firstByCase.set(name.toLowerCase(), name);
    declarations.push({ kind, name, description, path, extra });
  }
  return { declarations, problems };
}

/**
 * Reads the value of a `trailblaze` field. Everything usable is kept and everything wrong is reported:
 * `MalformedExtension`, `UnknownExtensionKey`, `InvalidDeclaration`, `InvalidItemName`, `DuplicateDeclaration`,
 * each with its `path` inside the field. `usable` is false only when there is nothing to read items from. Pure.
 */
export function parseExtension(
  value: unknown,
  context: ProblemContext = "operation",
): { extension: Extension; problems: Problem[]; usable: boolean } {
  const extension: Extension = { root: defaultRoot, servers: [], tools: [], toolsets: [], prompts: [] };
  if (!isRecord(value)) {
    const args = { what: "The `trailblaze` field", expected: "an object", found: describeType(value) };
    return {
      extension,
      problems: [createProblem("MalformedExtension", args, { path: [] }, context)],
      usable: false,
    };
  }
  const problems = reportUnknownKeys(value, knownKeys.extension, [], context);
  const { root } = value;
  if (typeof root === "string" && root !== "") {
    extension.root = root;
  } else if (root !== undefined) {
    const found = root === "" ? "empty" : describeType(root);
    const args = { what: '"root"', expected: "the path of a folder", found };
    problems.push(createProblem("MalformedExtension", args, { path: ["root"] }, context));
  }
  for (const kind of kinds) {
    const key = keyOfKind[kind];
    const read = readDeclarations(value[key], kind, context);
    extension[key] = read.declarations;
    problems.push(...read.problems);
  }
  return { extension, problems, usable: true };
}
