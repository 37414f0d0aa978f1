import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../src/extension-schema/check-definition.ts";

/** The faults of a resource with these keys, whose URI is valid unless they say another. */
function faultsOf(keys: Record<string, unknown>) {
  const uri = "uriTemplate" in keys ? undefined : "docs://page";
  const definition = { name: "page", uri, text: "", ...keys };
  return checkDefinition("resource", definition, "validation").problems.map(({ path = [], args }) => {
    const { reason, hint } = args as { reason: string; hint?: string };
    return { place: path.join("."), reason, hint };
  });
}
const placesOf = (keys: Record<string, unknown>) => faultsOf(keys).map(({ place }) => place);

describe("the keys of a resource", () => {
  test.each([
    { uri: "docs://page" },
    { uri: "docs:%20a" },
    { uriTemplate: "docs://{page}", complete: { page: [] } },
  ])("%j is valid", (keys) => {
    expect(placesOf(keys)).toEqual([]);
  });

  test.each([
    [{ uri: "page" }, ["uri"]],
    [{ uri: "docs://a b" }, ["uri"]],
    [{ uri: " " }, ["uri"]],
    [{ mimeType: 5 }, ["mimeType"]],
    [{ annotations: { lastModified: 5 } }, ["annotations.lastModified"]],
    [{ uriTemplate: "docs://page" }, ["uriTemplate"]],
    [{ uriTemplate: "{page}", complete: { city: [] } }, ["uriTemplate"]],
    [{ uriTemplate: "docs://{page}", complete: { city: [], page: [] } }, ["complete.city"]],
    [{ complete: { page: [] } }, ["complete.page"]],
  ])("%j is invalid at %j", (keys, places) => {
    expect(placesOf(keys)).toEqual(places);
  });

  test("the reason continues after the key, and a template in `uri` gets a hint", () => {
    const hint = expect.stringContaining("`uriTemplate`");
    for (const uri of ["docs://{page}", "docs://{page", "docs://page}"])
      expect(faultsOf({ uri })).toMatchObject([{ reason: expect.stringMatching(/^`uri` contains/), hint }]);
    expect(faultsOf({ uri: "page" })[0]?.hint).toBeUndefined();
    expect(faultsOf({ uriTemplate: "docs://page" })[0]?.reason).toMatch(/^`uriTemplate` has no/);
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
    expect(faultsOf({ mimeType: "markdown" })).toMatchObject([
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
    const reason = "`annotations.lastModified` is not a date and time";
    const hint = expect.stringContaining("time zone");
    expect(faultsOf({ annotations: { lastModified } })).toMatchObject([{ reason, hint }]);
  });
});

test("names in `complete` that a prompt does not have are reported, with the nearest one that it has", () => {
  const content = {
    ...{ name: "one", content: "", arguments: [{ name: "city" }] },
    complete: { city: [], cty: [], zzz: [] },
  };
  expect(checkDefinition("prompt", content, "validation").problems).toMatchObject([
    {
      path: ["complete", "cty"],
      args: {
        reason: '`complete` has "cty", which is neither an argument nor a variable',
        hint: 'Did you mean "city"?',
      },
    },
    { path: ["complete", "zzz"] },
  ]);
});
