import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeProject, openForTest, probe } from "../session/support/session.ts";
import { inRepository } from "../support/repository.ts";
import { waitUntil } from "../support/wait-until.ts";

/** What is different in every session. */
const hideChance = (line: string) =>
  line
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID");

test("docs/session.md shows the real messages between host and server", async () => {
  const page = readFileSync(inRepository("docs/session.md"), "utf8");
  const [, shown = ""] = /```wire\n(.*?)\n```/s.exec(page) ?? [];
  const cwd = makeProject({});
  const trace = join(cwd, "trace.txt");
  const tools = [{ name: "myapp_login", description: "Log in.", inputSchema: { type: "object" } }];
  const session = await openForTest(cwd, {
    device: { platform: "WEB", widthPixels: 1280, heightPixels: 800, driverType: "playwright-native" },
    memory: { userId: "42" },
    config: {
      trailblazeSubprocessToolsets: [
        probe("myapp", { PROBE_TOOLS: JSON.stringify(tools), PROBE_TRACE: trace }),
      ],
    },
  });
  await session.callTool("myapp_login", { user: "ada" });
  const lines = () => readFileSync(trace, "utf8").trimEnd();
  await waitUntil(() => lines().split("\n").length >= shown.split("\n").length);
  expect(hideChance(lines())).toBe(hideChance(shown));
});
