// The servers of these sessions end with them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Session } from "../../src/session.ts";
import { waitUntil } from "../support/wait-until.ts";
import { openWithClock } from "./support/followed.ts";
import { makeProject, probe } from "./support/session.ts";

const serversOf = (session: Session) => [...new Set(session.tools.map(({ source }) => source.server))];

/** Opens a session as it is served, with a clock that the test advances. */
const openServed = (config: object) =>
  openWithClock(makeProject({}), { config: { logDir: "logs", ...config } }, true);

test("a served session opens without a server that is silent for 8 seconds, and the server joins later", async () => {
  const gate = join(makeProject({}), "gate");
  const { clock, changes, opening } = openServed({
    trailblazeSubprocessToolsets: [probe("late", { PROBE_GATE: gate }), probe("early")],
  });
  await waitUntil(() => clock.delays.includes(8000));
  let hasOpened = false;
  void opening.then(() => {
    hasOpened = true;
  });
  clock.advance(7999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasOpened).toBe(false);
  clock.advance(1);
  const session = await opening;
  const first = serversOf(session);
  writeFileSync(gate, "");
  await waitUntil(() => serversOf(session).includes("late"));
  // The other server may still be starting when the time is over.
  expect(first).not.toContain("late");
  await waitUntil(() => serversOf(session).length === 2);
  expect(serversOf(session)).toEqual(["late", "early"]);
  expect(changes).toContainEqual({ tools: true, prompts: false, problems: [] });
  expect(await session.callTool("late_params")).toMatchObject({ variant: "Success" });
});

test("a served session reports a user's server that does not start, and serves the others", async () => {
  const { opening } = openServed({
    trailblazeSubprocessToolsets: [{ name: "broken", command: "/no/such/program" }, probe("sound")],
  });
  const session = await opening;
  expect(serversOf(session)).toEqual(["sound"]);
  expect(session.skipped).toMatchObject([{ name: "broken", reason: "ServerFailed" }]);
  expect(session.problems).toMatchObject([
    { code: "ServerStartFailed", path: ["trailblazeSubprocessToolsets", 0], args: { label: "broken" } },
  ]);
});

test("a served session restarts a server that exits three times in a minute, and not a fourth time", async () => {
  const { reported, changes, opening } = openServed({
    crash: "fail",
    trailblazeSubprocessToolsets: [probe("fragile"), probe("sound")],
  });
  const session = await opening;
  for (let exit = 1; exit <= 4; exit++) {
    expect(await session.callTool("fragile_crash")).toMatchObject({ variant: "FatalError" });
  }
  expect(await session.callTool("fragile_params")).toMatchObject({ variant: "FatalError" });
  expect(await session.callTool("sound_params")).toMatchObject({ variant: "Success" });
  expect(serversOf(session)).toEqual(["fragile", "sound"]);
  const exits = reported.filter(({ code }) => code === "ServerDied");
  expect(exits.map(({ severity }) => severity)).toEqual(["warning", "warning", "warning", "error"]);
  // The config's `crash`, which a hint for hosts names, is not applied.
  for (const { args } of exits) expect(args).toMatchObject({ isServed: true });
  expect(changes).toEqual([]);
});

test("a served session restarts a server again when a minute has passed since an exit", async () => {
  const { clock, opening } = openServed({ trailblazeSubprocessToolsets: [probe("fragile")] });
  const session = await opening;
  for (let exit = 1; exit <= 5; exit++) {
    expect(await session.callTool("fragile_crash")).toMatchObject({ variant: "FatalError" });
    clock.advance(20_000);
  }
  expect(await session.callTool("fragile_params")).toMatchObject({ variant: "Success" });
});
