package resources

import (
	"fmt"
	"strings"
)

// Kinds whose pods are counted.
const (
	kindDeployment  = "Deployment"
	kindDaemonSet   = "DaemonSet"
	kindStatefulSet = "StatefulSet"
	kindJob         = "Job"
)

// missing says what an object lacks of being complete; empty: nothing.
func (s state) missing() string {
	switch {
	case s.NoKind:
		return "the API server serves no kind " + s.Kind
	case !s.Found && s.NoNamespace:
		return fmt.Sprintf("is not there, and neither is the namespace %s", s.Namespace)
	case !s.Found && s.CreatedBy != "":
		return fmt.Sprintf("is not there; an operator makes it of a %s", s.CreatedBy)
	case !s.Found:
		return "is not there"
	case s.Deleted:
		return "is being deleted"
	}
	switch s.Kind {
	case kindJob:
		return s.job()
	case kindDeployment, kindDaemonSet, kindStatefulSet:
		return s.pods()
	default:
		return ""
	}
}

func (s state) job() string {
	switch {
	case s.Failed:
		return "failed" + s.why()
	case !s.Complete:
		return fmt.Sprintf("is not complete: %d of %d succeeded, %d active", s.Available, s.Desired, s.Present) + s.why()
	default:
		return ""
	}
}

// pods counts those of a controller.
func (s state) pods() string {
	switch {
	case s.Observed < s.Generation:
		return fmt.Sprintf("its controller has not looked at it: generation is %d, observedGeneration %d", s.Generation, s.Observed)
	case s.Desired < 1 && s.Kind == kindDaemonSet:
		return "wants no pod: 0 of 0 are ready; " + s.nowhere()
	case s.Desired < 1:
		return "wants no pod: replicas is 0"
	}
	var wrong []string
	if s.Ready != s.Desired {
		wrong = append(wrong, fmt.Sprintf("%d of %d pods are ready", s.Ready, s.Desired))
	}
	if s.Available != s.Desired && s.Available != s.Ready {
		wrong = append(wrong, fmt.Sprintf("%d of %d are available", s.Available, s.Desired))
	}
	if s.Updated != s.Desired && !s.OnDelete {
		wrong = append(wrong, fmt.Sprintf("%d of %d are of the current template", s.Updated, s.Desired))
	}
	if s.Present > s.Desired {
		wrong = append(wrong, fmt.Sprintf("%d are there, which is %d too many", s.Present, s.Present-s.Desired))
	}
	if len(wrong) == 0 {
		return ""
	}
	return strings.Join(wrong, ", ") + s.why()
}

// nowhere says why a DaemonSet wants no pod.
func (s state) nowhere() string {
	switch {
	case s.Selector == "":
		return "why was not seen" + s.why()
	case s.Nodes == 0:
		return "the cluster has no node"
	case s.Selected == 0:
		return fmt.Sprintf("none of %d nodes is one that it selects (%s)", s.Nodes, s.Selector)
	case len(s.Taints) > 0:
		return fmt.Sprintf("it selects %d of %d nodes, and does not tolerate their taints: %s", s.Selected, s.Nodes, strings.Join(s.Taints, ", "))
	default:
		return fmt.Sprintf("it selects %d of %d nodes", s.Selected, s.Nodes)
	}
}

// why is what conditions and pods say.
func (s state) why() string {
	all := append(append([]string{}, s.Conditions...), s.Pods...)
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}
