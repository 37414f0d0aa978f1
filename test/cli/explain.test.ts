import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { inRepository } from "../support/repository.ts";

const explain = (...args: readonly string[]) => runMain(["explain", ...args], { cwd: "/" });

/** An entry of the page, with a heading of the first level. */
function readEntry(code: string): string {
  const page = readFileSync(inRepository("docs/problems.md"), "utf8");
  const [, entry = ""] = page.split(`\n## ${code}\n`);
  return `# ${code}\n${entry.split("\n## ")[0]?.trimEnd()}\n`;
}

test("`explain` prints the entry of a code, also in a document with --json, and needs no project", async () => {
  const page = readEntry("UnknownExtensionKey");
  const text = await explain("UnknownExtensionKey");
  expect(text).toEqual({ stdout: page, stderr: "", exitCode: 0 });
  const { stdout, exitCode } = await explain("UnknownExtensionKey", "--json");
  expect(JSON.parse(stdout)).toEqual({
    code: "UnknownExtensionKey",
    severity: "error in validation; otherwise a warning",
    title: "Unknown key in the trailblaze field",
    page,
  });
  expect(exitCode).toBe(0);
});

test.each([
  ["handlernotfound", ["HandlerNotFound", "ServerNotFound"]],
  ["HandlerNotFond", ["HandlerNotFound"]],
  ["__proto__", []],
])("`explain` rejects the unknown code %s and suggests similar codes", async (code, nearest) => {
  const { stdout, exitCode } = await explain(code, "--json");
  expect(JSON.parse(stdout).error).toMatchObject({ code: "UnknownCode", args: { code, nearest } });
  expect(exitCode).toBe(1);
});
