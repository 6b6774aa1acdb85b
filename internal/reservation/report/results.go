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

// Results are the outcomes of the nightly batches.
type Results struct {
	// Made is the time of creation.
	Made time.Time `json:"made"`
	// Nights are the shown batches, oldest first.
	Nights []Night `json:"nights"`
	// Lanes are the reservations, sorted by name.
	Lanes      []Lane     `json:"lanes"`
	Thresholds Thresholds `json:"thresholds"`
}

// Night is one batch.
type Night struct {
	Entry string    `json:"entry"`
	At    time.Time `json:"at"`
	// By is the user that started it manually.
	By       string `json:"by,omitempty"`
	Finished bool   `json:"finished"`
	// Failed lists the work that was not done.
	Failed string `json:"failed,omitempty"`
}

// Lane is one reservation.
type Lane struct {
	Reservation string `json:"reservation"`
	Cloud       string `json:"cloud,omitempty"`
	// Legs are the results by night; a zero Leg: no batch in that night.
	Legs []Leg `json:"legs"`
	// Rows are the cells: main, then the newest release.
	Rows []Row `json:"rows"`
}

// Leg is the result of a night at a reservation.
type Leg struct {
	Result string `json:"result,omitempty"`
	Reason string `json:"reason,omitempty"`
	Cells  int    `json:"cells"`
}

// Row is one version with one intent on one reservation.
type Row struct {
	Version string        `json:"version"`
	Intent  config.Intent `json:"intent"`
	// Current: in the newest matrix of the reservation.
	Current bool `json:"current"`
	// Cells by night; nil: not in that night's matrix.
	Cells []*matrix.Cell `json:"cells"`
	// Newest is the newest final outcome, Streak the number of consecutive nights with it, and
	// Since the first of them.
	Newest matrix.Outcome `json:"newest,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Streak int            `json:"streak,omitempty"`
	Since  time.Time      `json:"since,omitzero"`
	// LastRun is the newest night in which it passed, failed or timed out.
	LastRun time.Time `json:"ran,omitzero"`
	// Flaky and Stale have the reason; empty if it is not.
	Flaky string `json:"flaky,omitempty"`
	Stale string `json:"stale,omitempty"`
}

// Name of the row's cells.
func (r Row) Name() string { return matrix.Cell{Version: r.Version, Intent: r.Intent}.Name() }

// ResultsOptions configure NewResults.
type ResultsOptions struct {
	Now time.Time
	// Nights is the number of newest nights to show; all nights count for flaky and stale.
	Nights     int
	Thresholds Thresholds
}

// NewResults computes the results of all batches in a list of hand-overs.
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

// finish computes and sorts the rows.
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

// compareVersions orders main, then releases from the newest, then other versions.
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

// sum finds the newest outcome, its streak and the last run.
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

// ran reports whether the outcome says something about the version.
func ran(c *matrix.Cell) bool {
	return c != nil && (c.Outcome == matrix.Passed || c.Outcome == matrix.Failed || c.Outcome == matrix.TimedOut)
}

// show keeps the newest nights and the rows that are current or have a cell in them.
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
