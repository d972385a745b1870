// Try: what is asked of the server, what its answer looks like, and how refusals are told.
import {analysis, cellsOf, expect, figure, marks, open, seriousFaults, settled, showTable, showTables, test} from './site.js';

const texts = analysis.find(({record}) => record?.portrait).record.portrait.tokenTexts;
// As float32 has it.
const alpha = (block, head, position) =>
    Math.fround((1000 * block + 100 * head + position + 100) / 100000);
const told = (value) => String(Number(value.toPrecision(4)));
const tokenTitle = (text, position) => `What “${text}” at position ${position} gets of each head`;

async function run(page, site, text = 'The cat, which sat') {
  await open(page, `${site}/#/try`);
  await page.getByLabel('Text', {exact: true}).fill(text);
  await page.getByRole('button', {name: 'Run'}).click();
  await expect(page.getByText('Done.')).toBeVisible();
  await settled(page);
}

// The messages of every POST, as parsed lines, with the headers that matter.
function listen(page) {
  const posts = [];
  page.on('request', (request) => {
    if (request.method() !== 'POST') return;
    const {authorization, 'content-type': type} = request.headers();
    posts.push({
      type,
      authorization,
      url: request.url(),
      lines: request.postData().trimEnd().split('\n').map((line) => JSON.parse(line))
    });
  });
  return posts;
}

test('a text is sent with its spec, and nothing of it is in the address', async ({page, site}) => {
  const posts = listen(page);
  const text = 'First line\n"second" </script>\u2028 é';
  await run(page, site, text);
  expect(posts).toEqual([{
    type: 'application/jsonl',
    authorization: undefined,
    url: `${site}/api/v1/analyze`,
    lines: [
      {
        spec: {
          model: 'models/planted',
          scores: {curves: true, allPositions: true},
          levels: {},
          portrait: {samples: 1}
        }
      },
      {sample: {text: {text}}}
    ]
  }]);
  expect(page.url()).toBe(`${site}/#/try?model=planted`);
  await page.getByRole('link', {name: 'Runs', exact: true}).click();
  await page.getByRole('link', {name: 'Try', exact: true}).click();
  await expect(page.getByLabel('Text', {exact: true}), 'kept in the tab').toHaveValue(text);
});

test('a chat is sent turn by turn, by keyboard alone', async ({page, site}) => {
  const posts = listen(page);
  await open(page, `${site}/#/try`);
  await page.getByRole('radio', {name: 'a chat'}).focus();
  await page.keyboard.press('Space');
  await page.getByLabel('Content').fill('Why?');
  await page.getByRole('button', {name: 'Add a turn'}).press('Enter');
  await page.getByLabel('Content').nth(1).fill('Because.');
  await page.getByRole('button', {name: 'Add a turn'}).press('Enter');
  await page.getByRole('button', {name: 'Remove turn 1'}).press('Enter');
  await expect(page.getByLabel('Content')).toHaveCount(2);
  await page.getByLabel('Role').first().selectOption('system');
  await page.getByLabel('Content').nth(1).fill('And?');
  await page.getByLabel('Attention of every head').uncheck();
  await page.getByLabel('Content').nth(1).press('Control+Enter');
  await expect(page.getByText('Done.')).toBeVisible();
  expect(posts[0].lines[0].spec.scores).toEqual({curves: true, allPositions: false});
  expect(posts[0].lines[1]).toEqual({
    sample: {
      chat: {
        messages: [{role: 'system', content: 'Because.'}, {role: 'user', content: 'And?'}],
        addGenerationPrompt: true
      }
    }
  });
});

test('only loaded models can be chosen', async ({page, site}) => {
  await open(page, `${site}/#/models/planted`);
  await page.getByRole('link', {name: 'Try it on a text'}).click();
  const model = page.getByLabel('Model');
  await expect(model).toHaveValue('models/planted');
  await expect(model.locator('option[disabled]')).toHaveText([
    'broken (not loaded)', 'idle (not loaded)'
  ]);
});

test('the answer is text with sinks, maps, curves and levels', async ({page, site}) => {
  await run(page, site);
  // Two parts of one record.
  await expect(page.locator('.tokens button')).toHaveCount(5);
  await expect(page.locator('.tokens')).toContainText('<img src=x onerror=alert(1)>');
  await expect(page.locator('main img')).toHaveCount(0);
  await expect(page.locator('.token').filter({hasText: ' it'}), 'turns nothing round')
      .toHaveText(' it\\u{202e}');
  await expect(page.getByText('“<s>” at position 0, layers 3 to 19')).toBeVisible();
  await expect.poll(() => marks(figure(page, 'Sinks by first layer and lifetime'))).toHaveLength(4);
  const map = figure(page, 'Attention received, by block and position');
  expect((await marks(map)).filter(({width}) => width > 20)).toHaveLength(24 * texts.length);
  await map.locator('.keys').focus();
  await page.keyboard.press('End');
  const last = texts.length - 1;
  await expect(map.locator('.readout')).toHaveText(`block 23, position ${last} “.”; attention ${
      told(alpha(23, 1.5, last))}`);
  const curves = figure(page, 'Attention of each sink, block by block');
  await curves.locator('.keys').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  for (let i = 0; i < 9; ++i) await page.keyboard.press('ArrowLeft');
  await expect(curves.locator('.readout'))
      .toHaveText(
          'block 13; 0 “<s>” 0.44; 8 “.” 0.18; 6 “⏎” 0.01; 3 “,” 0.13; 7 “<img src=x onerror=alert(1)>” 0.01');
  await expect.poll(() => marks(figure(page, 'Attention of all sinks, block by block')))
      .toHaveLength(5 * 24);
});

test('a token that is clicked shows what it gets of each block and head', async ({page, site}) => {
  await run(page, site);
  const check = async (position, text) => {
    const chart = figure(page, tokenTitle(text, position));
    await expect.poll(() => marks(chart)).toHaveLength(24 * 4);
    await showTable(chart);
    expect(await cellsOf(chart)).toEqual([0, 1, 2, 3].map(
        (head) => [String(head),
                   ...Array.from({length: 24}, (_, block) => told(alpha(block, head, position)))]));
    await expect(page.locator('.chosen')).toHaveCount(1);
    await expect(page.getByLabel('Token at position')).toHaveValue(String(position));
  };
  await check(0, '<s>');
  await page.locator('.token', {hasText: 'cat'}).click();
  await check(2, '·cat');
  await page.locator('.sink', {hasText: 'onerror'}).click();
  await check(7, '<img src=x onerror=alert(1)>');
  // By keyboard: the field, a sink, a column of a map.
  await page.getByLabel('Token at position').fill('5');
  await page.keyboard.press('Tab');
  await check(5, '·sat');
  await page.locator('.sink[data-position="6"]').press('Enter');
  await check(6, '⏎');
  const map = figure(page, 'Norm of the states, by layer and position');
  await map.locator('.keys').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await check(1, 'The');
  await page.getByLabel('Token at position').fill('13');
  await page.keyboard.press('Tab');
  await expect(figure(page, tokenTitle('The', 1)), 'there is no such token').toBeVisible();
});

for (const [scheme, width] of [['light', 1200], ['dark', 1200], ['light', 390]]) {
  test(`axe finds no serious fault in an answer, ${scheme}, ${width} px`, async ({page, site}) => {
    await page.emulateMedia({colorScheme: scheme});
    await page.setViewportSize({width, height: 844});
    await run(page, site);
    await showTables(page);
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await page.getByRole('radio', {name: 'a chat'}).check();
    expect(await seriousFaults(page)).toEqual([]);
  });
}

const refusals = [
  [403, 'HTTP_READ_ONLY', 'The server refuses this', 'start sinkd without --http-read-only'],
  [403, 'ORIGIN_NOT_ALLOWED', 'The server refuses this', 'allow the origin'],
  [413, 'BODY_TOO_LARGE', 'The server refuses this', 'send less'],
  [429, 'TOO_MANY_REQUESTS', 'The server refuses this', 'try again'],
  [401, 'UNAUTHENTICATED', 'This server asks for a token', undefined],
  [503, 'DRAINING', 'No answer', 'ask another server'],
];
for (const [status, reason, heading, fix] of refusals) {
  test(`a refusal is told: ${status} ${reason}`, async ({page, site, errors}) => {
    await page.route('**/api/v1/analyze', (route) => route.fulfill({
      status,
      json: {message: `said by ${reason}`, details: [{reason, metadata: fix ? {fix} : {}}]}
    }));
    await open(page, `${site}/#/try`);
    await page.getByLabel('Text', {exact: true}).fill('x');
    await page.getByRole('button', {name: 'Run'}).click();
    const alert = page.getByRole('alert');
    await expect(alert).toContainText(heading);
    await expect(alert).toContainText(`said by ${reason}`);
    if (fix) await expect(alert).toContainText(fix);
    await expect(page.getByRole('button', {name: 'Run'})).toBeEnabled();
    expect(errors.splice(0).every((error) => error.includes(String(status)))).toBe(true);
  });
}

test('an error in the middle of the answer and one of the sample are told', async ({page, site}) => {
  const failed = {code: 3, message: 'the sample has 9000 tokens, the model takes 8192',
                  details: [{reason: 'SAMPLE_TOO_LONG', metadata: {fix: 'shorten it'}}]};
  for (const last of [{error: failed}, {sampleError: {status: failed}}]) {
    await page.route('**/api/v1/analyze', (route) => route.fulfill({
      contentType: 'application/jsonl',
      body: [analysis[0], last].map((line) => `${JSON.stringify(line)}\n`).join('')
    }));
    await open(page, `${site}/#/try`);
    await page.getByLabel('Text', {exact: true}).fill('x');
    await page.getByRole('button', {name: 'Run'}).click();
    await expect(page.getByRole('alert')).toContainText(failed.message);
    await expect(page.getByRole('alert')).toContainText('shorten it');
    await page.goto('about:blank');
  }
});

test('a run is stopped', async ({page, site}) => {
  let asked;
  const held = new Promise((resolve) => asked = resolve);
  await page.route('**/api/v1/analyze', () => asked());
  await open(page, `${site}/#/try`);
  await page.getByLabel('Text', {exact: true}).fill('x');
  await page.getByRole('button', {name: 'Run'}).click();
  await held;
  const failed = page.waitForEvent('requestfailed');
  await page.getByRole('button', {name: 'Stop'}).click();
  await failed;
  await expect(page.getByText('Stopped.')).toBeVisible();
  await expect(page.getByRole('button', {name: 'Run'})).toBeEnabled();
});

test('the tab\'s token is sent along', async ({page, site}) => {
  const posts = listen(page);
  await page.addInitScript(() => sessionStorage.setItem('sinkd-token', 'right-token'));
  await run(page, site);
  expect(posts.map(({authorization}) => authorization)).toEqual(['Bearer right-token']);
});
