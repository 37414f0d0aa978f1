import { describeType } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import type { ValidatorError } from "../extension-schema/validator.ts";
import { type Path, quote } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ConfigFault } from "./config-file.ts";
import { knownKeys, validateConfig } from "./generated/config-validator.js";

const typeWords: Readonly<Record<string, string>> = {
  object: "a map",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  integer: "a whole number",
};

/** A path as people read it: `servers.mine.tools[0]`. */
export function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[\w-]{1,80}$/.test(key) ? `.${key}` : `[${quote(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}

/**
 * What to do about a value that is no text: YAML makes numbers and more of what looks like them. The value itself is
 * not said, as it may be a secret, and may not be read as it was written.
 */
function hintToQuote(value: unknown): string | undefined {
  return typeof value === "number" || typeof value === "boolean" ? "Put it in quotes." : undefined;
}

function suggest(name: unknown, known: readonly string[]): string | undefined {
  const [nearest] = typeof name === "string" ? findNearestNames(name, known) : [];
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

function describeUnknownKey({ schemaPath, params }: ValidatorError, path: Path): ConfigFault {
  const key = String(params.additionalProperty);
  const owner = path.length === 0 ? "the config" : `\`${formatPath(path)}\``;
  const isServer = path.length === 2 && path[0] === "servers";
  const hint =
    isServer && (key === "command" || key === "script")
      ? "What is started as a process belongs into `trailblazeSubprocessToolsets`."
      : suggest(key, knownKeys[schemaPath] ?? []);
  return { reason: `${owner} has no key ${quote(key)}`, path: [...path, key], hint };
}

/** Says in plain words what the validator found. */
function describeError(error: ValidatorError, config: unknown): ConfigFault {
  const { keyword, params } = error;
  const path = readPointer(error.instancePath, config);
  const where = `\`${formatPath(path)}\``;
  const value = valueAt(config, path);
  switch (keyword) {
    case "additionalProperties":
      return describeUnknownKey(error, path);
    case "required":
      return { reason: `${where} lacks \`${params.missingProperty}\``, path };
    case "type": {
      const expected = typeWords[String(params.type)] ?? String(params.type);
      const isFraction = params.type === "integer" && typeof value === "number";
      const reason = `${where} must be ${expected}, but is ${isFraction ? value : describeType(value)}`;
      return { reason, path, hint: params.type === "string" ? hintToQuote(value) : undefined };
    }
    case "enum": {
      const allowed = params.allowedValues as string[];
      return { reason: `${where} must be one of ${allowed.join(", ")}`, path, hint: suggest(value, allowed) };
    }
    case "minimum":
    case "maximum": {
      const bound = keyword === "minimum" ? "at least" : "at most";
      return { reason: `${where} must be ${bound} ${params.limit}, but is ${value}`, path };
    }
    case "pattern": {
      if (path[0] !== "device" || path[1] !== "platform") return { reason: `${where} is empty`, path };
      const platforms = ["ANDROID", "IOS", "WEB"];
      const reason = `${where} must be ANDROID, IOS or WEB, but is ${quote(String(value), 40)}`;
      return { reason, path, hint: suggest(value, platforms) };
    }
    default:
      return { reason: `${where} ${error.message ?? "does not fit"}`, path };
  }
}

/** Everything in which a config, a map without nulls, does not have the shape of the schema. */
export function findShapeFaults(config: Readonly<Record<string, unknown>>): ConfigFault[] {
  if (validateConfig(config)) return [];
  const errors = validateConfig.errors ?? [];
  // What an enum refuses because it is no text is said once.
  const isSaid = (error: ValidatorError) =>
    error.keyword === "enum" && typeof valueAt(config, readPointer(error.instancePath, config)) !== "string";
  return errors.filter((error) => !isSaid(error)).map((error) => describeError(error, config));
}
