import { describe, expect, test } from "vitest";
import {
  explainInvalidUri,
  fitsServerTemplate,
  identifyTemplate,
  matchUriTemplate,
  parseUriTemplate,
} from "../../src/extension-schema/uri-template.ts";

function match(template: string, uri: string) {
  const parsed = parseUriTemplate(template);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return matchUriTemplate(parsed, uri);
}

describe("a template of URIs", () => {
  test.each<[string, string, Record<string, string>]>([
    ["docs://{page}", "docs://start", { page: "start" }],
    ["docs://{book}/{page}.md", "docs://guide/intro.v1.md", { book: "guide", page: "intro.v1" }],
    ["docs://{book}-{page}", "docs://a-b-c", { book: "a", page: "b-c" }],
    [
      "http://localhost:{port}/x?city={city_1}",
      "http://localhost:80/x?city=Oslo",
      { port: "80", city_1: "Oslo" },
    ],
  ])("%s matches %s", (template, uri, variables) => {
    expect(match(template, uri)).toEqual(variables);
  });

  test.each([
    ["docs://{page}", "note://a"],
    ["docs://{page}", "docs://a/b"],
    ["docs://{page}", "docs://a%2Fb"],
    ["docs://{page}", "docs://a%5C..%5C..%5Csecret"],
    ["docs://{page}", "docs://a%00.md"],
    ["docs://{page}", "docs://%C3"],
    ["docs://{book}/{page}", "docs://../a"],
    ["memo:{a}-{b}", "memo:xy"],
  ])("%s does not match %s", (template, uri) => {
    expect(match(template, uri)).toBeUndefined();
  });

  test.each<[string, string]>([
    ["docs://guide", "has no `{variable}`"],
    ["/docs:{page}", "does not start with a scheme"],
    ["docs://{page", "the only form of level 1"],
    ["docs://{a}{b}", "two variables with nothing between them"],
    ["docs://{a}/{a}", "the only form of level 1"],
    [`docs://{a}${"x".repeat(8183)}`, "is longer than 8,192 characters"],
    ["docs://{constructor}", "the only form of level 1"],
    ...["{+a}", "{a*}", "{a:3}", "{a,b}", "{?a}", "{#a}", "{}", "{ a }", "{a.}", "{a-b}", "{%41}"].map(
      (place): [string, string] => [`docs://${place}`, "the only form of level 1"],
    ),
  ])("%s is no template", (template, fault) => {
    expect(parseUriTemplate(template)).toEqual({ fault: expect.stringContaining(fault) });
  });

  test("templates that differ in the names of their variables are equal", () => {
    const identify = (template: string) => {
      const parsed = parseUriTemplate(template);
      return "fault" in parsed ? undefined : identifyTemplate(parsed);
    };
    expect(identify("docs://{a}/{b}")).toBe(identify("docs://{c}/{d}"));
    expect(identify("docs://{a}/{b}")).not.toBe(identify("docs://{a}-{b}"));
    expect(identify("docs://{a}/b")).not.toBe(identify("docs:///b{a}"));
  });

  test("a long URI is matched step by step, without going back", () => {
    const variables = Array.from({ length: 500 }, (_, index) => `{v${index}}`);
    expect(match(`docs:${variables.join("-a")}/`, `docs:${"-a".repeat(500_000)}`)).toBeUndefined();
  });
});

test.each([
  ["docs://a%20b", undefined],
  ["docs://a b", "must be percent-encoded"],
  ["docs://%zz", "must be percent-encoded"],
  [`docs://${"x".repeat(8185)}`, undefined],
  [`docs://${"x".repeat(8186)}`, "is longer than 8,192 characters"],
  ["docs://\u001b[31m", "must be percent-encoded"],
  ["http://", "is not a valid URI"],
])("the URI %j is checked", (uri, fault) => {
  const found = explainInvalidUri(uri);
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});

test.each([
  ["db://rows/{id}", "db://rows/a%2Fb", true],
  ["db://rows/{id}", "db://rows/1/cells", false],
  ["db://rows/{id}/cells", "db://rows/1/cells", true],
  ["db://rows", "db://rows", true],
  ["db://rows", "db://rows/1", false],
  ["db://{+path}", "db://a/b", true],
  ["db://rows{?first,last}", "db://rows?first=1", true],
])("of a server, %s fits %s: %s", (template, uri, expected) => {
  expect(fitsServerTemplate(template, uri)).toBe(expected);
});
