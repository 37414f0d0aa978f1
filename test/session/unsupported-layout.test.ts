import { expect, test } from "vitest";
import { explainLayout } from "../../src/cli/explain-layout.ts";
import { inspectItem } from "../../src/index.ts";
import { makeTree } from "../support/packs.ts";
import { openForTest } from "./support/session.ts";

test.each([
  ["deno.json", "{}"],
  [".pnp.cjs", "throw new Error('run');"],
])(
  "a pack that is not found in the layout of %s is UnsupportedLayout for every command",
  async (file, text) => {
    const dependencies = { "@acme/jira": "1" };
    const cwd = makeTree({ "package.json": { name: "app", dependencies }, [file]: text });
    const missing = await inspectItem("acme/jira/getIssue", { cwd }).catch((error: unknown) => error);
    expect(missing).toMatchObject({ code: "PackNotInstalled" });
    expect(await explainLayout(missing, cwd)).toMatchObject({ code: "UnsupportedLayout" });
    const session = await openForTest(cwd);
    const explainPrompt = async (name: string) =>
      explainLayout(await session.getPrompt(name, {}).catch((error: unknown) => error), cwd);
    expect(await explainPrompt("acme/jira/ask")).toMatchObject({ code: "UnsupportedLayout" });
    expect(await explainPrompt("ask")).toMatchObject({ code: "PromptNotFound" });
    const installed = makeTree({ "package.json": { name: "app", dependencies }, "node_modules/.bin/x": "" });
    expect(await explainLayout(missing, installed)).toBe(missing);
  },
);
