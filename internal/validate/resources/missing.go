package resources

import (
	"fmt"
	"strings"
)

// Kinds with pod counts.
const (
	kindDeployment  = "Deployment"
	kindDaemonSet   = "DaemonSet"
	kindStatefulSet = "StatefulSet"
	kindJob         = "Job"
)

// missing is the reason why an object is not complete; empty: it is complete.
func (s state) missing() string {
	switch {
	case s.NoKind:
		return "the API server does not serve kind " + s.Kind
	case !s.Found && s.NoNamespace:
		return fmt.Sprintf("not found, and neither is the namespace %s", s.Namespace)
	case !s.Found && s.CreatedBy != "":
		return fmt.Sprintf("not found; an operator creates it from a %s", s.CreatedBy)
	case !s.Found:
		return "not found"
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
		return "failed" + s.details()
	case !s.Complete:
		return fmt.Sprintf("is not complete: %d of %d succeeded, %d active", s.Available, s.Desired, s.Present) + s.details()
	default:
		return ""
	}
}

// pods compares the pod counts of a controller.
func (s state) pods() string {
	switch {
	case s.Observed < s.Generation:
		return fmt.Sprintf("its controller has not reconciled it: generation is %d, observedGeneration %d", s.Generation, s.Observed)
	case s.Desired < 1 && s.Kind == kindDaemonSet:
		return "desires no pods: 0 of 0 are ready; " + s.whyNoPods()
	case s.Desired < 1:
		return "desires no pods: replicas is 0"
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
		wrong = append(wrong, fmt.Sprintf("%d exist, which is %d too many", s.Present, s.Present-s.Desired))
	}
	if len(wrong) == 0 {
		return ""
	}
	return strings.Join(wrong, ", ") + s.details()
}

// whyNoPods is the reason why a DaemonSet has zero desired pods.
func (s state) whyNoPods() string {
	switch {
	case s.Selector == "":
		return "the cause was not observed" + s.details()
	case s.Nodes == 0:
		return "the cluster has no node"
	case s.Selected == 0:
		return fmt.Sprintf("it selects none of %d nodes (%s)", s.Nodes, s.Selector)
	case len(s.Taints) > 0:
		return fmt.Sprintf("it selects %d of %d nodes and does not tolerate their taints: %s", s.Selected, s.Nodes, strings.Join(s.Taints, ", "))
	default:
		return fmt.Sprintf("it selects %d of %d nodes", s.Selected, s.Nodes)
	}
}

// details is the text of conditions and pods.
func (s state) details() string {
	all := append(append([]string{}, s.Conditions...), s.Pods...)
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}
