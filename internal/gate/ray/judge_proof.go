package ray

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

const (
	suspectJob  = "Ray job"
	remedyJob   = "read the job's log in the evidence; it needs python and ray in the image of the head, and the dashboard agent on each node"
	remedyPlace = "read gcs_server.out in /tmp/ray/session_latest/logs of the head, and raylet.out of the node: the placement group's bundles are reserved and committed there"
)

// judgeProofs requires that a group over all nodes was placed as a whole, that its tasks found all GPUs, and nothing of a
// larger one.
func (g *Gate) judgeProofs(b *check.Builder, obs []check.Observation) {
	fits, o, ok := g.proof(b, obs, targetFits, len(g.nodes))
	nodes := g.nodesByID(obs)
	if !ok || !g.judgeFits(b, o, fits, nodes, usageUnknown(obs)) {
		return
	}
	g.judgeCounts(b, o, fits, nodes)
	large, o, ok := g.proof(b, obs, targetTooLarge, len(g.nodes)+1)
	if !ok {
		return
	}
	switch placed := large.Group.Placed(); {
	case large.Group.State == probe.Created:
		b.Fail(o, "placement groups of Ray", remedyPlace, "a group of %d bundles was placed on %d nodes, each of which has GPUs for one", large.Bundles, len(g.nodes))
	case placed > 0 || large.Group.State == probe.Prepared || large.Group.State == probe.Rescheduling:
		b.Fail(o, "placement groups of Ray", remedyPlace, "%d of %d bundles of a group that does not fit are reserved (state %s)", placed, large.Bundles, large.Group.State)
	case large.Group.State != probe.Pending || !g.decided(targetTooLarge, large):
		b.Unobserved(o, "placement groups of Ray", "run the gate again", "the group that does not fit was %s (%s) for %g s, which is not a decision", large.Group.State, large.Group.Scheduling, large.SteadySeconds)
	}
}

// proof reads a proof, which must be of the job of this target and of so many bundles; its group must exist and be
// removed afterwards.
func (g *Gate) proof(b *check.Builder, obs []check.Observation, target string, bundles int) (proofFigures, string, bool) {
	f, o, ok := check.Require[proofFigures](b, obs, kindProof, target, "placement group "+target, remedyAPIHead)
	if !ok {
		return f, "", false
	}
	switch {
	case f.Bundles != bundles || f.GPUs != float64(g.gpus):
		b.Unobserved(o.ID, "placement group "+target, "run the gate again", "the proof is of %d bundles with %g GPUs, want %d with %d", f.Bundles, f.GPUs, bundles, g.gpus)
	case f.Job.Terminated():
		b.Fail(o.ID, suspectJob, remedyJob, "job %s ended before its placement group was judged: %s: %s", f.Job.ID, f.Job.Status, firstLines(f.Job.Message))
	case f.Job.Status != probe.JobRunning && f.Job.Status != probe.JobPending:
		b.Unobserved(o.ID, suspectJob, remedyJob, "job %s has the unknown state %q", f.Job.ID, f.Job.Status)
	case f.Group == nil:
		b.Fail(o.ID, suspectJob, remedyJob, "job %s, which is %s, created no placement group within %g s", f.Job.ID, f.Job.Status, g.deadline.Seconds())
	case len(f.Group.Bundles) != bundles || slices.ContainsFunc(f.Group.Bundles, func(one probe.Bundle) bool { return one.GPUs != float64(g.gpus) }):
		b.Unobserved(o.ID, "placement group "+target, "run the gate again", "Ray's group has %d bundles, or others than of %d GPUs; want %d", len(f.Group.Bundles), g.gpus, bundles)
	case !f.Removed:
		b.Fail(o.ID, "placement groups of Ray", remedyRemains, "group %s still exists %g s after its job was stopped: its GPUs are reserved", f.Group.Name, removeWithin.Seconds())
	default:
		return f, o.ID, true
	}
	return f, o.ID, false
}

// judgeFits requires a bundle on each node of the inventory, and names those without one if a part is placed.
func (g *Gate) judgeFits(b *check.Builder, id string, f proofFigures, nodes map[string]string, usageUnknown bool) bool {
	have := map[string]bool{}
	for _, one := range f.Group.Bundles {
		if one.Node != "" {
			have[nodes[one.Node]] = true
		}
	}
	var without []string
	for _, node := range g.nodes {
		if !have[node] {
			without = append(without, node)
		}
	}
	state := f.Group.State + " (" + f.Group.Scheduling + ")"
	switch placed := f.Group.Placed(); {
	case placed == 0 && usageUnknown:
		b.Unobserved(id, "GPUs of Ray", remedyBusy, "none of %d bundles was placed within %g s (%s), and the head has no report about the GPUs in use", f.Bundles, g.deadline.Seconds(), state)
	case placed == 0:
		b.Fail(id, "placement groups of Ray", remedyPlace, "none of %d bundles with %d GPUs was placed within %g s, on nodes that offer them: %s", f.Bundles, g.gpus, g.deadline.Seconds(), state)
	case len(without) > 0:
		for _, node := range without {
			b.Fail(id, node, remedyPlace, "%s has no bundle of a placement group over all nodes, of which %d of %d are placed: %s", node, placed, f.Bundles, state)
		}
	case f.Group.State != probe.Created || placed != f.Bundles:
		b.Fail(id, "placement groups of Ray", remedyPlace, "%d of %d bundles are placed and the group is %s, want CREATED", placed, f.Bundles, state)
	default:
		return true
	}
	return false
}

// firstLines is the beginning of a message, in one line.
func firstLines(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(most, len(text))]
}
