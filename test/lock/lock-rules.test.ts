import { expect, test } from "vitest";
import { combineModes } from "../../src/lock/lock-rules.ts";

const surface = { compares: "surface", isFrozen: false };
const code = { compares: "code", isFrozen: false };
const frozen = { compares: "surface", isFrozen: true };

test.each([
  [undefined, undefined, surface],
  ["code", undefined, code],
  ["frozen", undefined, frozen],
  ["frozen", "surface", surface],
  ["code", "frozen", { compares: "code", isFrozen: true }],
  ["surface", "frozen", frozen],
  ["frozen", "off", undefined],
] as const)("the config's mode %s and the option %s are combined", (config, option, rules) => {
  expect(combineModes(config, option)).toEqual(rules);
});
