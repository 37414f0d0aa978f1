import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";
import { completeConfig } from "./complete-config.ts";
import { faultsOfObject, faultsOfYaml } from "./configs.ts";
import { wrongByMeaning, wrongByShape } from "./wrong-values.ts";

type Schema = Record<string, unknown> & { properties: Record<string, Schema> };
const readJson = (path: string) => JSON.parse(readFileSync(inRepository(path), "utf8"));
const schema = readJson("schema/config.schema.json") as Schema;
const fitsSchema = new Ajv2020({ strict: true, allErrors: true }).compile(schema);

describe("the exported schema of the config", () => {
  test("the schema of the config accepts every key", () => {
    expect(fitsSchema(completeConfig), JSON.stringify(fitsSchema.errors)).toBe(true);
    const written = Object.keys(completeConfig).filter((key) => !key.startsWith("x-"));
    expect(["$schema", ...written].sort()).toEqual(Object.keys(schema.properties).sort());
  });

  test.each(wrongByShape)("the schema and the reader both reject %j", (config) => {
    expect(fitsSchema(JSON.parse(JSON.stringify(config)))).toBe(false);
  });

  test.each(wrongByMeaning)("the reader rejects %j, which a schema cannot express", (config) => {
    expect(fitsSchema(config)).toBe(true);
  });

  test("the schema and the reader both accept a key without a value, unless the key requires one", async () => {
    const nulls = {
      ...Object.fromEntries(Object.keys(schema.properties).map((key) => [key, null])),
      device: { platform: null, widthPixels: null },
      packs: { allow: null, onError: null, memory: null },
      lock: { frozen: null, unlocked: null },
      callback: { enabled: null },
      servers: { a: { tools: [], transport: null } },
      trailblazeSubprocessToolsets: [{ name: "a", command: "b", args: null, cwd: null, env: null }],
    };
    expect(fitsSchema(nulls), JSON.stringify(fitsSchema.errors)).toBe(true);
    expect(await faultsOfObject(nulls)).toEqual([]);
    const required = { memory: { a: null } };
    expect(fitsSchema(required)).toBe(false);
    expect(await faultsOfObject(required)).toHaveLength(1);
  });
});

describe("the configuration guide", () => {
  const page = readFileSync(inRepository("docs/guides/configuration.md"), "utf8");
  const blocks = parseMarkdown(page).filter((part) => typeof part !== "string");
  const examples = blocks.filter(({ language }) => language === "yaml").map(({ text }) => text);

  test("the configuration guide starts with an example that has every key", () => {
    const keys = Object.keys(schema.properties).filter((key) => key !== "$schema");
    expect(Object.keys(parse(examples[0] ?? "")).sort()).toEqual(keys.sort());
  });

  test.each(examples)("the schema and the reader accept the guide's example: %s", async (text) => {
    expect(fitsSchema(parse(text)), JSON.stringify(fitsSchema.errors)).toBe(true);
    expect(await faultsOfYaml(text)).toEqual([]);
  });

  test("the configuration guide has a row for every key, with its default", () => {
    const rows = new Map(
      [...page.matchAll(/^\| `([\w.$]+)` \| (.*?) \|/gm)].map(([, key = "", byDefault = ""]) => [
        key,
        byDefault,
      ]),
    );
    for (const [key, value] of Object.entries(schema.properties)) {
      if (key === "$schema") continue;
      const inner = ["device", "packs", "lock", "callback", "timeouts", "calls"].includes(key)
        ? value.properties
        : undefined;
      const wanted =
        inner === undefined
          ? [[key, value] as const]
          : Object.entries(inner).map(([name, one]) => [`${key}.${name}`, one] as const);
      for (const [name, { default: byDefault }] of wanted) {
        expect(rows.has(name), name).toBe(true);
        if (byDefault === undefined) continue;
        expect(rows.get(name), name).toBe(
          `\`${typeof byDefault === "string" ? byDefault : stringify(byDefault).trim()}\``,
        );
      }
    }
  });
});
