import { describeType, isRecord, isText, textOrNull } from "../data/parse-json.ts";
import { byKind, type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import {
  createProblem,
  listOf,
  type Path,
  type Problem,
  type ProblemArguments,
  type ProblemCode,
  type ProblemPlace,
  quote,
} from "../problems/index.ts";
import { explainInvalidItemName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";

/** An item as its pack's package.json declares it. */
export interface Declaration {
  kind: Kind;
  name: string;
  description: string | null;
  /** The path inside the field, for example `["tools", 1]`. */
  path: Path;
  /** The other known keys of form 3: untrusted plain data. */
  extra: Readonly<Record<string, unknown>>;
  /** Of a skill: its folder, and the part of that below the package's folder of skills. */
  skill?: { folder: string; path: string };
}

export const needsKeys = ["env", "network", "read", "write", "tools"] as const;

/**
 * What a pack says it needs. An absent key is not declared; an empty array means none. Only `env` is enforced: the variables
 * that `envPassthrough` of its servers may name. The strings are untrusted.
 */
export type Needs = { [Key in (typeof needsKeys)[number]]?: readonly string[] };

/** A parsed `trailblaze` field with every usable declaration, in order. */
export type Extension = {
  /** Folder of the definition files, relative to the package. It may still lead outside. */
  root: string;
  /** `undefined` if the pack does not declare what it needs. */
  needs: Needs | undefined;
} & Record<KindKey, Declaration[]>;

/** The keys of the field but for `$schema`, which is ignored, so hints do not suggest it. */
const fieldKeys = ["root", ...kinds.map((kind) => keyOfKind[kind]), "needs"];

type Form = [what: string, fits: (value: unknown) => boolean];
const text: Form = ["a string", isText];
const references: Form = ["an array of strings", (value) => Array.isArray(value) && value.every(isText)];
const inputs: Form = [
  "an object, or an array of strings and objects",
  (value) => isRecord(value) || (Array.isArray(value) && value.every((one) => isText(one) || isRecord(one))),
];

/** What the keys of form 3 hold; others hold references. */
const forms = new Map<string, Form>([
  ...["name", "description", "uri", "uriTemplate", "mimeType"].map((key) => [key, text] as const),
  ...["parameters", "arguments"].map((key) => [key, inputs] as const),
]);

/** The keys of form 3, by kind. */
const declarationKeys: Readonly<Record<Kind, readonly string[]>> = {
  server: ["name", "description", "tools", "toolsets", "prompts", "resources", "skills"],
  tool: ["name", "description", "parameters"],
  toolset: ["name", "description", "tools"],
  prompt: ["name", "description", "arguments"],
  resource: ["name", "description", "uri", "uriTemplate", "mimeType"],
  skill: ["name", "description"],
};

/** Limit on the reported faults of one field: a hostile field of 1 MiB could have 300,000. */
const maximumFaults = 1000;

type Report = <Code extends ProblemCode>(
  code: Code,
  place: ProblemPlace,
  args: ProblemArguments[Code],
) => void;

const unknownKeys = (object: Record<string, unknown>, known: readonly string[]) =>
  Object.keys(object)
    .filter((key) => !known.includes(key) && !key.startsWith("x-"))
    .slice(0, maximumFaults);

/** Reads one declaration in any of its three forms as the third. Returns a reason if it has none of them. */
function readForm(value: unknown, known: readonly string[]): Record<string, unknown> | string {
  if (isText(value)) return { name: value };
  if (Array.isArray(value) && value.length !== 2)
    return `expected an array of two strings, found ${value.length} entries`;
  const object: unknown = Array.isArray(value) ? { name: value[0], description: value[1] } : value;
  if (!isRecord(object)) return `it is ${describeType(value)}`;
  if (!Object.hasOwn(object, "name")) return "`name` is missing";
  for (const key of known) {
    const [what, fits] = forms.get(key) ?? references;
    if (Object.hasOwn(object, key) && !fits(object[key]))
      return `\`${key}\` must be ${what}, but it is ${describeType(object[key])}`;
  }
  return object;
}

function reportUnknownKeys(object: object, known: readonly string[], path: Path, report: Report): void {
  for (const key of unknownKeys(object as Record<string, unknown>, known)) {
    if (key === "$schema" && path.length === 0) continue;
    const [suggestion] = findNearestNames(key, known);
    report("UnknownExtensionKey", { path: [...path, key] }, { key, known, suggestion });
  }
}

function readDeclarations(list: unknown, kind: Kind, report: Report): Declaration[] {
  const [key, known] = [keyOfKind[kind], declarationKeys[kind]];
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    const found = describeType(list);
    report("MalformedExtension", { path: [key] }, { what: `\`${key}\``, expected: "an array", found });
    return [];
  }
  const declarations = new Map<string, Declaration>();
  for (const [index, value] of list.entries()) {
    const path = [key, index];
    const form = readForm(value, known);
    if (isText(form)) {
      report("InvalidDeclaration", { kind, path }, { reason: form, key });
      continue;
    }
    const { name: written, description, ...others } = form;
    const name = String(written);
    if (isRecord(value)) reportUnknownKeys(value, known, path, report);
    const reason = explainInvalidItemName(name);
    const first = declarations.get(name.toLowerCase());
    if (reason !== undefined) report("InvalidItemName", { kind, path }, { name, reason });
    else if (first !== undefined)
      report("DuplicateDeclaration", { kind, item: name, path }, { name, other: first.name, key });
    else
      declarations.set(name.toLowerCase(), {
        ...{ kind, name, path },
        description: textOrNull(description),
        extra: Object.fromEntries(Object.entries(others).filter(([key]) => known.includes(key))),
      });
  }
  return [...declarations.values()];
}

/** The valid entries of `env`. */
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Keeps every valid entry. An invalid value allows no variables. */
function readNeeds(value: unknown, reportAny: Report): Needs {
  const report = (path: Path, reason: string, hint?: string) =>
    reportAny("InvalidNeeds", { path: ["needs", ...path] }, { reason, hint });
  if (!isRecord(value)) {
    report([], `it must be an object, but it is ${describeType(value)}`);
    return { env: [] };
  }
  for (const key of unknownKeys(value, needsKeys)) {
    const [nearest] = findNearestNames(key, needsKeys);
    const choice = `Use one of ${listOf(needsKeys)}, or start a custom key with "x-".`;
    report([key], `it has an unknown key ${quote(key)}`, nearest ? `Did you mean "${nearest}"?` : choice);
  }
  const needs: Needs = {};
  for (const key of needsKeys) {
    const list: unknown = Object.hasOwn(value, key) ? value[key] : undefined;
    const isValid = (entry: unknown): entry is string =>
      isText(entry) && (key !== "env" || variablePattern.test(entry));
    if (Array.isArray(list)) {
      needs[key] = list.filter(isValid);
      for (const [index, entry] of list.entries())
        if (!isValid(entry)) report([key, index], `\`needs.${key}\` has an invalid entry`);
    } else if (list !== undefined) {
      report([key], `\`needs.${key}\` must be an array of strings, but it is ${describeType(list)}`);
      if (key === "env") needs.env = [];
    }
  }
  return needs;
}

/**
 * Parses the value of a `trailblaze` field, by hand, because loading zod would double the time of a `list`. It accepts what
 * schema/extension.schema.json does; a test compares the two. Keeps every valid declaration and reports up to a thousand faults:
 * `MalformedExtension`, `UnknownExtensionKey`, `InvalidDeclaration`, `InvalidItemName`, `DuplicateDeclaration`,
 * `InvalidNeeds`, each with its `path` inside the field. `usable` is false only if the value is not an object. Pure.
 */
export function parseExtension(value: unknown): {
  extension: Extension;
  problems: Problem[];
  usable: boolean;
} {
  const problems: Problem[] = [];
  const report: Report = (code, place, args) => {
    if (problems.length < maximumFaults) problems.push(createProblem(code, args, place));
  };
  const reportMalformed = (what: string, expected: string, found: unknown, path: Path) =>
    report("MalformedExtension", { path }, { what, expected, found: describeType(found) });

  const field = isRecord(value) ? value : {};
  if (field !== value) reportMalformed("The `trailblaze` field", "an object", value, []);
  reportUnknownKeys(field, fieldKeys, [], report);
  const { root = "trailblaze" } = field;
  const isPath = isText(root) && root !== "";
  if (!isPath) reportMalformed("`root`", "the path of a folder", root, ["root"]);
  // Their problems come first.
  const declarations = byKind((key, kind) => readDeclarations(field[key], kind, report));
  const extension: Extension = {
    root: isPath ? root : "trailblaze",
    needs: field.needs === undefined ? undefined : readNeeds(field.needs, report),
    ...declarations,
  };
  return { extension, problems, usable: field === value };
}
