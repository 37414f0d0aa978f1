import { describeType, isRecord } from "../../data/parse-json.ts";
import { type JsonObject, own } from "./incoming-message.ts";

/** The part of a server's `initialize` result that a session uses. */
export interface InitializeResult {
  protocolVersion: string;
  capabilities: { tools?: JsonObject };
  serverInfo: { name: string; version: string };
}

/** Reads the keys of an `initialize` result that are used here, or lists everything that is wrong with them. */
export function readInitializeResult(result: JsonObject): InitializeResult | { fault: string } {
  const faults: string[] = [];
  const protocolVersion = own(result, "protocolVersion");
  const capabilities = own(result, "capabilities");
  const serverInfo = own(result, "serverInfo");
  const read = (name: string, value: unknown): string => {
    if (typeof value === "string") return value;
    faults.push(`\`${name}\` must be a string, but is ${describeType(value)}`);
    return "";
  };
  const expectObject = (name: string, value: unknown) => {
    if (!isRecord(value)) faults.push(`\`${name}\` must be an object, but is ${describeType(value)}`);
  };
  const version = read("protocolVersion", protocolVersion);
  expectObject("capabilities", capabilities);
  expectObject("serverInfo", serverInfo);
  const info = isRecord(serverInfo)
    ? {
        name: read("serverInfo.name", own(serverInfo, "name")),
        version: read("serverInfo.version", own(serverInfo, "version")),
      }
    : { name: "", version: "" };
  const tools = isRecord(capabilities) ? own(capabilities, "tools") : undefined;
  if (tools !== undefined) expectObject("capabilities.tools", tools);
  if (faults.length > 0) {
    return { fault: `it answered \`initialize\` with an invalid result: ${faults.join("; ")}` };
  }
  return {
    protocolVersion: version,
    capabilities: tools === undefined ? {} : { tools: {} },
    serverInfo: info,
  };
}
