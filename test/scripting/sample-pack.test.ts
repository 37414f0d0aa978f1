// A sample pack that is written with the package, as its users and its author have it.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openForTest } from "../session/support/session.ts";
import { makeTree } from "../support/packs.ts";
import { runProcess } from "../support/run-process.ts";
import { samplePack } from "../support/sample-packs.ts";
import { linkPackages, scriptingPackage } from "./support/scripting-package.ts";

function makeProject(): { project: string; pack: string } {
  const dependencies = { "@acme/shop": "^0.4.0" };
  const project = makeTree({
    "package.json": { name: "app", version: "1.0.0", type: "module", dependencies },
    ...scriptingPackage,
  });
  linkPackages(project, ["@modelcontextprotocol/sdk"]);
  const pack = join(project, "node_modules/@acme/shop");
  cpSync(samplePack("@acme/shop").folder, pack, { recursive: true });
  return { project, pack };
}

test("the sample pack's own tests pass", async () => {
  const { pack } = makeProject();
  const { stdout, exitCode } = await runProcess(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: pack,
    env: process.env,
    timeoutMs: 30_000,
  });
  expect(stdout).toMatch(/^# pass 3$/m);
  expect(exitCode).toBe(0);
});

test("the sample pack's tools call each other and share memory with its server in a session", async () => {
  const { project } = makeProject();
  const session = await openForTest(project, {
    device: { platform: "IOS", widthPixels: 390, heightPixels: 844, driverType: "ios-host" },
    preferHostAgent: true,
  });
  expect(session.problems).toEqual([]);
  const messageOf = async (name: string, args: Record<string, unknown>) => {
    const { variant, message } = await session.callTool(name, args);
    return `${variant}: ${message}`;
  };
  expect(await messageOf("shop_signIn", { user: "Ada" })).toBe("Success: Signed in as Ada on IOS.");
  expect(await messageOf("shop_reserve", { article: "Teapot", count: 2 })).toBe(
    "Success: Reserved 2 × Teapot for Ada.",
  );
  expect(session.memory.get("shopReservation")).toBe("2 × Teapot");
  expect(await messageOf("shop_reserve", { article: "Teapot", count: 2 })).toBe(
    "ExceptionThrown: There are only 1 of Teapot.",
  );
  expect(await messageOf("shop_checkOut", { cents: 1000, coupon: "HALF" })).toBe(
    "Success: Ordered for Ada: 500 cents.",
  );
});
