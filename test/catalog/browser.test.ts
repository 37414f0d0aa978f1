import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { writeSite } from "../../src/cli/commands/catalog.ts";
import { findProgram } from "../support/find-program.ts";
import { packManifest } from "../support/packs.ts";
import { makeSampleProject, samplePacks } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";

const program =
  process.env.TRAILBLAZE_CHROMIUM ||
  findProgram("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
if (program === undefined)
  process.stdout.write(
    "Left out: tests of the catalog in a browser. Install Chromium or set TRAILBLAZE_CHROMIUM.\n",
  );

const hostile = `</style></script><!--<script>canary()</script><img src=x onerror=canary()><a href="javascript:canary()">x</a> \u202eevil\u2066`;

/** A pack that tries everything to be more than text. */
const canary = {
  "node_modules/canary/package.json": packManifest("canary", {
    description: hostile,
    version: hostile,
    homepage: "javascript:canary()",
    keywords: [hostile],
    repository: "javascript:canary()//acme/x",
    trailblaze: { tools: [["bite", hostile], "gone"], servers: ["main"] },
  }),
  "node_modules/canary/trailblaze/tools/bite.json": {
    name: "canary_bite",
    title: hostile,
    description: hostile,
    inputSchema: {
      type: "object",
      properties: {
        [hostile]: { description: hostile, default: hostile, pattern: hostile, enum: [hostile] },
      },
    },
    handler: "./bite.js",
  },
  "node_modules/canary/trailblaze/servers/main.json": {
    command: "node",
    args: [hostile],
    env: { [hostile]: hostile },
  },
  "node_modules/canary/bite.js": "export default () => 'x';",
};

describe.skipIf(program === undefined)("the catalog in a browser", () => {
  const folder = makeTemporaryFolder();
  const site = join(folder.path, "site");
  let browser: Browser;
  // One page of each kind serves all tests: opening one takes longer than most tests.
  let scripted: Page;
  let plain: Page;
  /** Requests, and what scripts say and ask for. */
  const noise: string[] = [];

  beforeAll(async () => {
    const project = join(folder.path, "project");
    makeSampleProject(project, "harbor", ["canary"]);
    writeTree(project, canary);
    writeSite(site, (await buildCatalog({ cwd: project })).files);
    writeSite(join(folder.path, "empty"), (await buildCatalog({ cwd: makeEmptyProject() })).files);
    browser = await chromium.launch({
      ...(program === undefined ? {} : { executablePath: program }),
      args: process.platform === "linux" ? ["--no-sandbox"] : [],
    });
    [scripted, plain] = await Promise.all([openPage(true), openPage(false)]);
  });
  afterEach(() => {
    expect(noise.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  function makeEmptyProject(): string {
    const path = join(folder.path, "nothing");
    writeTree(path, { "package.json": { name: "nothing" } });
    return path;
  }

  async function openPage(javaScriptEnabled: boolean): Promise<Page> {
    const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
    page.on("console", (message) => noise.push(message.text()));
    page.on("pageerror", (error) => noise.push(error.message));
    page.on("request", (request) => {
      if (!request.isNavigationRequest() || !request.url().startsWith("file:")) noise.push(request.url());
    });
    page.on("dialog", async (dialog) => {
      noise.push(dialog.message());
      await dialog.dismiss();
    });
    return page;
  }

  interface Visit {
    width?: number;
    scheme?: "light" | "dark";
    script?: boolean;
  }

  /** Goes to a page as a new visitor. */
  async function open(
    path: string,
    { width = 1280, scheme = "light", script = true }: Visit = {},
  ): Promise<Page> {
    const page = script ? scripted : plain;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    const address = pathToFileURL(join(site, path)).href;
    await page.goto(address);
    return page;
  }

  const shownPacks = (page: Page) => page.locator(".card:visible h3 a").allInnerTexts();
  const shownItems = (page: Page) => page.locator(".item:visible h3 a").allInnerTexts();

  /** Violations of axe. The debugger adds its script, because the page's policy lets no other run. */
  async function findViolations(page: Page): Promise<unknown[]> {
    await page.evaluate(axe.source);
    return await page.evaluate(
      "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0]?.html]))",
    );
  }

  test("search finds packs by name, description and the names of their items, as one types", async () => {
    const page = await open("index.html");
    expect(await shownPacks(page)).toHaveLength(samplePacks.length + 1);
    await page.getByRole("searchbox").fill("createiss");
    expect(await shownPacks(page)).toEqual(["@acme/jira"]);
    expect(await shownItems(page)).toEqual(["jira_createIssue"]);
    expect(await page.locator("#status").textContent()).toMatch(/^Packs: 1 of \d+, items: 1$/);
    await page.locator(".item:visible h3 a").click();
    expect(page.url()).toMatch(/index\.html#tool:acme\/jira\/createIssue$/);
    await page.getByRole("searchbox").fill("@acme/jira");
    expect(await shownItems(page)).toContain("jira_getIssue");
  });

  test("filters by kind and by problem narrow the packs, and a search without results says so", async () => {
    const page = await open("index.html");
    await page.getByRole("button", { name: "Resources" }).click();
    expect(await shownPacks(page)).toEqual(["@globex/handbook"]);
    await page.getByRole("button", { name: "With problems" }).click();
    expect(await page.getByText("Nothing matches.").isVisible()).toBe(true);
    await page.getByRole("button", { name: "Resources" }).click();
    expect(await shownPacks(page)).toEqual(["canary"]);
    await page.getByRole("searchbox").fill("nothing has this text");
    expect(await page.getByText("Nothing matches.").isVisible()).toBe(true);
    await page.getByRole("searchbox").fill("");
    expect(await shownPacks(page)).toEqual(["canary"]);
  });

  test("without script, every pack and item is there, and no control that needs it", async () => {
    const page = await open("index.html", { script: false });
    expect(await shownPacks(page)).toHaveLength(samplePacks.length + 1);
    expect(await page.locator("#finder").isVisible()).toBe(false);
    await page.getByRole("link", { name: "@acme/jira", exact: true }).first().click();
    expect(await page.getByText("One line on what the issue is about.", { exact: true }).isVisible()).toBe(
      true,
    );
  });

  test("texts of a pack stay texts", async () => {
    const page = await open("index.html");
    await page.getByRole("searchbox").fill("bite");
    expect(await shownPacks(page)).toEqual(["canary"]);
    const found = await page.evaluate<{ scripts: number; links: string[]; text: string }>(`({
      scripts: document.scripts.length,
      images: document.images.length,
      links: [...document.links].map(({ protocol }) => protocol),
      inline: document.querySelectorAll("[style],[onerror],[onclick]").length,
      styles: document.styleSheets.length,
      text: document.body.innerText,
    })`);
    expect(new Set(found.links)).toEqual(new Set(["file:", "https:"]));
    expect(found).toMatchObject({ scripts: 1, images: 0, inline: 0, styles: 1 });
    expect(found.text).toContain("<script>canary()</script>");
    expect(found.text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test.each([
    { scheme: "light", paths: ["index.html"], width: 1280 },
    { scheme: "dark", paths: ["index.html", "../empty/index.html"], width: 360 },
  ] as const)(
    "the page follows the theme $scheme of the system and fits, and axe finds no violations",
    async ({ scheme, paths, width }) => {
      for (const path of paths) {
        const page = await open(path, { scheme, width });
        const red = "Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0])";
        expect((await page.evaluate<number>(red)) < 128).toBe(scheme === "dark");
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        expect(await findViolations(page), path).toEqual([]);
      }
    },
  );
});
