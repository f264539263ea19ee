// SPDX-License-Identifier: MIT
// speedscope.mjs MODULES CHROMIUM FILE...: opens each file in speedscope's own
// page as its Browse button does, and compares what its table of functions
// shows of each profile with the sums of what is in the file. Prints that:
//
//   title\tTITLE
//   profile\tNAME
//   row\tTOTAL\tSELF\tFUNCTION
//
// Nothing may go wrong on the page, and it may ask for nothing elsewhere.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [modules, executablePath, ...files] = process.argv.slice(2);
const {chromium} = createRequire(path.resolve(modules, 'x'))('playwright-core');
const home = path.resolve(modules, 'speedscope/dist/release/index.html');
const units = {ns: 1, µs: 1e3, ms: 1e6, s: 1e9, B: 1, KB: 1024, MB: 1024 ** 2};
let troubles = 0;

function trouble(file, text) {
  console.error(`${path.basename(file)}: ${text.slice(0, 500)}`);
  troubles++;
}

// Line breaks within a name must not look like ours.
const line = (...fields) =>
  console.log(fields.map((f) => f.replace(/[\t\r\n]/g, ' ')).join('\t'));

// {name, total, self} of the file's functions; total once for each stack.
function sums(profile, frames) {
  const rows = frames.map(({name}) => ({name, total: 0, self: 0}));
  profile.samples.forEach((stack, i) => {
    const weight = profile.weights[i];
    for (const frame of new Set(stack)) rows[frame].total += weight;
    if (stack.length) rows[stack.at(-1)].self += weight;
  });
  return rows.filter((row) => row.total !== 0);
}

// Whether "12.34ms (5%)" is how that number is shown.
function shows(text, number) {
  const [, value, unit] = text.match(/^([\d.,]+) ?(\D+?) \(/) ?? [];
  const scale = units[unit];
  const shown = Number(value?.replaceAll(',', '')) * scale;
  return Math.abs(shown - number) <= 0.01 * scale;
}

// What the table does not show as it is in the file.
function differences(profile, frames, rows) {
  const wanted = sums(profile, frames);
  const shown = rows.slice();
  const missing = wanted.filter(({name, total, self}) => {
    const at = shown.findIndex((row) => row[2] === name &&
      shows(row[0], total) && shows(row[1], self));
    if (at >= 0) shown.splice(at, 1);
    return at < 0;
  });
  return [...missing.map((row) => `shown is not ${JSON.stringify(row)}`),
    ...shown.map((row) => `shown is ${row.join(', ')}`)];
}

// The table, as soon as it is what is in the file, or after a long time.
async function readTable(page, profile, frames) {
  const rows = page.locator('table:not(:has(thead)) tr');
  for (let tries = 600; ; tries--) {
    const shown = await rows.evaluateAll((all) =>
      all.filter((row) => row.cells.length === 3) // one says there are none
        .map((row) => [...row.cells].map((cell) => cell.textContent)));
    const wrong = differences(profile, frames, shown);
    if (wrong.length === 0 || tries === 0) return {shown, wrong};
    await page.waitForTimeout(100);
  }
}

async function visit(page, file) {
  const top = JSON.parse(readFileSync(file, 'utf8'));
  const {profiles, name} = top;
  await page.goto(pathToFileURL(home).href);
  await page.locator('input[type=file]').first().setInputFiles(file);
  await page.getByText('Sandwich').first().click();
  line('title', await page.title());
  if ((await page.title()) !== `${name} - speedscope`)
    trouble(file, `the title is not of ${name}`);
  for (let i = top.activeProfileIndex; i > 0; i--)
    await page.keyboard.press('p');
  for (const [i, profile] of profiles.entries()) {
    if (i !== 0) await page.keyboard.press('n');
    if (profiles.length > 1)
      await page.getByText(`(${i + 1}/${profiles.length})`).waitFor();
    line('profile', profile.name);
    const table = await readTable(page, profile, top.shared.frames);
    for (const row of table.shown) line('row', ...row);
    for (const text of table.wrong) trouble(file, text);
  }
}

async function open(browser, file) {
  const viewport = {width: 1600, height: 4000};
  const page = await browser.newPage({viewport});
  page.setDefaultTimeout(120000);
  page.on('pageerror', (error) => trouble(file, String(error)));
  page.on('dialog', (dialog) => {
    trouble(file, `a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url()))
      trouble(file, `asks for ${request.url()}`);
  });
  await visit(page, file);
  await page.close();
}

const browser = await chromium.launch({
  executablePath,
  timeout: 120000,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader', '--allow-file-access-from-files'],
});
for (const file of files) await open(browser, file);
await browser.close();
process.exit(troubles === 0 ? 0 : 1);
