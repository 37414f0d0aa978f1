import { describeType } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import type { ValidatorError } from "../extension-schema/validator.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { explainInvalidItemName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ConfigFault } from "./config-file.ts";
import { knownKeys, validateConfig } from "./generated/config-validator.js";
import { explainInvalidPattern, patternHint } from "./packs-config.ts";

const typeWords: Readonly<Record<string, string>> = {
  object: "an object",
  array: "an array",
  string: "a string",
  boolean: "a boolean",
  integer: "an integer",
};

/** Formats a path for people: `servers.mine.tools[0]`. */
export function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[\w-]{1,80}$/.test(key) ? `.${key}` : `[${quote(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}

/**
 * A hint for a value that YAML reads as a number or boolean instead of a string. Omits the value, which may be a secret
 * or differ from what was written.
 */
function hintToQuote(value: unknown): string | undefined {
  return typeof value === "number" || typeof value === "boolean" ? "Put it in quotes." : undefined;
}

function suggest(name: unknown, known: readonly string[]): string | undefined {
  const [nearest] = typeof name === "string" ? findNearestNames(name, known) : [];
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

/** Keys of clients' configs that contain servers or belong to them. */
const clientKeys = ["mcp", "inputs", "mcp_servers", "context_servers", "extensions"];

function hintForUnknownKey(path: Path, key: string): string | undefined {
  const [list, index, ...below] = path;
  if (list === undefined && clientKeys.includes(key))
    return "Write servers under `mcpServers`, or run `trailblaze import` with the config of a client.";
  if (list === "servers" && below.length === 0 && (key === "command" || key === "script"))
    return "Move subprocess servers to `trailblazeSubprocessToolsets`.";
  if (list !== "trailblazeSubprocessToolsets" || index === undefined || below.length > 0) return undefined;
  if (key === "disabled") return "Write `enabled: false`.";
  return "Remove it, or move the server to `mcpServers`, which accepts keys of clients.";
}

/** The keys of the object at a path: the config, a part of it, or one of several servers, which have the same. */
function keysAt(path: Path): readonly string[] {
  const [part, _server, ...below] = path;
  return knownKeys[[part, ...below].join(".")] ?? [];
}

function describeUnknownKey({ params }: ValidatorError, path: Path): ConfigFault {
  const key = String(params.additionalProperty);
  const owner = path.length === 0 ? "the config" : `\`${formatPath(path)}\``;
  const ofServer = path[0] === "servers" ? hintForUnknownKey(path, key) : undefined;
  const hint = ofServer ?? suggest(key, keysAt(path)) ?? hintForUnknownKey(path, key);
  return { reason: `${owner} has no key ${quote(key)}`, path: [...path, key], hint };
}

const sseHint = "Use the URL of the server's streamable HTTP endpoint";

const describeSse = (path: Path, hint: string): ConfigFault => {
  const reason = `\`${formatPath(path)}\` is sse, a deprecated transport that is not supported`;
  return { reason, path, hint };
};

function describeError(error: ValidatorError, config: unknown): ConfigFault {
  const { keyword, params } = error;
  const path = readPointer(error.instancePath, config);
  const where = `\`${formatPath(path)}\``;
  const value = valueAt(config, path);
  switch (keyword) {
    case "additionalProperties": {
      const at = [...path, String(params.additionalProperty)];
      const isType = path[0] === "trailblazeSubprocessToolsets" && path.length === 2 && at[2] === "type";
      if (isType && valueAt(config, at) === "sse") return describeSse(at, `${sseHint}, and remove \`type\`.`);
      return describeUnknownKey(error, path);
    }
    case "required":
      return { reason: `\`${params.missingProperty}\` is missing in ${where}`, path };
    case "type": {
      const expected = typeWords[String(params.type)] ?? String(params.type);
      const isFraction = params.type === "integer" && typeof value === "number";
      const reason = `${where} must be ${expected}, but it is ${isFraction ? value : describeType(value)}`;
      return { reason, path, hint: params.type === "string" ? hintToQuote(value) : undefined };
    }
    case "enum": {
      const allowed = params.allowedValues as string[];
      if (path[0] === "mcpServers" && value === "sse")
        return describeSse(path, `${sseHint}, and \`type: http\`.`);
      return { reason: `${where} must be one of ${listOf(allowed)}`, path, hint: suggest(value, allowed) };
    }
    case "minimum":
    case "maximum": {
      const bound = keyword === "minimum" ? "at least" : "at most";
      return { reason: `${where} must be ${bound} ${params.limit}, but it is ${value}`, path };
    }
    case "pattern": {
      if (path.at(-1) === "prefix") {
        const hint = "Use at most 64 characters from A-Z, a-z, 0-9, _ and -.";
        return { reason: `${where} has the invalid value ${quote(String(value), 40)}`, path, hint };
      }
      if (path.at(-1) === "toolset") {
        const reason = `${where} is not a valid name: ${explainInvalidItemName(String(value))}`;
        return { reason, path };
      }
      if (path[0] === "lock" && value !== "") {
        const why = explainInvalidPattern(String(value));
        return { reason: `${quote(String(value))} is not a valid pattern: ${why}`, path, hint: patternHint };
      }
      if (path[0] !== "device" || path[1] !== "platform") return { reason: `${where} is empty`, path };
      const platforms = ["ANDROID", "IOS", "WEB"];
      const reason = `${where} must be ANDROID, IOS or WEB, but it is ${quote(String(value), 40)}`;
      return { reason, path, hint: suggest(value, platforms) };
    }
    default:
      return { reason: `${where} ${error.message ?? "is not valid"}`, path };
  }
}

/** Finds every violation of the schema in a config without nulls. */
export function findShapeFaults(config: Readonly<Record<string, unknown>>): ConfigFault[] {
  if (validateConfig(config)) return [];
  const errors = validateConfig.errors ?? [];
  // The type error of a value that is not a string makes its enum error redundant.
  const isRedundant = (error: ValidatorError) =>
    error.keyword === "enum" && typeof valueAt(config, readPointer(error.instancePath, config)) !== "string";
  return errors.filter((error) => !isRedundant(error)).map((error) => describeError(error, config));
}
