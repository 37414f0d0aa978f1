import { stringsIn } from "../../data/json-values.ts";
import { memoize } from "../../data/memoize.ts";
import { isRecord } from "../../data/parse-json.ts";
import { identifyTemplate, parseUriTemplate } from "../../extension-schema/uri-template.ts";
import { maximumResourceBytes } from "../../files/inspection-port.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { formatCount } from "../../problems/text.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { findResourceFiles } from "../needed-files.ts";
import { findTools } from "./tools.ts";

/** A placeholder for an argument. `${{ … }}` is an expression instead. */
const place = /(?<!\$)\{\{\s*([\w-]+)\s*\}\}/g;

/** The names of declared arguments in order; `undefined` if they are not valid. */
function readNames({ definition }: InspectedItem): string[] | undefined {
  const list = definition?.arguments ?? [];
  if (!Array.isArray(list)) return undefined;
  const names = list.map((one: unknown) => (isRecord(one) ? one.name : undefined));
  return names.every((name) => typeof name === "string") ? names : undefined;
}

export const checkPromptArguments: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const names = item.shape === "prompt" ? readNames(item) : undefined;
    if (names === undefined) continue;
    const refuse = (reason: string, hint: string | undefined, path: Path) =>
      findInItem(item, "InvalidPromptDefinition", { reason, hint }, path);
    const known = new Set<string>();
    for (const [index, name] of names.entries()) {
      const path = ["arguments", index, "name"];
      if (known.has(name)) yield refuse(`the argument ${quote(name)} is declared twice`, undefined, path);
      known.add(name);
    }
    for (const { text, path } of stringsIn(item.definition?.content, ["content"])) {
      for (const [, name = ""] of text.matchAll(place)) {
        if (known.has(name)) continue;
        // Each is reported once.
        known.add(name);
        const [nearest] = findNearestNames(name, names);
        const hint = nearest
          ? `Did you mean {{${nearest}}}?`
          : "Declare the argument, or remove the placeholder.";
        yield refuse(
          `its content has a placeholder for ${quote(name)}, which is not in \`arguments\``,
          hint,
          path,
        );
      }
    }
  }
};

/** Checks that every `${{ … }}` of a bundle compiles, as a server would. Loads the compiler on demand. */
export const checkExpressions: Check = async function* ({ inspected }) {
  for (const { item, definition, path, isEntry } of findTools(inspected.items)) {
    if (!isEntry || !["inputs", "result", "catches"].some((key) => Object.hasOwn(definition, key))) continue;
    const { compileEntryTemplates } = await import("../../expressions/templates.ts");
    const findings: Finding[] = [];
    compileEntryTemplates(definition, path, ({ path: at, ...args }) =>
      findings.push(findInItem(item, "InvalidExpression", args, at)),
    );
    yield* findings;
  }
};

/** Finds resources with the URI, or a template that matches the URIs, of another one before them. */
export const checkResourceUris: Check = function* ({ inspected }) {
  const first = new Map<string, string>();
  for (const item of inspected.items) {
    const { uri, uriTemplate } = (item.shape === "resource" && item.definition) || {};
    const key = typeof uri === "string" ? "uri" : "uriTemplate";
    const written = key === "uri" ? uri : uriTemplate;
    if (typeof written !== "string") continue;
    const template = key === "uri" ? { literals: [written] } : parseUriTemplate(written);
    if ("fault" in template) continue;
    // Equal for templates that match the same URIs.
    const identity = identifyTemplate(template);
    const other = first.get(identity);
    if (other === undefined) first.set(identity, item.declaration.name);
    else yield findInItem(item, "DuplicateResourceUri", { uri: written, other }, [key]);
  }
};

/** Checks that the files of resources are regular files inside the package. Does not keep what is in them. */
export const checkResourceFiles: Check = function* ({ port, inspected: { items, pack } }) {
  // Many resources may have one file.
  const findFault = memoize((file: string) => {
    const read = port.readFile(pack.location, file, maximumResourceBytes);
    return read.state === "read" ? undefined : read;
  });
  for (const { item, file, path } of findResourceFiles(items)) {
    // The files of skills were found in their folders.
    if (path === undefined) continue;
    const read = findFault(file);
    if (read === undefined) continue;
    const refuse = (what: string, hint?: string) =>
      findInItem(item, "InvalidResourceDefinition", { reason: `\`file\` is wrong: ${what}`, hint }, path);
    if (read.state === "outside")
      yield findInItem(item, "DefinitionOutsidePackage", { what: String(item.definition?.file) }, path);
    else if (read.state === "absent") {
      const hint = "Paths are relative to the package root, not to the definition.";
      yield refuse(`the package has no file ${quote(file, 200)}`, hint);
    } else if (read.state === "tooLarge")
      yield refuse(`it has ${formatCount(read.bytes)} bytes, and the limit is 10 MiB`);
    else if (read.state === "unusable") yield refuse(read.reason);
  }
};
