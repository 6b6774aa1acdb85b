package training

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const (
	remedyReports = "log every rank, or start Megatron with --log-straggler and --log-interval 1, without --disable-straggler-on-startup: rank 0 then prints one report a step"
	remedyStages  = "train a model of one pipeline stage in this gate (--pipeline-model-parallel-size 1)"
)

// stragglerReports are Megatron's reports of consecutive steps (--log-straggler). Each names the slowest and the fastest
// of all ranks, by the time of the forward pass.
type stragglerReports struct {
	// first is the step of the first report.
	first   int
	reports []trainer.MegatronStraggler
}

// straggler is a rank or a node that several of the reports name as the slowest.
type straggler struct {
	stragglerReports // also those that name another
	node             string
	rank             int       // -1: several ranks of the node
	lags             []float64 // behind the fastest rank, by report that names it
}

// stragglers judges the slowest rank by the reports, where Megatron prints steps on its last rank only: printing is the
// number of ranks with step times.
//
// A rank or node is slow if persistent returns it for one third of the steps after the warm-up, and its median lag there is
// above the limit. One slow step is not enough, nor is a slowest rank that changes; a rank that becomes slow during the run
// fails by the third in which it is slow. The limit is that of GPUs of one fleet: a report compares with the fastest rank, not with the
// median.
func (r *review) stragglers(printing int) {
	steady, ok := r.steadyReports(printing)
	if !ok {
		return
	}
	limit := r.gate.profile.Training.MaxGPULag
	slow, largest := r.slowest(steady)
	if stages, shown := r.pipeline(); stages != 1 && largest > limit.Value {
		r.Unobserved(r.jobID, "job "+jobName, remedyStages, "the slowest rank is %.1f %% behind the fastest, the maximum is %.1f %%, and %s: the forward passes of two stages differ, so whether a rank is slow is unknown", 100*largest, 100*limit.Value, shown)
		return
	}
	if len(slow) == 0 {
		lag := median(steady.perReport())
		r.Figure(check.Figure{Name: "lag of the slowest rank", Value: lag, Unit: "fraction"})
		r.slowestText = fmt.Sprintf("; the slowest rank changes from report to report, at the median %.1f %% behind the fastest", 100*lag)
		return
	}
	if slow[0].rank >= 0 {
		r.Figure(check.Figure{Name: "slowest rank", Value: float64(slow[0].rank)})
	}
	r.figure("lag of the slowest rank", slow[0].lag(), "fraction", limit.Value, "<=", "profile training.maxGPULag: "+limit.Source)
	for _, s := range slow {
		is, suspect := fmt.Sprintf("rank %d on %s is", s.rank, s.node), fmt.Sprintf("%s (rank %d)", s.node, s.rank)
		if s.rank < 0 {
			is, suspect = "ranks of "+s.node+" are", s.node
		}
		is = fmt.Sprintf("%s the slowest in %d of %d straggler reports, at the median %.1f %% behind the fastest rank", is, len(s.lags), len(s.reports), 100*s.lag())
		r.slowestText += "; " + is
		if s.lag() > limit.Value {
			r.Fail(r.jobID, suspect, remedyLag, "%s, from step %d to %d; the maximum is %.1f %%", is, s.first, s.first+len(s.reports)-1, 100*limit.Value)
		}
	}
}

// slowest are the persistent stragglers of the third of the steps with the largest lag of one, that one first. largest is the
// largest median lag of a third, with or without persistent stragglers.
func (r *review) slowest(steady stragglerReports) (slow []straggler, largest float64) {
	for _, third := range steady.thirds() {
		largest = max(largest, median(third.perReport()))
		found := r.persistent(third)
		if len(found) > 0 && (len(slow) == 0 || found[0].lag() > slow[0].lag()) {
			slow = found
			largest = max(largest, found[0].lag())
		}
	}
	return slow, largest
}

// persistent is the rank that more than half of the reports name as the slowest. Else, if all the named ranks are on few
// nodes, it is those nodes, the one with the largest lag first: the ranks of a slow node are equally slow, as are ranks that
// wait for each other in the forward pass (tensor parallelism). Few are at most half of the nodes, and half as many as there
// are reports; a node that is named less than half as often as another one is not returned.
func (r *review) persistent(third stragglerReports) []straggler {
	byRank, byNode := map[int]*straggler{}, map[string]*straggler{}
	most := 0
	for i, lag := range third.perReport() {
		rank := third.reports[i].MinRank
		node := r.nodeOf(rank)
		if byRank[rank] == nil {
			byRank[rank] = &straggler{stragglerReports: third, node: node, rank: rank}
		}
		if byNode[node] == nil {
			byNode[node] = &straggler{stragglerReports: third, node: node, rank: -1}
		}
		byRank[rank].lags, byNode[node].lags = append(byRank[rank].lags, lag), append(byNode[node].lags, lag)
		most = max(most, len(byNode[node].lags))
	}
	for _, s := range byRank {
		if 2*len(s.lags) > len(third.reports) {
			return []straggler{*s}
		}
	}
	if 2*len(byNode) > min(r.gate.pods(), len(third.reports)) {
		return nil
	}
	var out []straggler
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		if s := byNode[node]; 2*len(s.lags) >= most {
			out = append(out, *s)
		}
	}
	slices.SortStableFunc(out, func(a, b straggler) int { return cmp.Compare(b.lag(), a.lag()) })
	return out
}

// steadyReports are the reports after the warm-up. A report has no step number, and rank 0, which prints it, prints no steps:
// the k-th report is that of step k if there are as many reports as steps, and of an unknown step otherwise.
func (r *review) steadyReports(printing int) (steady stragglerReports, ok bool) {
	var all []trainer.MegatronStraggler
	for _, p := range r.pods {
		all = append(all, p.Stragglers...)
	}
	warmup := int(r.gate.profile.Training.WarmupSteps.Value)
	switch {
	case len(all) == 0:
		r.Unobserved(r.jobID, "job "+jobName, remedyReports, "the slowest rank is unknown: %d of %d ranks print step times", printing, r.gate.ranks())
		return steady, false
	case len(all) != r.job.Steps || len(all) < warmup+thirds:
		r.Unobserved(r.jobID, "job "+jobName, remedyReports, "the slowest rank is unknown: %d straggler reports of %d steps, of which %d are warm-up", len(all), r.job.Steps, warmup)
		return steady, false
	}
	for i, p := range all {
		if p.MinTFLOPS <= 0 || p.MaxTFLOPS < p.MinTFLOPS || min(p.MinRank, p.MaxRank) < 0 || max(p.MinRank, p.MaxRank) >= r.gate.ranks() {
			r.Unobserved(r.jobID, "job "+jobName, remedyRead, "the slowest rank is unknown: the straggler report of step %d names rank %d with %g TFLOPS as the slowest and rank %d with %g as the fastest", i+1, p.MinRank, p.MinTFLOPS, p.MaxRank, p.MaxTFLOPS)
			return steady, false
		}
	}
	return stragglerReports{first: warmup + 1, reports: all[warmup:]}, true
}

// pipeline is the number of pipeline stages that rank 0 printed, and what it shows; 0 if it is not in a log.
func (r *review) pipeline() (stages int, shown string) {
	for _, p := range r.pods {
		stages = max(stages, p.PipelineStages)
	}
	if stages == 0 {
		return 0, "the log does not show the number of pipeline stages"
	}
	return stages, fmt.Sprintf("the model has %d pipeline stages", stages)
}

// lag is the median.
func (s straggler) lag() float64 { return median(s.lags) }

// perReport is how far the slowest rank is behind the fastest, by report.
func (s stragglerReports) perReport() []float64 {
	out := make([]float64, 0, len(s.reports))
	for _, p := range s.reports {
		out = append(out, p.MaxTFLOPS/p.MinTFLOPS-1)
	}
	return out
}

// thirds are the first, the middle and the last third, as ends has them.
func (s stragglerReports) thirds() []stragglerReports {
	n := len(s.reports) / thirds
	last := len(s.reports) - n
	return []stragglerReports{
		{s.first, s.reports[:n]},
		{s.first + n, s.reports[n:last]},
		{s.first + last, s.reports[last:]},
	}
}
