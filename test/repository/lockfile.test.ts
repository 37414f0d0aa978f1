import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findMissingPackages, type Lockfile } from "../../scripts/complete-lockfile.ts";
import { inRepository } from "../support/repository.ts";

const text = readFileSync(inRepository("package-lock.json"), "utf8");

// npm drops what a registry lacks without a word, and `npm ci` then refuses the lockfile.
test("the lockfile has the packages of every platform (npx tsx scripts/complete-lockfile.ts)", () => {
  expect(findMissingPackages(JSON.parse(text) as Lockfile).map(({ place }) => place)).toEqual([]);
});

test("the lockfile names no registry", () => {
  expect(text).not.toMatch(/"resolved": "https?:/);
});
