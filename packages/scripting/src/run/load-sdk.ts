import { createRequire } from "node:module";
import type { Ajv, Drafts } from "./check-value.ts";

type NewAjv = new (options: object) => Ajv;

/** The SDK's own Ajv. It checks as the host does: JSON Schema 2020-12 or draft-07, `format` is only an annotation. */
function loadDrafts(): Drafts {
  const require = createRequire(import.meta.resolve("@modelcontextprotocol/sdk/validation/ajv"));
  const load = (name: string) => (require(name) as { default: NewAjv }).default;
  const options = { strict: false, validateFormats: false, validateSchema: false, allErrors: true };
  return {
    draft07: new (load("ajv"))(options),
    draft2020: new (load("ajv/dist/2020.js"))(options),
  };
}

/** Loads the parts of the MCP SDK that a server needs. */
export async function loadSdk() {
  try {
    const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/index.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]);
    return { Server, StdioServerTransport, types, drafts: loadDrafts() };
  } catch (cause) {
    const { code, message } = cause as { code?: string; message?: string };
    const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
    if (!isMissing || !message?.includes("@modelcontextprotocol/sdk")) throw cause;
    throw new Error("run() requires the MCP SDK: add @modelcontextprotocol/sdk to dependencies", { cause });
  }
}
