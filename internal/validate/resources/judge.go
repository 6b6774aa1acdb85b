package resources

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.expected) == 0 {
		return check.Fail("no objects expected", check.Finding{
			Suspect: "recipe", Message: "its components create no objects",
			Remedy: "use a recipe whose components have footprints or expectedResources",
		})
	}
	found := check.OfKind(obs, kindInventory)
	if len(found) != 1 {
		return check.NotObserved(fmt.Sprintf("%d inventories instead of one", len(found)), check.Finding{
			Suspect: "cluster", Message: "its objects were not listed", Remedy: "run the step again",
		})
	}
	seen, err := check.Decode[inventory](found[0])
	if err != nil {
		return check.NotObserved("the objects could not be listed", check.NewFinding(found[0].ID, "cluster", remedyFor(found[0]), "%s", err))
	}
	j := judge{obs: found[0], seen: map[string][]state{}}
	for _, s := range seen.Objects {
		j.seen[s.id()] = append(j.seen[s.id()], s)
	}
	for _, o := range c.expected {
		j.object(o)
	}
	return j.judgement(len(c.expected), seen.Looks)
}

// judge collects the findings.
type judge struct {
	obs            check.Observation
	seen           map[string][]state
	complete, gone int
	check.Builder
}

func (j *judge) object(o Object) {
	list := j.seen[o.id()]
	if len(list) != 1 || list[0].Object != o {
		j.Unobserved(j.obs.ID, o.id(), "run the step again with this recipe", "component %s: want exactly one observed object of this recipe, got %d", o.Component, len(list))
		return
	}
	s := list[0]
	switch text := s.missing(); {
	case s.optional() && !s.NoNamespace && !s.NoKind:
		j.gone++
	case text != "":
		j.Fail(j.obs.ID, o.id(), s.remedy(), "component %s: %s", o.Component, text)
	default:
		j.complete++
	}
}

func (j *judge) judgement(expected, looks int) check.Judgement {
	if j.complete == 0 && j.Clean() {
		j.Unobserved(j.obs.ID, "cluster", "expect at least one object that is not a Job", "no expected object was observed: all are Jobs and were deleted")
	}
	j.Figure(
		check.Figure{Name: "complete objects", Value: float64(j.complete), Unit: "objects", Limit: float64(expected - j.gone), Relation: "==", Source: "the recipe's footprints and expectedResources"},
		check.Figure{Name: "deleted Jobs", Value: float64(j.gone), Unit: "Jobs"},
		check.Figure{Name: "reads", Value: float64(looks), Unit: "reads"},
	)
	passed := fmt.Sprintf("all %d objects are complete", j.complete)
	if j.gone > 0 {
		passed += fmt.Sprintf("; %d finished Jobs were deleted", j.gone)
	}
	out := j.Judgement(passed)
	if out.Verdict != check.Passed {
		out.Reason += fmt.Sprintf("; read %d times in %s", looks, j.obs.Took.Round(100*time.Millisecond))
	}
	return out
}

// remedy is the remedy for an incomplete object.
func (s state) remedy() string {
	kind := strings.ToLower(s.Kind)
	switch {
	case s.NoKind:
		return "install the component that has the CRD, or correct the kind in expectedResources"
	case !s.Found && s.CreatedBy != "":
		return fmt.Sprintf("see the %s and the log of the operator of %s: kubectl describe %s", s.CreatedBy, s.Component, strings.ToLower(s.CreatedBy))
	case !s.Found:
		return fmt.Sprintf("deploy %s, or see what deleted it: kubectl -n %s get events", s.Component, s.Namespace)
	case s.Kind == kindDaemonSet && s.Desired < 1:
		return "label the intended nodes, or correct its node selector and tolerations in the values of " + s.Component
	default:
		return fmt.Sprintf("kubectl -n %s describe %s %s and its pods", s.Namespace, kind, s.Name)
	}
}

// remedyFor is the remedy for a failed read.
func remedyFor(o check.Observation) string {
	if o.Forbidden() {
		return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
	}
	return "make the API server reachable with this kubeconfig, then run the step again"
}
