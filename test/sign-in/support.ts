import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { stringify } from "yaml";
import type { OAuthSettings } from "../../src/runtime/server-launches.ts";
import { type LoginOptions, login } from "../../src/sign-in/login.ts";
import { makeProject } from "../session/support/session.ts";
import { type Behavior, serveProtected } from "../support/authorization-server.ts";
import { runMain } from "../support/main.ts";

/** A project with a protected server `docs`, an empty state folder, and a program that follows redirects as a browser does. */
export async function makeSignIn(
  behavior: Partial<Behavior> = {},
  entry: { url?: string; oauth?: OAuthSettings } = {},
) {
  const remote = await serveProtected(behavior);
  const url = entry.url ?? remote.url;
  const browser = `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text()).catch(() => {});\n`;
  const cwd = makeProject(
    {},
    {
      "trailblaze.config.yaml": stringify({
        logDir: "logs",
        mcpServers: { docs: { ...entry, url } },
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
  const file = join(folder, `${createHash("sha256").update(url).digest("hex")}.json`);
  const stored = () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined);
  /** Lets this process use the folder and the browser. */
  const stubEnv = () => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
  };
  return {
    ...{ remote, cwd, env, run, file, folder, stored, stubEnv },
    /** Changes what is stored of the tokens, and beside them. */
    change(tokens: object, more: object = {}) {
      const record = { ...stored(), ...more };
      const changed = { ...record, tokens: { ...record.tokens, ...tokens } };
      writeFileSync(file, JSON.stringify(changed));
      return changed;
    },
    /** Signs in without the command. */
    direct(options: Partial<LoginOptions>) {
      stubEnv();
      const { signal } = new AbortController();
      return login(
        { label: "docs", url: new URL(remote.url), headers: {}, oauth: {} },
        { timeoutMs: 20_000, signal, readPasted: undefined, show() {}, ...options },
      );
    },
    left: () => (existsSync(folder) ? readdirSync(folder) : []),
    login: (...args: string[]) => run(["login", "docs", "--json", "--timeout", "20", ...args]),
  };
}
