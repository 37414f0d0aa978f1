import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";

const text = readFileSync(inRepository("package-lock.json"), "utf8");

// npm drops what a registry lacks without a word, and `npm ci` then refuses the lockfile.
test("the lockfile has the packages of every platform", () => {
  const { packages } = JSON.parse(text) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const isLocked = (name: string, dependant: string) =>
    Object.hasOwn(packages, `${dependant}/node_modules/${name}`) ||
    Object.hasOwn(packages, `node_modules/${name}`);
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(name, place)),
  );
  expect(missing).toEqual([]);
});

test("the lockfile names no registry", () => {
  expect(text).not.toMatch(/"resolved": "https?:/);
});
