import { describeType, isRecord } from "../../data/parse-json.ts";
import { legacyRevisions, modernRevision } from "../revisions.ts";
import { AnswerError } from "./answer-error.ts";
import { type JsonObject, own } from "./incoming-message.ts";

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

/** Collects what is wrong with a result. */
function createReader(method: string) {
  const faults: string[] = [];
  const expect = (name: string, value: unknown, isValid: boolean, type: string) => {
    if (!isValid) faults.push(`\`${name}\` must be ${type}, but is ${describeType(value)}`);
  };
  const readString = (name: string, value: unknown): string => {
    expect(name, value, typeof value === "string", "a string");
    return String(value);
  };
  return {
    readString,
    readStrings(name: string, value: unknown): string[] {
      const isValid = Array.isArray(value) && value.every((one) => typeof one === "string");
      if (!isValid) faults.push(`\`${name}\` must be an array of strings`);
      return isValid ? value : [];
    },
    readServerInfo(info: unknown) {
      if (info === undefined || info === null) return null;
      expect("serverInfo", info, isRecord(info), "an object");
      if (!isRecord(info)) return { name: "", version: "" };
      return {
        name: readString("serverInfo.name", own(info, "name")),
        version: readString("serverInfo.version", own(info, "version")),
      };
    },
    readCapabilities(capabilities: unknown): JsonObject {
      expect("capabilities", capabilities, isRecord(capabilities), "an object");
      if (!isRecord(capabilities)) return {};
      const { tools = {} } = capabilities;
      if (tools !== null) expect("capabilities.tools", tools, isRecord(tools), "an object");
      // Null is like absent.
      return Object.fromEntries(Object.entries(capabilities).filter(([, value]) => value !== null));
    },
    /** Throws `AnswerError` with everything that is wrong. */
    finish(): void {
      if (faults.length === 0) return;
      throw new AnswerError(`it answered \`${method}\` with an invalid result: ${faults.join("; ")}`);
    },
  };
}

function readInstructions(result: JsonObject): string | undefined {
  const instructions = own(result, "instructions");
  return typeof instructions === "string" ? instructions : undefined;
}

/** Reads the keys of an `initialize` result that are used here. Throws `AnswerError`. */
export function readInitializeResult(result: JsonObject): ServerFacts {
  const reader = createReader("initialize");
  const protocolVersion = reader.readString("protocolVersion", own(result, "protocolVersion"));
  const capabilities = reader.readCapabilities(own(result, "capabilities"));
  const serverInfo = reader.readServerInfo(own(result, "serverInfo"));
  reader.finish();
  if (!legacyRevisions.includes(protocolVersion)) {
    throw new AnswerError(
      `it answered \`initialize\` with the unsupported protocol version ${protocolVersion}`,
    );
  }
  return { era: "legacy", protocolVersion, serverInfo, capabilities, instructions: readInstructions(result) };
}

/** Reads the keys of a `server/discover` result that are used here. Throws `AnswerError`. */
export function readDiscoverResult(result: JsonObject): ServerFacts {
  const reader = createReader("server/discover");
  const revisions = reader.readStrings("supportedVersions", own(result, "supportedVersions"));
  const capabilities = reader.readCapabilities(own(result, "capabilities"));
  const meta = own(result, "_meta");
  const info = isRecord(meta) ? own(meta, "io.modelcontextprotocol/serverInfo") : undefined;
  const serverInfo = reader.readServerInfo(info);
  reader.finish();
  if (!revisions.includes(modernRevision)) {
    throw new AnswerError(
      `it supports only the protocol versions ${revisions.join(", ")}, not ${modernRevision}`,
    );
  }
  return {
    era: "modern",
    protocolVersion: modernRevision,
    serverInfo,
    capabilities,
    instructions: readInstructions(result),
  };
}
