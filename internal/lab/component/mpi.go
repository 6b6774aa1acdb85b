package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// MPIOperatorPort is the MPI Operator's health port, on all addresses and without a setting. Only
// one lab per machine can have it.
const MPIOperatorPort = 8080

// MPIOperator reconciles MPIJobs.
func (c Config) MPIOperator() Component {
	return Component{
		Name: MPIOperator,
		Argv: []string{
			"--lock-namespace=mpi-operator",
			"--monitoring-port=0",
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
		},
		Env:       []string{"KUBECONFIG=" + c.Kubeconfig(pki.MPIOperator)},
		Probe:     c.plainProbe(MPIOperatorPort, "/healthz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraMPI)},
		StopGrace: 5 * time.Second,
	}
}
