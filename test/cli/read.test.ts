import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeProject } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";

const project = () =>
  makeProject({
    pack: {
      "package.json": { trailblaze: { resources: ["text", "bytes", "fails"] } },
      "handlers.js": `export const bytes = () => Uint8Array.of(0, 255);
        export const fails = () => { throw new Error("The archive is closed."); };`,
      "trailblaze/resources/text.json": { name: "text", uri: "test://text", text: "one\u001b[31m" },
      "trailblaze/resources/bytes.json": {
        name: "bytes",
        uri: "test://bytes",
        handler: "./handlers.js#bytes",
      },
      "trailblaze/resources/fails.json": {
        name: "fails",
        uri: "test://fails",
        handler: "./handlers.js#fails",
      },
    },
  });

test("`read` prints text, and binary content only with --json or --out", async () => {
  const cwd = project();
  const read = (...args: string[]) => runMain(["read", ...args], { cwd });
  expect(await read("test://text")).toMatchObject({ exitCode: 0, stdout: "one\u001b[31m\n" });
  const refused = await read("test://bytes");
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain("Add --out FILE, or --json.");
  expect(JSON.parse((await read("test://bytes", "--json")).stdout)).toEqual({
    contents: [{ uri: "test://bytes", blob: "AP8=" }],
  });
  expect(await read("test://bytes", "--out", "bytes.bin")).toMatchObject({ exitCode: 0, stdout: "" });
  expect([...readFileSync(join(cwd, "bytes.bin"))]).toEqual([0, 255]);
});

test("`read` exits with 1 for what is missing or fails, and with 2 for options that exclude each other", async () => {
  const cwd = project();
  const read = (...args: string[]) => runMain(["read", ...args], { cwd });
  expect(await read("test://txt", "--json")).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('"ResourceNotFound"'),
  });
  expect(await read("test://fails")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("The archive is closed."),
  });
  expect(await read("test://text", "--json", "--out", "x")).toMatchObject({ exitCode: 2 });
});
