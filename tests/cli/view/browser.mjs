// SPDX-License-Identifier: MIT
// browser.mjs MODULES CHROMIUM DIR: opens the viewer's page in Chromium,
// with the recordings that lie in DIR and some that are made, and uses it.
// Nothing may go wrong on a page, and it may ask for nothing elsewhere.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [modules, executablePath, folder] = process.argv.slice(2);
const {chromium} = createRequire(path.resolve(modules, 'x'))('playwright-core');
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
const {fillPage, MadePage} = await load('dist/test/made_page.mjs');
const made = await load('dist/test/made_pages.mjs');
const template = readFileSync(path.join(folder, 'dist/windlass.html'), 'utf8');

const patient = 60000; // ms; the machine may be busy
const rowHeight = 18; // of a flame graph
const troubles = [];
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox'],
});

// Once: another test may be reading it.
const written = new Set();

function writePage(name, make) {
  const file = path.join(folder, `${name}.html`);
  if (!written.has(name)) writeFileSync(file, make());
  written.add(name);
  return pathToFileURL(file).href;
}

const madePage = (name) =>
  writePage(name, () => fillPage(template, made[name]()));

// What exportmake wrote: the two elements within a paragraph.
function recordedPage(name) {
  const elements = readFileSync(path.join(folder, `${name}.view`), 'utf8')
    .replace(/^<p>/, '')
    .replace(/<\/p>\n$/, '');
  return writePage(name, () =>
    template.split('<!--windlass-data-->').join(elements));
}

async function open(url, options = {}) {
  const page = await browser.newPage({
    viewport: {width: 1280, height: 720},
    ...options,
  });
  page.setDefaultTimeout(patient);
  const own = url.split('#')[0];
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()))
      troubles.push(`${own}: ${m.text()}`);
  });
  page.on('pageerror', (error) => troubles.push(`${own}: ${error}`));
  page.on('request', (request) => {
    const asked = request.url().split('#')[0];
    if (asked !== own && !asked.startsWith('data:'))
      troubles.push(`${own}: asks for ${asked}`);
  });
  await page.goto(url);
  await page.waitForSelector('[role=tab][aria-selected=true]');
  return page;
}

const tab = (page, name) => page.getByRole('tab', {name}).first().click();
const text = (page, selector) => page.locator(selector).first().innerText();

// Waits until the text of an element has (or is, for a string) what is wanted.
async function shows(page, selector, wanted) {
  const {source, isString} = typeof wanted === 'string'
    ? {source: wanted, isString: true} : {source: wanted.source};
  try {
    await page.waitForFunction(([selector, source, isString]) => {
      const shown = document.querySelector(selector)?.innerText ?? '';
      return isString ? shown.includes(source)
        : new RegExp(source).test(shown);
    }, [selector, source, isString]);
  } catch (error) {
    const shown = await page.locator(selector).allInnerTexts();
    throw new Error(`${selector} shows ${shown}, not ${wanted}`,
      {cause: error});
  }
}

// [{level, name, cells}] of the rows that are made.
const rows = (page, list) => page.locator(`#${list} .row`).evaluateAll(
  (found) => found.map((row) => ({
    level: Number(row.getAttribute('aria-level')),
    name: row.querySelector('.name').childNodes[
      row.querySelector('.name i') ? 1 : 0].textContent,
    cells: [...row.querySelectorAll('.cell')].map((c) => c.innerText),
  })));

// {path: count} of folded stacks with all that is below.
function folded(name) {
  const totals = new Map();
  let all = 0;
  const file = readFileSync(path.join(folder, `${name}.folded`), 'utf8');
  for (const line of file.trim().split('\n')) {
    const [, stack, count] = /^(.*) (\d+)$/.exec(line);
    const frames = stack.split(';').slice(2); // process, thread
    all += Number(count);
    frames.forEach((_, i) => {
      const key = frames.slice(0, i + 1).join(';');
      totals.set(key, (totals.get(key) ?? 0) + Number(count));
    });
  }
  return {totals, all};
}

async function press(page, selector, ...keys) {
  await page.locator(selector).focus();
  for (const key of keys) await page.keyboard.press(key);
}

async function choose(page, label, value) {
  await page.locator('.choice', {hasText: label}).locator('select').first()
    .selectOption(value);
}

async function clickFrame(page, x, depth) {
  const box = await page.locator('#flame').boundingBox();
  await page.mouse.click(box.x + x * box.width,
    box.y + (depth + 0.5) * rowHeight);
}

const tests = {
  // Every path of the call tree, and the functions, against folded stacks.
  async 'shows the sums that an export has'() {
    const page = await open(recordedPage('threads'));
    const {totals, all} = folded('threads');
    await choose(page, 'Weight', 'samples');
    await tab(page, 'Call tree');
    await page.locator('#calltree').focus();
    for (let left = 60; left > 0; left--)
      await page.keyboard.press('ArrowRight');
    const shown = new Map();
    const at = [];
    for (const {level, name, cells} of await rows(page, 'calltree')) {
      at.length = level - 1;
      at.push(name);
      shown.set(at.join(';'), cells.slice(0, 2).join(' '));
    }
    const wanted = new Map([...totals].map(([key, count]) =>
      [key, `${count} samples ${(100 * count / all).toFixed(2)}%`]));
    assert.deepEqual(new Map([...shown].sort()), new Map([...wanted].sort()));
    await tab(page, 'Functions');
    const tiny = (await rows(page, 'functions'))
      .find(({name}) => name === 'tiny');
    assert.deepEqual(tiny.cells, ['62 samples', '57.41%', '62 samples',
      '57.41%']);
    await page.close();
  },

  async 'zooms, searches and walks in the flame graph'() {
    const page = await open(madePage('cpuPage'));
    await shows(page, '#detail', 'total 100.0 ms (100.00%)');
    await clickFrame(page, 0.25, 2);
    await shows(page, '#detail', /parse.*total 50.00 ms \(50.00%\), self 30/);
    await page.locator('#unzoom').waitFor();
    await page.mouse.move(0, 0);
    await press(page, '#flame', 'ArrowDown');
    await shows(page, '#detail', /malloc .*libc.so.6.*20.00 ms \(20.00%\)/);
    await press(page, '#flame', 'ArrowUp', 'ArrowRight');
    await shows(page, '#detail', /eval.*\/src\/app.c:12 in app/);
    await press(page, '#flame', 'Escape');
    await page.locator('#unzoom').waitFor({state: 'detached'});
    await press(page, '#flame', '/');
    await page.keyboard.type('malloc');
    await shows(page, '#found', '1 of 1, 20.00% of all');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() =>
      document.querySelector('#found').innerText === '');
    await choose(page, 'Stacks', 'up');
    await press(page, '#flame', 'ArrowDown');
    await shows(page, '#detail', /eval.*total 50.00 ms \(50.00%\)/);
    await choose(page, 'Stacks', 'module');
    await press(page, '#flame', 'ArrowDown', 'ArrowDown');
    await shows(page, '#detail', /libc.so.6.*20.00 ms/);
    await page.close();
  },

  async 'follows a range, threads and the weight'() {
    const page = await open(madePage('cpuPage'));
    const lane = await page.locator('#lanes canvas').first().boundingBox();
    const y = lane.y + 10;
    await page.mouse.move(lane.x + 1, y);
    await page.mouse.down();
    await page.mouse.move(lane.x + lane.width / 4, y, {steps: 5});
    await page.mouse.up();
    await shows(page, '#selection', /µs to 2[45]\d.\d ms/);
    await shows(page, '#detail', /total (49|50|51).00 ms \(100.00%\)/);
    await page.getByRole('button', {name: 'Select all'}).click();
    await shows(page, '#detail', 'total 100.0 ms');
    await press(page, '#lanes', 'ArrowDown', 'ArrowDown', 'Enter');
    await shows(page, '#selection', '1 thread');
    await press(page, '#flame', 'ArrowDown', 'ArrowDown');
    await shows(page, '#detail', /eval.*total 50.00 ms \(100.00%\)/);
    await press(page, '#lanes', 'Escape');
    await shows(page, '#selection', 'all threads');
    await press(page, '#lanes', 'ArrowRight', 'Shift+ArrowRight');
    await shows(page, '#selection', '400.0 ms to 620.0 ms');
    await page.keyboard.press('Escape');
    await choose(page, 'Weight', 'blocked');
    await shows(page, '#detail', 'total 300.0 ms');
    await choose(page, 'Weight', 'wall');
    await shows(page, '#detail', 'total 400.0 ms');
    await page.mouse.move(lane.x + lane.width * 0.505, y);
    await shows(page, '#selection', 'frame <7>, 20.00 ms, its deadline missed');
    await page.close();
  },

  async 'is used by keys alone, and keeps its state'() {
    const page = await open(madePage('cpuPage'));
    await page.keyboard.press('2');
    await press(page, '#calltree', 'Home', 'ArrowDown', 'ArrowLeft',
      'ArrowLeft');
    await shows(page, '#calltree [aria-selected=true]', 'main');
    await page.keyboard.press('3');
    await press(page, '#functions', 'Home', 'ArrowDown');
    await shows(page, '#functions [aria-selected=true]', 'parse');
    await shows(page, '.source tr.first', /30.00%\s+50.00%\s+3\s+line 3;/);
    await page.keyboard.press('Enter');
    await shows(page, '#focus', 'Focused on parse');
    await shows(page, '#detail', 'all through parse');
    await page.keyboard.press('r');
    await page.waitForFunction(() => location.hash.includes('collapse=true'));
    await page.reload();
    await shows(page, '#focus', 'Focused on parse');
    assert.ok(await page.locator('#collapse').isChecked());
    await page.keyboard.press('?');
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({state: 'detached'});
    await shows(page, '#focus', 'Focused on parse');
    await page.getByRole('tab', {name: 'Flame graph'}).focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('#calltree').waitFor();
    await page.keyboard.press('End');
    await shows(page, '#panel', 'How walks of stacks ended');
    await shows(page, '#panel', 'the ring was full');
    await page.close();
  },

  // Each tab says how many there are and leads to all of them.
  async 'searches in every tab'() {
    const page = await open(madePage('cpuPage'));
    await press(page, '#flame', '/');
    await page.keyboard.type('eval');
    for (const [name, count, selected] of [
      ['Flame graph', '1 of 2', null],
      ['Call tree', '1 of 2', '#calltree [aria-selected=true]'],
      ['Functions', '1 of 1', '#functions [aria-selected=true]'],
      ['Call graph', '1 of 1', null]]) {
      await tab(page, name);
      await shows(page, '#found', count);
      if (selected) await shows(page, selected, 'eval');
    }
    await tab(page, 'Call tree');
    await page.locator('#next').click();
    await shows(page, '#found', '2 of 2');
    await page.waitForFunction(() => document.querySelector(
      '#calltree [aria-selected=true]').getAttribute('aria-level') === '3');
    await page.locator('#previous').click();
    await shows(page, '#found', '1 of 2');
    await page.locator('#search').fill('parse');
    await tab(page, 'Stack chart');
    await shows(page, '#found', '1 of 50');
    await shows(page, '#detail', 'parse');
    await page.locator('#search').fill('/ev(al/');
    await shows(page, '#found', 'Unterminated group');
    assert.equal(await page.locator('#search').getAttribute('aria-invalid'),
      'true');
    await page.locator('#search').fill('nobody');
    await shows(page, '#found', 'none found');
    await page.locator('#search').fill('frame');
    await tab(page, 'Marks');
    await shows(page, '#found', '1 of 1');
    await tab(page, 'Quality');
    await page.locator('#search').fill('libc');
    await shows(page, '#found', '1 of 1');
    await page.close();
  },

  async 'changes stacks by a menu, and undoes it'() {
    const page = await open(madePage('cpuPage'));
    const item = (name) => page.getByRole('menuitem', {name});
    const menuOf = async (...keys) => {
      await press(page, '#flame', 'Home', ...keys, 'm');
      await page.getByRole('menu').waitFor();
    };
    await menuOf('ArrowDown', 'ArrowDown');
    await item(/^Merge it/).click(); // parse
    await press(page, '#flame', 'Home', 'ArrowDown', 'ArrowDown',
      'ArrowRight');
    await shows(page, '#detail', /malloc.*20.00 ms/);
    await page.getByRole('button', {name: 'Without parse'}).waitFor();
    await page.keyboard.press('Control+z');
    await press(page, '#flame', 'ArrowLeft');
    await menuOf('ArrowDown', 'ArrowDown');
    await page.keyboard.press('ArrowDown');
    await item(/^Drop stacks/).focus();
    await page.keyboard.press('Enter');
    await shows(page, '#detail', /total 50.00 ms \(100.00%\)/);
    await page.waitForFunction(() => location.hash.includes('dropped='));
    await page.reload();
    await shows(page, '#detail', /total 50.00 ms \(100.00%\)/);
    await page.getByRole('button', {name: 'Dropped parse'}).click();
    await shows(page, '#detail', 'total 100.0 ms');
    await page.locator('#undo').click();
    await shows(page, '#detail', 'total 50.00 ms');
    await page.locator('#undo').waitFor({state: 'detached'});
    await page.getByRole('button', {name: 'Dropped parse'}).click();
    await menuOf('ArrowDown', 'ArrowDown', 'ArrowDown');
    await item(/^Show its callers/).click(); // malloc
    await shows(page, '#detail', 'all callers of malloc');
    await press(page, '#flame', 'ArrowDown', 'ArrowDown');
    await shows(page, '#detail', /parse.*total 20.00 ms \(100.00%\)/);
    await press(page, '#flame', 'Escape');
    await shows(page, '#detail', 'total 100.0 ms');
    await menuOf('ArrowDown', 'ArrowDown');
    await item(/^Collapse what it calls/).click();
    await press(page, '#flame', 'Home', 'ArrowDown', 'ArrowDown');
    await shows(page, '#detail', /parse.*self 50.00 ms/);
    await menuOf('ArrowDown', 'ArrowDown');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({state: 'detached'});
    await page.close();
  },

  async 'copies and focuses by a right click, and goes on from the graph'() {
    const page = await open(madePage('cpuPage'));
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard',
      {value: {writeText: async (t) => { globalThis.copied = t; }}}));
    const copied = () => page.evaluate(() => globalThis.copied);
    const box = await page.locator('#flame').boundingBox();
    const choose = async (name) => { // of the menu of parse
      await page.mouse.click(box.x + 0.25 * box.width,
        box.y + 2.5 * rowHeight, {button: 'right'});
      await page.getByRole('menuitem', {name, exact: true}).click();
    };
    await choose('Copy name');
    assert.equal(await copied(), 'parse');
    await choose('Copy stack');
    assert.equal(await copied(), 'parse\nmain');
    await choose('Zoom to it');
    await page.locator('#unzoom').click();
    await choose('Focus on it: only stacks through it, from it on');
    await shows(page, '#focus', 'Focused on parse');
    await shows(page, '#detail', 'total 50.00 ms (100.00%)');
    await choose('Copy a link to this view');
    const other = await open(await copied());
    await shows(other, '#focus', 'Focused on parse');
    await shows(other, '#detail', 'total 50.00 ms (100.00%)');
    await other.close();
    await choose('Show all stacks as they are');
    await shows(page, '#detail', 'total 100.0 ms');
    await tab(page, 'Marks');
    await shows(page, '#panel', '1 mark of all threads');
    await page.getByRole('button', {name: 'Duration'}).click();
    await page.getByRole('button', {name: 'Duration', pressed: true}).waitFor();
    await page.locator('#lanes .label', {hasText: 'worker'}).click();
    await shows(page, '#panel', '0 marks of the chosen threads');
    await page.getByRole('button', {name: 'Select all'}).click();
    await tab(page, 'Call graph');
    const node = page.locator('.graph .box', {hasText: 'parse'});
    await node.click();
    await page.locator('.graph .chosen[aria-pressed=true]').waitFor();
    await node.click({button: 'right'});
    await page.getByRole('menuitem', {name: 'Show its source'}).click();
    await shows(page, '.source tr.first', 'line 3;');
    await page.getByRole('tab', {name: 'Callers and callees'}).click();
    await page.getByRole('button', {name: 'Tree of its callers'}).click();
    await shows(page, '#calltree', /50.00 ms[^]*parse[^]*main/);
    await page.close();
  },

  async 'shows stacks in the order of time, marks, and calls'() {
    const page = await open(madePage('cpuPage'));
    await tab(page, 'Stack chart');
    await shows(page, '#panel', 'Thread');
    await shows(page, '#panel .axis', '200.0 ms');
    await page.locator('#chart').focus();
    await press(page, '#chart', 'Home', 'End');
    await shows(page, '#detail', /main .*900.0 ms .*, blocked/);
    await press(page, '#chart', 'Enter');
    await shows(page, '#selection', /to 900.0 ms/);
    await press(page, '#chart', 'Backspace');
    await shows(page, '#selection', 'all of the time');
    await tab(page, 'Marks');
    await press(page, '#marks', 'Home', 'b');
    await shows(page, '#selection', '460.0 ms to 500.0 ms (40.00 ms)');
    await page.getByRole('button', {name: 'Choose its time'}).click();
    await shows(page, '#selection', '500.0 ms to 520.0 ms');
    await page.getByRole('button', {name: 'Select all'}).click();
    await tab(page, 'Functions');
    await page.getByRole('tab', {name: 'Callers and callees'}).click();
    await page.locator('#functions .row', {hasText: 'parse'}).click();
    await shows(page, '#side-panel',
      /Called by\s+50.00 ms\s+50.00%\s+main[^]*Calls\s+30.00 ms\s+30.00%\s+its own code\s+20.00 ms\s+20.00%\s+malloc/);
    await page.getByRole('tab', {name: 'Assembly'}).click();
    await shows(page, '#side-panel', /30\.00 ms of CPU time/);
    await shows(page, '#instructions',
      /75\.00%\s+4\s+1141\s+mov eax, dword ptr \[rdi\]\s+25\.00%\s+5\s+1143\s+· add/);
    await page.locator('#functions .row', {hasText: 'eval'}).first().click();
    await shows(page, '#side-panel', 'windlass annotate --asm');
    await page.close();
  },

  async 'tells which part of a moment a thread was blocked'() {
    const page = await open(madePage('cpuPage'));
    const lane = await page.locator('#lanes canvas').nth(1).boundingBox();
    await page.mouse.move(lane.x + lane.width * 0.75, lane.y + 10);
    await shows(page, '#selection', '100% blocked');
    // From the bottom to the top.
    const colors = await page.locator('#lanes canvas').nth(1).evaluate((c) => {
      const context = c.getContext('2d');
      const x = Math.floor(c.width * 0.75);
      const {data} = context.getImageData(x, 0, 1, c.height);
      return [6, c.height >> 1, c.height - 2].map((y) =>
        data.slice(4 * y, 4 * y + 4).join());
    });
    assert.equal(new Set(colors).size, 1, colors.join(' '));
    await press(page, '#lanes', 'Home', 'x');
    await page.waitForFunction(() =>
      document.querySelectorAll('#lanes .lane').length === 1);
    await shows(page, '#lanes', '2 threads');
    await page.close();
  },

  async 'shows more rows of many threads, and fewer again'() {
    const page = await open(writePage('manyThreads', () => {
      const many = new MadePage();
      const process = many.process();
      for (let t = 0; t < 20; t++) {
        const thread = many.thread(process, `worker ${t}`);
        many.samples.push([thread, 1000 * t, many.stack('main'), 1000, 0]);
      }
      return fillPage(template, many);
    }));
    const tall = () => page.locator('#lanes').evaluate((e) => e.clientHeight);
    const few = await tall();
    await page.getByRole('button', {name: 'More rows'}).click();
    await page.getByRole('button', {name: 'Fewer rows'}).waitFor();
    assert.ok(await tall() > few, `${await tall()} is not more than ${few}`);
    await page.getByRole('button', {name: 'Fewer rows'}).click();
    await page.getByRole('button', {name: 'More rows'}).waitFor();
    assert.equal(await tall(), few);
    await page.close();
  },

  // axe-core's rules for WCAG 2.1 A and AA, those on contrast in both themes.
  async 'can be used by everyone'() {
    const axe = readFileSync(
      path.resolve(modules, 'axe-core/axe.min.js'), 'utf8');
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, tabs] of [
        ['cpuPage', ['Flame graph', 'Call tree', 'Functions', 'Stack chart',
          'Marks', 'Call graph', 'Quality']],
        ['heapPage', ['Heap', 'Sizes']],
        ['growthPage', ['Flame graph', 'Functions']],
        ['memoryPage', ['Memory']],
        ['heldPage', ['Retained']]]) {
        const page = await open(
          madePage(name) + '#search="e"&kind="growth"', {colorScheme});
        await page.evaluate(axe);
        for (const one of tabs) {
          await tab(page, one);
          const broken = await page.evaluate(async () => {
            const dark = document.documentElement.dataset.theme === 'dark';
            const {violations} = await globalThis.axe.run(document, {
              runOnly: dark ? ['color-contrast']
                : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
            });
            return violations.map(({id, nodes}) =>
              `${id}: ${nodes.slice(0, 3).map((n) => n.html).join(' ')}`);
          });
          assert.deepEqual(broken, [], `${one}, ${colorScheme}`);
        }
        await page.close();
      }
    }
  },

  async 'is light or dark, and narrow'() {
    const page = await open(madePage('cpuPage'), {
      colorScheme: 'dark',
      viewport: {width: 800, height: 600},
    });
    const theme = () => page.evaluate(() =>
      document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await page.locator('#theme').click();
    await page.waitForFunction(() =>
      document.documentElement.dataset.theme === 'light');
    for (const name of ['Call tree', 'Functions', 'Stack chart', 'Marks',
      'Call graph', 'Quality', 'Flame graph']) {
      await tab(page, name);
      assert.ok(await page.evaluate(() =>
        document.documentElement.scrollWidth <= innerWidth), name);
    }
    await page.close();
  },

  async 'shows hostile names as text'() {
    for (const url of [recordedPage('hostile'), madePage('hostilePage')]) {
      const page = await open(url);
      for (const key of ['2', '3', '4', '5', '6', '8', '1']) {
        await page.keyboard.press(key);
        await page.locator('#panel').waitFor();
        assert.ok(await page.evaluate(() =>
          document.documentElement.scrollWidth <= innerWidth));
      }
      await page.keyboard.press('3');
      const names = (await rows(page, 'functions')).map(({name}) => name);
      assert.ok(names.some((n) => n.startsWith('<script>')), names.join());
      // Nothing of them acts: neither as elements nor on the text's order.
      assert.equal(await page.locator('#app script, #app img, #app b b')
        .count(), 0);
      assert.equal(await page.evaluate(() => globalThis.broken), undefined);
      const all = await page.evaluate(() => document.body.innerText);
      assert.doesNotMatch(all, /[\u202a-\u202e\u2066-\u2069\0\u0007\u001b]/);
      assert.match(names.join(), /\\u202e/);
      assert.match(names.join(), /\\x07/);
      await page.close();
    }
  },

  async 'shows heaps by kind, and what was found'() {
    const page = await open(madePage('heapPage'));
    await shows(page, '#detail', 'total 12.00 KiB');
    await page.locator('.curve canvas').waitFor();
    await choose(page, 'Blocks', 'live');
    await shows(page, '#detail', 'total 4.00 KiB');
    await choose(page, 'in', 'blocks');
    await shows(page, '#detail', 'total 4 blocks');
    await page.getByRole('button', {name: /Lost at the end/}).click();
    await shows(page, '#detail', /malloc.*4 blocks \(100.00%\)/);
    await page.getByRole('tab', {name: 'Call tree'}).click();
    await shows(page, '#calltree [aria-selected=true]', 'malloc');
    await choose(page, 'Blocks', 'peak');
    await choose(page, 'in', 'bytes');
    await page.getByRole('tab', {name: 'Sizes'}).click();
    await shows(page, '#block-sizes',
      /1\.00 KiB to 2\.00 KiB\s+4 blocks\s+4\.00 KiB\s+33\.33%/);
    await shows(page, '#block-sizes', /2\.00 KiB to .*\s+8\.00 KiB\s+66\.67%/);
    await choose(page, 'Blocks', 'live');
    assert.equal(await page.locator('#block-sizes tbody tr').count(), 1);
    await page.close();
    const recorded = await open(recordedPage('heap'));
    await tab(recorded, 'Quality');
    const quality = await recorded.locator('#panel').innerText();
    assert.match(quality, /How frames were found/);
    assert.doesNotMatch(quality, /No stack was walked/);
    await tab(recorded, 'Heap');
    await choose(recorded, 'Blocks', 'all');
    const {totals, all} = folded('heap');
    await shows(recorded, '#detail', /total [\d.]+ KiB|MiB/);
    await recorded.getByRole('tab', {name: 'Functions'}).click();
    const malloc = (await rows(recorded, 'functions'))
      .find(({name}) => name === 'malloc');
    const bytes = [...totals].filter(([key]) => key.endsWith(';malloc'))
      .reduce((sum, [, count]) => sum + count, 0);
    assert.equal(malloc.cells[1], `${(100 * bytes / all).toFixed(2)}%`);
    await recorded.getByRole('tab', {name: 'Sizes'}).click();
    await shows(recorded, '#block-sizes', /100\.00%|\d\d\.\d\d%/);
    await recorded.close();
  },

  async 'shows what grew between two snapshots'() {
    const page = await open(madePage('growthPage'));
    await choose(page, 'Blocks', 'growth');
    await shows(page, '#detail', 'total +11.00 KiB, self ±0 B');
    await page.getByRole('tab', {name: 'Functions'}).click();
    const first = async () => (await rows(page, 'functions'))[0];
    assert.deepEqual(await first(), {level: 0, name: 'main',
      cells: ['±0 B', '+11.00 KiB', '11.00 KiB', '']});
    await page.getByLabel('from').focus(); // by keys alone
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => location.hash.includes('since=2'));
    await shows(page, '#functions .row .name', 'eval');
    const shrunk = (await rows(page, 'functions')).slice(-2);
    assert.deepEqual(shrunk.map(({name, cells}) => [name, cells[1]]),
      [['gone', '−100 B'], ['parse', '−1.00 KiB']]);
    await page.reload();
    await page.getByRole('tab', {name: 'Call tree'}).click();
    await page.locator('#calltree .row', {hasText: 'main'}).waitFor();
    const main = (await rows(page, 'calltree'))
      .find(({name}) => name === 'main');
    assert.deepEqual(main.cells, ['+6.90 KiB', '8.00 KiB', '1.10 KiB']);
    await page.getByRole('tab', {name: 'Flame graph'}).click();
    await press(page, '#flame', 'Home', 'ArrowDown', 'ArrowDown',
      'ArrowRight');
    await shows(page, '#detail', /parse.*total −1.00 KiB/);
    await choose(page, 'in', 'blocks');
    await shows(page, '#detail',
      'total ±0 blocks, self ±0 blocks; 2 blocks more, 2 blocks less');
    await page.getByRole('tab', {name: 'Sizes'}).click();
    await shows(page, '#heap-panel', 'not known of each snapshot');
    await page.close();
    const none = await open(madePage('heapPage'));
    assert.equal(await none.locator('option[value=growth]').count(), 0);
    await none.close();
  },

  async 'is asked for growth on the curve'() {
    const page = await open(madePage('growthPage'));
    const over = page.locator('.curve .u-over');
    const {x, y, width, height} = await over.boundingBox();
    // The curve is of 0.9 s, with snapshots at 0.1, 0.2 and 0.4 s.
    const at = (s) => x + (s / 0.9) * width;
    await page.mouse.move(at(0.22), y + height / 2);
    await page.mouse.down();
    await page.mouse.move(at(0.3), y + height / 2);
    await page.mouse.move(at(0.42), y + height / 2);
    await page.mouse.up();
    await page.waitForFunction(() =>
      document.querySelector('option[value=growth]').selected);
    const chosen = await page.locator('.choice', {hasText: /^(from|to)/})
      .locator('select').evaluateAll((all) => all.map((s) => s.value));
    assert.deepEqual(chosen, ['2', '4']);
    await shows(page, '#detail', /7.1. KiB more|\+/);
    await page.close();
  },

  async 'shows reports of memory over time'() {
    const page = await open(madePage('memoryPage'));
    const list = () => rows(page, 'memory-tree');
    await shows(page, '#memory-tree', '8.00 KiB');
    assert.deepEqual((await list()).map(({name, cells}) => [name, ...cells]), [
      ['explicit', '8.00 KiB', '100.00%'],
      ['cache', '6.00 KiB', '75.00%'],
      ['users', '1.00 KiB', '12.50%'],
      ['leaky', '1.00 KiB', '12.50%'],
      ['faults', '7', ''],
      ['wrong', '-512 B (?!)', '']]);
    await press(page, '#report', 'ArrowLeft', 'ArrowLeft');
    await shows(page, '#report-name', '1: 1970-01-01 00:00:01');
    await shows(page, '#memory-tree', '3.00 KiB');
    await press(page, '#report', 'End');
    await choose(page, 'compared with', '0');
    await shows(page, '#memory-tree', /\+5.00 KiB/);
    await press(page, '#memory-tree', 'ArrowDown', 'ArrowRight', 'ArrowDown');
    await shows(page, '#memory-detail', 'explicit/cache/entries');
    await shows(page, '#memory-detail', '+4.00 KiB');
    await page.getByRole('button', {name: 'Show over time'}).click();
    await shows(page, '.curve .legend', 'explicit/cache/entries');
    await press(page, '#areas', 'ArrowUp', 'ArrowRight');
    await shows(page, '#memory-detail', 'explicit/leaky');
    await page.waitForFunction(() => location.hash.includes('part=4'));
    await page.reload();
    await shows(page, '#memory-detail', 'explicit/leaky');
    await page.locator('.area', {hasText: 'entries'}).click();
    await shows(page, '#memory-detail', 'explicit/cache/entries');
    const {x, y, width, height} =
      await page.locator('.curve .u-over').boundingBox();
    await page.mouse.click(x + 2, y + height / 2);
    await shows(page, '#report-name', '1: ');
    await page.mouse.move(x + width * 0.45, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.8, y + height / 2);
    await page.mouse.move(x + width - 2, y + height / 2);
    await page.mouse.up();
    await shows(page, '#memory-tree', /\+4.00 KiB/);
    await page.locator('#search').fill('leak');
    await shows(page, '.found-text', '1');
    await shows(page, '#memory-detail', 'explicit/leaky');
    assert.equal(
      await page.getByRole('tab', {name: 'Quality'}).count(), 0);
    await page.close();
  },

  async 'shows who holds blocks'() {
    const page = await open(madePage('heldPage'));
    await tab(page, 'Retained');
    await press(page, '#retained', 'Home', 'ArrowDown');
    await shows(page, '#retained-detail', '`cache` of app');
    await shows(page, '#retained-detail', 'retained 900 B (69.23%)');
    await shows(page, '#chains', 'It is a root');
    await press(page, '#retained', 'ArrowDown', 'ArrowDown');
    await shows(page, '#chains',
      /800 B in 2 blocks[^]*fill \(app.c:3\) at offset 24, perhaps[^]*root/);
    await shows(page, '#chains', /400 B in 1 block[^]*lost: no root/);
    await choose(page, 'Retained', 'site');
    const box = await page.locator('#retained').boundingBox();
    await page.mouse.click(box.x + 0.9 * box.width, box.y + 1.5 * rowHeight);
    await shows(page, '#chains h2', 'value (app.c:9)');
    await page.waitForFunction(() => location.hash.includes('held=3'));
    await page.reload();
    await shows(page, '#chains h2', 'value (app.c:9)');
    await page.locator('#search').fill('fill');
    await shows(page, '#retained-detail', 'fill (app.c:3)');
    await tab(page, 'Flame graph');
    await shows(page, '#detail', 'total 900 B');
    await page.close();
    const none = await open(madePage('heapPage'));
    assert.equal(await none.getByRole('tab', {name: 'Retained'}).count(), 0);
    await none.close();
  },

  async 'shows how two recordings differ'() {
    const page = await open(madePage('diffPage'));
    await press(page, '#flame', 'ArrowDown', 'ArrowDown', 'ArrowRight');
    await shows(page, '#detail',
      /parse.*A: .*\(40.00%\).*B: .*\(20.00%\).*−20.00 pp/);
    await tab(page, 'Functions');
    await page.getByRole('button', {name: 'Change'}).click();
    await page.waitForFunction(() =>
      document.querySelector('#functions .row .name').innerText
        .match(/new_one|parse/));
    const found = await rows(page, 'functions');
    assert.deepEqual(found.find(({name}) => name === 'new_one').cells,
      ['0.00%', '20.00%', '+20.00 pp', '0.00%', '20.00%']);
    await page.close();
  },
};

let failed = 0;
const todo = Object.entries(tests);

// Two at a time: a page waits most of the time.
async function work() {
  for (let next; (next = todo.shift());) {
    const [name, run] = next;
    try {
      await run();
    } catch (error) {
      failed++;
      console.log(`view ${name}: ${String(error.stack).slice(0, 2000)}`);
    }
  }
}

await Promise.all([work(), work()]);
for (const trouble of troubles) console.log(`view: ${trouble}`);
await browser.close();
process.exit(failed || troubles.length ? 1 : 0);
