package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// MPIOperatorPort is where the MPI Operator answers for its health, on every address
// of the machine: it has no setting for either. Only one lab of a machine can have it.
const MPIOperatorPort = 8080

// MPIOperator makes launchers and workers of MPIJobs.
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
