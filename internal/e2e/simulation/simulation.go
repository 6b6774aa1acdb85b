package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Options of a simulation.
type Options struct {
	// Dir is the directory of the simulation; all files are below it.
	Dir string
	// Scenes are the names of the scenes to run; none: all. Days is the number of days, one scene
	// each; 0: one per scene.
	Scenes []string
	Days   int
	// Command runs this program.
	Command []string
	// Log receives the events in readable form.
	Log io.Writer
}

// Report is the result of a simulation.
type Report struct {
	Passed bool      `json:"passed"`
	Begins time.Time `json:"begins"`
	Ends   time.Time `json:"ends"`
	// TookSeconds is real time.
	TookSeconds float64        `json:"tookSeconds"`
	Days        []Day          `json:"days"`
	HandOvers   int            `json:"handOvers"`
	Cells       map[string]int `json:"cells"`
	// Leases counts all leases, cleaning leases included.
	Leases int `json:"leases"`
	// Dir has the logs of the controllers, the results, the metrics and the history.
	Dir string `json:"dir"`
	// Findings that belong to no single day.
	Findings []Finding `json:"findings"`
}

// Day is the result of one day.
type Day struct {
	Begins   time.Time `json:"begins"`
	Scene    string    `json:"scene"`
	Title    string    `json:"title"`
	Findings []Finding `json:"findings"`
}

var errNoLeader = errors.New("no controller leads")

// Run runs a simulation. An error means that it could not be run to its end; differences from the
// expected results are in the report.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	list, err := chosen(o.Scenes)
	if err != nil {
		return nil, err
	}
	p := &runner{opts: o, dir: o.Dir, memos: map[string]int64{}, quitters: map[string]context.CancelCauseFunc{}}
	begun := time.Now()
	if p.clock, err = clock.Open(p.clockPath()); err != nil {
		return nil, err
	}
	p.people = clock.NewIdleTracker(p.clock)
	if err := p.prepare(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.tidy(ctx)) }()
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	begins := nextMonday(time.Now())
	if err := p.clock.Jump(begins.Add(-30 * time.Minute)); err != nil {
		return nil, err
	}
	if err := p.startController(ctx); err != nil {
		return nil, err
	}
	r := &Report{Begins: begins, Dir: p.dir, Cells: map[string]int{}}
	for i := range cmp.Or(o.Days, len(list)) {
		d, err := p.day(ctx, begins.AddDate(0, 0, i), list[i%len(list)])
		if err != nil {
			return nil, fmt.Errorf("day %d: %w", i+1, err)
		}
		r.Days = append(r.Days, d)
	}
	r.Ends = p.clock.Now().UTC()
	if err := p.conclude(ctx, r); err != nil {
		return nil, err
	}
	r.TookSeconds = time.Since(begun).Round(100 * time.Millisecond).Seconds()
	return r, nil
}

// nextMonday returns the morning of the next Monday: the clock can only be set ahead.
func nextMonday(now time.Time) time.Time {
	t := time.Date(now.Year(), now.Month(), now.Day(), 15, 0, 0, 0, time.UTC)
	for t = t.AddDate(0, 0, 1); t.Weekday() != time.Monday; {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

// open starts the store.
func (p *runner) open(ctx context.Context) error {
	if _, err := p.firstlight(ctx, "reservation", "store", "up"); err != nil {
		return err
	}
	out, err := p.firstlight(ctx, "reservation", "store", "kubeconfig")
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", string(out[:max(0, len(out)-1)]))
	if err != nil {
		return fmt.Errorf("connect to the store: %w", err)
	}
	if p.store, err = store.NewKube(config); err != nil {
		return err
	}
	p.broker = broker.New(broker.Options{Store: p.store, Clock: p.clock})
	return nil
}

// day runs one scene, from shortly before the morning to shortly before the next.
func (p *runner) day(ctx context.Context, begins time.Time, s scene) (Day, error) {
	p.logf("== %s", s.title)
	end := begins.Add(24*time.Hour - 30*time.Minute)
	if err := p.runUntil(ctx, end, s.events(begins)); err != nil {
		return Day{}, err
	}
	m, err := p.morning(ctx, begins)
	if err != nil {
		return Day{}, err
	}
	d := Day{Begins: begins, Scene: s.name, Title: s.title, Findings: append([]Finding{}, s.expect(m)...)}
	for _, f := range d.Findings {
		p.logf("FINDING %s: %s", f.Subject, f.Reason)
	}
	return d, nil
}

// record reads the record of a day.
func (p *runner) morning(ctx context.Context, begins time.Time) (dayRecord, error) {
	m := dayRecord{begins: begins, history: map[string][]lease.Event{}}
	all, err := p.store.ListHandOvers(ctx, begins.Add(-time.Minute))
	if err != nil {
		return m, err
	}
	for _, h := range all {
		switch h.Spec.Action {
		case "up":
			m.up = h
		case "down":
			m.down = h
		case "batch":
			m.batch = h
		}
	}
	reg, err := p.registry()
	if err != nil {
		return m, err
	}
	for _, row := range reg.Reservations {
		if m.history[row.Name], err = p.store.History(ctx, row.Name, begins.Add(-15*time.Minute)); err != nil {
			return m, err
		}
		for _, version := range []string{"main", "v1.4.0"} {
			for _, intent := range row.Nightly() {
				m.wanted = append(m.wanted, fmt.Sprintf("%s %s/%s", row.Name, version, intent))
			}
		}
	}
	return m, nil
}

// tidy stops everything that the simulation started and keeps its files.
func (p *runner) tidy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stallTimeout)
	defer cancel()
	for _, c := range slices.Backward(p.controllers) {
		c.end()
	}
	var errs []error
	if p.store != nil {
		reg, err := p.registry()
		errs = append(errs, err)
		for name := range maps.Keys(p.remaining(ctx, reg)) {
			_, err := p.firstlight(ctx, "lab", "down", "--name", name)
			errs = append(errs, err)
		}
	}
	_, err := p.firstlight(ctx, "reservation", "store", "down")
	return errors.Join(append(errs, err)...)
}
