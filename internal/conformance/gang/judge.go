package gang

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
	"github.com/firstlight/firstlight/internal/workload/gangproof"
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
			check.NewFinding(id, "gang scheduler", "install KAI, Volcano or Kueue, or enable Kubernetes' own in both API server and scheduler (feature gate GenericWorkload and API scheduling.k8s.io/v1beta1; in Kubernetes 1.36 GenericWorkload, GangScheduling and scheduling.k8s.io/v1alpha2)", "not found"))
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
	b, scheduler := &check.Builder{}, "gang scheduler "+found[0].Name
	if !judgeTooLarge(b, large, free, scheduler, largeID) {
		return b.Judgement("")
	}
	fits, fitsID, err := check.One[Proof](obs, kindFits)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	proof := gangproof.Proof{ID: fitsID, Scheduler: scheduler, Placement: fits.Large, Undecided: fits.Undecided}
	if !proof.Fits(b, free.Room, free.Fits) {
		return b.Judgement("")
	}
	note := ""
	if _, gpus := free.Fitting(); gpus == 0 {
		note = " (without GPUs, since only one is free)"
	}
	return b.Judgement(fmt.Sprintf("%s: on free GPUs for %d pods none of a gang of %d was placed while a smaller pod was; all %d pods of a gang that fits were placed%s", found[0].Name, free.Fits, large.Large.Wanted, fits.Large.Bound, note))
}

// judgeTooLarge reports whether no pod of the gang that does not fit was placed while a smaller
// pod was.
func judgeTooLarge(b *check.Builder, p Proof, free Capacity, scheduler, id string) bool {
	whole := p.Large
	whole.Bound, whole.Replaced = p.maxBound(), 0
	proof := gangproof.Proof{ID: id, Scheduler: scheduler, Placement: whole}
	if p.Small.Bound == 1 { // else it explains the small pod
		proof.Undecided = p.Undecided
	}
	if !proof.TooLarge(b, free.Room) {
		return false
	}
	switch {
	case p.LargeAfter.Wanted != p.Large.Wanted:
		b.Unobserved(id, scheduler, "run the check again", "the gang that does not fit was not observed again after the small pod")
	case p.Small.Wanted != 1:
		b.Unobserved(id, scheduler, "run the check again", "no smaller pod was created while the gang that does not fit was pending")
	case p.Small.Bound != 1 && p.Undecided != "" && p.Small.Refused == 0 && !p.Small.GroupRefused:
		b.Unobserved(id, scheduler, "read the log of the scheduler of the pod; run the check again when the control plane is less busy",
			"no decision about a smaller pod was observed while the gang that does not fit was pending: %s", p.Undecided)
	case p.Small.Bound != 1:
		b.Fail(id, scheduler, "see the scheduler's events for the pod; for a queue, see that a pending gang reserves nothing",
			"a pod that fits was not placed while a gang that does not fit was pending: either nothing is ever placed, which proves nothing, or the gang reserves GPUs that it does not use (%s)",
			strings.Join(append(p.Small.Messages, p.Undecided), "; "))
	default:
		return true
	}
	return false
}

// maxBound is the highest observed number of bound pods of the gang, also of replaced ones.
func (p Proof) maxBound() int {
	return max(p.Large.Bound+p.Large.Replaced, p.LargeAfter.Bound+p.LargeAfter.Replaced)
}
