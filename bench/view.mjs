// SPDX-License-Identifier: MIT
// view.mjs MODULES CHROMIUM PAGE: measures how long the page takes to show its
// flame graph and to read all samples, and the longest frame while the page is used.
import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [modules, executablePath, file] = process.argv.slice(2);
const {chromium} = createRequire(path.resolve(modules, 'x'))('playwright-core');
const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1280, height: 720}});
page.setDefaultTimeout(300000);
const metrics = await page.context().newCDPSession(page);
await metrics.send('Performance.enable', {timeDomain: 'threadTicks'});

// ms of the CPU that the page's thread has used.
async function used() {
  const all = (await metrics.send('Performance.getMetrics')).metrics;
  return 1000 * all.find(({name}) => name === 'TaskDuration').value;
}

await page.goto(pathToFileURL(path.resolve(file)).href);
await page.waitForFunction(() =>
  performance.getEntriesByName('windlass-flame').length);
const opened = await page.evaluate(() =>
  performance.getEntriesByName('windlass-flame')[0].startTime);
const toOpen = await used();
console.log(`opened ${opened.toFixed(0)} ms, CPU ${toOpen.toFixed(0)} ms`);

// Samples are read after the first picture, and the page can be used meanwhile.
await page.waitForFunction(() =>
  performance.getEntriesByName('windlass-whole').length);
const whole = await page.evaluate(() =>
  performance.getEntriesByName('windlass-whole')[0].startTime);
console.log(`whole ${whole.toFixed(0)} ms, CPU ${(await used()).toFixed(0)} ms`);

// The longest time between two frames while `act` runs.
async function longest(name, act) {
  await page.evaluate(() => {
    const watch = {last: performance.now(), most: 0, on: true};
    globalThis.watch = watch;
    const frame = () => {
      const now = performance.now();
      watch.most = Math.max(watch.most, now - watch.last);
      watch.last = now;
      if (watch.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const before = await used();
  await act();
  const most = await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => {
      watch.on = false;
      done(watch.most);
    }))));
  const cpu = await used() - before;
  console.log(`${name} ${most.toFixed(0)} ms, CPU ${cpu.toFixed(0)} ms`);
}

const box = await page.locator('#flame').boundingBox();
await longest('zoom', async () => {
  for (let depth = 2; depth < 12; depth++)
    await page.mouse.click(box.x + box.width / 3, box.y + 18 * depth + 9);
  await page.keyboard.press('Escape');
});
await longest('hover', async () => {
  for (let x = 0; x < 40; x++)
    await page.mouse.move(box.x + x * 30, box.y + 20 + 8 * x);
});
await longest('range', async () => {
  const lane = await page.locator('#lanes canvas').first().boundingBox();
  await page.mouse.move(lane.x + 10, lane.y + 10);
  await page.mouse.down();
  await page.mouse.move(lane.x + lane.width * 0.8, lane.y + 10, {steps: 12});
  await page.mouse.up();
});
await page.keyboard.press('Escape');
for (const [name, keys] of [
  ['search', ['/', 'l', 'i', 'b', '1', 'Escape']],
  ['inverted', ['s']],
  ['by module', ['s']],
  ['tree', ['s', '2']],
  ['functions', ['3']],
])
  await longest(name, async () => {
    for (const key of keys) await page.keyboard.press(key);
  });
await browser.close();
