import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTree, packManifest } from "../support/packs.ts";
import { command } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";

/**
 * Runs a program with an /etc of its own that has a policy: in a mount namespace, which ends with the program, and as its
 * root. Nothing outside changes.
 */
const inNamespace = [
  "unshare",
  "--user",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  `set -e
mount -t tmpfs none /mnt
cp -a /etc/. /mnt/ 2>/dev/null || true
mkdir -m 755 /mnt/trailblaze
cp "$0" /mnt/trailblaze/policy.json
chmod "$1" /mnt/trailblaze/policy.json
mount --bind /mnt /etc
shift
exec "$@"`,
] as const;

function canIsolate(): boolean {
  try {
    const [program, ...args] = inNamespace;
    execFileSync(program, [...args, "/dev/null", "644", "test", "-f", "/etc/trailblaze/policy.json"], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

// The policy has one fixed place, so only a system with namespaces can test the built command with it.
describe.skipIf(!canIsolate())("the built command with a policy in /etc/trailblaze", () => {
  async function run(policy: string, args: readonly string[], { mode = "644" } = {}) {
    const folder = makeTree({
      "package.json": { name: "app", dependencies: { "@acme/jira": "*", stray: "*" } },
      "trailblaze.config.yaml": "logDir: logs\n",
      ...Object.fromEntries(
        ["@acme/jira", "stray"].flatMap((name) => [
          [`node_modules/${name}/package.json`, packManifest(name, { trailblaze: { tools: ["run"] } })],
          [
            `node_modules/${name}/trailblaze/tools/run.json`,
            { name: `${name.replace(/\W/g, "")}_run`, inputSchema: { type: "object" }, handler: "./run.js" },
          ],
          [`node_modules/${name}/run.js`, "export default () => 'ran';\n"],
        ]),
      ),
    });
    const file = join(makeTree({}), "policy.json");
    writeFileSync(file, policy);
    chmodSync(file, 0o644);
    const [program, ...before] = inNamespace;
    const line = [...before, file, mode, process.execPath, command, ...args, "--json"];
    const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), HOME: folder };
    const { exitCode, stdout } = await runProcess(program, line, { cwd: folder, env, timeoutMs: 60_000 });
    return { exitCode, json: JSON.parse(stdout) };
  }

  const policy = '{ "packs": { "allow": ["@acme/*"] }, "install": false, "contact": "it@acme.example" }';

  test("tools, call, list and doctor obey it", async () => {
    const tools = await run(policy, ["tools"]);
    expect(tools.exitCode).toBe(0);
    expect(tools.json.tools.map(({ name }: { name: string }) => name)).toEqual(["acmejira_run"]);
    expect(tools.json.skipped).toMatchObject([
      { name: "run", reason: "DeniedByPolicy", message: expect.stringContaining("it@acme.example") },
    ]);
    const called = await run(policy, ["call", "stray/run"]);
    expect(called).toMatchObject({ exitCode: 1, json: { error: { code: "DeniedByPolicy" } } });
    const listed = await run(policy, ["list"]);
    expect(listed.exitCode).toBe(0);
    expect(listed.json.packs).toMatchObject([
      { name: "@acme/jira", enabled: true },
      { name: "stray", enabled: false, problems: [{ code: "DeniedByPolicy", severity: "info" }] },
    ]);
    const doctor = await run(policy, ["doctor"]);
    expect(doctor).toMatchObject({
      exitCode: 0,
      json: { policy: { file: "/etc/trailblaze/policy.json", keys: ["packs", "install", "contact"] } },
    });
  });

  test.each([
    [["add", "left-pad", "--yes"], 1, "DeniedByPolicy"],
    [["call", "left-pad@^1/run", "--install"], 1, "DeniedByPolicy"],
    [["start", "stray"], 1, "DeniedByPolicy"],
  ])("%j is refused", async (args, exitCode, code) => {
    expect(await run(policy, args)).toMatchObject({ exitCode, json: { error: { code } } });
  });

  test.each([
    "tools",
    "call acmejira_run",
    "types",
    "start --http 0",
    "dev --once",
    "add left-pad --yes",
    "remove stray",
    "import cursor",
    "install cursor",
    "uninstall cursor",
  ])("with a policy that others can write, %s exits with 2", async (line) => {
    const answer = await run(policy, line.split(" "), { mode: "666" });
    expect(answer).toMatchObject({ exitCode: 2, json: { error: { code: "PolicyUnsafe" } } });
  });

  test("with a policy that others can write, doctor exits with 2 and names it, and list works", async () => {
    const doctor = await run(policy, ["doctor"], { mode: "666" });
    expect(doctor).toMatchObject({
      exitCode: 2,
      json: { policy: { file: "/etc/trailblaze/policy.json", keys: [] } },
    });
    const listed = await run(policy, ["list"], { mode: "666" });
    expect(listed).toMatchObject({
      exitCode: 0,
      json: {
        packs: [{ enabled: false }, { enabled: false }],
        problems: [{ code: "PolicyUnsafe", severity: "warning" }],
      },
    });
  });
});
