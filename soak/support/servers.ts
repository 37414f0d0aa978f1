import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("small-server.mjs", import.meta.url));

/** A server of a config with one tool, which has its name. */
export const smallServer = (name: string) => ({
  name,
  command: process.execPath,
  args: [script, name],
  protocol: "legacy" as const,
});
