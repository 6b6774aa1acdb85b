package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// report is what a run of the bench found, as it is printed and kept.
type report struct {
	env   environment
	rows  []result
	notes []string
	// failed are the parts that ended with an error; problems are these errors and the
	// thresholds that do not hold.
	failed   []string
	problems []error
}

var columns = []string{"figure", "median", "min to max", "n", "peer", "peer's median", "ratio", "threshold", "result"}

// cells of a row, in the order of the columns.
func (r result) cells() []string {
	row := []string{r.name, "not measured", "", fmt.Sprint(r.n), r.peer, "", "", "", string(r.outcome)}
	if r.n > 0 {
		row[1] = format(r.median, r.unit)
		row[2] = format(r.min, r.unit) + " to " + format(r.max, r.unit)
	}
	if r.peer != "" {
		row[5] = "not measured"
	}
	if r.peerN > 0 {
		row[5] = format(r.peerMedian, r.unit)
	}
	if r.ratio > 0 {
		row[6] = fmt.Sprintf("%.2f", r.ratio)
	}
	if r.threshold != nil {
		row[7] = r.threshold.String()
	}
	return row
}

// text writes the table for a terminal.
func (r report) text(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range r.rows {
		fmt.Fprintln(table, strings.Join(row.cells(), "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	fmt.Fprintln(out, "\nRatio: above 1 is better than the peer.")
	for _, note := range r.notes {
		fmt.Fprintln(out, note)
	}
	return nil
}

// markdown writes the page RESULTS.md.
func (r report) markdown(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, "# Figures of what ships\n\nWritten by `make bench`. Peers ran on the same machine, in turns with firstlight. Ratio: above 1 is better than the peer.\n\n")
	markdownRow(w, "run", "")
	markdownRow(w, "---", "---")
	for _, f := range r.env.fields() {
		markdownRow(w, f.name, f.value)
	}
	fmt.Fprintln(w)
	markdownRow(w, columns...)
	markdownRow(w, "---", "--:", "--:", "--:", "---", "--:", "--:", "---", "---")
	for _, row := range r.rows {
		markdownRow(w, row.cells()...)
	}
	markdownList(w, "Notes", r.notes)
	// Without their errors, which name directories of the machine.
	markdownList(w, "Parts that ended with an error", r.failed)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

func markdownRow(w io.Writer, cells ...string) {
	for _, c := range cells {
		fmt.Fprintf(w, "| %s ", oneLine(c))
	}
	fmt.Fprintln(w, "|")
}

func markdownList(w io.Writer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n", title)
	for _, item := range items {
		fmt.Fprintf(w, "- %s\n", oneLine(item))
	}
}

// oneLine makes a text fit a cell of a table.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// format writes a value so that three digits of it can be read.
func format(value float64, u unit) string {
	switch {
	case u == seconds && value < 1:
		return fmt.Sprintf("%.1f ms", value*1000)
	case u == seconds:
		return fmt.Sprintf("%.2f s", value)
	case u == times:
		return fmt.Sprintf("%.2f%s", value, u)
	case u == bytesUnit:
		return fmt.Sprintf("%.1f MB", value/1e6)
	default:
		return fmt.Sprintf("%.0f%s", value, u)
	}
}
