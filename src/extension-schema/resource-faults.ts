import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { formatPath } from "./describe-fault.ts";
import type { Fault } from "./shape-faults.ts";
import { explainInvalidUri, parseUriTemplate } from "./uri-template.ts";

type Written = Readonly<Record<string, unknown>>;

/** `type/subtype` with optional parameters. */
const mediaType =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s{0,9};\s{0,9}[\w!#$&^.+-]{1,127}=(?:[^\s;"]+|"[^"]*"))*$/;

/** A date and time with a time zone, which MCP's schemas require. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Limit on the reported names in one `complete`. */
const maximumReported = 100;

/** Finds names in `complete` that the prompt or the template does not have. The shape reports values of other types. */
export function* findCompleteFaults(complete: unknown, names: readonly unknown[]): Generator<Fault> {
  const known = new Set(names.filter((name) => typeof name === "string"));
  const unknown = Object.keys(isRecord(complete) ? complete : {}).filter((name) => !known.has(name));
  for (const name of unknown.slice(0, maximumReported)) {
    const [nearest] = findNearestNames(name, [...known]);
    const reason = `\`complete\` has ${quote(name)}, which is neither an argument nor a variable`;
    const hint = nearest === undefined ? undefined : `Did you mean ${quote(nearest)}?`;
    yield { reason, path: ["complete", name], hint };
  }
}

/** Checks the values of a resource's keys beyond their types. */
export function* findResourceFaults(definition: Written): Generator<Fault> {
  const { uri, uriTemplate, mimeType, annotations, complete } = definition;
  if (typeof uri === "string" && uri.trim() !== "") {
    const fault = explainInvalidUri(uri);
    const hint = /[{}]/.test(uri) ? "Did you mean `uriTemplate`?" : undefined;
    if (fault !== undefined) yield { reason: `\`uri\` ${fault}`, path: ["uri"], hint };
  }
  const isTemplate = typeof uriTemplate === "string" && uriTemplate.trim() !== "";
  const template = isTemplate ? parseUriTemplate(uriTemplate) : { variables: [] };
  if ("fault" in template) yield { reason: `\`uriTemplate\` ${template.fault}`, path: ["uriTemplate"] };
  else yield* findCompleteFaults(complete, template.variables);
  if (typeof mimeType === "string" && mimeType.trim() !== "" && !mediaType.test(mimeType)) {
    const hint = "Write a type and a subtype, such as `text/markdown`.";
    yield { reason: "`mimeType` is not a media type", path: ["mimeType"], hint };
  }
  const { lastModified } = isRecord(annotations) ? annotations : {};
  const isDate = (text: string) => dateTime.test(text) && !Number.isNaN(Date.parse(text));
  if (typeof lastModified === "string" && !isDate(lastModified)) {
    const path = ["annotations", "lastModified"];
    const hint = "Write a date and a time with a time zone, such as `2026-01-31T12:00:00Z`.";
    yield { reason: `${formatPath(path)} is not a date and time`, path, hint };
  }
}
