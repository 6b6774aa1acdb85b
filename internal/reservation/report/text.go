package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// Text writes the results for a terminal, at once: w reports the error.
func (g *Results) Text(w io.Writer) error {
	if len(g.Nights) == 0 {
		_, err := fmt.Fprintln(w, "no batch yet")
		return err
	}
	var b strings.Builder
	fmt.Fprintln(&b, g.Headline())
	g.byVersion(&b)
	g.byNight(&b)
	g.found(&b)
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}

// Headline summarizes the newest night.
func (g *Results) Headline() string {
	if len(g.Nights) == 0 {
		return "no batch yet"
	}
	newest := len(g.Nights) - 1
	var cells []matrix.Cell
	for _, l := range g.Lanes {
		for _, r := range l.Rows {
			if c := r.Cells[newest]; c != nil {
				cells = append(cells, *c)
			}
		}
	}
	n := g.Nights[newest]
	_, counts := matrix.Summarize(cells)
	counts, _, _ = strings.Cut(counts, ":")
	state := ""
	if !n.Finished {
		state = ", unfinished"
	}
	return fmt.Sprintf("%s; the newest, %s of %s%s: %s", countNights(len(g.Nights)), n.Entry, n.At.Format(time.DateOnly), state, counts)
}

func countNights(n int) string {
	if n == 1 {
		return "1 night"
	}
	return fmt.Sprintf("%d nights", n)
}

// byVersion writes the newest outcome of each current cell.
func (g *Results) byVersion(b *strings.Builder) {
	intents := g.intents()
	fmt.Fprintln(b)
	header := []string{"RESERVATION", "VERSION"}
	for _, i := range intents {
		header = append(header, strings.ToUpper(string(i)))
	}
	table := display.NewTable(b, header...)
	for _, l := range g.Lanes {
		for _, version := range l.versions() {
			row := []string{l.Reservation, version}
			for _, i := range intents {
				row = append(row, l.at(version, i).newest())
			}
			table.Line(row...)
		}
		if l.noCellsReason() != "" {
			table.Line(append([]string{l.Reservation, "(no cells)"}, slices.Repeat([]string{"-"}, len(intents))...)...)
		}
	}
	table.Flush()
}

// noCellsReason says why a lane had no cells in the newest night; empty if it had.
func (l Lane) noCellsReason() string {
	leg := l.Legs[len(l.Legs)-1]
	if leg.Cells > 0 || leg.Result == "" {
		return ""
	}
	return fmt.Sprintf("no cells in the newest night: %s: %s", leg.Result, matrix.FirstLine(leg.Reason))
}

func (g *Results) intents() []config.Intent {
	return slices.DeleteFunc(config.Intents(), func(i config.Intent) bool {
		return !slices.ContainsFunc(g.Lanes, func(l Lane) bool {
			return slices.ContainsFunc(l.Rows, func(r Row) bool { return r.Current && r.Intent == i })
		})
	})
}

// versions returns the versions in the newest matrix of the lane.
func (l Lane) versions() []string {
	var out []string
	for _, r := range l.Rows {
		if r.Current && !slices.Contains(out, r.Version) {
			out = append(out, r.Version)
		}
	}
	return out
}

// at returns the current row of a cell, or nil.
func (l Lane) at(version string, intent config.Intent) *Row {
	i := slices.IndexFunc(l.Rows, func(r Row) bool { return r.Current && r.Version == version && r.Intent == intent })
	if i < 0 {
		return nil
	}
	return &l.Rows[i]
}

// newest formats the newest outcome of a row.
func (r *Row) newest() string {
	if r == nil {
		return "-"
	}
	text := "not yet"
	if r.Newest != "" {
		text = fmt.Sprintf("%s %dx", r.Newest, r.Streak)
	}
	if r.Flaky != "" {
		text += " flaky"
	}
	if r.Stale != "" {
		text += " stale"
	}
	return text
}

// Day labels the column of a night: its day, with the time if another night has the same day.
func (g *Results) Day(i int) string {
	day := g.Nights[i].At.Format("01-02")
	for j, n := range g.Nights {
		if j != i && n.At.Format(time.DateOnly) == g.Nights[i].At.Format(time.DateOnly) {
			return g.Nights[i].At.Format("01-02T15:04")
		}
	}
	return day
}

func (g *Results) byNight(b *strings.Builder) {
	fmt.Fprintln(b)
	header := []string{"RESERVATION", "VERSION", "INTENT"}
	for i := range g.Nights {
		header = append(header, g.Day(i))
	}
	table := display.NewTable(b, header...)
	for _, l := range g.Lanes {
		for _, r := range l.Rows {
			row := []string{l.Reservation, r.Version, string(r.Intent)}
			for _, c := range r.Cells {
				row = append(row, Letter(c))
			}
			table.Line(row...)
		}
	}
	table.Flush()
	var legend []string
	for _, l := range letters {
		legend = append(legend, l.Letter+" "+string(l.Outcome))
	}
	fmt.Fprintf(b, "\n%s, blank: not in that night's matrix\n", strings.Join(legend, ", "))
}

// Finding needs attention.
type Finding struct {
	Type        string
	Reservation string
	Name        string
	Reason      string
	Evidence    string
}

// Findings returns the current cells that are not passed, flaky or stale, and lanes without cells.
func (g *Results) Findings() []Finding {
	var out []Finding
	for _, l := range g.Lanes {
		for _, r := range l.Rows {
			if !r.Current {
				continue
			}
			if r.Newest != "" && r.Newest != matrix.Passed {
				f := Finding{Type: string(r.Newest), Reservation: l.Reservation, Name: r.Name(), Reason: fmt.Sprintf("since %s, %s: %s", r.Since.Format(time.DateOnly), countNights(r.Streak), matrix.FirstLine(r.Reason))}
				if c := r.last(); c != nil {
					f.Evidence = c.Evidence
				}
				out = append(out, f)
			}
			if r.Flaky != "" {
				out = append(out, Finding{Type: "flaky", Reservation: l.Reservation, Name: r.Name(), Reason: r.Flaky})
			}
			if r.Stale != "" {
				out = append(out, Finding{Type: "stale", Reservation: l.Reservation, Name: r.Name(), Reason: matrix.FirstLine(r.Stale)})
			}
		}
		if reason := l.noCellsReason(); reason != "" {
			out = append(out, Finding{Type: "lane", Reservation: l.Reservation, Reason: reason})
		}
	}
	return out
}

// last returns the newest shown cell that has ended, or nil.
func (r *Row) last() *matrix.Cell {
	for _, c := range slices.Backward(r.Cells) {
		if c != nil && c.Outcome.Ended() {
			return c
		}
	}
	return nil
}

func (g *Results) found(b *strings.Builder) {
	list := g.Findings()
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(b)
	table := display.NewTable(b, "FINDING", "RESERVATION", "CELL", "REASON")
	for _, f := range list {
		reason := f.Reason
		if f.Evidence != "" {
			reason += " (" + f.Evidence + ")"
		}
		table.Line(f.Type, f.Reservation, cmp.Or(f.Name, "-"), reason)
	}
	table.Flush()
}
