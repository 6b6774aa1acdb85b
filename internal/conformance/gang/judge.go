package gang

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
)

// Judge implements check.Check: passed when nothing of a gang that does not fit was
// bound while a pod beside it was, and all of one that fits.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	found, id, err := check.One[[]workload.Detected](obs, kindScheduler)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	if len(found) == 0 {
		return check.Fail(fmt.Sprintf("there is no gang scheduler (looked for %s): pods of a job are placed one by one, and two jobs can hold each other's GPUs for ever", c.scheduler),
			check.Finding{
				Suspect: "gang scheduler", Message: "none is there", Observations: []string{id},
				Remedy: "install KAI, Volcano or Kueue, or turn on Kubernetes' own in both API server and scheduler (feature gates GenericWorkload and GangScheduling, API scheduling.k8s.io/v1alpha2)",
			})
	}
	room, _, err := check.One[Room](obs, kindRoom)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	if room.Fits < 1 {
		return check.NotObserved(fmt.Sprintf("none of %d nodes has all its GPUs free, so no gang could be placed: run when they are, what holds them is in the evidence", len(c.nodes)))
	}
	large, largeID, err := check.One[Proof](obs, kindTooLarge)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	scheduler := "gang scheduler " + found[0].Name
	figures := []check.Figure{{Name: "pods bound of a gang that does not fit", Value: float64(most(large)), Unit: "pods", Relation: "==", Source: "all or nothing"}}
	if j := negative(large, room, scheduler, largeID); j.Verdict != check.Passed {
		j.Figures = figures
		return j
	}
	fits, fitsID, err := check.One[Proof](obs, kindFits)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	wanted, gpus := room.fitting()
	figures = append(figures, check.Figure{
		Name: "pods bound of a gang that fits", Value: float64(fits.Large.Bound), Unit: "pods", Limit: float64(wanted), Relation: "==", Source: "all or nothing",
	})
	if j := positive(fits, room, scheduler, fitsID); j.Verdict != check.Passed {
		j.Figures = figures
		return j
	}
	without := ""
	if gpus == 0 {
		without = ", without GPUs since there is one,"
	}
	return check.Pass(fmt.Sprintf("%s: none of %d pods bound on room for %d while a pod beside them was, all of %d%s bound", found[0].Name, large.Large.Wanted, room.Fits, fits.Large.Bound, without), figures...)
}

// most is how many pods of the large gang were bound, at the time when most were.
func most(p Proof) int { return max(p.Large.Bound, p.LargeAfter.Bound) }

func negative(p Proof, r Room, scheduler, id string) check.Judgement {
	fail := func(format, remedy string, args ...any) check.Judgement {
		message := fmt.Sprintf(format, args...)
		return check.Fail(message, check.Finding{Suspect: scheduler, Message: message, Remedy: remedy, Observations: []string{id}})
	}
	switch {
	case p.Large.Wanted <= r.Fits || p.LargeAfter.Wanted != p.Large.Wanted:
		return check.NotObserved(fmt.Sprintf("the gang of %d pods, then %d, fits into room for %d: it proves nothing", p.Large.Wanted, p.LargeAfter.Wanted, r.Fits))
	case most(p) >= p.Large.Wanted:
		return check.NotObserved(fmt.Sprintf("all %d pods found a place on room for %d: GPUs were given back meanwhile", p.Large.Wanted, r.Fits))
	case most(p) > 0:
		return fail("%d of %d pods of a gang were bound on room for %d: it does not keep gangs together",
			"see that the scheduler that these pods name runs and heeds the group: for Kubernetes' own, feature gate GangScheduling on kube-scheduler too",
			most(p), p.Large.Wanted, r.Fits)
	case p.Large.Refused == 0 && !p.Large.GroupRefused:
		return check.NotObserved("no decision about a gang that does not fit was seen: " + p.Undecided)
	case p.Beside.Wanted != 1:
		return check.NotObserved("no pod was asked for beside the gang that does not fit")
	case p.Beside.Bound != 1:
		return fail("a pod for which there was room was not bound beside a gang that does not fit: that nothing of the gang was bound proves nothing, or the gang keeps GPUs that it does not use (%s)",
			"see what the scheduler says of the pod; for a queue, see that a gang that waits reserves nothing",
			strings.Join(append(p.Beside.Messages, p.Undecided), "; "))
	}
	return check.Pass("")
}

func positive(p Proof, r Room, scheduler, id string) check.Judgement {
	pods, _ := r.fitting()
	switch {
	case p.Large.Wanted != pods:
		return check.NotObserved(fmt.Sprintf("a gang of %d pods was asked for on room for %d, one of %d was wanted", p.Large.Wanted, r.Fits, pods))
	case p.Large.Bound != p.Large.Wanted:
		message := fmt.Sprintf("%d of %d pods of a gang for which there was room were bound: %s", p.Large.Bound, p.Large.Wanted, strings.Join(append(p.Large.Messages, p.Undecided), "; "))
		return check.Fail(message, check.Finding{
			Suspect: scheduler, Message: message, Observations: []string{id},
			Remedy: "see what the scheduler says of the pods; for a queue, see that its quota covers every GPU",
		})
	}
	return check.Pass("")
}
