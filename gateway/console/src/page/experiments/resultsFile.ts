/** Results from a file of CSV (RFC 4180), as the command line reads them, too:
 *
 *     arm,example,sample,group,accuracy,latency_ms
 *     control,q-17,1,,1,230
 *
 * A line is the result of an example, or of a whole run. The columns are those of the API's rows, and the metrics of the plan by their keys;
 * others are left out. */
import { defined, type Schemas } from "../../api/client";
import { Problem } from "../../api/problem";
import { experimentsText } from "./text";

type Row = NonNullable<Schemas["ResultsInput"]["rows"]>[number];

const words = experimentsText.results.file;
const LABELS = ["arm", "example", "sample", "group"];
const isLabel = (column: string) => LABELS.includes(column);

/** A cell, quoted or not, and what ends it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*|))(,|\r\n|\n|\r|$)/y;

interface Line {
  number: number; // of the line of the file where it begins, from 1
  cells: string[];
}

const fault = (detail: string) => new Problem(0, words.fault, detail, null);

function countLines(ended: string): number {
  return ended.includes("\n") ? ended.split("\n").length - 1 : 0;
}

/** The lines of a text that are not empty. */
function linesOf(content: string): Line[] {
  const lines: Line[] = [];
  let line: Line = { number: 1, cells: [] };
  let number = 1;
  CELL.lastIndex = 0;
  while (CELL.lastIndex < content.length || line.cells.length > 0) {
    const match = CELL.exec(content);
    if (!match) throw fault(words.broken(number));
    const [all, quoted, plain = "", end] = match;
    number += countLines(all);
    line.cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (line.cells.length > 1 || line.cells[0] !== "") lines.push(line);
    line = { number, cells: [] };
  }
  return lines;
}

function checkColumns(columns: readonly string[], metrics: readonly string[]): void {
  const known = columns.filter((column) => metrics.includes(column) || isLabel(column));
  const twice = known.find((column, place) => known.indexOf(column) !== place);
  if (!columns.includes("arm")) throw fault(words.noArm);
  if (!columns.some((column) => metrics.includes(column))) throw fault(words.noMetric);
  if (twice !== undefined) throw fault(words.twice(twice));
}

function numberOf(cell: string, column: string, line: Line): number {
  const value = Number(cell);
  if (cell.trim() === "" || !Number.isFinite(value)) throw fault(words.noNumber(line.number, column, cell));
  return value;
}

function rowOf(line: Line, columns: readonly string[], metrics: readonly string[]): Row {
  if (line.cells.length !== columns.length) throw fault(words.cells(line.number, line.cells.length, columns.length));
  const cells = new Map(columns.map((column, place) => [column, line.cells[place] ?? ""]));
  const label = (name: string) => cells.get(name) || undefined; // an empty cell is none
  const values = metrics.filter((metric) => !isLabel(metric) && cells.get(metric));
  return {
    arm: cells.get("arm") ?? "",
    ...defined({ example: label("example"), sample: label("sample"), group: label("group") }),
    metrics: Object.fromEntries(values.map((metric) => [metric, numberOf(cells.get(metric) ?? "", metric, line)])),
  };
}

interface ResultsFile {
  rows: Row[];
  leftOut: string[]; // columns that are no metric of the plan
}

/** The text of a file, which is UTF-8 with or without a byte order mark. */
function textOf(content: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    throw fault(words.noText);
  }
}

/** The rows of a file, by the keys of the plan's metrics; throws a Problem. */
export function readResults(content: ArrayBuffer, metrics: readonly string[]): ResultsFile {
  if (metrics.length === 0) throw fault(words.noPlan);
  const [head, ...lines] = linesOf(textOf(content));
  const columns = head?.cells ?? [];
  checkColumns(columns, metrics);
  return {
    rows: lines.map((line) => rowOf(line, columns, metrics)),
    leftOut: columns.filter((column) => !metrics.includes(column) && !isLabel(column)),
  };
}
