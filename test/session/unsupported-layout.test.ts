import { expect, test } from "vitest";
import { explainLayout } from "../../src/cli/problem-text.ts";
import { inspectItem } from "../../src/index.ts";
import { makeTree } from "../support/packs.ts";
import { openForTest } from "./support/session.ts";

test("a pack that is not found in a layout without node_modules is UnsupportedLayout for commands", async () => {
  const dependencies = { "@acme/jira": "1" };
  const cwd = makeTree({
    "package.json": { name: "app", dependencies },
    ".pnp.cjs": "throw new Error('run');",
  });
  const missing = await inspectItem("acme/jira/getIssue", { cwd }).catch((error: unknown) => error);
  expect(missing).toMatchObject({ code: "PackNotInstalled" });
  expect(await explainLayout(missing, cwd)).toMatchObject({ code: "UnsupportedLayout" });
  const session = await openForTest(cwd);
  const unknown = await session.getPrompt("acme/jira/ask", {}).catch((error: unknown) => error);
  expect(await explainLayout(unknown, cwd)).toMatchObject({ code: "UnsupportedLayout" });
  const installed = makeTree({ "package.json": { name: "app", dependencies }, "node_modules/.bin/x": "" });
  expect(await explainLayout(missing, installed)).toBe(missing);
});
