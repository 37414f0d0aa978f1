import { expect, test } from "vitest";
import { makeProject } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";

const prompt = {
  name: "greet",
  description: "Greets.",
  content: "Hello {{who}}!",
  arguments: [{ name: "who", required: true }, { name: "tone" }],
};
const pack = {
  "package.json": { trailblaze: { prompts: ["greet"] } },
  "trailblaze/prompts/greet.json": prompt,
};

test("`prompts` lists prompts and prints their messages", async () => {
  const cwd = makeProject({ "@acme/desk": pack });
  const run = (...args: string[]) => runMain(["prompts", ...args], { cwd });
  const [listed, json, got, gotJson, missing, unknown] = await Promise.all([
    run(),
    run("--json"),
    run("greet", "who=Ada=1"),
    run("acme/desk/greet", "who=Ada", "--json"),
    run("greet"),
    run("gret", "who=Ada"),
  ]);
  expect(listed.stdout).toMatch(/greet\s+@acme\/desk\s+who \[tone\]\s+Greets\./);
  expect(JSON.parse(json.stdout)).toMatchObject({
    prompts: [{ name: "greet", title: null, description: "Greets.", source: { pack: "@acme/desk" } }],
    problems: [],
  });
  expect(got).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("user:\nHello Ada=1") });
  expect(JSON.parse(gotJson.stdout)).toMatchObject({
    description: "Greets.",
    messages: [{ role: "user", content: { type: "text" } }],
  });
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("InvalidArguments") });
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Did you mean greet?") });
});
