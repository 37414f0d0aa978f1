import { packManifest } from "../support/packs.ts";

const tool = (name: string) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object" },
  handler: "./handlers.js#ask",
});

/** A version of `@acme/live`: its tools are `live_ask`, and `live_more` from version 2 on. */
export const livePack = (version: string) => ({
  "package.json": packManifest("@acme/live", {
    version,
    trailblaze: { tools: version < "2" ? ["ask"] : ["ask", "more"] },
  }),
  "handlers.js": `export const ask = () => "version ${version}";\n`,
  "trailblaze/tools/ask.json": tool("live_ask"),
  "trailblaze/tools/more.json": tool("live_more"),
});
