import { describeType, isRecord } from "../../data/parse-json.ts";
import { type JsonObject, own } from "./incoming-message.ts";

/** What a server says of itself, as far as a session uses it. */
export interface InitializeResult {
  protocolVersion: string;
  capabilities: { tools?: JsonObject };
  serverInfo: { name: string; version: string };
}

/**
 * The result of `initialize`, without what is not used here, so that nothing else in it can be wrong; or everything that
 * is wrong with it.
 */
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
