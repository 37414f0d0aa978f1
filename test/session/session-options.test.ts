import { describe, expect, test } from "vitest";
import type { Device, SessionConfig } from "../../src/config/session-config.ts";
import { applyOptions, type SessionOptions } from "../../src/session/session-options.ts";

const phone: Device = { platform: "IOS", widthPixels: 400, heightPixels: 800, driverType: "ios-host" };
const unknown: Device = { platform: null, widthPixels: null, heightPixels: null, driverType: null };

const deviceOf = (device: Device | undefined, options: SessionOptions) =>
  applyOptions({ device, memory: new Map() } as unknown as SessionConfig, options).device;

describe("the device of a session", () => {
  test("a device given as an option changes only the given properties, but for another platform, which replaces it", () => {
    const changed = (changes: object) => deviceOf(phone, { device: changes });
    expect(deviceOf(phone, {})).toEqual(phone);
    expect(deviceOf(undefined, {})).toBeUndefined();
    expect(deviceOf(undefined, { device: { driverType: "d" } })).toEqual({ ...unknown, driverType: "d" });
    expect(changed({ driverType: "other" })).toEqual({ ...phone, driverType: "other" });
    expect(changed({ platform: "ios" })).toEqual(phone);
    const web = { platform: "WEB", driverType: "d" };
    expect(changed(web)).toEqual({ ...unknown, ...web });
    expect(() => changed({ platform: "toaster" })).toThrow(/platform/);
    expect(deviceOf(phone, { device: null as never })).toBeUndefined();
    for (const device of [5, [], "IOS"])
      expect(() => changed(device as never)).toThrow(/`device` must be an object/);
  });
});

describe("session options of the wrong type", () => {
  const wrong = (options: unknown) => () => {
    applyOptions({ memory: new Map() } as unknown as SessionConfig, options as SessionOptions);
  };

  test.each([
    ["widthPixels", { widthPixels: "1280" }, "device"],
    ["platform", { platform: 5 }, "device"],
    ["preferHostAgent", "yes"],
    ["memory", "ab"],
    ["userId", { userId: 42 }, "memory"],
    ["userId", [["userId", 42]], "memory"],
    ["serversStart", "later", "start"],
    ["serversIdleMs", 0, "idleMs"],
  ])("the option %s is rejected by name: %j", (name, value, option = name) => {
    const args = expect.objectContaining({ reason: expect.stringContaining(name) });
    const refusal = { code: "InvalidArguments", problem: expect.objectContaining({ args }) };
    expect(wrong({ [option]: value })).toThrow(expect.objectContaining(refusal));
  });

  test("memory may be given in any form that a Map accepts, or as an object", () => {
    for (const memory of [{ a: "1" }, [["a", "1"]], new Map([["a", "1"]]), Object.create(null, {})]) {
      expect(wrong({ memory })).not.toThrow();
    }
  });
});
