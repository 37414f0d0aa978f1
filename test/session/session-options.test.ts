import { describe, expect, test } from "vitest";
import type { Device, SessionConfig } from "../../src/config/session-config.ts";
import { applyOptions, type SessionOptions } from "../../src/session/session-options.ts";

const phone: Device = { platform: "IOS", widthPixels: 400, heightPixels: 800, driverType: "ios-host" };
const unknown: Device = { platform: null, widthPixels: null, heightPixels: null, driverType: null };

const deviceOf = (device: Device | undefined, options: SessionOptions) =>
  applyOptions({ device, memory: new Map() } as unknown as SessionConfig, options).device;

describe("the device of a session", () => {
  test("a device given as an option replaces the config's device completely", () => {
    expect(deviceOf(phone, {})).toEqual(phone);
    expect(deviceOf(phone, { device: { driverType: "d" } })).toEqual({ ...unknown, driverType: "d" });
  });

  test("an update of the device changes only the given properties", () => {
    expect(deviceOf(phone, { deviceChanges: { driverType: "other" } })).toEqual({
      ...phone,
      driverType: "other",
    });
    expect(deviceOf(phone, { deviceChanges: { platform: "ios" } })).toEqual(phone);
    expect(deviceOf({ ...phone, platform: null }, { deviceChanges: { platform: "IOS" } })).toEqual(phone);
    expect(deviceOf(undefined, { deviceChanges: { platform: "web" } })).toEqual({
      ...unknown,
      platform: "WEB",
    });
    expect(deviceOf(phone, { device: { widthPixels: 3 }, deviceChanges: { driverType: "d" } })).toEqual({
      ...unknown,
      widthPixels: 3,
      driverType: "d",
    });
  });

  test("an update with another platform replaces the whole device", () => {
    expect(deviceOf(phone, { deviceChanges: { platform: "WEB" } })).toEqual({ ...unknown, platform: "WEB" });
    expect(deviceOf(phone, { deviceChanges: { platform: "WEB", driverType: "d" } })).toEqual({
      ...unknown,
      platform: "WEB",
      driverType: "d",
    });
    expect(() => deviceOf(phone, { deviceChanges: { platform: "toaster" } })).toThrow(
      expect.objectContaining({
        problem: expect.objectContaining({
          args: expect.objectContaining({ reason: expect.stringContaining("platform") }),
        }),
      }),
    );
  });
});

describe("session options of the wrong type", () => {
  const wrong = (options: unknown) => () => {
    applyOptions({ memory: new Map() } as unknown as SessionConfig, options as SessionOptions);
  };

  test.each([
    ["device", null],
    ["driverType", { driverType: 5 }, "device"],
    ["widthPixels", { widthPixels: "1280" }, "device"],
    ["heightPixels", { heightPixels: 0.5 }, "device"],
    ["platform", { platform: 5 }, "device"],
    ["preferHostAgent", "yes"],
    ["memory", null],
    ["memory", "ab"],
    ['"userId"', { userId: 42 }, "memory"],
    ['"userId"', [["userId", 42]], "memory"],
    ["memory", [5]],
    ["toolsets", "auth"],
    ["builtIns", {}],
    ["start", "later"],
    ["idleMs", 0],
    ["idleMs", 1.5],
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
