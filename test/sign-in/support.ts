import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { makeProject } from "../session/support/session.ts";
import { type Behavior, serveProtected } from "../support/authorization-server.ts";
import { runMain } from "../support/main.ts";

/** A project with a protected server `docs`, an empty state folder, and a program that follows redirects as a browser does. */
export async function makeSignIn(
  behavior: Partial<Behavior> = {},
  entry: object | ((origin: string) => object) = {},
) {
  const remote = await serveProtected(behavior);
  const more = typeof entry === "function" ? entry(remote.origin) : entry;
  const browser = `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text()).catch(() => {});\n`;
  const cwd = makeProject(
    {},
    {
      "trailblaze.config.yaml": stringify({
        logDir: "logs",
        mcpServers: { docs: { url: remote.url, ...more } },
      }),
      browser,
    },
  );
  const state = join(cwd, "state");
  chmodSync(join(cwd, "browser"), 0o755);
  const env = { XDG_STATE_HOME: state, BROWSER: join(cwd, "browser") };
  const run = (args: readonly string[], input?: string) =>
    runMain(args, { cwd, env, ...(input !== undefined && { input }) });
  const folder = join(state, "trailblaze/oauth");
  const file = join(folder, `${createHash("sha256").update(remote.url).digest("hex")}.json`);
  return {
    ...{ remote, cwd, env, run, file, folder },
    stored: () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined),
    left: () => (existsSync(folder) ? readdirSync(folder) : []),
    login: (...args: string[]) => run(["login", "docs", "--json", "--timeout", "20", ...args]),
  };
}
