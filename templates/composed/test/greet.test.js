import assert from "node:assert/strict";
import { test } from "node:test";
import { greet } from "../lib/greet.js";

test("greets in the requested language", () => {
  assert.equal(greet({ name: "Ada", language: "fr" }), "Bonjour, Ada!");
});

test("greets in English", () => {
  assert.equal(greet({ name: "Ada", language: "en" }), "Hello, Ada!");
});
