import { beforeEach, expect, test, vi } from "vitest";
import { inspectItem } from "../../src/index.ts";
import { setPolicy } from "../support/machine-policy.ts";
import { makeProject, mixedPack, openForTest } from "./support/session.ts";

vi.mock("../../src/files/policy-location.ts", () => import("../support/machine-policy.ts"));

// A Node without the permission model. What is learned about it is kept, so these tests have a process of their own.
beforeEach(() => {
  vi.spyOn(process, "allowedNodeEnvironmentFlags", "get").mockReturnValue(new Set());
});

test("where code cannot be confined, requireConfinement refuses definitions that are code, and no others", async () => {
  setPolicy({ requireConfinement: true, contact: "it@acme.example" });
  const cwd = makeProject({ mixed: mixedPack });
  const session = await openForTest(cwd);
  const message = expect.stringContaining("not available here. Contact: it@acme.example.");
  expect(session.tools.map(({ name }) => name)).toEqual(["data"]);
  expect(session.skipped).toMatchObject([{ name: "code", reason: "DeniedByPolicy", message }]);
  const item = await inspectItem("mixed/code", { cwd });
  expect(item).toMatchObject({ definition: null, problems: [{ code: "DeniedByPolicy", message }] });
  // The option refuses the whole inspection, as it does without a policy.
  await expect(inspectItem("mixed/code", { cwd, requireConfinement: true })).rejects.toMatchObject({
    code: "ConfinementUnavailable",
  });
});

test("where code cannot be confined and the policy does not mind, definitions that are code are evaluated", async () => {
  setPolicy({ requireConfinement: false });
  const session = await openForTest(makeProject({ mixed: mixedPack }));
  expect(session.tools.map(({ name }) => name)).toEqual(["data", "code"]);
});
