package gangproof

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
)

const (
	remedyAgain = "run the check again"
	// KAI says nothing of a queue that it does not know or that has children (kai-scheduler/KAI-Scheduler issue 621).
	remedyUndecided = "check that the queue of the pods exists, is open and has no child queues, and read the log of their scheduler"
	remedyFree      = "run the check when the GPUs are free"
)

// Proof is the observed placement of a gang.
type Proof struct {
	// ID is the observation, Scheduler the suspect, Controller the one if the gang has no pods.
	ID, Scheduler, Controller string
	Placement                 workload.Placement
	// Undecided is why no decision was observed.
	Undecided string
}

// TooLarge judges the gang that does not fit: no pod of it may be placed. It adds the figure
// and the finding, and reports whether the part is proven.
func (p Proof) TooLarge(b *check.Builder, r Room) bool {
	pl := p.Placement
	pl.Bound += pl.Replaced // they were placed, too
	b.Figure(check.Figure{
		Name: "pods placed of a gang that does not fit", Value: float64(pl.Bound), Unit: "pods", Limit: 0, Relation: "==", Source: "gang scheduling is all or nothing",
	})
	switch {
	case r.Fits < 1 || pl.Wanted != r.TooLarge():
		b.Unobserved(p.ID, p.Scheduler, remedyAgain, "a gang of %d pods was created on free GPUs for %d, want %d: it proves nothing", pl.Wanted, r.Fits, r.TooLarge())
	case pl.Bound >= pl.Wanted:
		b.Unobserved(p.ID, p.Scheduler, remedyFree, "all %d pods were placed where %d fit: GPUs were released meanwhile", pl.Wanted, r.Fits)
	case pl.Bound > 0:
		b.Fail(p.ID, p.Scheduler, "check that the scheduler of these pods runs and supports the group: for Kubernetes' own, set feature gate GenericWorkload, and before 1.37 GangScheduling, on kube-scheduler too",
			"placed %d of %d pods of a gang of which %d fit: it does not schedule gangs as a whole (%s)", pl.Bound, pl.Wanted, r.Fits, places(pl.Nodes))
	case pl.Denied != "":
		b.Fail(p.ID, refusing(pl.Denied), "let the quota or the admission policy accept the pods of runs in their namespace", "the API server refuses the pods of a job, so none of %d exists: %s", pl.Wanted, pl.Denied)
	case pl.Unstarted:
		b.Fail(p.ID, p.Controller, "check that the controller runs, and read its log", "created none of the %d pods of a job: %s", pl.Wanted, p.Undecided)
	case p.Undecided != "" || pl.Refused == 0 && !pl.GroupRefused:
		b.Unobserved(p.ID, p.Scheduler, remedyUndecided, "no decision about a gang that does not fit was observed: %s", p.Undecided)
	case pl.Exist < pl.Wanted && (pl.Exist > 0 || !pl.GroupRefused):
		b.Unobserved(p.ID, p.Scheduler, remedyAgain, "only %d of %d pods of a gang that does not fit were observed", pl.Exist, pl.Wanted)
	default:
		return true
	}
	return false
}

// Fits judges the gang that fits: every pod of it must be placed. fitsAfter is how many pods
// fit when the gang was removed.
func (p Proof) Fits(b *check.Builder, r Room, fitsAfter int) bool {
	pl := p.Placement
	pods, _ := r.Fitting()
	b.Figure(check.Figure{
		Name: "pods placed of a gang that fits", Value: float64(pl.Bound), Unit: "pods", Limit: float64(pods), Relation: "==", Source: "gang scheduling is all or nothing",
	})
	switch {
	case pl.Wanted != pods || pl.Bound > pods:
		b.Unobserved(p.ID, p.Scheduler, remedyAgain, "%d of %d pods of a gang were placed on free GPUs for %d, want a gang of %d", pl.Bound, pl.Wanted, r.Fits, pods)
	case pl.Bound == pods && len(pl.Nodes) != pods:
		b.Unobserved(p.ID, p.Scheduler, remedyAgain, "only %d nodes are known for %d placed pods", len(pl.Nodes), pods)
	case pl.Bound == pods && pl.Replaced > 0:
		b.Unobserved(p.ID, p.Scheduler, remedyAgain, "%d placed pods were replaced: the gang was not observed as a whole", pl.Replaced)
	case pl.Bound == pods && !subset(pl.Nodes, r.Nodes):
		b.Unobserved(p.ID, p.Scheduler, remedyAgain, "pods were placed on other nodes than the free ones: %s", places(pl.Nodes))
	case pl.Bound == pods:
		return true
	case p.Undecided != "" && pl.Refused == 0 && !pl.GroupRefused:
		b.Unobserved(p.ID, p.Scheduler, remedyUndecided+"; run the check again when the control plane is less busy",
			"placed %d of %d pods of a gang that fits, and refused none: no decision about the others was observed: %s", pl.Bound, pl.Wanted, p.Undecided)
	case fitsAfter < r.Fits:
		b.Unobserved(p.ID, p.Scheduler, remedyFree, "placed %d of %d pods, but other pods took the GPUs of %d of them meanwhile", pl.Bound, pl.Wanted, r.Fits-fitsAfter)
	default:
		b.Fail(p.ID, p.Scheduler, "read the scheduler's messages about the pods; for a queue, check that it exists and is open, and that its quota covers every GPU",
			"placed %d of %d pods of a gang that fits: %s", pl.Bound, pl.Wanted, strings.Join(append(pl.Messages, p.Undecided), "; "))
	}
	return false
}

// denials match the admission webhook or the ResourceQuota of a refusal.
var denials = []struct {
	what    string
	matches *regexp.Regexp
}{
	{"webhook ", regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)},
	{"ResourceQuota ", regexp.MustCompile(`exceeded quota: ([^,]+),`)},
}

// refusing is what refused a pod.
func refusing(message string) string {
	for _, d := range denials {
		if m := d.matches.FindStringSubmatch(message); m != nil {
			return d.what + m[1]
		}
	}
	return "admission of pods"
}

func subset(nodes map[string]string, of []string) bool {
	for _, node := range nodes {
		if !slices.Contains(of, node) {
			return false
		}
	}
	return true
}

func places(nodes map[string]string) string {
	var out []string
	for _, pod := range slices.Sorted(maps.Keys(nodes)) {
		out = append(out, pod+" on "+nodes[pod])
	}
	return strings.Join(out, ", ")
}
