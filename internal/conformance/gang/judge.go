package gang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
)

// Judge implements check.Check: passed when no pod of a gang that does not fit was bound
// while a smaller pod was, and all pods of a gang that fits.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	found, id, err := check.One[[]workload.Detected](obs, kindScheduler)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	if len(found) == 0 {
		return check.Fail(fmt.Sprintf("no gang scheduler found (looked for %s): pods of a job are placed one by one, so two jobs can deadlock on each other's GPUs", c.scheduler),
			check.NewFinding(id, "gang scheduler", "install KAI, Volcano or Kueue, or enable Kubernetes' own in both API server and scheduler (feature gates GenericWorkload and GangScheduling, API scheduling.k8s.io/v1alpha2)", "not found"))
	}
	free, _, err := check.One[Capacity](obs, kindCapacity)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	if free.Fits < 1 {
		return check.NotObserved(fmt.Sprintf("none of %d nodes has all its GPUs free, so no gang can be placed: run the check when they are; the evidence lists the holders", len(c.nodes)))
	}
	large, largeID, err := check.One[Proof](obs, kindTooLarge)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	scheduler := "gang scheduler " + found[0].Name
	figures := []check.Figure{{Name: "pods bound of a gang that does not fit", Value: float64(large.maxBound()), Unit: "pods", Relation: "==", Source: "all or nothing"}}
	if j := judgeTooLarge(large, free, scheduler, largeID); j.Verdict != check.Passed {
		j.Figures = figures
		return j
	}
	fits, fitsID, err := check.One[Proof](obs, kindFits)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	wanted, gpus := free.fittingGang()
	figures = append(figures, check.Figure{
		Name: "pods bound of a gang that fits", Value: float64(fits.Large.Bound), Unit: "pods", Limit: float64(wanted), Relation: "==", Source: "all or nothing",
	})
	if j := judgeFits(fits, free, scheduler, fitsID); j.Verdict != check.Passed {
		j.Figures = figures
		return j
	}
	note := ""
	if gpus == 0 {
		note = " (without GPUs, since only one is free)"
	}
	return check.Pass(fmt.Sprintf("%s: on capacity for %d pods none of a gang of %d was bound while a smaller pod was; all %d pods of a gang that fits were bound%s", found[0].Name, free.Fits, large.Large.Wanted, fits.Large.Bound, note), figures...)
}

func fail(id, suspect, remedy, format string, args ...any) check.Judgement {
	f := check.NewFinding(id, suspect, remedy, format, args...)
	return check.Fail(f.Message, f)
}

func judgeTooLarge(p Proof, free Capacity, scheduler, id string) check.Judgement {
	switch {
	case p.Large.Wanted <= free.Fits || p.LargeAfter.Wanted != p.Large.Wanted:
		return check.NotObserved(fmt.Sprintf("the gang of %d pods, later %d, fits into capacity for %d: it proves nothing", p.Large.Wanted, p.LargeAfter.Wanted, free.Fits))
	case p.maxBound() >= p.Large.Wanted:
		return check.NotObserved(fmt.Sprintf("all %d pods were bound on capacity for %d: GPUs were released meanwhile", p.Large.Wanted, free.Fits))
	case p.maxBound() > 0:
		return fail(id, scheduler, "see that the scheduler that these pods name runs and handles the group: for Kubernetes' own, set feature gate GangScheduling on kube-scheduler too",
			"%d of %d pods of a gang were bound on capacity for %d: the scheduler splits gangs", p.maxBound(), p.Large.Wanted, free.Fits)
	case p.Large.Refused == 0 && !p.Large.GroupRefused:
		return check.NotObserved("no decision about the gang that does not fit was observed: " + p.Undecided)
	case p.Small.Wanted != 1:
		return check.NotObserved("no smaller pod was created while the gang that does not fit was pending")
	case p.Small.Bound != 1:
		return fail(id, scheduler, "see the scheduler's events for the pod; for a queue, see that a pending gang reserves nothing",
			"a pod that fits was not bound while a gang that does not fit was pending: either nothing is ever bound, which proves nothing, or the gang reserves GPUs that it does not use (%s)",
			strings.Join(append(p.Small.Messages, p.Undecided), "; "))
	}
	return check.Pass("")
}

func judgeFits(p Proof, free Capacity, scheduler, id string) check.Judgement {
	pods, _ := free.fittingGang()
	recorded := 0
	for _, node := range p.Large.Nodes {
		if slices.Contains(free.Nodes, node) {
			recorded++
		}
	}
	switch {
	case p.Large.Wanted != pods:
		return check.NotObserved(fmt.Sprintf("a gang of %d pods was created on capacity for %d, want %d", p.Large.Wanted, free.Fits, pods))
	case p.Large.Bound == p.Large.Wanted && (recorded != p.Large.Wanted || p.Large.Replaced > 0):
		return check.NotObserved(fmt.Sprintf("%d of %d bound pods are recorded on a free node, and %d were replaced: the gang was not observed as a whole", recorded, p.Large.Wanted, p.Large.Replaced))
	case p.Large.Bound != p.Large.Wanted:
		return fail(id, scheduler, "see the scheduler's events for the pods; for a queue, see that its quota covers every GPU",
			"%d of %d pods of a gang that fits were bound: %s", p.Large.Bound, p.Large.Wanted, strings.Join(append(p.Large.Messages, p.Undecided), "; "))
	}
	return check.Pass("")
}
