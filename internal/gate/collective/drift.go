package collective

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective/sequential"
	"github.com/firstlight/firstlight/internal/workload"
)

// Drift is gate 6 of a cluster that was accepted before: it also compares the nodes with each
// other, since a node that is a few per cent slower stays within the gate's limit.
type Drift struct {
	*Gate
	// ReplaceAt is the loss from which a node must be replaced, as a fraction.
	ReplaceAt float64
}

// Describe lists the actions of Observe.
func (d Drift) Describe() []string {
	return append(d.Gate.Describe(), "if it passes: run it on pairs of nodes until each node is known to be as fast as the others, or slower")
}

// Observe implements check.Check.
func (d Drift) Observe(ctx context.Context, rec check.Recorder) error {
	l, all, err := d.observeAll(ctx, rec)
	if err != nil {
		return err
	}
	tried, err := d.localise(ctx, rec, l, all)
	if err != nil {
		return err
	}
	if err := d.observeRest(ctx, rec, l, all, tried); err != nil || d.reviewRun("", all).HasFailed() {
		return err
	}
	return d.compareNodes(ctx, rec, l, d.alike(all.Nodes, all))
}

// compareNodes runs pairs of nodes that are alike until every node is decided.
func (d Drift) compareNodes(ctx context.Context, rec check.Recorder, l *workload.Launcher, of []alike) error {
	var samples []sequential.Sample
	now := d.deps.Observer(rec).Clock.Now
	until := now().Add(d.site.Workloads.Collective.Timeout.D())
	for number := 1; ; number++ {
		var groups [][]string
		for _, a := range of {
			groups = append(groups, sequential.Next(a.nodes, within(a.nodes, samples)).Round...)
		}
		if len(groups) == 0 || now().After(until) {
			return nil
		}
		rec.Progress("comparing nodes, round %d: %s", number, list(names(groups)))
		tried, err := d.round(ctx, rec, l, job{test: tests[0], round: number, repetitions: d.repetitions()}, groups)
		if err != nil {
			return err
		}
		for _, f := range tried {
			samples = append(samples, d.sample(f))
		}
	}
}

// sample are the bandwidths of a pair, one for each repetition: the mean at the largest sizes. A
// pair with a defect has none.
func (d Drift) sample(f Figures) sequential.Sample {
	s := sequential.Sample{Nodes: [2]string{f.Nodes[0], f.Nodes[1]}}
	if d.trial("", f).broken {
		return s
	}
	s.Busbw = f.Repeated(int(d.profile.Collective.LargestSizes.Value))
	return s
}

// Repeated is the mean bus bandwidth at the largest sizes of each repetition, in GB/s.
func (f Figures) Repeated(largest int) []float64 {
	var out []float64
	points := f.points(largest)
	for _, run := range f.Runs {
		sum, n := 0.0, 0
		for _, row := range run.Rows {
			bw, ok := row.BusBW()
			for _, p := range points {
				if ok && p.bytes == row.Bytes {
					sum, n = sum+bw, n+1
				}
			}
		}
		if n > 0 {
			out = append(out, sum/float64(n))
		}
	}
	return out
}

// Judge implements check.Check.
func (d Drift) Judge(obs []check.Observation) check.Judgement {
	j := d.Gate.Judge(obs)
	if j.Verdict != check.Passed {
		return j
	}
	var samples []sequential.Sample
	ids := map[string][]string{}
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		if err != nil || f.Collective != "" || f.Scope != ScopePair || len(f.Nodes) != 2 {
			continue // a pair that did not run gives no information
		}
		samples = append(samples, d.sample(f))
		for _, n := range f.Nodes {
			ids[n] = append(ids[n], o.ID)
		}
	}
	var b check.Builder
	b.Figure(j.Figures...)
	of := d.alike(d.nodes(), d.runsOf(tests[0], obs).all.f)
	if len(of) == 0 {
		b.Unobserved("", list(d.nodes()), remedyNoRack, "the NVLink domains of the nodes are unknown: pairs of two domains are slower than pairs of one, whatever their nodes")
	}
	slow, noise := 0, 0.0
	var medians []check.Figure
	for _, a := range of {
		step := sequential.Next(a.nodes, within(a.nodes, samples))
		d.judgeAlike(&b, a, step, ids)
		slow, noise = slow+len(step.Slow), max(noise, step.Noise)
		name := "busbw of pairs, median node"
		if a.name != "" {
			name += " of " + a.name
		}
		if step.Reference > 0 || a.name == "" {
			medians = append(medians, check.Figure{Name: name, Value: step.Reference, Unit: "GB/s"})
		}
	}
	b.Figure(check.Figure{Name: "slow nodes", Value: float64(slow), Unit: "nodes", Relation: "<=", Source: fmt.Sprintf("a loss of %g %% is found", 100*sequential.Loss)})
	b.Figure(medians...)
	return b.Judgement(j.Reason + fmt.Sprintf("; no node is slower than the others (%d compared, noise %.1f %%)", len(d.nodes()), 100*noise))
}

// judgeAlike adds the slow nodes among those that are alike, and the undecided ones.
func (d Drift) judgeAlike(b *check.Builder, a alike, step sequential.Step, ids map[string][]string) {
	for _, s := range step.Slow {
		band := "warn"
		if s.Loss >= d.ReplaceAt {
			band = "replace"
		}
		f := check.NewFinding("", s.Node, remedySlow, "%s: busbw of pairs with %s is %.1f %% below that of the other nodes (median %.1f GB/s, noise %.1f %%), with %d partners in %d repetitions",
			band, s.Node, 100*s.Loss, step.Reference, 100*step.Noise, len(s.Partners), s.Repetitions)
		f.Observations = ids[s.Node]
		b.AddFailed(f)
	}
	switch n := len(step.Undecided); {
	case n > 0 && a.name != "" && len(a.nodes) < 4:
		b.Unobserved("", list(a.nodes), remedySmall, "%s has %d nodes: fewer than four cannot be compared with each other", a.name, len(a.nodes))
	case n > 0:
		b.Unobserved("", list(step.Undecided), remedyUncompared, "%d of %d nodes could not be compared with the others", n, len(d.nodes()))
	}
}
