package autoscale

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// Shade is how a piece of text may be painted.
type Shade int

// The shades.
const (
	ShadeTitle Shade = iota
	ShadeTook        // within its budget
	ShadeOver        // longer than its budget
	ShadeQuiet
)

// Columns of the waterfall: it fits 80.
const (
	fallWidth = 80
	hopColumn = 14
	barColumn = fallWidth - 2 - hopColumn - 1 - 8 - 1 - 9 - 2
)

// Waterfall draws the paths in 80 columns: a row a hop, its bar where it was in
// time, dots up to its budget, and the setting that may cost most. Paint may be
// nil.
func (r Report) Waterfall(paint func(Shade, string) string) string {
	if paint == nil {
		paint = func(_ Shade, text string) string { return text }
	}
	plain := paint
	paint = func(s Shade, text string) string {
		if text == "" {
			return ""
		}
		return plain(s, text)
	}
	var b strings.Builder
	for i, p := range r.Paths {
		if i > 0 {
			b.WriteByte('\n')
		}
		p.draw(&b, paint)
	}
	return b.String()
}

func (p Path) draw(b *strings.Builder, paint func(Shade, string) string) {
	span := seconds(p.Took)
	scale := "0 s" + strings.Repeat(" ", max(1, barColumn-3-len(span))) + span
	title := fmt.Sprintf("  %-*s %8s %9s  ", hopColumn, p.Phase, "took", "budget")
	fmt.Fprintf(b, "%s%s\n", paint(ShadeTitle, title), paint(ShadeQuiet, scale))
	for _, h := range p.Hops {
		p.drawHop(b, h, paint)
	}
	if worst := p.Worst; worst > 0 {
		fmt.Fprintf(b, "  %s path %s; worst case of the settings found %s\n", p.Phase, span, seconds(worst))
	}
	if p.Slowest.Name != "" {
		for _, line := range wrap("slowest setting: "+describe(p.Slowest)+", in "+strings.Join(p.SlowestIn, " and "), fallWidth-4) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// describe says what a setting is and where it was found.
func describe(s snapshot.Setting) string {
	text := s.Name + " " + seconds(s.Value.Duration)
	switch {
	case s.Assumed && s.Source != "":
		return text + " (assumed: " + s.Source + ")"
	case s.Assumed:
		return text + " (assumed: the upstream default)"
	case s.Source != "":
		return text + " (" + s.Source + ")"
	default:
		return text
	}
}

func (p Path) drawHop(b *strings.Builder, h HopReport, paint func(Shade, string) string) {
	from, to := p.offset(h)
	budget, shade, mark := "", ShadeTook, " "
	end := to
	if h.Budget != nil {
		budget = seconds(time.Duration(*h.Budget * float64(time.Second)))
		end = max(to, from+time.Duration(*h.Budget*float64(time.Second)))
	}
	if h.Over() {
		shade, mark = ShadeOver, "!"
	}
	start, stop, edge := p.cell(from), p.cell(to), p.cell(end)
	stop = max(stop, min(start+1, barColumn)) // the shortest is seen
	start = min(start, stop-1)
	bar := strings.Repeat(" ", start) + paint(shade, strings.Repeat("█", stop-start)) + paint(ShadeQuiet, strings.Repeat("·", max(0, edge-stop)))
	fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf("  %-*s %8s %8s%s  %s", hopColumn, h.Hop, seconds(to-from), budget, mark, bar), " "))
}

// cell is the column of a time since the path began.
func (p Path) cell(at time.Duration) int {
	if p.Took <= 0 {
		return 0
	}
	return int(min(1, max(0, at.Seconds()/p.Took.Seconds()))*barColumn + 0.5)
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), "  "
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
