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
		return check.NotObserved("no training job was observed")
	}
	job, err := check.Decode[JobFigures](jobs[0])
	if err != nil {
		return check.NotObserved("the training job did not run", check.NewFinding(jobs[0].ID, "job "+jobName,
			"check that the GPUs are free, that the image can be pulled and that the gang is placed; then run it again with --from training", "%v", err))
	}
	r := &review{gate: g, job: job, jobID: jobs[0].ID}
	r.collect(check.OfKind(obs, KindRanks))
	if job.Pods != g.pods() || job.GPUsPerNode != g.gpus() || job.Steps != g.site.Workloads.Training.Steps || job.Steps == 0 {
		r.Unobserved(r.jobID, "job "+jobName, "run the gate again", "the job was %d pods with %d GPUs for %d steps, the site requires %d with %d for %d",
			job.Pods, job.GPUsPerNode, job.Steps, g.pods(), g.gpus(), g.site.Workloads.Training.Steps)
	}
	if !g.batch.lost(r, obs) {
		r.outcome()
	}
	r.presence()
	r.placement()
	r.startWindow()
	r.steps()
	r.gpus()
	r.claims()
	r.speed()
	checkpoints := r.checkpoints()
	g.batch.agrees(r, obs)
	g.batch.left(r)
	r.OmitUnobservedIfFailed()
	return r.Judgement(fmt.Sprintf("%d ranks trained %d steps%s%s; %s", g.ranks(), r.job.Steps, r.slowestText, r.remark, checkpoints))
}

// review judges one job.
type review struct {
	check.Builder
	gate  *Gate
	job   JobFigures
	jobID string
	ranks []ranked
	pods  []podLog
	// remark and slowestText are part of the reason of a pass.
	remark, slowestText string
}

// ranked is one rank with its node.
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

// collect collects the ranks of all logs, in their order.
func (r *review) collect(obs []check.Observation) {
	for _, o := range obs {
		f, err := check.Decode[RankFigures](o)
		if err != nil {
			r.Unobserved(r.jobID, o.Target, "read the log in the evidence", "%v", err)
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

// nodeOf is the node of a rank; for a rank without output, by its number.
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
