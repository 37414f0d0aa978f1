import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/config/session-config.ts";
import { createCallMemory, SessionMemory } from "../../src/session/session-memory.ts";

describe("values of sensitive keys", () => {
  const make = () => new SessionMemory([["token", "first-1"]], ["token", "pin"]);

  test("sensitive values stay secret after they are overwritten, deleted or cleared, the longest first", () => {
    const memory = make();
    memory.set("token", "second-22").set("pin", "7").set("plain", "nothing-333").set("pin", "");
    memory.delete("token");
    memory.clear();
    expect(memory.secrets()).toEqual(["second-22", "first-1", "7"]);
    expect(memory.secrets()).toBe(memory.secrets());
    expect(memory.redact({ "first-1": "a second-22", plain: "nothing-333", pin: 7 })).toEqual({
      "[redacted]": "a [redacted]",
      plain: "nothing-333",
      pin: "[redacted]",
    });
  });

  test("sensitive values are redacted by redactors and streams created earlier, too", () => {
    const memory = make();
    const redactor = memory.redactor;
    const stream = redactor.createStream();
    expect(stream.push("later-4444 ")).toBe("later-4444 ");
    memory.set("token", "later-4444");
    expect(stream.push("later-4444 ")).toBe("[redacted] ");
    expect(redactor.redact("later-4444")).toBe("[redacted]");
  });

  test("a sensitive value is secret as soon as a call is about to write it", () => {
    const memory = make();
    const call = createCallMemory(memory, { packs: { memory: "all" } } as SessionConfig, undefined);
    call.write("token", "pending-5");
    call.write("other", "plain-66");
    expect(memory.redact("pending-5 plain-66")).toBe("[redacted] plain-66");
    expect(memory.get("token")).toBe("first-1");
  });
});
