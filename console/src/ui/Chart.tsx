import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useText } from "../text";
import "./chart.css";
import { type Column, DataTable } from "./DataTable";

export interface Series<Row> {
  name: string;
  /** Its figure of a row; none where nothing was measured. */
  of: (row: Row) => number | null;
}

export interface ChartProps<Row> {
  /** What is drawn. */
  label: string;
  rows: readonly Row[];
  /** When it was, in milliseconds; without it rows are drawn by their places, counted from 1. */
  at?: (row: Row) => number;
  /** At most two: one is drawn as filled bars, or as a line over time, the other as hollow ones, or with dashes. */
  series: readonly Series<Row>[];
  write: (value: number) => string;
  /** The same figures as a table, for whoever does not see the drawing, or wants to know exactly; where there is none, it stands beside. */
  table?: { columns: readonly Column<Row>[]; keyOf: (row: Row, place: number) => string };
  bars?: boolean;
}

const height = 180;
const day = 86_400;
const minutes = 600;
// Steps of an axis on which there is nothing between 0 and 1.
const wholes = Array.from({ length: 45 }, (_, power) => [1, 2, 5][power % 3]! * 10 ** Math.floor(power / 3));

interface Drawn {
  timed: boolean;
  /** How many there are. */
  series: number;
  write: (value: number) => string;
  bars: boolean;
  locale: string;
}

/** How figures are drawn, in the colours of where they stand. */
function optionsOf(into: HTMLElement, x: readonly number[], { timed, series, write, bars, locale }: Drawn): uPlot.Options {
  const style = getComputedStyle(into);
  const [ink, quiet, line] = [style.color, style.getPropertyValue("--mantine-color-default-border"), style.getPropertyValue("--mantine-color-anchor")];
  const span = x.at(-1)! - x[0]!;
  const when = new Intl.DateTimeFormat(locale, span > day ? { day: "numeric", month: "numeric" } : { timeStyle: span < minutes ? "medium" : "short" });
  const tick = (value: number) => (timed ? when.format(value * 1000) : Number.isInteger(value) ? String(value) : "");
  const axis = { stroke: ink, grid: { stroke: quiet, width: 1 }, ticks: { stroke: quiet, width: 1 }, font: `12px ${style.fontFamily}` };
  const paths = bars ? uPlot.paths.bars!({ size: [0.7, 40] }) : undefined;
  return {
    width: into.clientWidth, height, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: timed, ...(timed ? {} : { range: [0.5, x.length + 0.5] }) }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, ...(timed ? {} : { incrs: wholes }), values: (_, ticks) => ticks.map(tick) },
      { ...axis, ...(bars ? { incrs: wholes } : {}), size: 72, values: (_, ticks) => ticks.map(write) },
    ],
    series: [{}, ...Array.from({ length: series }, (_, number): uPlot.Series => ({
      stroke: number === 0 ? line : ink, width: 2, points: { show: !bars && x.length < 200, size: 5 },
      ...(number === 0 ? {} : { dash: [6, 4] }), ...(paths ? { paths, ...(number === 0 ? { fill: line } : {}) } : {}),
    }))],
  };
}

/** Figures, drawn, with the same figures as a table below. What is drawn is told apart by its form, not by colour alone. */
export function Chart<Row extends object>({ label, rows, at, series, write, table, bars = false }: ChartProps<Row>) {
  const { text, format: { locale } } = useText();
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const into = place.current;
    if (!into || rows.length === 0) return;
    const sorted = at ? [...rows].sort((a, b) => at(a) - at(b)) : rows;
    const x = sorted.map((row, place) => (at ? at(row) / 1000 : place + 1));
    const plot = new uPlot(optionsOf(into, x, { timed: at !== undefined, series: series.length, write, bars, locale }), [x, ...series.map(({ of }) => sorted.map(of))], into);
    const watch = new ResizeObserver(() => plot.setSize({ width: into.clientWidth, height }));
    watch.observe(into);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [rows, at, series, write, bars, locale, scheme]);
  return (
    <figure className="chart">
      <figcaption>{label}</figcaption>
      {series.length > 1 && (
        <ul className="key">{series.map(({ name }, number) => <li key={name}><span className={number === 0 ? undefined : "dashed"} aria-hidden />{name}</li>)}</ul>
      )}
      <div ref={place} role="img" aria-label={text.ui.drawn(label)} className="drawn" />
      {table && (
        <details>
          <summary>{text.ui.asTable}</summary>
          <DataTable label={label} columns={table.columns} rows={rows} keyOf={table.keyOf} />
        </details>
      )}
    </figure>
  );
}
