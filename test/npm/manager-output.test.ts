import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test, vi } from "vitest";
import { removePacks } from "../../src/npm/remove-packs.ts";
import { formatProblem, TrailblazeError } from "../../src/problems/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { useHome } from "./user-home.ts";

const failingYarn = `#!/bin/sh
case "$1" in
remove)
  printf 'yarn remove v1.22.22\\n\\n[1/2] Removing module notes...\\n'
  printf 'error An unexpected error occurred: "EACCES:\\033[2J denied".\\n  second line\\n' >&2
  printf 'info Visit https://yarnpkg.com for documentation.\\n'
  exit 1 ;;
esac
`;

test.skipIf(process.platform === "win32")(
  "a failed removal shows the last output lines of the package manager, with control characters escaped",
  async () => {
    const home = useHome([]);
    const cwd = makeTree({
      "package.json": { name: "app", dependencies: { notes: "*" } },
      "yarn.lock": "# yarn lockfile v1\n",
      "node_modules/notes/package.json": packManifest("notes"),
      "bin/yarn": failingYarn,
    });
    chmodSync(join(cwd, "bin/yarn"), 0o755);
    vi.stubEnv("PATH", `${join(cwd, "bin")}${delimiter}${process.env.PATH}`);
    vi.stubEnv("XDG_STATE_HOME", join(home, "state"));
    const error = await removePacks(["notes"], { cwd }).catch((reason: unknown) => reason);
    if (!(error instanceof TrailblazeError)) throw error;
    const { problem } = error;
    expect(problem).toMatchObject({ code: "InstallFailed", args: { restored: true } });
    const lines = [
      "yarn remove v1.22.22",
      "[1/2] Removing module notes...",
      'error An unexpected error occurred: "EACCES:\\u{001b}[2J denied".',
      "  second line",
    ];
    const text = formatProblem(problem);
    for (const line of lines) expect(text.split("\n")).toContain(`    ${line}`);
    expect(problem.hint ?? "").not.toContain("EACCES");
  },
);
