package component

import (
	"fmt"
	"slices"
	"strings"
)

// Names of extras: optional parts of a lab.
const (
	// ExtraAdapter is prometheus-adapter, which serves Prometheus' series as metrics APIs.
	ExtraAdapter = "adapter"
	// ExtraGateway is the Gateway API with a class that the world serves. It has no program. It is
	// an extra because the API server takes seconds to serve its large definitions.
	ExtraGateway = "gateway"
	// ExtraKarpenter is Karpenter with its KWOK provider.
	ExtraKarpenter = "karpenter"
	// ExtraKAI is the KAI scheduler.
	ExtraKAI = "kai"
	// ExtraVolcano is the Volcano scheduler with its controllers.
	ExtraVolcano = "volcano"
	// ExtraKueue is Kueue.
	ExtraKueue = "kueue"
	// ExtraTrainer is Kubeflow Trainer with JobSet.
	ExtraTrainer = "trainer"
	// ExtraMPI is the MPI Operator.
	ExtraMPI = "mpi"
	// ExtraRay is the KubeRay operator.
	ExtraRay = "ray"
)

// Extras returns the names of all extras.
func Extras() []string {
	return []string{ExtraAdapter, ExtraGateway, ExtraKarpenter, ExtraKAI, ExtraVolcano, ExtraKueue, ExtraTrainer, ExtraMPI, ExtraRay}
}

// CheckExtras returns an error for an unknown name.
func CheckExtras(names []string) error {
	for _, n := range names {
		if !slices.Contains(Extras(), n) {
			return fmt.Errorf("unknown extra %q: want one of %s", n, strings.Join(Extras(), ", "))
		}
	}
	return nil
}

// Extra returns the components of an extra; none for an unknown name.
func (c Config) Extra(name string) []Component {
	switch name {
	case ExtraAdapter:
		return []Component{c.Adapter()}
	case ExtraKarpenter:
		return []Component{c.Karpenter()}
	case ExtraKAI:
		return []Component{c.KAIScheduler(), c.KAIBinder(), c.KAIPodGrouper()}
	case ExtraVolcano:
		return []Component{c.VolcanoScheduler(), c.VolcanoControllers()}
	case ExtraKueue:
		return []Component{c.Kueue()}
	case ExtraTrainer:
		return []Component{c.JobSet(), c.KubeflowTrainer()}
	case ExtraMPI:
		return []Component{c.MPIOperator()}
	case ExtraRay:
		return []Component{c.KubeRay()}
	}
	return nil
}

// ObjectsOf is a dependency in Needs, not a component: the API objects of an extra (definitions,
// roles, defaults).
func ObjectsOf(extra string) string { return extra + "-objects" }
