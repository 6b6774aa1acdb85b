package training

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	jobs := check.OfKind(obs, KindJob)
	if len(jobs) == 0 {
		return check.CouldNotObserve("no training job was observed" + errorOf(obs))
	}
	job, err := check.Decode[JobFigures](jobs[0])
	if err != nil {
		return check.CouldNotObserve("the training job did not run", check.Finding{
			Suspect: "job " + jobName, Message: err.Error(), Observations: ids(jobs[0]),
			Remedy: "see that the GPUs are free, that the image can be pulled and that the gang is placed; then run it again with --from training",
		})
	}
	r := &review{gate: g, job: job, jobID: ids(jobs[0])}
	r.collect(check.OfKind(obs, KindRanks))
	if job.Pods != g.pods() || job.GPUsPerNode != g.gpus() || job.Steps != g.site.Workloads.Training.Steps || job.Steps == 0 {
		r.blind("job "+jobName, "run the gate again", "the job was %d pods with %d GPUs for %d steps, the site wants %d with %d for %d",
			job.Pods, job.GPUsPerNode, job.Steps, g.pods(), g.gpus(), g.site.Workloads.Training.Steps)
	}
	r.outcome()
	r.presence()
	r.placement()
	r.startWindow()
	r.steps()
	r.gpus()
	r.speed()
	return r.conclude()
}

func (r *review) conclude() check.Judgement {
	var j check.Judgement
	switch {
	case len(r.failed) > 0:
		j = check.Fail(r.failed[0].Message, r.failed...)
	case len(r.unseen) > 0:
		j = check.CouldNotObserve(r.unseen[0].Message, r.unseen...)
	case len(r.figures) == 0:
		j = check.CouldNotObserve("no step was measured")
	default:
		j = check.Pass(fmt.Sprintf("%d ranks trained %d steps%s%s; no checkpoint was written", r.gate.ranks(), r.job.Steps, r.slowestText, r.remark))
	}
	j.Figures = r.figures
	return j
}

// review collects what is wrong, and what could not be seen.
type review struct {
	gate    *Gate
	job     JobFigures
	jobID   []string
	ranks   []ranked
	pods    []podLog
	failed  []check.Finding
	unseen  []check.Finding
	figures []check.Figure
	// remark and slowestText belong to the reason of a pass.
	remark, slowestText string
}

// ranked is one rank with where it ran.
type ranked struct {
	Rank
	node string
	id   string
}

// podLog is one pod's log.
type podLog struct {
	RankFigures
	id string
}

// collect takes the ranks of all logs, in their order.
func (r *review) collect(obs []check.Observation) {
	for _, o := range obs {
		f, err := check.Decode[RankFigures](o)
		if err != nil {
			r.blind(o.Target, "read the log in the evidence", "%v", err)
			continue
		}
		r.pods = append(r.pods, podLog{RankFigures: f, id: o.ID})
		for _, rank := range f.Ranks {
			if rank.Rank >= 0 {
				r.ranks = append(r.ranks, ranked{Rank: rank, node: f.Node, id: o.ID})
			}
		}
	}
	slices.SortStableFunc(r.ranks, func(a, b ranked) int { return cmp.Compare(a.Rank.Rank, b.Rank.Rank) })
}

func (r *review) fail(suspect, remedy, id, format string, args ...any) {
	r.failed = append(r.failed, r.finding(suspect, remedy, id, fmt.Sprintf(format, args...)))
}

func (r *review) blind(suspect, remedy, format string, args ...any) {
	r.unseen = append(r.unseen, r.finding(suspect, remedy, "", fmt.Sprintf(format, args...)))
}

func (r *review) finding(suspect, remedy, id, message string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy, Observations: r.jobID}
	if id != "" {
		f.Observations = []string{id}
	}
	return f
}

// nodeOf is where a rank ran; by its number where it said nothing.
func (r *review) nodeOf(rank int) string {
	for _, have := range r.ranks {
		if have.Rank.Rank == rank {
			return have.node
		}
	}
	for _, p := range r.job.Outcome.Pods {
		if r.job.GPUsPerNode > 0 && p.Index == rank/r.job.GPUsPerNode {
			return p.Node
		}
	}
	return "unknown node"
}

func (r *review) timedOut() bool { return r.job.Outcome.Ended == gangjob.EndedTimeout }

func ids(o check.Observation) []string {
	if o.ID == "" {
		return nil
	}
	return []string{o.ID}
}

// errorOf is why observing ended, where the engine recorded it.
func errorOf(obs []check.Observation) string {
	for _, o := range obs {
		if o.Kind == "error" && o.Err != "" {
			return ": " + o.Err
		}
	}
	return ""
}
