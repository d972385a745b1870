// A t-SNE map: targets and controls as points.
import {chart, walkInOrder} from '../chart';
import type {EChartsOption} from '../engine';
import {decimal, toNumber, word} from '../format';
import type {StudyPosition, TsneMap} from '../study_types';
import type {Palette} from '../theme';
import {axisStyle, grid} from './axes';

function option(groups: [number, number][][], colours: Palette): EChartsOption {
  const axis =
      {...axisStyle(colours), type: 'value' as const, scale: true, axisLabel: {show: false}};
  const names: ('secondary'|'noise')[] = ['secondary', 'noise'];
  return {
    grid: {...grid, left: 18, bottom: 18},
    xAxis: axis,
    yAxis: axis,
    series:
        groups.map((data, i) => ({
                     type: 'scatter' as const,
                     data,
                     symbolSize: 8,
                     symbol: i === 0 ? 'circle' : 'diamond',
                     itemStyle: {color: colours[names[i]!], opacity: 0.75},
                     emphasis: {itemStyle: {opacity: 1, borderColor: colours.text, borderWidth: 2}},
                   })),
  };
}

export function tsneChart(map: TsneMap, positions: StudyPosition[]): HTMLElement {
  const coordinates = map.coordinates ?? [];
  const count = Math.min(positions.length, Math.floor(coordinates.length / 2));
  const groups: number[][] = [[], []];
  for (let i = 0; i < count; ++i)
    groups[positions[i]!.group === 'POSITION_GROUP_TARGET' ? 0 : 1]!.push(i);
  const all = groups.flatMap((members, series) => members.map((_, index) => ({series, index})));
  const text = (i: number) => {
    const at = positions[i]!;
    return `${word(at.group, 'POSITION_GROUP_')}: sample ${at.sampleIndex}, position ${
               at.position}, token ${at.tokenId}` +
        (at.lStart === undefined ? '' : `\nfirst layer ${at.lStart}`);
  };
  const site = word(map.site, 'SITE_');
  return chart({
    title: `t-SNE of ${site}, block ${map.block}`,
    label:
        `${groups[0]!.length} targets and ${groups[1]!.length} controls; perplexity ${
            decimal(map.perplexity)}, ` +
        `divergence ${
            decimal(
                map.divergence)} nats. Only nearness means something, directions and axes do not.`,
    legend: [['secondary', 'target'], ['noise diamond', 'control']],
    canvas: count > 3000,
    option: (colours) => option(
        groups.map((members) => members.map((i) => [coordinates[2 * i]!, coordinates[2 * i + 1]!])),
        colours),
    text: (mark) => text(groups[mark.series]![mark.index]!),
    walk: walkInOrder(all.length, (i) => all[i]!),
    table: () => ({
      columns: ['group', 'sample', 'position', 'token id', 'x', 'y'],
      rows: all.map(({series, index}) => {
        const i = groups[series]![index]!;
        const at = positions[i]!;
        return [
          word(at.group, 'POSITION_GROUP_'), at.sampleIndex, at.position, at.tokenId,
          decimal(coordinates[2 * i]), decimal(coordinates[2 * i + 1])
        ];
      }),
    }),
    csv: () => ({
      columns: ['group', 'sample_index', 'position', 'token_id', 'x', 'y'],
      rows: all.map(({series, index}) => {
        const i = groups[series]![index]!;
        const at = positions[i]!;
        return [
          word(at.group, 'POSITION_GROUP_'), toNumber(at.sampleIndex), at.position, at.tokenId,
          coordinates[2 * i], coordinates[2 * i + 1]
        ];
      }),
    }),
  });
}
