// Audits: the policies of deploy/policies and one's own, verdicts, and differences by test.
import {readFileSync} from 'node:fs';

import {expect, open, settled, test} from './site.js';

const policy = (name) =>
    readFileSync(new URL(`../../deploy/policies/${name}.yaml`, import.meta.url), 'utf8');
const rowsOf = (table) => table.locator('tbody tr').evaluateAll(
    (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

// The query of every audit that is asked for.
function listen(page) {
  const asked = [];
  page.on('request', (request) => {
    const {pathname, searchParams} = new URL(request.url());
    if (pathname === '/api/v1/audit')
      asked.push(Object.fromEntries([...new Set(searchParams.keys())].map(
          (key) => [key, searchParams.getAll(key).join()])));
  });
  return asked;
}

test('a ready policy judges one run by another', async ({page, site}) => {
  const asked = listen(page);
  await open(page, `${site}/#/audit`);
  await page.getByLabel('Candidate').selectOption('demo-a');
  await page.getByRole('combobox', {name: /^Baseline/}).selectOption('demo-b');
  await page.getByRole('button', {name: 'Judge'}).click();
  const table = page.getByRole('table', {name: 'Rules'});
  await expect(table).toBeVisible();
  expect(asked).toEqual(
      [{policy: policy('release-gate'), candidate: 'demo-a', baseline: 'demo-b'}]);
  expect(await rowsOf(table)).toEqual([
    ['<b>sinks</b>', 'fail', '1.5', '1', 'ratio at most 1.25', '1.375 to 1.625', 'p = 0.001',
     'p = 0.030', '100', '90', '1.5 is over 1.25'],
    ['levels', 'not enough data', '-', '-', '-', '-', '-', '-', '-', '-',
     'fewer than 20 secondary sinks']
  ]);
  await expect(page.locator('.facts .chip')).toHaveText('fail');
  expect(page.url()).toBe(`${site}/#/audit?policy=release-gate&candidate=demo-a&baseline=demo-b`);
  await page.reload();
  await expect(table, 'the address says it all').toBeVisible();
});

test('the policy can be read and changed', async ({page, site}) => {
  const asked = listen(page);
  await open(page, `${site}/#/audit`);
  for (const name of ['quantized-release', 'smoke']) {
    await page.getByLabel('Policy').selectOption(name);
    await expect(page.getByLabel('YAML')).toHaveValue(policy(name));
  }
  await page.getByText('The policy, to read or to change').click();
  await page.getByLabel('YAML').fill('name: mine # é&=\nrules: []\n');
  await expect(page.getByLabel('Policy')).toHaveValue('own');
  await page.getByLabel('Candidate').selectOption('demo-a');
  await page.getByRole('button', {name: 'Judge'}).click();
  await expect(page.getByRole('table', {name: 'Rules'})).toBeVisible();
  expect(asked).toEqual([{policy: 'name: mine # é&=\nrules: []\n', candidate: 'demo-a'}]);
  await expect(page.getByRole('columnheader', {name: 'baseline', exact: true})).toHaveCount(0);
});

test('a policy that cannot be read is told', async ({page, site, errors}) => {
  await page.route('**/api/v1/audit?*', (route) => route.fulfill({
    status: 400,
    json: {message: 'line 1, column 7: there is no measure <i>x</i>',
           details: [{reason: 'POLICY_INVALID', metadata: {fix: 'choose one of the measures'}}]}
  }));
  await open(page, `${site}/#/audit?policy=smoke&candidate=demo-a`);
  await expect(page.getByRole('alert')).toContainText('there is no measure <i>x</i>');
  await expect(page.getByRole('alert')).toContainText('choose one of the measures');
  expect(errors.splice(0).every((error) => error.includes('400'))).toBe(true);
});

test('two runs are compared by test, with intervals', async ({page, site}) => {
  const asked = listen(page);
  await open(page, `${site}/#/compare?a=demo-a&b=demo-b`);
  const table = page.getByRole('table', {name: 'Differences by test'});
  await expect(table).toBeVisible();
  const rows = new Map((await rowsOf(table)).map(([name, ...cells]) => [name, cells]));
  expect(rows.get('secondary sinks per 1,000 tokens')).toEqual([
    '35.75', '22.5', '-13.25', '-15.5 to -11.25', 'p < 0.001', 'p = 0.004', 'differs'
  ]);
  expect(rows.get('mean score of the primary sink')).toEqual([
    '0.44', '0.44', '0', '-', 'p = 0.500', 'p = 1.000', 'no difference found'
  ]);
  expect(rows.get('slope of score by ln norm').at(-1))
      .toBe('not enough data: fewer than 20 secondary sinks');
  expect(rows.get('share of samples whose primary sink moved')).toEqual([
    '-', '-', '0.125', '0.0625 to 0.25', '-', '-', 'sample by sample'
  ]);
  expect(asked.map(({candidate, baseline}) => [candidate, baseline])).toEqual([['demo-b', 'demo-a']]);
  await page.getByRole('link', {name: 'Judge the second by the first'}).click();
  await settled(page);
  await expect(page.getByLabel('Candidate')).toHaveValue('demo-b');
  await expect(page.getByRole('combobox', {name: /^Baseline/})).toHaveValue('demo-a');
});

test('slopes are compared with their intervals', async ({page, site}) => {
  await open(page, `${site}/#/compare?a=demo-a&b=demo-b`);
  const told = new RegExp('^slope of score by ln norm[0-9.]+ \\([0-9.]+ to [0-9.]+\\)');
  await expect(page.getByRole('table', {name: /Measures of both runs/})
                   .locator('tr', {hasText: 'slope of score'}))
      .toHaveText(told);
});
