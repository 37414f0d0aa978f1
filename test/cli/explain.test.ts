import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalog } from "../../src/problems/index.ts";
import { runMain } from "../support/main.ts";
import { inRepository } from "../support/repository.ts";

const explain = (...args: readonly string[]) => runMain(["explain", ...args], { cwd: "/" });
const readPage = (code: string) => readFileSync(join(inRepository("docs/problems"), `${code}.md`), "utf8");

test("`explain` prints the page of a code, and needs no project", async () => {
  const { stdout, stderr, exitCode } = await explain("HandlerNotFound");
  expect(stdout).toBe(readPage("HandlerNotFound"));
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
});

test("`explain --json` prints the code, severity, title and page", async () => {
  const { stdout, exitCode } = await explain("UnknownExtensionKey", "--json");
  expect(JSON.parse(stdout)).toEqual({
    code: "UnknownExtensionKey",
    severity: "error in validation; otherwise a warning",
    title: catalog.UnknownExtensionKey.title,
    page: readPage("UnknownExtensionKey"),
  });
  expect(exitCode).toBe(0);
});

test.each([
  ["handlernotfound", ["HandlerNotFound", "ServerNotFound"]],
  ["HandlerNotFond", ["HandlerNotFound"]],
  ["qqqqqqqqqqqq", []],
  ["README", []],
  ["../words", []],
  ["__proto__", []],
])("`explain` rejects the unknown code %s and suggests similar codes", async (code, nearest) => {
  const { stdout, exitCode } = await explain(code, "--json");
  expect(JSON.parse(stdout).error).toMatchObject({ code: "UnknownCode", args: { code, nearest } });
  expect(exitCode).toBe(1);
});

test("`explain` without a code exits with 2", async () => {
  expect((await explain()).exitCode).toBe(2);
});
