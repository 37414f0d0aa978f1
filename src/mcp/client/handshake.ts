import { describeType, isRecord } from "../../data/parse-json.ts";
import { legacyRevisions, modernRevision } from "../client-message.ts";
import { AnswerError, type JsonObject, own } from "./json-rpc.ts";

/** Which revisions of MCP a server speaks: up to 2025-11-25, with sessions, or later ones, without. */
export type Era = "legacy" | "modern";

/** What a client begins with. `auto` begins with `initialize` and becomes modern if the server refuses that. */
export type ServerProtocol = "auto" | Era;

/** What the handshake has found out about a server. */
export interface ServerFacts {
  era: Era;
  protocolVersion: string;
  /** `null` for a server that does not say. */
  serverInfo: { name: string; version: string } | null;
  capabilities: JsonObject;
  /** Instructions for models, if it has any. */
  instructions: string | undefined;
}

/** Reads the keys of the result of `initialize` or `server/discover` that are used here. Throws `AnswerError`. */
export function readHandshake(era: Era, result: JsonObject): ServerFacts {
  const isModern = era === "modern";
  const method = isModern ? "server/discover" : "initialize";
  const faults: string[] = [];
  const expect = (name: string, value: unknown, isValid: boolean, type: string) => {
    if (!isValid) faults.push(`\`${name}\` must be ${type}, but is ${describeType(value)}`);
  };
  const version = own(result, "protocolVersion");
  const supported = own(result, "supportedVersions");
  const versions = Array.isArray(supported) ? supported : [];
  if (!isModern) expect("protocolVersion", version, typeof version === "string", "a string");
  else if (!Array.isArray(supported) || versions.some((one) => typeof one !== "string"))
    faults.push("`supportedVersions` must be an array of strings");
  const given = own(result, "capabilities");
  expect("capabilities", given, isRecord(given), "an object");
  // Null is like absent.
  const capabilities = Object.fromEntries(
    Object.entries(isRecord(given) ? given : {}).filter(([, value]) => value !== null),
  );
  const { tools = {} } = capabilities;
  expect("capabilities.tools", tools, isRecord(tools), "an object");
  const meta = own(result, "_meta");
  const inMeta = isRecord(meta) ? own(meta, "io.modelcontextprotocol/serverInfo") : undefined;
  const info = (isModern ? inMeta : own(result, "serverInfo")) ?? null;
  if (info !== null) expect("serverInfo", info, isRecord(info), "an object");
  const { name, version: infoVersion } = isRecord(info) ? info : { name: "", version: "" };
  expect("serverInfo.name", name, typeof name === "string", "a string");
  expect("serverInfo.version", infoVersion, typeof infoVersion === "string", "a string");
  if (faults.length > 0)
    throw new AnswerError(`it answered \`${method}\` with an invalid result: ${faults.join("; ")}`);
  if (isModern && !versions.includes(modernRevision))
    throw new AnswerError(
      `it supports only the protocol versions ${versions.join(", ")}, not ${modernRevision}`,
    );
  if (!isModern && !legacyRevisions.includes(String(version)))
    throw new AnswerError(`it answered \`initialize\` with the unsupported protocol version ${version}`);
  const instructions = own(result, "instructions");
  return {
    era,
    protocolVersion: isModern ? modernRevision : String(version),
    serverInfo: info === null ? null : { name: String(name), version: String(infoVersion) },
    capabilities,
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
