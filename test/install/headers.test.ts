import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clients } from "../../src/install/clients/index.ts";
import { runMain } from "../support/main.ts";
import { makeInstallPlace } from "./install-place.ts";

const url = "http://127.0.0.1:4000/mcp";
const secret = `Bearer s3cret'"\\: #{x}`;
const headers = { Authorization: secret, "X-Team": "se3cond" };
const place = () => makeInstallPlace();

const withHeaders = clients.filter(({ shape }) => shape.address?.headers !== undefined);

describe("an entry with headers", () => {
  test.each(withHeaders.map(({ id }) => id))(
    "headers for %s are written to its config and hidden in diffs and notes",
    async (id) => {
      const here = place();
      const file = join(here.home, "config");
      const options = { url, headers, file };
      const plan = await here.planInstall(id, "mine", options);
      const { diff, changed } = await here.apply(plan);
      expect({ diff, changed }).toEqual({ diff: plan.diff, changed: true });
      expect(readFileSync(file, "utf8")).toContain("s3cret");
      for (const text of [diff, plan.notes.join()]) expect(text).not.toMatch(/s3cret|se3cond/);
      expect(diff).toMatch(/Authorization.*\*\*\*/);
      expect(await here.planInstall(id, "mine", options)).toMatchObject({ changed: false, diff: "" });
      const removal = await here.planUninstall(id, "mine", { file });
      expect(removal).toMatchObject({ changed: true, diff: expect.not.stringMatching(/s3cret|se3cond/) });
      expect((await here.apply(removal)).diff).toBe(removal.diff);
      expect(readdirSync(here.home)).toEqual([".keep"]);
    },
  );
});

test("a new value of a header is shown as a change, without the old and the new value", async () => {
  const here = place();
  await here.install("cursor", "mine", { url, headers });
  const plan = await here.planInstall("cursor", "mine", { url, headers: { ...headers, "X-Team": "n3w" } });
  expect(plan.diff).not.toMatch(/s3cret|se3cond|n3w/);
  expect(plan.diff.match(/^[-+] .*/gm)).toEqual([
    '-        "X-Team": "***"',
    '+        "X-Team": "*** (changed)"',
  ]);
});

describe("invalid headers", () => {
  test.each([
    ["headers without a URL", "cursor", { headers }],
    ["headers for a client that has no known form for them", "devin", { url, headers }],
    ["a header whose name contains a space", "cursor", { url, headers: { "s3cret ": "x" } }],
    ["a header without a name", "cursor", { url, headers: { "": "s3cret" } }],
    ["a header with a line break", "cursor", { url, headers: { A: "s3cret\nB: x" } }],
    ["two headers whose names differ only in case", "cursor", { url, headers: { A: "s3cret", a: "x" } }],
  ])(
    "an install with %s is rejected, with nothing written and no value shown",
    async (_, client, options) => {
      const here = place();
      const error = await here.install(client, "mine", options as object).catch((error) => error);
      expect(error).toMatchObject({ code: "InvalidArguments" });
      expect(JSON.stringify([error.problem, error.message])).not.toContain("s3cret");
      expect(readdirSync(here.home)).toEqual([".keep"]);
    },
  );
});

describe("install --header", () => {
  const install = (here: ReturnType<typeof place>, ...args: string[]) =>
    runMain(["install", "cursor", "mine", ...args], {
      cwd: here.project,
      env: { ...here.environment } as Record<string, string>,
    });

  test("`install --header` writes the header and never prints its value, even with --dry-run or --json", async () => {
    const here = place();
    const args = ["--url", url, "--header", `Authorization=${secret}`, "--header", "A=b=s3cret"];
    for (const more of [["--dry-run"], ["--dry-run", "--json"], []]) {
      const { exitCode, stdout, stderr } = await install(here, ...args, ...more);
      expect(exitCode).toBe(0);
      expect(stdout).toContain("***");
      expect(stdout + stderr).not.toContain("s3cret");
    }
    const written = JSON.parse(readFileSync(join(here.home, ".cursor/mcp.json"), "utf8"));
    const entry = { url, headers: { Authorization: secret, A: "b=s3cret" } };
    expect(written).toEqual({ mcpServers: { mine: entry } });
  });

  test.each([["Authorization: Bearer s3cret"], ["Authorization: Bearer s3cret="], ["=s3cret"]])(
    "`install --header` rejects %j without printing it",
    async (header) => {
      const { exitCode, stdout, stderr } = await install(place(), "--url", url, "--header", header);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain("InvalidArguments");
      expect(stderr).not.toContain("s3cret");
    },
  );
});
