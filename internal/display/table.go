package display

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table prints rows in aligned columns. Its writer must not fail: callers pass one in memory.
type Table struct{ w *tabwriter.Writer }

// NewTable starts a table; without a header, it has no header line.
func NewTable(w io.Writer, header ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}
	if len(header) > 0 {
		t.Line(header...)
	}
	return t
}

// Row prints one row; an empty cell is "-".
func (t *Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		if texts[i] = fmt.Sprint(cell); texts[i] == "" {
			texts[i] = "-"
		}
	}
	t.Line(texts...)
}

// Line prints one row as it is, empty cells too.
func (t *Table) Line(cells ...string) { fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

// Flush writes the table.
func (t *Table) Flush() { _ = t.w.Flush() }
