// The parts of Apache ECharts that the page uses.
import {BarChart, HeatmapChart, LineChart, ScatterChart} from 'echarts/charts';
import {GridComponent, TooltipComponent, VisualMapComponent} from 'echarts/components';
import * as echarts from 'echarts/core';
import {CanvasRenderer, SVGRenderer} from 'echarts/renderers';

echarts.use([
  BarChart, HeatmapChart, LineChart, ScatterChart, GridComponent, TooltipComponent,
  VisualMapComponent, CanvasRenderer, SVGRenderer
]);

export {echarts};
export type{EChartsOption} from 'echarts';
