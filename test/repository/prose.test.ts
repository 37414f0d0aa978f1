import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createProseCheck, readBans } from "../../scripts/check-prose.ts";
import { inRepository } from "../support/repository.ts";

const dictionary = `
| word | meaning | not |
|---|---|---|
| pack | a package | complaint, extension package |
| kind | which of four | type (of an item) |
| trail | a list | |
| problem | a finding | fault |
| error | a severe problem | fault |

Do not use: whoever, is no X (unless "there is no X").
`;
const bans = readBans(dictionary);
const check = createProseCheck(bans, ["trailblaze", "toolset"]);

describe("the dictionary", () => {
  test("the dictionary bans words of its last columns without a note, and its closing list", () => {
    expect(bans.map(({ phrase, instead }) => [phrase, ...instead])).toEqual([
      ["complaint", "pack"],
      ["extension package", "pack"],
      ["fault", "problem", "error"],
      ["whoever"],
      ["is no X"],
    ]);
  });

  test("the whole dictionary of the repository is read", () => {
    const phrases = readBans(readFileSync(inRepository("docs/words.md"), "utf8")).map(({ phrase }) => phrase);
    expect(phrases).toEqual(expect.arrayContaining(["complaint", "slip", "whoever", "what is there"]));
    expect(phrases).not.toContain("type");
  });
});

describe("the prose check", () => {
  test.each([
    ["a banned word", "A Complaint.", 1],
    ["its plural", "Two complaints.", 1],
    ["a phrase across lines", "An extension\npackage.", 1],
    ["a phrase with any word in it", "That is no pack.", 1],
    ["a word in a table", "| a |\n|---|\n| fault |", 3],
    ["British spelling", "The colour.", 1],
    ["a misspelled part of a compound", "A wel-known name.", 1],
  ])("the prose check finds %s", (_, text, line) => {
    expect(check(text)).toEqual([expect.stringMatching(`^${line}: `)]);
  });

  test.each([
    ["code", "Run `complaint colour`.\n\n```sh\ncomplaint colour\n```"],
    ["the target of a link", "[here](../complaint/colour.md)"],
    ["an exception of the dictionary", "There is no pack."],
    ["names, in any case and with endings", "Trailblaze's toolsets; an MCP's IDs."],
    ["names of files and of code", "See package.json, wsl.conf and openSession."],
    ["a quoted name", 'The item "colour" is missing.'],
  ])("the prose check accepts %s", (_, text) => {
    expect(check(text)).toEqual([]);
  });
});
