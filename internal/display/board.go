package display

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Row is one line of a Board.
type Row struct {
	Name   string
	State  State
	Detail string
	// Since is the start of running, Took the duration after its end.
	Since time.Time
	Took  time.Duration
}

// Options of a Board. The zero value prints plain lines.
type Options struct {
	// Live redraws in place; for terminals only.
	Live  bool
	Color bool
	// Width in columns, called at each redraw; 80 if nil or 0.
	Width func() int
	Clock func() time.Time
}

// Board holds groups of rows. It is safe for use by several goroutines.
type Board struct {
	out   io.Writer
	opts  Options
	style Style

	mu     sync.Mutex
	groups []*group
	drawn  int // lines on the screen that belong to the board
	frame  int
	done   chan struct{}
	ended  sync.WaitGroup
}

type group struct {
	title  string
	rows   []*Row
	folded bool
}

const (
	redraw     = 120 * time.Millisecond
	plainEvery = 10 * time.Second // between two progress lines of one row
)

// New returns a Board that draws to out until Close.
func New(out io.Writer, opts Options) *Board {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	b := &Board{out: out, opts: opts, style: Style{Color: opts.Color}, done: make(chan struct{})}
	if opts.Live {
		b.ended.Go(b.loop)
	}
	return b
}

func (b *Board) loop() {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-b.done:
			return
		case <-ticker.C:
			b.mu.Lock()
			b.frame++
			b.draw()
			b.mu.Unlock()
		}
	}
}

// Set changes or adds a row. In plain mode it prints changes of state.
func (b *Board) Set(title, name string, state State, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.row(title, name)
	now := b.opts.Clock()
	changed := row.State != state
	if changed && state == Running {
		row.Since = now
	}
	if changed && state != Running && !row.Since.IsZero() {
		row.Took = now.Sub(row.Since)
	}
	row.State = state
	row.Detail = Escape(detail)
	if !b.opts.Live && state != Waiting && changed {
		b.plain(title, row)
	}
}

// Progress changes the detail of a row. In plain mode it prints a line every plainEvery.
func (b *Board) Progress(title, name, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.row(title, name)
	row.Detail = detail
	now := b.opts.Clock()
	if !b.opts.Live && now.Sub(row.Since) >= plainEvery && row.Took+plainEvery <= now.Sub(row.Since) {
		row.Took = now.Sub(row.Since)
		b.plain(title, row)
	}
}

// Fold hides the done rows of a group.
func (b *Board) Fold(title string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.group(title).folded = true
}

// Log prints a line above the board.
func (b *Board) Log(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	fmt.Fprintln(b.out, escape(fmt.Sprintf(format, args...), b.style.Color, quoted))
	b.draw()
}

// Suspend erases the board while f writes to its output and reads an answer.
func (b *Board) Suspend(f func(out io.Writer)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	f(b.out)
	b.draw()
}

// Close draws the board a last time and stops it.
func (b *Board) Close() {
	close(b.done)
	b.ended.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draw()
	b.drawn = 0
}

func (b *Board) group(title string) *group {
	for _, g := range b.groups {
		if g.title == title {
			return g
		}
	}
	g := &group{title: title}
	b.groups = append(b.groups, g)
	return g
}

func (b *Board) row(title, name string) *Row {
	g := b.group(title)
	for _, r := range g.rows {
		if r.Name == name {
			return r
		}
	}
	r := &Row{Name: name}
	g.rows = append(g.rows, r)
	return r
}

func (b *Board) plain(title string, r *Row) {
	took := ""
	if r.Took > 0 {
		took = " " + Seconds(r.Took)
	}
	fmt.Fprintf(b.out, "%s  %-8s %-24s %s%s  %s\n", b.opts.Clock().Format(time.TimeOnly), title, r.Name, b.style.State(r.State, string(r.State)), took, r.Detail)
}

func (b *Board) erase() {
	if b.drawn > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA\x1b[J", b.drawn)
		b.drawn = 0
	}
}

func (b *Board) draw() {
	if !b.opts.Live {
		return
	}
	var s strings.Builder
	lines := 0
	width := 80
	if b.opts.Width != nil && b.opts.Width() > 0 {
		width = b.opts.Width()
	}
	for _, g := range b.groups {
		rows := g.visible()
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&s, "%s\n", b.style.Dim(g.title))
		lines++
		for _, r := range rows {
			s.WriteString(b.line(r, width))
			lines++
		}
	}
	b.erase()
	fmt.Fprint(b.out, s.String())
	b.drawn = lines
}

func (g *group) visible() []*Row {
	if !g.folded {
		return g.rows
	}
	var out []*Row
	for _, r := range g.rows {
		if r.State != Done {
			out = append(out, r)
		}
	}
	return out
}

func (b *Board) line(r *Row, width int) string {
	took := ""
	switch {
	case r.State == Running:
		took = Seconds(b.opts.Clock().Sub(r.Since))
	case r.Took > 0:
		took = Seconds(r.Took)
	}
	const fixed = 2 + 2 + 24 + 1 + 8 + 2
	detail := cut(r.Detail, width-fixed)
	return fmt.Sprintf("  %s %-24s %8s  %s\n", b.style.Mark(r.State, b.frame), cut(r.Name, 24), took, b.style.Dim(detail))
}

func cut(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	runes := []rune(s)
	if n < 1 {
		return ""
	}
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

// Seconds formats a duration: "0.4s", "12.3s", "7m 30s".
func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
}
