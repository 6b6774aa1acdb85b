package fabric

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// sweepInterval is the default of OpenSM (opensm(8), sweep_interval): twice of it has one sweep
// at least.
const sweepInterval = 10 * time.Second

const remedySweep = "check that the subnet manager sweeps (opensm: sweep_interval is not 0, \"SUBNET UP\" in its log after a change; its host is not overloaded), restart it, then run again: firstlight accept --from fabric"

// judgeSweep requires that a master works between the first and the last of its answers to one
// host. answers are those to all hosts, in the order of the queries; scans is the number of runs of
// ibdiagnet that did not fail, which are all between the two.
//
// The activity count of OpenSM is the number of management datagrams that it has sent. A light
// sweep sends one to each switch at least; each answer is one too, so that a manager that only
// answers seems active. ibdiagnet queries SMInfo of each port that can be a subnet manager
// ("SM Info retrieving"), so the master answers it once.
func (g *Gate) judgeSweep(b *check.Builder, answers []answer, first, last int, scans uint64) {
	from, to := answers[first], answers[last]
	if !from.Answered || from.GUID != to.GUID { // no answer has no GUID
		return
	}
	queries := scans
	for _, a := range answers[first+1 : last+1] {
		if a.GUID == to.GUID {
			queries++
		}
	}
	took := to.o.At.Sub(from.o.At)
	switches := len(g.site.Fabric.Switches)
	switch {
	case to.Activity >= from.Activity+queries+uint64(switches):
	case to.Activity <= from.Activity:
		b.Fail(to.o.ID, suspectSM, remedySM, "the subnet manager reports that it is master, but its activity count stays at %d for %s", to.Activity, took.Round(time.Second/10))
	case took < 2*sweepInterval:
		b.Unobserved(to.o.ID, suspectSM,
			"set fabric.soak to 20s or more, then run again: firstlight accept --from fabric",
			"no sweep of the subnet manager was observed in %s: its activity count went from %d to %d",
			took.Round(time.Second/10), from.Activity, to.Activity)
	default:
		b.Fail(to.o.ID, suspectSM, remedySweep, "the subnet manager at LID %d does not sweep: its activity count went from %d to %d in %s, of which %d are answers to this gate; a sweep of %d switches adds as many",
			to.LID, from.Activity, to.Activity, took.Round(time.Second/10), queries, switches)
	}
}
