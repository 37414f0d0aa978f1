import { expect, test } from "vitest";
import { fitsServerTemplate } from "../../src/extension-schema/uri-template.ts";

test.each([
  ["db://rows/{id}", "db://rows/1", true],
  ["db://rows/{id}", "db://rows/a%2Fb", true],
  ["db://rows/{id}", "db://rows/", false],
  ["db://rows/{id}", "db://rows/1/cells", false],
  ["db://rows/{id}", "db://rows/%zz", false],
  ["db://rows/{id}/cells", "db://rows/1", false],
  ["db://rows/{id}/cells", "db://rows/1/cells", true],
  ["db://{table}/{id}", "db://rows/1", true],
  ["db://rows", "db://rows", true],
  ["db://rows", "db://rows/1", false],
  ["db://{+path}", "db://a/b", true],
  ["db://rows{?first,last}", "db://rows?first=1", true],
  ["db://rows{?first,last}", "db://columns", false],
  ["{scheme}://x", "db://x", false],
])("of a server, %s fits %s: %s", (template, uri, expected) => {
  expect(fitsServerTemplate(template, uri)).toBe(expected);
});
