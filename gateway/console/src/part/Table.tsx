import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";

import { IsFormer } from "./Answer";
import { useRowKeys } from "./rows";

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  figure?: boolean; // numbers, which stand at the end
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}

/** Rows of things, through which j and k move; the first column names them. Narrow windows show each row as a card. */
export function Table<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  useRowKeys();
  return (
    <table class="table" aria-label={label} aria-busy={useContext(IsFormer)}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={column.figure ? "figure" : ""}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} data-row tabIndex={-1}>
            {columns.map((column, index) =>
              index === 0 ? (
                <th key={column.name} scope="row">
                  {column.cell(row)}
                </th>
              ) : (
                <td key={column.name} data-label={column.name} class={column.figure ? "figure" : ""}>
                  {column.cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
