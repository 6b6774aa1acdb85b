package component

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the extras: what a lab can have besides what every lab has.
const (
	// ExtraAdapter serves Prometheus' series as metrics APIs, for autoscalers.
	ExtraAdapter = "adapter"
	// ExtraGateway is the Gateway API, with a class that the world serves. It has no
	// program: its definitions are large, and take an API server seconds to serve.
	ExtraGateway = "gateway"
	// ExtraKarpenter makes nodes for pods that find none, and takes them away again.
	ExtraKarpenter = "karpenter"
	// ExtraKAI schedules pods that ask for it, by queues.
	ExtraKAI = "kai"
	// ExtraTrainer makes training jobs of TrainJobs: Kubeflow Trainer, and JobSet
	// that it builds on.
	ExtraTrainer = "trainer"
	// ExtraMPI makes launchers and workers of MPIJobs: the MPI Operator.
	ExtraMPI = "mpi"
)

// Extras are the names of all extras.
func Extras() []string {
	return []string{ExtraAdapter, ExtraGateway, ExtraKarpenter, ExtraKAI, ExtraTrainer, ExtraMPI}
}

// CheckExtras refuses a name that is no extra's.
func CheckExtras(names []string) error {
	for _, n := range names {
		if !slices.Contains(Extras(), n) {
			return fmt.Errorf("a lab cannot have %q: there are %s", n, strings.Join(Extras(), ", "))
		}
	}
	return nil
}

// Extra returns the components of an extra; none when there is no such extra.
func (c Config) Extra(name string) []Component {
	switch name {
	case ExtraAdapter:
		return []Component{c.Adapter()}
	case ExtraKarpenter:
		return []Component{c.Karpenter()}
	case ExtraKAI:
		return []Component{c.KAIScheduler(), c.KAIBinder(), c.KAIPodGrouper()}
	case ExtraTrainer:
		return []Component{c.JobSet(), c.KubeflowTrainer()}
	case ExtraMPI:
		return []Component{c.MPIOperator()}
	}
	return nil
}

// ObjectsOf is no component: it stands in Needs for the API objects that an
// extra needs before it starts (definitions, roles, defaults).
func ObjectsOf(extra string) string { return extra + "-objects" }
