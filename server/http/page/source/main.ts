// The page: which view the address asks for.
import './style.css';

import {report} from './api';
import {sweepCharts} from './chart';
import {h, replace} from './dom';
import {time} from './format';
import {failure} from './notice';
import {address, currentRoute, type Route} from './route';
import {startTheme} from './theme';
import {auditView} from './views/audit';
import {compareView} from './views/compare';
import {groupsView} from './views/groups';
import {modelView, modelsView} from './views/models';
import {runView} from './views/run';
import {runsView} from './views/runs';
import {tryView} from './views/try';
import type {View} from './views/view';

const pages: [string, string][] = report ?
    [['runs', 'Runs'], ['compare', 'Compare']] :
    [
      ['runs', 'Runs'], ['models', 'Models'], ['try', 'Try'], ['compare', 'Compare'],
      ['groups', 'Groups'], ['audit', 'Audit']
    ];

function viewOf({path}: Route): View|undefined {
  const [page = 'runs', id] = path;
  if (path.length > 2) return undefined;
  if (page === 'runs') return id ? runView : runsView;
  if (page === 'models') return id ? modelView : modelsView;
  if (id) return undefined;
  const views: Record<string, View> = {
    compare: compareView,
    groups: groupsView,
    try: tryView,
    audit: auditView
  };
  return Object.hasOwn(views, page) ? views[page] : undefined;
}

function showPages(current: string): void {
  replace(
      document.getElementById('pages')!,
      pages.map(
          ([page, name]) =>
              h('a', {href: address([page]), 'aria-current': page === current ? 'page' : undefined},
                name)));
}

function footer(): HTMLElement|null {
  if (!report) return null;
  return h(
      'footer', {},
      `A report of ${report.created ? time(report.created) : 'unknown time'}, written by sinkctl ` +
          `${report.sinkctl ?? ''} from the server at ${report.server ?? 'an unknown address'}.`);
}

let leaving = new AbortController();
let shownPath = '';

async function show(): Promise<void> {
  leaving.abort();
  leaving = new AbortController();
  const {signal} = leaving;
  const route = currentRoute();
  const main = document.getElementById('main')!;
  replace(main);
  sweepCharts();
  showPages(route.path[0] ?? 'runs');
  const view = viewOf(route);
  // A filter that was changed keeps the focus where it was as far as it can; a new view begins
  // anew.
  const moved = shownPath !== '' && shownPath !== route.path.join('/');
  shownPath = route.path.join('/') || 'runs';
  if (moved) {
    main.focus({preventScroll: true});
    scrollTo(0, 0);
  }
  document.title = `${route.path.at(-1) ?? 'runs'} - sinkd`;
  if (!view) {
    main.append(
        h('h1', {}, 'No such page'),
        h('p', {}, 'The address names no view of this page. ',
          h('a', {href: address(['runs'])}, 'All runs')));
    return;
  }
  try {
    await view({main, parameters: route.parameters, signal}, route.path[1] ?? '');
  } catch (error) {
    if (!signal.aborted) main.append(failure(error));
  }
}

startTheme();
const foot = footer();
if (foot) document.body.append(foot);
addEventListener('hashchange', () => void show());
void show();
