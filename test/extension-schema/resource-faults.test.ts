import { describe, expect, test } from "vitest";
import { findCompleteFaults, findResourceFaults } from "../../src/extension-schema/check-definition.ts";

const placesOf = (definition: Record<string, unknown>) =>
  [...findResourceFaults(definition)].map(({ path }) => path.join("."));

describe("the keys of a resource", () => {
  test.each([
    { uri: "docs://page" },
    { uri: "docs:%20a" },
    { uriTemplate: "docs://{page}", complete: { page: [] } },
    // Values of other types and empty strings are faults of the shape.
    { uri: " ", uriTemplate: " ", mimeType: " " },
    { uri: 5, uriTemplate: 5, mimeType: 5, annotations: "now", complete: 5 },
    { annotations: { lastModified: 5 } },
    {},
  ])("%j is valid", (definition) => {
    expect(placesOf(definition)).toEqual([]);
  });

  test.each([
    [{ uri: "page" }, ["uri"]],
    [{ uri: "docs://a b" }, ["uri"]],
    [{ uriTemplate: "docs://page" }, ["uriTemplate"]],
    [{ uriTemplate: "{page}", complete: { city: [] } }, ["uriTemplate"]],
    [{ uriTemplate: "docs://{page}", complete: { city: [], page: [] } }, ["complete.city"]],
    [{ uri: "docs://page", complete: { page: [] } }, ["complete.page"]],
  ])("%j is invalid at %j", (definition, places) => {
    expect(placesOf(definition)).toEqual(places);
  });

  test("the reason continues after the key, and a template in `uri` gets a hint", () => {
    const faultOf = (definition: Record<string, unknown>) => [...findResourceFaults(definition)][0];
    const hint = expect.stringContaining("`uriTemplate`");
    for (const uri of ["docs://{page}", "docs://{page", "docs://page}"])
      expect(faultOf({ uri })).toMatchObject({ reason: expect.stringMatching(/^`uri` contains/), hint });
    expect(faultOf({ uri: "page" })?.hint).toBeUndefined();
    expect(faultOf({ uriTemplate: "docs://page" })?.reason).toMatch(/^`uriTemplate` has no/);
  });
});

describe("media types", () => {
  const long = "a".repeat(127);

  test.each([
    "text/markdown",
    "image/svg+xml",
    "application/vnd.acme.page-1!#$&^_x",
    'text/html;profile="mcp app" ; charset=utf-8',
    'text/plain;a=""',
    `${long}/${long};${long}=x`,
  ])("%j is one", (mimeType) => {
    expect(placesOf({ mimeType })).toEqual([]);
  });

  test.each([
    "markdown",
    "text/",
    "/markdown",
    "text/markdown/x",
    " text/markdown",
    "text/markdown ",
    "text /markdown",
    "text/mark down",
    "text/markdown;",
    "text/markdown;charset",
    "text/markdown;charset=",
    "text/markdown;charset=a b",
    'text/markdown;charset="a',
    'text/markdown;charset=a"b',
    "text/markdown;=a",
    "text/markdown charset=a",
    `${long}a/x`,
    `x/${long}a`,
    `text/html;${long}a=x`,
    `text/html;${" ".repeat(10)}a=x`,
    `text/html${" ".repeat(10)};a=x`,
  ])("%j is none", (mimeType) => {
    expect(placesOf({ mimeType })).toEqual(["mimeType"]);
  });

  test("the fault shows one", () => {
    expect([...findResourceFaults({ mimeType: "markdown" })]).toMatchObject([
      { reason: "`mimeType` is not a media type", hint: expect.stringContaining("`text/markdown`") },
    ]);
  });
});

describe("the time of the last change", () => {
  test.each(["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00", "2026-01-31T12:00:00.123456789-11:30"])(
    "%s is a date and a time",
    (lastModified) => {
      expect(placesOf({ annotations: { lastModified } })).toEqual([]);
    },
  );

  test.each([
    "",
    "2026-01-31",
    "2026-01-31T12:00:00",
    "2026-01-31T12:00Z",
    "2026-01-31 12:00:00Z",
    "2026-13-31T12:00:00Z",
    "26-01-31T12:00:00Z",
    "12026-01-31T12:00:00Z",
    "2026-1-31T12:00:00Z",
    "2026-01-1T12:00:00Z",
    "2026-01-31T1:00:00Z",
    "2026-01-31T12:0:00Z",
    "2026-01-31T12:00:0Z",
    "2026-01-31T12:00:00.Z",
    "2026-01-31T12:00:00.1234567890Z",
    "2026-01-31T12:00:00+1:00",
    "2026-01-31T12:00:00+01:0",
    "2026-01-31T12:00:00+01",
    "2026-01-31T12:00:00Z ",
    " 2026-01-31T12:00:00Z",
  ])("%j is not", (lastModified) => {
    const faults = [...findResourceFaults({ annotations: { lastModified } })];
    const path = ["annotations", "lastModified"];
    const hint = expect.stringContaining("time zone");
    expect(faults).toMatchObject([
      { reason: "`annotations.lastModified` is not a date and time", path, hint },
    ]);
  });
});

describe("names with completions", () => {
  test("unknown names are reported in order, with the nearest known one", () => {
    const complete = { city: [], cty: [], zzz: [] };
    expect([...findCompleteFaults(complete, ["city", 5, undefined])]).toMatchObject([
      {
        reason: '`complete` has "cty", which is neither an argument nor a variable',
        path: ["complete", "cty"],
        hint: 'Did you mean "city"?',
      },
      { path: ["complete", "zzz"], hint: undefined },
    ]);
  });

  test("at most a hundred are reported", () => {
    const complete = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`name${index}`, []]));
    expect([...findCompleteFaults(complete, [])]).toHaveLength(100);
  });
});
