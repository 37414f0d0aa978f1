import { replaceBackslashes } from "../../extension-schema/references.ts";
import { identifyTemplate, parseUriTemplate } from "../../extension-schema/uri-template.ts";
import { maximumResourceBytes } from "../../files/inspection-port.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { quote } from "../../problems/index.ts";
import { formatCount } from "../../problems/text.ts";
import { type Check, findInItem } from "../finding.ts";
import { findResourceFiles } from "../needed-files.ts";
import { backslashReason } from "./handlers.ts";

/** What a resource is found by, with its key: equal for templates that match the same URIs. */
function identify({ definition }: InspectedItem): { identity: string; key: string } | undefined {
  const { uri, uriTemplate } = definition ?? {};
  if (typeof uri === "string") return { identity: uri, key: "uri" };
  const template = typeof uriTemplate === "string" ? parseUriTemplate(uriTemplate) : undefined;
  if (template === undefined || "fault" in template) return undefined;
  return { identity: identifyTemplate(template), key: "uriTemplate" };
}

/** Finds resources with the URI, or a template that matches the URIs, of another one before them. */
export const checkResourceUris: Check = function* ({ inspected }) {
  const first = new Map<string, string>();
  for (const item of inspected.items) {
    const { identity, key } = (item.shape === "resource" && identify(item)) || {};
    if (identity === undefined || key === undefined) continue;
    const other = first.get(identity);
    if (other === undefined) first.set(identity, item.declaration.name);
    else
      yield findInItem(item, "DuplicateResourceUri", { uri: String(item.definition?.[key]), other }, [key]);
  }
};

/** Checks that the files of resources are regular files inside the package. Does not keep what is in them. */
export const checkResourceFiles: Check = function* ({ port, inspected: { items, pack } }) {
  const states = new Map<string, { state: string; reason?: string }>();
  const look = (file: string) => {
    const read = port.readFile(pack.location, file, maximumResourceBytes);
    if (read.state === "unusable") return { state: read.state, reason: read.reason };
    if (read.state !== "tooLarge") return { state: read.state };
    const reason = `it has ${formatCount(read.bytes)} bytes, and the limit is 10 MiB`;
    return { state: read.state, reason };
  };
  for (const { item, file } of findResourceFiles(items)) {
    const { state, reason } = states.get(file) ?? look(file);
    states.set(file, { state, reason });
    const written = String(item.definition?.file);
    const meant = replaceBackslashes(written);
    const report = (what: string, hint?: string) =>
      findInItem(item, "InvalidResourceDefinition", { reason: `\`file\` is wrong: ${what}`, hint }, ["file"]);
    if (meant !== undefined) yield report(backslashReason, `Did you mean ${quote(meant, 200)}?`);
    else if (state === "outside")
      yield findInItem(item, "DefinitionOutsidePackage", { what: written }, ["file"]);
    else if (state === "absent") {
      const hint = "Paths are relative to the package root, not to the definition.";
      yield report(`the package has no file ${quote(file, 200)}`, hint);
    } else if (reason !== undefined) yield report(reason);
  }
};
