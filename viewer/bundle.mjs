// SPDX-License-Identifier: MIT
// bundle.mjs: makes dist/windlass.html, the page without data, and
// dist/NOTICE, the licences of what is in it. With --tests: the unit tests,
// as modules for node --test in dist/test.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const marker = "<!--windlass-data-->";

const common = {
  absWorkingDir: here,
  bundle: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  target: "es2022",
  logLevel: "warning",
};

async function bundlePage() {
  const result = await build({
    ...common,
    entryPoints: ["src/main.tsx"],
    outfile: "dist/page.js",
    format: "iife",
    minify: true,
    charset: "ascii",
    legalComments: "none",
    metafile: true,
    write: false,
  });
  const text = (suffix) =>
    result.outputFiles.find((f) => f.path.endsWith(suffix)).text.trim();
  const page = await readFile(join(here, "page.html"), "utf8");
  await mkdir(join(here, "dist"), { recursive: true });
  const licences = await notice(Object.keys(result.metafile.inputs));
  await writeFile(join(here, "dist/NOTICE"), licences);
  await writeFile(
    join(here, "dist/windlass.html"),
    fill(page, text(".js"), text(".css"), licences),
  );
}

// The policy allows this script, this style and nothing else.
function fill(page, script, style, licences) {
  if (/<\/(script|style)|<!--/i.test(script + style + licences))
    throw new Error("the bundle would end its element");
  const hash = (text) =>
    "'sha256-" + createHash("sha256").update(text).digest("base64") + "'";
  const parts = {
    "@SCRIPT_HASH@": hash(script),
    "@STYLE_HASH@": hash(style),
    "@SCRIPT@": script,
    "@STYLE@": style,
    "@NOTICE@": licences,
  };
  const filled = page.replace(/@[A-Z_]+@/g, (name) => parts[name]);
  if (filled.split(marker).length !== 2)
    throw new Error("the page has to have one place for the data");
  return filled;
}

async function notice(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) folders.add(found[1]);
  }
  const parts = ["The viewer's page contains these libraries.\n"];
  for (const folder of [...folders].sort()) {
    const root = join(here, folder);
    const about = JSON.parse(
      await readFile(join(root, "package.json"), "utf8"),
    );
    const file = (await readdir(root)).find((n) => /^licen[cs]e/i.test(n));
    if (!file) throw new Error(`no licence text in ${folder}`);
    const licence = (await readFile(join(root, file), "utf8")).trim();
    parts.push(
      `${about.name} ${about.version} (${about.license})\n\n${licence}\n`,
    );
  }
  return parts.join("\n" + "-".repeat(72) + "\n\n");
}

async function bundleTests() {
  const folder = join(here, "test");
  const names = (await readdir(folder)).filter((n) => n.endsWith(".ts"));
  await build({
    ...common,
    entryPoints: names.map((n) => join("test", n)),
    outdir: "dist/test",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
    sourcemap: "inline",
  });
}

await (process.argv.includes("--tests") ? bundleTests() : bundlePage());
