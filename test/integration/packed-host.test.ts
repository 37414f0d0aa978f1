import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runUsersNpm } from "../support/package-managers.ts";
import { inRepository } from "../support/repository.ts";
import { runToSuccess } from "../support/run-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const folder = makeTemporaryFolder();
const installed = join(folder.path, "package");

beforeAll(async () => {
  const args = ["pack", inRepository("."), "--ignore-scripts", "--pack-destination", folder.path];
  await runUsersNpm(args, folder.path);
  const [tarball = ""] = readdirSync(folder.path);
  await runToSuccess("tar", ["-xzf", tarball], { cwd: folder.path, env: process.env, timeoutMs: 30_000 });
});
afterAll(folder.remove);

test("the package has the schemas, and its command explains codes", async () => {
  const schemas = readdirSync(join(installed, "schemas"));
  expect(schemas.sort()).toEqual([
    "prompt.json",
    "resource.json",
    "server.json",
    "tool.json",
    "toolset.json",
  ]);
  const args = [join(installed, "dist/cli/cli.cjs"), "explain", "HandlerNotFound"];
  const options = { cwd: "/", env: process.env, timeoutMs: 30_000 };
  expect(await runToSuccess(process.execPath, args, options)).toContain("# HandlerNotFound");
});
