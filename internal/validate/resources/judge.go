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
		return check.Fail("nothing is expected to be there", check.Finding{
			Suspect: "recipe", Message: "its components put no object into the cluster that could be looked for",
			Remedy: "give a recipe with components that have footprints, or expectedResources",
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
		return check.NotObserved("the objects could not be listed", finding(found[0], "cluster", err.Error(), remedyFor(found[0].Err)))
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

// judge gathers what is not complete, and what was not looked at.
type judge struct {
	obs            check.Observation
	seen           map[string][]state
	complete, gone int
	wrong, unseen  []check.Finding
}

func (j *judge) object(o Object) {
	list := j.seen[o.id()]
	if len(list) != 1 || list[0].Object != o {
		j.unseen = append(j.unseen, finding(j.obs, o.id(), fmt.Sprintf("component %s: was looked at %d times, as something else or not at all", o.Component, len(list)), "run the step again with this recipe"))
		return
	}
	s := list[0]
	switch text := s.missing(); {
	case s.optional() && !s.NoNamespace && !s.NoKind:
		j.gone++
	case text != "":
		j.wrong = append(j.wrong, finding(j.obs, o.id(), "component "+o.Component+": "+text, s.remedy()))
	default:
		j.complete++
	}
}

func (j *judge) judgement(expected, looks int) check.Judgement {
	if j.complete == 0 && len(j.wrong)+len(j.unseen) == 0 {
		j.unseen = append(j.unseen, finding(j.obs, "cluster", "nothing of what is expected was seen: there were only Jobs, and they are gone", "expect something that stays"))
	}
	out := check.Judgement{
		Verdict: verdictOf(j.wrong, j.unseen), Findings: append(j.wrong, j.unseen...),
		Figures: []check.Figure{
			{Name: "complete objects", Value: float64(j.complete), Unit: "objects", Limit: float64(expected - j.gone), Relation: "==", Source: "the recipe's footprints and expectedResources"},
			{Name: "Jobs that are gone", Value: float64(j.gone), Unit: "Jobs"},
			{Name: "looks", Value: float64(looks), Unit: "looks"},
		},
	}
	if out.Verdict == check.Passed {
		out.Reason = fmt.Sprintf("all %d objects are there in full", j.complete)
		if j.gone > 0 {
			out.Reason += fmt.Sprintf("; %d Jobs are gone, as those that are done may be", j.gone)
		}
		return out
	}
	out.Reason = fmt.Sprintf("%s: %s", out.Findings[0].Suspect, out.Findings[0].Message)
	if more := len(out.Findings) - 1; more > 0 {
		out.Reason += fmt.Sprintf(" (and %d more)", more)
	}
	out.Reason += fmt.Sprintf("; looked at %d times in %s", looks, j.obs.Took.Round(100*time.Millisecond))
	return out
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// remedy says what to do about an object.
func (s state) remedy() string {
	kind := strings.ToLower(s.Kind)
	switch {
	case s.NoKind:
		return "install the component that brings the kind, or correct it in expectedResources"
	case !s.Found && s.CreatedBy != "":
		return fmt.Sprintf("see the %s and the log of the operator of %s: kubectl describe %s", s.CreatedBy, s.Component, strings.ToLower(s.CreatedBy))
	case !s.Found:
		return fmt.Sprintf("deploy %s, or see what deleted it: kubectl -n %s get events", s.Component, s.Namespace)
	case s.Kind == kindDaemonSet && s.Desired < 1:
		return "label the nodes that it is for, or correct its node selector and tolerations in the values of " + s.Component
	default:
		return fmt.Sprintf("kubectl -n %s describe %s %s, and its pods", s.Namespace, kind, s.Name)
	}
}

// remedyFor says what to do about a read that failed.
func remedyFor(err string) string {
	if strings.Contains(err, "forbidden") {
		return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
	}
	return "make the API server reachable with this kubeconfig, then run the step again"
}
