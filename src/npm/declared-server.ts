import { isRecord } from "../data/parse-json.ts";

const keywords = ["mcp", "mcp-server", "modelcontextprotocol"];
const libraries = ["@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp"];
const dependencyKeys = ["dependencies", "optionalDependencies", "peerDependencies"];

/**
 * Whether a package.json shows that the package is an MCP server: it has `mcpName`, which the MCP registry requires, a
 * keyword, or a dependency on a library for servers. Pure.
 */
export function isDeclaredServer(manifest: Readonly<Record<string, unknown>>): boolean {
  const { mcpName, keywords: own } = manifest;
  if (typeof mcpName === "string" && mcpName !== "") return true;
  if (Array.isArray(own) && keywords.some((keyword) => own.includes(keyword))) return true;
  return dependencyKeys.some((key) => {
    const dependencies = manifest[key];
    return isRecord(dependencies) && libraries.some((name) => Object.hasOwn(dependencies, name));
  });
}
