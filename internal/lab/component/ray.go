package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// KubeRay reconciles RayClusters. Without leader election it works as soon as it runs again.
func (c Config) KubeRay() Component {
	return Component{
		Name: KubeRay,
		Argv: []string{
			"--enable-leader-election=false",
			"--health-probe-bind-address=" + c.hostPort(c.Ports.KubeRay),
			"--metrics-addr=0",
		},
		Env:       []string{"KUBECONFIG=" + c.Kubeconfig(pki.KubeRay)},
		Probe:     c.plainProbe(c.Ports.KubeRay, "/readyz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraRay)},
		StopGrace: 5 * time.Second,
	}
}
