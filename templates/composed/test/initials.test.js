import assert from "node:assert/strict";
import { test } from "node:test";
import { initials } from "../lib/initials.js";

test("uses the first letter of each part", () => {
  assert.equal(initials({ name: " Ada  Lovelace" }), "AL");
});
