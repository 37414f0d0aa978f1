import { expect, test } from "vitest";
import { combineModes } from "../../src/lock/lock-rules.ts";

const surface = { compares: "surface", isFrozen: false };
const code = { compares: "code", isFrozen: false };
const frozen = { compares: "surface", isFrozen: true };

test.each([
  [undefined, undefined, undefined, surface],
  ["code", undefined, undefined, code],
  ["frozen", undefined, undefined, frozen],
  ["frozen", "surface", undefined, surface],
  ["code", "frozen", undefined, { compares: "code", isFrozen: true }],
  ["surface", "frozen", undefined, frozen],
  ["frozen", "off", undefined, undefined],
  ["surface", "off", "code", code],
  [undefined, "surface", "frozen", frozen],
  ["code", undefined, "frozen", { compares: "code", isFrozen: true }],
  ["frozen", undefined, "code", { compares: "code", isFrozen: true }],
  ["frozen", "off", "surface", surface],
] as const)(
  "the config's mode %s, the option %s and the policy's mode %s are combined",
  (config, option, policy, rules) => {
    expect(combineModes(config, option, policy)).toEqual(rules);
  },
);
