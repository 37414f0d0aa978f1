// `npm pack NAME@RANGE --pack-destination=FOLDER` in a fraction of npm's time, for tests of what follows a download.
import { createWriteStream } from "node:fs";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import maxSatisfying from "semver/ranges/max-satisfying.js";

const [spec, destination] = process.argv.slice(3);
const request = (url) => new Promise((resolve, reject) => get(url, resolve).on("error", reject));
const [, name, range] = /^(@?[^@]+)@?(.*)$/.exec(spec);
const registry = process.env.npm_config_registry;
const document = JSON.parse(await text(await request(`${registry}${encodeURIComponent(name)}`)));
const { latest } = document["dist-tags"];
const version = range === "" ? latest : maxSatisfying(Object.keys(document.versions), range);
const file = `${destination.replace("--pack-destination=", "")}/x.tgz`;
(await request(document.versions[version].dist.tarball)).pipe(createWriteStream(file));
