package autoscale

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/metric"
	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/track"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/workload"
)

// drive is one run of the chain.
type drive struct {
	chain   *Chain
	rec     check.Recorder
	cluster *kube.Cluster
	clock   clock.WithTicker

	setup       snapshot.Setup
	values      render.Values
	rules       string
	scheduler   workload.Scheduler
	unscheduled error // why the gang has no scheduler
	promClient  *prom.Client
	prometheus  *prom.Prometheus
	unreachable error
	tracker     *track.Tracker
	sampler     *metric.Sampler

	phase string
	marks map[string]time.Time
	// left has the objects that remain after the cleanup, leftErr and removeErr the errors of
	// listing and removing them; leftListed is set if they could be listed.
	left               []snapshot.Ref
	leftListed         bool
	leftErr, removeErr error
	// reading: the exporters of the load's GPUs are read.
	reading bool
	// last is when the last hop happened.
	last time.Time
	told time.Time
}

func (d *drive) now() time.Time { return d.clock.Now() }

// stop ends all background reads and watches.
func (d *drive) stop() {
	if d.sampler != nil {
		d.sampler.Stop()
	}
	if d.tracker != nil {
		d.tracker.Stop()
	}
	if d.promClient != nil {
		d.promClient.Close()
	}
}

// mark records the time of an action.
func (d *drive) mark(name string) { d.marks[name] = d.now() }

// state is the chain as it is now.
func (d *drive) state() snapshot.State {
	st := d.tracker.State()
	d.sampler.Fill(&st)
	if d.leftListed {
		st.Sources = append(st.Sources, snapshot.ProblemLeft)
	}
	st.Marks, st.Rules, st.Left = maps.Clone(d.marks), d.rules, d.left
	if d.leftErr != nil {
		st.Problems[snapshot.ProblemLeft] = d.leftErr.Error()
	}
	if d.removeErr != nil {
		st.ActionError = "remove what the run created: " + d.removeErr.Error()
	}
	if d.reading {
		var load []snapshot.Pod
		for _, p := range st.Pods {
			if p.Role == snapshot.RoleLoad && !p.Gone() {
				load = append(load, p)
			}
		}
		d.sampler.Load(load)
	}
	return st
}

const (
	// lookEvery is the interval at which a hop is judged without a reported change, and
	// lookLeast the minimum pause between two evaluations.
	lookEvery = 250 * time.Millisecond
	lookLeast = 50 * time.Millisecond
	// finalFor is how long a judge must say that waiting will not help: one watch
	// may be behind another.
	finalFor = 3 * time.Second
	// tellEvery is the interval of progress events.
	tellEvery = time.Second
)

// hop waits for a hop and records the state that it was last judged by. The error
// is for a context that ended, and a store that failed.
func (d *drive) hop(ctx context.Context, name string) (passed bool, err error) {
	return d.hopSince(ctx, name, d.now())
}

// hopSince is hop for one whose observation began earlier.
func (d *drive) hopSince(ctx context.Context, name string, observed time.Time) (passed bool, err error) {
	within := d.setup.Deadlines[name].Duration
	d.told = time.Time{}
	var hop, final polled // final: while waiting would not help
	hop.poll(d.now())
	for {
		st := d.state()
		r := judge.Hop(name, d.setup, st)
		now := d.now()
		waited, lost := hop.poll(now), false
		if r.Final {
			lost = final.poll(now) >= finalFor
		} else {
			final = polled{}
		}
		if settled(r.Verdict) || lost || waited >= within {
			return settled(r.Verdict), d.record(name, observed, st, r)
		}
		d.waiting(name, r, waited, within)
		if err := d.wait(ctx, lookEvery); err != nil {
			return false, err
		}
	}
}

// hops waits for several, one after the other, until one is not passed.
func (d *drive) hops(ctx context.Context, names ...string) (passed bool, err error) {
	for _, name := range names {
		if passed, err := d.hop(ctx, name); !passed || err != nil {
			return false, err
		}
	}
	return true, nil
}

// settled reports whether waiting cannot change a verdict.
func settled(v check.Verdict) bool { return v == check.Passed || v == check.NotApplicable }

// wait waits for a change, at most for so long.
func (d *drive) wait(ctx context.Context, most time.Duration) error {
	rest := d.clock.NewTimer(lookLeast)
	defer rest.Stop()
	select {
	case <-rest.C():
	case <-ctx.Done():
		return ctx.Err()
	}
	timer := d.clock.NewTimer(most)
	defer timer.Stop()
	select {
	case <-d.tracker.Changed():
	case <-d.sampler.Changed():
	case <-timer.C():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// waiting reports the progress of a pending hop.
func (d *drive) waiting(name string, r judge.Result, waited, within time.Duration) {
	if now := d.now(); now.Sub(d.told) >= tellEvery {
		d.told = now
		text := fmt.Sprintf("%s, %s of %s", r.Reason, waited.Round(time.Second), within.Round(time.Second))
		d.rec.Progress("hop %s: %s", name, text)
		d.chain.tell(HopEvent{Phase: d.phase, Hop: name, Reason: text, Object: r.Object})
	}
}

// record stores the state that decided a hop.
func (d *drive) record(name string, began time.Time, st snapshot.State, r judge.Result) error {
	took := max(0, r.At.Sub(d.last))
	if d.last.IsZero() || r.At.IsZero() {
		took = d.now().Sub(began)
	}
	if !r.At.IsZero() {
		d.last = r.At
	}
	o, err := check.Observation{
		Kind: snapshot.KindHop, Target: name, At: began, Took: metav1.Duration{Duration: d.now().Sub(began)},
		Command: "watch pods, nodes, claims, HPA and events; read exporters, Prometheus and " + metric.Group(d.setup.Metric.API),
	}.WithFigures(st)
	if err != nil {
		return fmt.Errorf("record hop %s: %w", name, err)
	}
	if _, err := d.rec.Record(o); err != nil {
		return fmt.Errorf("record hop %s: %w", name, err)
	}
	d.chain.tell(HopEvent{Phase: d.phase, Hop: name, Verdict: r.Verdict, Reason: r.Reason, Object: r.Object, Took: took})
	return nil
}
