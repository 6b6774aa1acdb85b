package component

import (
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// ControllerManager reads client CAs from the API server
// (kube-system/extension-apiserver-authentication) and signs no certificates: each CA file that it
// watched would take an inotify instance, and a user usually has 128 for all labs.
func (c Config) ControllerManager() Component {
	p := c.PKI()
	kubeconfig := c.Kubeconfig(pki.ControllerManager)
	return Component{
		Name: ControllerManager,
		Argv: []string{
			"--bind-address=" + c.Address,
			"--secure-port=" + strconv.Itoa(c.Ports.ControllerManager),
			"--tls-cert-file=" + p.Cert(pki.ControllerManager),
			"--tls-private-key-file=" + p.Key(pki.ControllerManager),
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--root-ca-file=" + p.Cert(pki.CA),
			"--service-account-private-key-file=" + p.Key(pki.ServiceAccount),
			"--use-service-account-credentials=true",
			"--leader-elect=false",
			"--profiling=false",
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
			// A busy machine delays node leases; late nodes must not lose their pods.
			"--node-monitor-grace-period=3m",
			"--horizontal-pod-autoscaler-sync-period=1s",
			"--horizontal-pod-autoscaler-downscale-stabilization=10s",
		},
		Probe:     c.probe(c.Ports.ControllerManager, "/healthz"),
		Needs:     []string{APIServer, Roles},
		StopGrace: 5 * time.Second,
	}
}
