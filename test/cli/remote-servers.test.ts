import { expect, test } from "vitest";
import { stringify } from "yaml";
import { makeProject } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";
import { serveHttp, serveLegacy, serveModern } from "../support/remote-servers.ts";

const makeConfigured = (servers: object) =>
  makeProject({}, { "trailblaze.config.yaml": stringify({ logDir: "logs", mcpServers: servers }) });

test("commands use remote servers of both eras, and exit", async () => {
  const [legacy, modern] = [await serveLegacy(), await serveModern({ legacy: "reject" })];
  const cwd = makeConfigured({
    old: { url: legacy.url, headers: { Authorization: "Bearer hunter2" }, prefix: "old" },
    new: { url: modern.url, prefix: "new" },
  });
  const listed = await runMain(["tools", "--json"], { cwd });
  const { tools, servers } = JSON.parse(listed.stdout);
  expect(tools.map(({ name }: { name: string }) => name)).toEqual([
    ...["old_echo", "old_fail", "old_slow", "new_echo", "new_fail", "new_slow"],
  ]);
  expect(servers).toMatchObject([
    { label: "old", state: "running", era: "legacy", serverInfo: { name: "legacy" } },
    { label: "new", state: "running", era: "modern", serverInfo: { name: "modern" } },
  ]);
  expect(listed.stderr).toContain(`Connecting to old: ${legacy.url}\n`);
  expect(listed.stdout + listed.stderr).not.toContain("hunter2");
  expect(listed.exitCode).toBe(0);

  const called = await runMain(["call", "new/echo", "text=hello"], { cwd });
  expect(called).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("hello") });
  expect(called.stderr).not.toContain("old");
  expect(await runMain(["inspect", "old/echo", "--start"], { cwd })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("Returns its arguments."),
  });
  expect((await runMain(["doctor"], { cwd })).stdout).toMatch(/2 of 2 started/);
  expect([...legacy.sessions.keys()]).toEqual([]);
});

test("a remote server that requires authorization is left out of `tools` and reported by `doctor`", async () => {
  const remote = await serveHttp((_received, _request, response) =>
    response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
  );
  const cwd = makeConfigured({ docs: { url: remote.url } });
  const { stdout, exitCode } = await runMain(["tools", "--json"], { cwd });
  expect(JSON.parse(stdout).problems[0]).toMatchObject({
    code: "AuthorizationRequired",
    path: ["mcpServers", "docs"],
    args: { label: "docs", status: 401, scheme: "Bearer" },
  });
  expect(exitCode).toBe(1);
  const doctor = await runMain(["doctor"], { cwd });
  expect(doctor).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("AuthorizationRequired") });
});
