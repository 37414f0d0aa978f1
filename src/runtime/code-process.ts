import { fileURLToPath } from "node:url";
import type { ProcessLaunch } from "../processes/process-port.ts";

/** What the child reads from and writes to is not what the pack's code finds as its standard streams. */
const script = 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2';

/** Path of the program that runs in the child. */
const program = (): string => fileURLToPath(new URL("./code-child.mjs", import.meta.url));

/** How the child is started that runs a pack's code: it talks on stdin and stdout, as the launched process has them. */
export function createCodeLaunch(
  { cwd, env }: Pick<ProcessLaunch, "cwd" | "env">,
  platform: NodeJS.Platform = process.platform,
): ProcessLaunch {
  const node = [process.execPath, program()];
  if (platform === "win32") return { command: process.execPath, args: [program(), "0", "1"], cwd, env };
  return { command: "/bin/sh", args: ["-c", script, "sh", ...node, "3", "4"], cwd, env };
}
