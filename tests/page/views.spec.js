// Views: what they show, their addresses, and how they say that something is missing.
import {bodyOf, expect, figure, marks, open, settled, storeOff, test} from './site.js';

test('models are shown with their state', async ({page, site}) => {
  await open(page, `${site}/#/models`);
  const rows = page.getByRole('row');
  await expect(rows).toHaveCount(1 + bodyOf('/api/v1/models').models.length);
  await expect(rows.filter({hasText: 'planted'})).toContainText('cpu, float32, 1.3 GiB');
  await expect(rows.filter({
    hasText: 'broken'
  })).toContainText('model.safetensors: layer 3 holds NaN');
  await page.getByRole('link', {name: 'planted'}).click();
  await settled(page);
  await expect(page.getByText('3 tensors are not used')).toBeVisible();
});

test('runs are filtered and paged by their address', async ({page, site}) => {
  await open(page, `${site}/#/runs`);
  await expect(page.getByRole('row')).toHaveCount(1 + 25);
  await page.getByRole('link', {name: 'Older'}).click();
  await expect(page.getByRole('row')).toHaveCount(1 + 5);
  await page.getByRole('button', {name: 'Newer'}).click();
  await expect(page.getByRole('row')).toHaveCount(1 + 25);
  await page.getByLabel('Labels').fill('stage');
  await page.getByRole('button', {name: 'Filter'}).click();
  await expect(page.getByRole('row'), 'no label without a value').toHaveCount(1 + 25);
  expect(page.url()).not.toContain('label');
  await page.getByLabel('Labels').fill('stage=release');
  await page.getByRole('button', {name: 'Filter'}).click();
  await expect(page.getByRole('row')).toHaveCount(1 + 1);
  await expect(page).toHaveURL(/#\/runs\?label=stage%3Drelease/);
  await page.reload();
  await expect(page.getByRole('row')).toHaveCount(1 + 1);
  await open(page, `${site}/#/runs?model=models%2Fnone`);
  await expect(page.getByText('No run meets this filter.')).toBeVisible();
});

test(
    'two runs stand side by side, to one scale, under an address of their own',
    async ({page, site}) => {
      await open(page, `${site}/#/runs`);
      await page.getByLabel('Compare demo-a').check();
      await page.getByLabel('Compare demo-b').check();
      await page.getByRole('link', {name: 'Compare demo-a and demo-b'}).click();
      await expect(page.getByRole('heading', {level: 1})).toHaveText('demo-a and demo-b');
      await expect(page).toHaveURL(/#\/compare\?a=demo-a&b=demo-b/);
      await settled(page);
      await expect(page.getByRole('row', {
        name: /^secondary sinks 1,831/
      })).toHaveText(/1,831.*1,152.*−679/);
      const [left, right] =
          await page.locator('figure.chart').filter({hasText: 'per 1,000 tokens'}).all();
      await expect.poll(() => marks(left)).toHaveLength(10);
      await expect.poll(() => marks(right)).toHaveLength(4);
      const [a, b] = [await left.boundingBox(), await right.boundingBox()];
      expect(Math.abs(a.y - b.y)).toBeLessThan(2);
      expect(b.x).toBeGreaterThan(a.x + a.width);
      const bars = page.locator('figure.chart').filter({hasText: 'Secondary mass'});
      await expect(bars).toHaveCount(2);
    });

test('the text has its sinks marked and tells them on hover and on focus', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  const text = page.getByRole('region', {name: 'The text with its sinks marked'});
  await expect(text.locator('.tokens button')).toHaveCount(5);
  await expect(text.locator('.tokens')).toContainText('The cat, which sat');
  // Text of a model is never markup.
  await expect(text.getByRole('button', {
    name: /onerror/
  })).toHaveText('<img src=x onerror=alert(1)>');
  await expect(page.locator('main img')).toHaveCount(0);
  const tip = text.locator('.tip');
  const comma = text.locator('button[data-position="3"]');
  await comma.hover();
  await expect(tip).toBeVisible();
  await expect.poll(async () => (await tip.textContent()).split('\n')).toEqual([
    '“,” at position 3: secondary sink', 'first layer 12, lifetime 5 layers', 'score 0.13',
    'MLP norm 103', 'state norm 203'
  ]);
  await page.mouse.move(0, 0);
  await expect(tip).toBeHidden();
  await comma.focus();
  await page.keyboard.press('Tab');
  await expect(tip).toContainText('“⏎” at position 6: secondary sink');
  await page.keyboard.press('Tab');
  await expect(tip).toContainText('score undefined: no block reads it');
  await page.keyboard.press('Escape');
  await expect(tip).toBeHidden();
});

test('a sample without a portrait and one that failed say so', async ({page, site}) => {
  await open(page, `${site}/#/runs/demo-a`);
  await page.getByRole('combobox', {name: 'Sample'}).selectOption({index: 1});
  await expect(page.getByText('No text and no norms are kept of this sample')).toBeVisible();
  await expect(page.getByRole('table', {name: /Sinks of this sample/}).locator('tbody tr'))
      .toHaveCount(5);
  await page.getByRole('combobox', {name: 'Sample'}).selectOption({index: 2});
  await expect(page.getByText('the sample has 9000 tokens, the model takes 8192')).toBeVisible();
  await expect(page).toHaveURL(/sample=3/);
  await page.reload();
  await expect(page.getByText('the sample has 9000 tokens, the model takes 8192')).toBeVisible();
});

test('an empty run says what it has not', async ({page, site}) => {
  await open(page, `${site}/#/runs/nightly-00`);
  for (const words
           of ['No position past the primary sink became a sink.',
               'The run did not ask for this analysis.', 'This run holds no samples here.',
               'No studies are kept with this run.', 'undefined: no secondary sinks']) {
    await expect(page.getByText(words).first()).toBeVisible();
  }
});

test('groups are summed up', async ({page, site}) => {
  await open(page, `${site}/#/groups?grouping=LABEL&label=stage`);
  await expect.poll(() => marks(figure(page, 'Secondary sinks per 1,000 tokens'))).toHaveLength(2);
  const table = page.getByRole('table', {name: 'Differences'});
  await expect(table.locator('tbody tr')).toHaveText([
    'demo-blevels.top_tokens10: demo-b and 2 other runs3: nightly-00',
    'demo-bscoresnot asked for: demo-b and 3 other runs'
  ]);
  await table.getByRole('link', {name: 'nightly-00'}).click();
  await expect(page.getByRole('heading', {level: 1})).toHaveText('nightly-00');
});

test('the values of a label are a series with a change point', async ({page, site}) => {
  await open(page, `${site}/#/groups?grouping=LABEL&label=step&order=NUMERIC`);
  const share = figure(page, 'Share of samples with secondary');
  await expect(share).toContainText(
      'Changes between 512 and 1,000 (95% interval 512 to 1,000), from 0.0625 to 0.8125; p = 0.133.');
  await expect.poll(() => marks(share)).toHaveLength(12);
  await expect(figure(page, 'Entropy'))
      .toContainText('No change point: needs at least 5 values; there are 2.');
  await expect(page.getByRole('checkbox', {name: 'Its values are numbers'})).toBeChecked();
  await expect(page.getByRole('table', {name: 'Groups'}).locator('tbody tr')).toHaveCount(6);
  await page.getByRole('checkbox', {name: 'Its values are numbers'}).uncheck();
  await page.getByRole('button', {name: 'Sum up'}).click();
  await expect(page).toHaveURL(/grouping=LABEL&label=step$/);
});

test('a run that is not there is told', async ({page, site, errors}) => {
  await page.goto(`${site}/#/runs/none`);
  await expect(page.getByRole('alert')).toContainText('there is no run by this name');
  await page.goto(`${site}/#/nowhere`);
  await expect(page.getByRole('heading', {name: 'No such page'})).toBeVisible();
  // The browser's own word for the 404.
  expect(errors.splice(0).every((error) => error.includes('404'))).toBe(true);
});

test('a server without a store is told, with the way out', async ({page, site, errors}) => {
  await page.route(
      '**/api/v1/runs?*', (route) => route.fulfill({status: storeOff.status, json: storeOff.body}));
  await page.goto(`${site}/#/runs`);
  await expect(page.getByRole('alert')).toContainText('This server keeps no runs');
  await expect(page.getByRole('alert')).toContainText('start sinkd with --store');
  expect(errors.splice(0).every((error) => error.includes('400'))).toBe(true);
});

test('a server that is gone is told, and asked again', async ({page, site, errors}) => {
  await page.route('**/api/v1/models?*', (route) => route.abort('connectionrefused'));
  await page.goto(`${site}/#/models`);
  await expect(page.getByRole('alert')).toContainText('The server does not answer.');
  await page.unroute('**/api/v1/models?*');
  await page.getByRole('button', {name: 'Try again'}).click();
  await expect(page.getByRole('link', {name: 'planted'})).toBeVisible();
  expect(errors.splice(0).every((error) => error.includes('ERR_CONNECTION_REFUSED'))).toBe(true);
});

test('a server that asks for a token is given one, which the tab keeps', async ({page, site, errors}) => {
  const shown = [];
  await page.route('**/api/**', async (route) => {
    const header = route.request().headers().authorization;
    shown.push(header);
    if (header === 'Bearer right-token') return route.fallback();
    await route.fulfill({
      status: 401,
      contentType: 'application/json',
      body: JSON.stringify({code: 16, message: 'the token is none of this server\'s'}),
    });
  });
  await open(page, `${site}/#/runs`);
  const asked = page.getByRole('alert');
  await expect(asked).toContainText('This server asks for a token');
  expect(shown.every((header) => header === undefined)).toBe(true);

  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', {name: 'Open'}).click();
  await expect(asked).toContainText('none of this server\'s');

  await page.getByLabel('Token').fill(' right-token\n');
  await page.getByRole('button', {name: 'Open'}).click();
  await expect(page.getByRole('table').first()).toBeVisible();
  await expect(asked).toHaveCount(0);
  expect(shown.at(-1)).toBe('Bearer right-token');
  expect(page.url()).not.toContain('right-token');
  // The browser's own lines.
  errors.splice(0, errors.length, ...errors.filter((error) => !error.includes('401')));
});
