/** Loads the parts of the MCP SDK that a server needs. */
export async function loadSdk() {
  try {
    const [{ Server }, { StdioServerTransport }, types, { AjvJsonSchemaValidator }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/index.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/types.js"),
      import("@modelcontextprotocol/sdk/validation/ajv"),
    ]);
    return { Server, StdioServerTransport, types, AjvJsonSchemaValidator };
  } catch (cause) {
    const { code, message } = cause as { code?: string; message?: string };
    const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
    if (!isMissing || !message?.includes("@modelcontextprotocol/sdk")) throw cause;
    throw new Error("run() requires the MCP SDK: add @modelcontextprotocol/sdk to dependencies", { cause });
  }
}
