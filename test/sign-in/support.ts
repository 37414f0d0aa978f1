import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { stringify } from "yaml";
import type { OAuthSettings } from "../../src/runtime/server-launches.ts";
import { type LoginOptions, login } from "../../src/sign-in/login.ts";
import { makeProject } from "../session/support/session.ts";
import { type Behavior, serveProtected } from "../support/authorization-server.ts";
import { runMain } from "../support/main.ts";

/** Follows redirects as a browser does, also of addresses in text for the user. */
const browse = (text: string) => {
  const [address] = /^http:.*$/m.exec(text) ?? [];
  if (address !== undefined)
    fetch(address)
      .then((page) => page.text())
      .catch(() => {});
};

/** A project with a protected server `docs` and an empty state folder. This process is the browser; a file `browser` is another. */
export async function makeSignIn(
  behavior: Partial<Behavior> = {},
  entry: { url?: string; oauth?: OAuthSettings } = {},
) {
  const remote = await serveProtected(behavior);
  const url = entry.url ?? remote.url;
  const cwd = makeProject(
    {},
    {
      "trailblaze.config.yaml": stringify({
        logDir: "logs",
        mcpServers: { docs: { ...entry, url } },
      }),
    },
  );
  const state = join(cwd, "state");
  const env = { XDG_STATE_HOME: state, BROWSER: join(cwd, "browser") };
  const run = (args: readonly string[], input = "", onError = browse) =>
    runMain(args, { cwd, env, input, onError });
  const folder = join(state, "trailblaze/oauth");
  const file = join(folder, `${createHash("sha256").update(url).digest("hex")}.json`);
  const stored = () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined);
  /** Lets this process use the folder and the browser. */
  const stubEnv = () => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
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
        { timeoutMs: 20_000, signal, readPasted: undefined, show: browse, ...options },
      );
    },
    left: () => (existsSync(folder) ? readdirSync(folder) : []),
    login: (...args: string[]) => run(["login", "docs", "--json", "--timeout", "20", ...args]),
  };
}
