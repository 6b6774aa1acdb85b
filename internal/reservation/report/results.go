package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Grid is what the nights came to.
type Results struct {
	// Made is when.
	Made time.Time `json:"made"`
	// Nights are the batches that are shown, oldest first.
	Nights []Night `json:"nights"`
	// Lanes are the reservations, by name.
	Lanes      []Lane     `json:"lanes"`
	Thresholds Thresholds `json:"thresholds"`
}

// Night is one batch.
type Night struct {
	Entry string    `json:"entry"`
	At    time.Time `json:"at"`
	// By is who began it by hand.
	By       string `json:"by,omitempty"`
	Finished bool   `json:"finished"`
	// Failed says what was not done.
	Failed string `json:"failed,omitempty"`
}

// Lane is one reservation.
type Lane struct {
	Reservation string `json:"reservation"`
	Cloud       string `json:"cloud,omitempty"`
	// Legs are what the nights came to at it, one a night; the zero Leg: the night was
	// not there.
	Legs []Leg `json:"legs"`
	// Rows are the cells, main first, then the newest release.
	Rows []Row `json:"rows"`
}

// Leg is what a night came to at a reservation.
type Leg struct {
	Result string `json:"result,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Cells  int    `json:"cells"`
}

// Row is one version with one intent on one reservation.
type Row struct {
	Version string          `json:"version"`
	Intent  config.Intent `json:"intent"`
	// Current: the newest matrix of the reservation has it.
	Current bool `json:"current"`
	// Cells are one a night; nil: the night's matrix did not have it.
	Cells []*matrix.Cell `json:"cells"`
	// Newest is the outcome of the newest night in which it came to an end, and Streak for
	// how many nights in a row it has been that; Since is the first of them.
	Newest matrix.Outcome `json:"newest,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Streak int            `json:"streak,omitempty"`
	Since  time.Time      `json:"since,omitzero"`
	// Ran is the newest night in which it passed, failed or took too long.
	LastRun time.Time `json:"ran,omitzero"`
	// Flaky and Stale say why it is that; empty: it is not.
	Flaky string `json:"flaky,omitempty"`
	Stale string `json:"stale,omitempty"`
}

// Name is what the row's cells are called.
func (r Row) Name() string { return matrix.Cell{Version: r.Version, Intent: r.Intent}.Name() }

// Options of Of.
type ResultsOptions struct {
	Now time.Time
	// Nights are how many are shown, the newest; all that there are count for what is found.
	Nights     int
	Thresholds Thresholds
}

// Of makes a grid of hand-overs, of which the batches count.
func NewResults(all []*store.HandOver, opts ResultsOptions) *Results {
	batches := slices.DeleteFunc(slices.Clone(all), func(h *store.HandOver) bool { return h.Spec.Action != string(calendar.Batch) })
	slices.SortStableFunc(batches, func(a, b *store.HandOver) int {
		return cmp.Or(a.Spec.At.Compare(b.Spec.At.Time), cmp.Compare(a.Spec.Entry, b.Spec.Entry))
	})
	g := &Results{Made: opts.Now, Thresholds: opts.Thresholds, Nights: []Night{}, Lanes: []Lane{}}
	for _, h := range batches {
		g.Nights = append(g.Nights, Night{Entry: h.Spec.Entry, At: h.Spec.At.UTC(), By: h.Spec.By, Finished: h.Status.Finished != nil, Failed: h.Status.Failed})
	}
	for i, h := range batches {
		for _, row := range h.Status.Rows {
			g.lane(row.Reservation, len(batches)).add(i, row)
		}
	}
	for i := range g.Lanes {
		g.Lanes[i].finish(g)
	}
	slices.SortFunc(g.Lanes, func(a, b Lane) int { return cmp.Compare(a.Reservation, b.Reservation) })
	g.show(opts.Nights)
	return g
}

func (g *Results) lane(name string, nights int) *Lane {
	i := slices.IndexFunc(g.Lanes, func(l Lane) bool { return l.Reservation == name })
	if i < 0 {
		g.Lanes = append(g.Lanes, Lane{Reservation: name, Legs: make([]Leg, nights), Rows: []Row{}})
		i = len(g.Lanes) - 1
	}
	return &g.Lanes[i]
}

func (l *Lane) add(night int, h store.HandOverRow) {
	l.Cloud = cmp.Or(h.Cloud, l.Cloud)
	l.Legs[night] = Leg{Result: h.Result, Reason: h.Reason, Cells: len(h.Cells)}
	for _, c := range h.Cells {
		row := l.row(c.Version, c.Intent)
		row.Cells[night] = &c
	}
}

func (l *Lane) row(version string, intent config.Intent) *Row {
	i := slices.IndexFunc(l.Rows, func(r Row) bool { return r.Version == version && r.Intent == intent })
	if i < 0 {
		l.Rows = append(l.Rows, Row{Version: version, Intent: intent, Cells: make([]*matrix.Cell, len(l.Legs))})
		i = len(l.Rows) - 1
	}
	return &l.Rows[i]
}

// finish judges the rows and puts them into their order.
func (l *Lane) finish(g *Results) {
	newest := len(l.Legs) - 1
	for newest >= 0 && l.Legs[newest].Cells == 0 {
		newest--
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Current = newest >= 0 && r.Cells[newest] != nil
		r.sum(g.Nights)
		r.Flaky = r.flaky(g.Thresholds.Flaky)
		r.Stale = r.stale(g)
	}
	slices.SortStableFunc(l.Rows, func(a, b Row) int {
		return cmp.Or(compareVersions(a.Version, b.Version), cmp.Compare(intentOrder(a.Intent), intentOrder(b.Intent)))
	})
}

// compare orders versions: main, then the newest release, then what is neither.
func compareVersions(a, b string) int {
	rank := func(v string) (int, config.Release) {
		if v == config.MainBranch {
			return 0, config.Release{}
		}
		if r, err := config.ParseRelease(v); err == nil {
			return 1, r
		}
		return 2, config.Release{}
	}
	ra, va := rank(a)
	rb, vb := rank(b)
	return cmp.Or(cmp.Compare(ra, rb), vb.Compare(va), strings.Compare(a, b))
}

func intentOrder(i config.Intent) int { return slices.Index(config.Intents(), i) }

// sum finds the newest outcome, for how long it has been that, and when the cell ran last.
func (r *Row) sum(nights []Night) {
	for i, c := range slices.Backward(r.Cells) {
		if c == nil || !c.Outcome.Ended() {
			continue
		}
		if r.Newest == "" {
			r.Newest, r.Reason = c.Outcome, c.Reason
		}
		if c.Outcome != r.Newest {
			break
		}
		r.Streak, r.Since = r.Streak+1, nights[i].At
	}
	for i, c := range slices.Backward(r.Cells) {
		if ran(c) {
			r.LastRun = nights[i].At
			return
		}
	}
}

// ran tells that a cell says something of its version.
func ran(c *matrix.Cell) bool {
	return c != nil && (c.Outcome == matrix.Passed || c.Outcome == matrix.Failed || c.Outcome == matrix.TimedOut)
}

// show keeps the newest nights, and the rows that have a cell in them or are current.
func (g *Results) show(nights int) {
	if nights <= 0 || nights >= len(g.Nights) {
		return
	}
	from := len(g.Nights) - nights
	g.Nights = g.Nights[from:]
	for i := range g.Lanes {
		l := &g.Lanes[i]
		l.Legs = l.Legs[from:]
		for j := range l.Rows {
			l.Rows[j].Cells = l.Rows[j].Cells[from:]
		}
		l.Rows = slices.DeleteFunc(l.Rows, func(r Row) bool {
			return !r.Current && !slices.ContainsFunc(r.Cells, func(c *matrix.Cell) bool { return c != nil })
		})
	}
	g.Lanes = slices.DeleteFunc(g.Lanes, func(l Lane) bool {
		return len(l.Rows) == 0 && !slices.ContainsFunc(l.Legs, func(leg Leg) bool { return leg != Leg{} })
	})
}
