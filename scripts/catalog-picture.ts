// Draws docs/pictures/catalog-light.png and -dark.png, which the README shows: the catalog of the sample packs in Chromium.
// Run it after you change how the catalog looks: npx tsx scripts/catalog-picture.ts
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { buildCatalog } from "../src/catalog/build-catalog.ts";
import { writeSite } from "../src/catalog/write-site.ts";
import { findChromium } from "../test/support/chromium.ts";
import { inRepository } from "../test/support/repository.ts";
import { makeSampleProject } from "../test/support/sample-packs.ts";

const largestPicture = 150 << 10;

const program = findChromium();
if (program === undefined) throw new Error("Install Chromium, or set TRAILBLAZE_CHROMIUM");
const pictures = inRepository("docs/pictures");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-picture-")));
const browser = await chromium.launch({
  executablePath: program,
  args: process.platform === "linux" ? ["--no-sandbox"] : [],
});
try {
  mkdirSync(pictures, { recursive: true });
  makeSampleProject(folder, "harbor");
  const site = join(folder, "site");
  writeSite(site, (await buildCatalog({ cwd: folder })).files);
  for (const colorScheme of ["light", "dark"] as const) {
    // Down to the end of the drawing. At full size, the pictures are too large.
    const viewport = { width: 1200, height: 1324 };
    const page = await browser.newPage({ colorScheme, viewport, deviceScaleFactor: 0.8 });
    await page.goto(pathToFileURL(join(site, "index.html")).href);
    const path = join(pictures, `catalog-${colorScheme}.png`);
    await page.screenshot({ path });
    if (statSync(path).size > largestPicture) throw new Error(`${path} is larger than 150 KiB`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
