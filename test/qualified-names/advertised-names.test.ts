import { expect, test } from "vitest";
import { numberNames } from "../../src/qualified-names/advertised-names.ts";

test("duplicate names get numbers that are still free, and other names stay", () => {
  expect(numberNames(["a", "b", "a", "a2", "a"])).toEqual(["a1", "b", "a3", "a2", "a4"]);
});

test("a numbered name has at most 64 characters and is unique", () => {
  const long = "x".repeat(64);
  const other = `${"x".repeat(63)}y`;
  const numbered = numberNames([
    ...Array.from({ length: 12 }, () => long),
    other,
    other,
    `${"x".repeat(63)}1`,
  ]);
  expect(new Set(numbered).size).toBe(numbered.length);
  for (const name of numbered) expect(name.length).toBeLessThanOrEqual(64);
  expect(numbered.at(-1)).toBe(`${"x".repeat(63)}1`);
  expect(numbered[0]).toBe(`${"x".repeat(63)}2`);
  const almost = "z".repeat(63);
  expect(numberNames([almost, almost])).toEqual([`${almost}1`, `${almost}2`]);
});

test("shortening never splits a character, and a long name that is unique stays", () => {
  const smiling = `${"x".repeat(62)}😀`;
  const whole = "y".repeat(80);
  expect(numberNames([smiling, smiling, whole])).toEqual([`${"x".repeat(62)}1`, `${"x".repeat(62)}2`, whole]);
});
