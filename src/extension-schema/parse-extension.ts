import { isRecord } from "../data/parse-json.ts";
import { type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import {
  createProblem,
  type Path,
  type Problem,
  type ProblemArguments,
  type ProblemCode,
  type ProblemContext,
  type ProblemPlace,
  quote,
} from "../problems/index.ts";
import { explainInvalidItemName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { type Needs, readNeeds } from "./needs.ts";
import { describeWritten } from "./pointer.ts";
import { findMisnamedKey } from "./suggest-key.ts";

/** An item as its pack's package.json declares it. */
export interface Declaration {
  kind: Kind;
  name: string;
  description: string | null;
  /** The path inside the field, for example `["tools", 1]`. */
  path: Path;
  /** The other keys of form 3: untrusted plain data. */
  extra: Readonly<Record<string, unknown>>;
}

/** A parsed `trailblaze` field with every usable declaration, in order. */
export type Extension = {
  /** Folder of the definition files, relative to the package. It may still lead outside. */
  root: string;
  /** `undefined` if the pack does not declare what it needs. */
  needs: Needs | undefined;
} & Record<KindKey, Declaration[]>;

const defaultRoot = "trailblaze";

/** The keys of the field but for `$schema`, which is ignored, so hints do not suggest it. */
const fieldKeys = ["root", ...kinds.map((kind) => keyOfKind[kind]), "needs"];

type ValueForm = "text" | "references" | "inputs";
const named = { name: "text", description: "text" } as const;

/** The keys of form 3 and the form of their values, by kind. A test compares them with the exported JSON Schema. */
const declarationKeys: Readonly<Record<Kind, Readonly<Record<string, ValueForm>>>> = {
  server: {
    ...named,
    tools: "references",
    toolsets: "references",
    prompts: "references",
    resources: "references",
  },
  tool: { ...named, parameters: "inputs" },
  toolset: { ...named, tools: "references" },
  prompt: { ...named, arguments: "inputs" },
  resource: { ...named, uri: "text", uriTemplate: "text", mimeType: "text" },
};

/** Limit on the reported faults of one field: a hostile field of 1 MiB could have 300,000. */
const maximumFaults = 1000;

/** The faults of one field, in order, up to the limit. */
class FaultList {
  readonly problems: Problem[] = [];
  readonly #context: ProblemContext;

  constructor(context: ProblemContext) {
    this.#context = context;
  }

  add<Code extends ProblemCode>(code: Code, args: ProblemArguments[Code], place: ProblemPlace): void {
    const { length } = this.problems;
    if (length > maximumFaults) return;
    if (length < maximumFaults) {
      this.problems.push(createProblem(code, args, place, this.#context));
      return;
    }
    const found = `invalid in more than ${maximumFaults} places, of which the rest are omitted`;
    const rest = { what: "The `trailblaze` field", expected: "valid", found };
    this.problems.push(createProblem("MalformedExtension", rest, { path: [] }, this.#context));
  }

  /** Reports keys that are neither known nor custom. */
  addUnknownKeys(object: Record<string, unknown>, known: readonly string[], path: Path): void {
    for (const key of Object.keys(object)) {
      const isForEditors = key === "$schema" && path.length === 0;
      if (known.includes(key) || key.startsWith("x-") || isForEditors || this.problems.length > maximumFaults)
        continue;
      const [suggestion] = findNearestNames(key, known);
      this.add("UnknownExtensionKey", { key, known, suggestion }, { path: [...path, key] });
    }
  }
}

/** Why the value of a key of form 3 is not valid; `undefined` if it is. */
function explainInvalidValue(key: string, value: unknown, form: ValueForm): string | undefined {
  const must = (path: string, what: string, found: unknown) =>
    `\`${path}\` must be ${what}, but it is ${describeWritten(found)}`;
  if (form === "text") return typeof value === "string" ? undefined : must(key, "a string", value);
  if (form === "references") {
    if (!Array.isArray(value)) return must(key, "an array", value);
    const index = value.findIndex((reference) => typeof reference !== "string");
    return index === -1 ? undefined : must(`${key}.${index}`, "a string", value[index]);
  }
  const hasNoForm = (path: string, found: unknown) =>
    `\`${path}\` has none of the valid forms: it is ${describeWritten(found)}`;
  if (!Array.isArray(value)) return isRecord(value) ? undefined : hasNoForm(key, value);
  const index = value.findIndex((input) => typeof input !== "string" && !isRecord(input));
  return index === -1 ? undefined : hasNoForm(`${key}.${index}`, value[index]);
}

/** Why an object is not a declaration; `undefined` if it is one. */
function explainInvalidObject(value: Record<string, unknown>, kind: Kind): string | undefined {
  if (!Object.hasOwn(value, "name")) {
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(declarationKeys[kind], key));
    const misnamed = findMisnamedKey(["name"], unknown);
    const suggestion =
      misnamed === undefined ? "" : ` (did you mean it instead of ${quote(misnamed.written, 40)}?)`;
    return `\`name\` is missing${suggestion}`;
  }
  for (const [key, form] of Object.entries(declarationKeys[kind])) {
    if (!Object.hasOwn(value, key)) continue;
    const reason = explainInvalidValue(key, value[key], form);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Reads one declaration in any of its three forms. Returns a reason if it has none of them. */
function readForm(
  value: unknown,
  kind: Kind,
): { name: string; description: string | null; extra: Record<string, unknown> } | string {
  if (typeof value === "string") return { name: value, description: null, extra: {} };
  if (Array.isArray(value)) {
    const [name, description] = value as unknown[];
    if (value.length !== 2) return `expected an array of two strings, found ${value.length} entries`;
    if (typeof name !== "string") return `the name must be a string, but it is ${describeWritten(name)}`;
    if (typeof description !== "string")
      return `the description must be a string, but it is ${describeWritten(description)}`;
    return { name, description, extra: {} };
  }
  if (!isRecord(value)) return `it is ${describeWritten(value)}`;
  const reason = explainInvalidObject(value, kind);
  if (reason !== undefined) return reason;
  const { name, description, ...extra } = value;
  return { name: name as string, description: (description as string | undefined) ?? null, extra };
}

function readDeclarations(list: unknown, kind: Kind, faults: FaultList): Declaration[] {
  const key = keyOfKind[kind];
  const declarations: Declaration[] = [];
  if (list === undefined) return declarations;
  if (!Array.isArray(list)) {
    const args = { what: `\`${key}\``, expected: "an array", found: describeWritten(list) };
    faults.add("MalformedExtension", args, { path: [key] });
    return declarations;
  }

  const firstByCase = new Map<string, string>();
  for (const [index, value] of list.entries()) {
    const path = [key, index];
    const form = readForm(value, kind);
    if (typeof form === "string") {
      faults.add("InvalidDeclaration", { reason: form, key }, { kind, path });
      continue;
    }
    const { name, description, extra } = form;
    if (isRecord(value)) faults.addUnknownKeys(value, Object.keys(declarationKeys[kind]), path);
    const reason = explainInvalidItemName(name);
    if (reason !== undefined) {
      faults.add("InvalidItemName", { name, reason }, { kind, path });
      continue;
    }
    const other = firstByCase.get(name.toLowerCase());
    if (other !== undefined) {
      faults.add("DuplicateDeclaration", { name, other, key }, { kind, item: name, path });
      continue;
    }
    firstByCase.set(name.toLowerCase(), name);
    declarations.push({ kind, name, description, path, extra });
  }
  return declarations;
}

/**
 * Parses the value of a `trailblaze` field. Keeps every valid declaration and reports up to a thousand faults:
 * `MalformedExtension`, `UnknownExtensionKey`, `InvalidDeclaration`, `InvalidItemName`, `DuplicateDeclaration`,
 * `InvalidNeeds`, each with its `path` inside the field. `usable` is false only if the value is not an object. Pure.
 */
export function parseExtension(
  value: unknown,
  context: ProblemContext = "operation",
): { extension: Extension; problems: Problem[]; usable: boolean } {
  const extension: Extension = {
    root: defaultRoot,
    needs: undefined,
    servers: [],
    tools: [],
    toolsets: [],
    prompts: [],
    resources: [],
  };
  const faults = new FaultList(context);
  if (!isRecord(value)) {
    const args = { what: "The `trailblaze` field", expected: "an object", found: describeWritten(value) };
    faults.add("MalformedExtension", args, { path: [] });
    return { extension, problems: faults.problems, usable: false };
  }
  faults.addUnknownKeys(value, fieldKeys, []);
  const { root } = value;
  if (typeof root === "string" && root !== "") {
    extension.root = root;
  } else if (root !== undefined) {
    const found = root === "" ? "empty" : describeWritten(root);
    faults.add(
      "MalformedExtension",
      { what: "`root`", expected: "the path of a folder", found },
      { path: ["root"] },
    );
  }
  for (const kind of kinds) {
    extension[keyOfKind[kind]] = readDeclarations(value[keyOfKind[kind]], kind, faults);
  }
  if (value.needs !== undefined) {
    extension.needs = readNeeds(value.needs, ({ path, ...fault }) =>
      faults.add("InvalidNeeds", fault, { path: ["needs", ...path] }),
    );
  }
  return { extension, problems: faults.problems, usable: true };
}
