import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeSignIn } from "./support.ts";

type Setting = Awaited<ReturnType<typeof makeSignIn>>;

/** Changes what is stored of the tokens. */
const change = ({ stored, file }: Setting, tokens: object) => {
  const record = stored();
  writeFileSync(file, JSON.stringify({ ...record, tokens: { ...record.tokens, ...tokens } }));
};

/** A stored token of which less than a minute is left. */
const ending = () => ({ receivedAt: Date.now() - 3_550_000, lifeMs: 3_600_000 });

const call = ({ run }: Setting) => run(["call", "docs/echo"]);

/** The text of the files below a folder. */
const textIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
    .join("\n");

test("without a sign-in, the server is left out and the command that signs in is named", async () => {
  const setting = await makeSignIn();
  const tools = await setting.run(["tools", "--json"]);
  const { servers, problems } = JSON.parse(tools.stdout);
  expect(servers).toMatchObject([{ label: "docs", state: "failed", reason: "AuthorizationRequired" }]);
  expect(problems).toMatchObject([
    { code: "AuthorizationRequired", hint: expect.stringMatching(/`trailblaze login docs`.*`headers`/) },
  ]);
  const called = await call(setting);
  expect(called).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("trailblaze login docs") });
  const doctor = await setting.run(["doctor", "--json"]);
  expect(JSON.parse(doctor.stdout).checks).toContainEqual({
    name: "sign-in",
    ok: false,
    summary: "docs: never",
  });
  expect(setting.remote.to("/register")).toEqual([]);
  expect(setting.left()).toEqual([]);
});

test("from login to the second day: calls send the token, renew it, and it is in no file but its own", async () => {
  const setting = await makeSignIn();
  const { remote, run, cwd, stored, left } = setting;
  await setting.login();
  expect(await call(setting)).toMatchObject({ exitCode: 0, stdout: "called\n" });
  expect(remote.to("/token")).toHaveLength(1);
  change(setting, ending());
  const before = stored().tokens;
  expect(await call(setting)).toMatchObject({ exitCode: 0 });
  const [, refresh] = remote.to("/token");
  expect(Object.fromEntries(refresh?.form ?? [])).toMatchObject({
    grant_type: "refresh_token",
    resource: remote.url,
  });
  expect(stored().tokens.access_token).not.toBe(before.access_token);
  // The server knows none of the tokens any more, and the session renews once.
  remote.revoke();
  expect(await call(setting)).toMatchObject({ exitCode: 0 });
  expect(remote.to("/token")).toHaveLength(3);
  const doctor = await run(["doctor", "--json"]);
  expect(doctor.stdout).toMatch(/"docs: signed in until 20/);
  await run(["approve", "--all", "--yes"]);
  expect(left()).toHaveLength(1);
  const text = textIn(cwd).replaceAll(readFileSync(setting.file, "utf8"), "");
  for (const token of remote.tokens()) expect(text).not.toContain(token);
});
