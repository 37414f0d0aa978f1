// JSON-RPC as servers write it: nothing of it is trusted.
import { describeType, isRecord, isText } from "../../data/parse-json.ts";
import { hostVersion } from "../../version.ts";
import { isModern, legacyRevisions, modernRevision, RpcError, rpcCode } from "../client-message.ts";

/** A JSON object from another process. */
export type JsonObject = Record<string, unknown>;

/** The code of legacy servers for a URI that they do not know. Modern ones answer with that of invalid parameters. */
const unknownResource = -32002;

/** Whether a server's answer to `resources/read` means that it does not know the URI. */
export const saysUnknownResource = ({ code }: RpcError): boolean =>
  code === unknownResource || code === rpcCode.params;

/** The result of an answer. Throws `RpcError` for an error, and for an answer that is invalid. */
export function readAnswer({ jsonrpc, result, error }: JsonObject): JsonObject {
  if (jsonrpc !== "2.0") throw new RpcError('`jsonrpc` of its answer must be "2.0"');
  if (isRecord(result) && error === undefined) return result;
  if (!isRecord(error)) throw new RpcError("its answer must have an object as `result` or as `error`");
  const { code, message, data } = error;
  if (!Number.isSafeInteger(code) || typeof message !== "string")
    throw new RpcError("the error in its answer must have an integer `code` and a string `message`");
  throw new RpcError(message, code as number, data);
}

/** Which revisions of MCP a server speaks: up to 2025-11-25, with sessions, or later ones, without. */
export type Era = "legacy" | "modern";

/** What a client begins with. `auto` begins with `initialize` and becomes modern if the server refuses that. */
export type ServerProtocol = "auto" | Era;

export const handshakeOf = { legacy: "initialize", modern: "server/discover" } as const;

export const clientInfo = { name: "trailblaze", version: hostVersion };

/** Whether a server refuses `initialize` because it is modern. */
export function refusesInitialize(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.code === undefined) return false;
  const codes: readonly number[] = [rpcCode.revision, rpcCode.method, rpcCode.header];
  if (codes.includes(error.code)) return true;
  const supported = isRecord(error.data) ? error.data.supported : undefined;
  return Array.isArray(supported) && supported.some((one) => typeof one === "string" && isModern(one));
}

/** Reads the keys of the result of a handshake that are used here. Throws `RpcError`. */
export function readHandshake(era: Era, result: JsonObject) {
  const answered = `it answered \`${handshakeOf[era]}\` with`;
  const check = (isValid: boolean, key: string, expected: string, value: unknown) => {
    if (isValid) return;
    const fault = `\`${key}\` must be ${expected}, but is ${describeType(value)}`;
    throw new RpcError(`${answered} an invalid result: ${fault}`);
  };
  const isModern = era === "modern";
  const { protocolVersion, supportedVersions, capabilities, instructions, _meta } = result;
  const inMeta = isRecord(_meta) ? _meta["io.modelcontextprotocol/serverInfo"] : undefined;
  const info = (isModern ? inMeta : result.serverInfo) ?? null;
  const { name, version } = isRecord(info) ? info : ({} as JsonObject);
  if (!isModern) check(isText(protocolVersion), "protocolVersion", "a string", protocolVersion);
  const versions = isModern ? supportedVersions : [protocolVersion];
  check(Array.isArray(versions), "supportedVersions", "an array of strings", versions);
  check(isRecord(capabilities), "capabilities", "an object", capabilities);
  check(info === null || isText(name), "serverInfo.name", "a string", name);
  check(info === null || isText(version), "serverInfo.version", "a string", version);
  const ours = isModern ? [modernRevision] : legacyRevisions;
  const offered = (versions as unknown[]).filter(isText);
  const spoken = offered.find((one) => ours.includes(one));
  if (spoken === undefined)
    throw new RpcError(`${answered} unsupported protocol versions: ${offered.join(", ")}`);
  return {
    era,
    protocolVersion: spoken,
    /** `null` for a server that does not say. */
    serverInfo: info === null ? null : { name: String(name), version: String(version) },
    capabilities: capabilities as JsonObject,
    instructions: isText(instructions) ? instructions : undefined,
  };
}

export type ServerFacts = ReturnType<typeof readHandshake>;
