import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "../server/count-words.js";

test("counts words separated by white space", () => {
  assert.deepEqual(countWords.handler({ text: "  one two\nthree " }), { words: 3 });
});

test("counts no words in an empty text", () => {
  assert.deepEqual(countWords.handler({ text: "" }), { words: 0 });
});
