import { expect, test } from "vitest";
import {
  createEnvironment,
  type EnvironmentFacts,
  type OwnEnvironment,
} from "../../src/runtime/server-environment.ts";

const factsOf = (
  hostEnvironment: EnvironmentFacts["hostEnvironment"],
  platform: NodeJS.Platform = "linux",
): EnvironmentFacts => ({ hostEnvironment, platform });

/** The environment of a server of the user's; with `envPassthrough`, of a pack's. */
const environmentOf = (facts: EnvironmentFacts, own: Partial<OwnEnvironment> = {}) =>
  createEnvironment({ toolsetFile: "/p/server.js", env: {}, ofFile: {}, ...own }, facts);

test("no server inherits the gateway's token or the key of its states", () => {
  const facts = factsOf({ TRAILBLAZE_HTTP_TOKEN: "t", TRAILBLAZE_STATE_KEY: "k", OTHER: "o" });
  const names = ["TRAILBLAZE_HTTP_TOKEN", "TRAILBLAZE_STATE_KEY", "OTHER"];
  const expected = { OTHER: "o", TRAILBLAZE_TOOLSET_FILE: "/p/server.js" };
  expect(environmentOf(facts)).toEqual(expected);
  expect(environmentOf(facts, { envPassthrough: names })).toEqual(expected);
});

test.each([
  ["linux", "PATH", "/p/node_modules/.bin:/usr/bin:/p/node_modules/.bin/:node_modules/.bin", "/usr/bin"],
  ["win32", "Path", "C:\\p\\node_modules\\.bin;C:\\Windows", "C:\\Windows"],
] as const)("a server on %s inherits %s without folders node_modules/.bin", (platform, name, path, rest) => {
  const facts = factsOf({ [name]: path }, platform);
  expect(environmentOf(facts)[name]).toBe(rest);
  expect(environmentOf(facts, { envPassthrough: [] })[name]).toBe(rest);
});

test("a PATH that `env` sets stays as it is", () => {
  const env = { PATH: "/p/node_modules/.bin:/usr/bin" };
  expect(environmentOf(factsOf({ PATH: "/bin" }), { env }).PATH).toBe(env.PATH);
  expect(environmentOf(factsOf({ PATH: "/bin" }), { env, envPassthrough: [] }).PATH).toBe(env.PATH);
});

test("on Windows, `env` replaces a variable of the host in another case", () => {
  const facts = factsOf({ Path: "C:\\a" }, "win32");
  expect(environmentOf(facts, { env: { PATH: "C:\\b" } })).toMatchObject({ PATH: "C:\\b" });
  expect(environmentOf(facts, { env: { PATH: "C:\\b" } })).not.toHaveProperty("Path");
});
