// The weather example with real runners: the templates see the same whichever process the handler runs in.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createCelEngine } from "../../src/expressions/cel-engine.ts";
import { type Bundle, compileBundle, runBundleEntry } from "../../src/runtime/bundle.ts";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { createProcessRunner } from "../../src/runtime/process-runner.ts";
import type { OutcomeRunner } from "../../src/runtime/tool-code.ts";
import { inRepository } from "../support/repository.ts";
import { runToSuccess } from "../support/run-process.ts";
import { samplePack } from "../support/sample-packs.ts";
import { createContext, inModule } from "./run-place.ts";

const { folder } = samplePack("weather-tools");
const readYaml = (path: string) => parse(readFileSync(join(folder, "trailblaze", path), "utf8"));

function compileWeather(name: string): Bundle {
  const bundle = compileBundle(readYaml(`toolsets/${name}.yaml`), { engine: createCelEngine() });
  expect(bundle.faults).toEqual([]);
  return bundle;
}

const runners = {
  "in this process": () => createInProcessRunner({ root: folder }),
  "in a process of its own": () => createProcessRunner({ root: folder, env: {} }),
};

describe.each(Object.keys(runners) as (keyof typeof runners)[])(
  "the sample bundles of weather-tools, %s",
  (place) => {
    let runner: OutcomeRunner;
    beforeAll(() => {
      runner = runners[place]();
    });
    afterAll(() => runner.close());

    const bundles = [compileWeather("WeatherTools"), compileWeather("StationTools")];
    const call = (name: string, args: Record<string, unknown>) => {
      const entry = bundles.flatMap(({ entries }) => entries).find((one) => one.name === name);
      if (entry === undefined) throw new Error(`there is no ${name}`);
      const { handler } = entry;
      // A reference leads to a tool, whose definition says where its handler is.
      const module =
        handler.from === "module"
          ? handler.handler
          : JSON.parse(readFileSync(join(folder, "trailblaze/tools/forecast.json"), "utf8")).handler;
      const request = {
        name,
        arguments: args,
        meta: {},
        session: { id: "s", clientInfo: {}, capabilities: {} },
      };
      return runBundleEntry(entry, request, (prepared) =>
        runner.invoke(inModule(folder, module), prepared, createContext()),
      );
    };

    test.each<[string, Record<string, unknown>, unknown]>([
      [
        "weather_currentConditions",
        { city: "Lisbon", units: "fahrenheit" },
        {
          result: {
            content: [{ type: "text", text: "Lisbon: 70 degrees fahrenheit, sunny" }],
            structuredContent: { place: "Lisbon", temperature: 70, units: "fahrenheit", sky: "sunny" },
          },
        },
      ],
      [
        "weather_currentConditions",
        { city: "Bergen" },
        {
          result: {
            content: [{ type: "text", text: "Bergen: 9 degrees celsius, rain" }],
            structuredContent: { place: "Bergen", temperature: 9, units: "celsius", sky: "rain" },
          },
        },
      ],
      [
        "weather_currentConditions",
        { city: "Atlantis" },
        {
          error: {
            code: -32001,
            message: "There is no weather station in Atlantis.",
            data: { known: ["Lisbon", "Bergen", "Quito"] },
          },
        },
      ],
      [
        "weather_currentConditions",
        { city: "Quito" },
        { error: { code: -32002, message: "The station in Quito does not answer. Try again later." } },
      ],
      [
        "weather_currentConditions",
        { city: "Lisbon", units: "kelvin" },
        { error: { code: -32000, message: "The weather is not to be had." } },
      ],
      [
        "weather_weekendForecast",
        { city: "Lisbon" },
        { result: { content: [{ type: "text", text: "cloudy, then rain" }] } },
      ],
      [
        "weather_listStations",
        {},
        {
          result: {
            content: [{ type: "text", text: '{"stations":["Lisbon","Bergen","Quito"]}' }],
            structuredContent: { stations: ["Lisbon", "Bergen", "Quito"] },
          },
        },
      ],
    ])("%s of %j returns the expected result", async (name, args, outcome) => {
      expect(await call(name, args)).toEqual(outcome);
    });

    test("an error that no catch matches is reported only to the host", async () => {
      const outcome = await call("weather_weekendForecast", { city: "Quito" });
      expect(outcome).toEqual({
        error: { code: -32603, message: "The tool failed." },
        uncaught: {
          code: "STATION_OFFLINE",
          message: "The station in Quito does not answer.",
          data: '{"retryable":true}',
        },
      });
    });
  },
);

test("two bundles share one endpoint", () => {
  const endpoint = readYaml("servers/McpHttp.yaml");
  expect(endpoint).toMatchObject({ kind: "Mcp.HttpEndpoint", tools: ["WeatherTools", "StationTools"] });
});

test("a process answers other calls while hostile calls run", async () => {
  const script = inRepository("test/runtime/bundle-hostile-host.ts");
  const args = ["--import", import.meta.resolve("tsx"), script];
  // Killed, and the test failed, where a call blocks the process.
  const stdout = await runToSuccess(process.execPath, args, {
    cwd: folder,
    env: process.env,
    timeoutMs: 60_000,
  });
  const { answered, errors, longestPause } = JSON.parse(stdout);
  expect({ answered, errors }).toEqual({ answered: 3, errors: 9 });
  expect(longestPause).toBeLessThan(5000);
});
