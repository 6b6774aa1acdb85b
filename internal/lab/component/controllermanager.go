package component

import (
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// ControllerManager is kube-controller-manager.
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
			"--client-ca-file=" + p.Cert(pki.CA),
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--requestheader-client-ca-file=" + p.Cert(pki.FrontProxyCA),
			"--root-ca-file=" + p.Cert(pki.CA),
			"--cluster-signing-cert-file=" + p.Cert(pki.CA),
			"--cluster-signing-key-file=" + p.Key(pki.CA),
			"--service-account-private-key-file=" + p.Key(pki.ServiceAccount),
			"--use-service-account-credentials=true",
			"--leader-elect=false",
			"--profiling=false",
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
			// A busy machine delays node leases; a node that is only late must not lose its pods.
			"--node-monitor-grace-period=3m",
			"--horizontal-pod-autoscaler-sync-period=1s",
			"--horizontal-pod-autoscaler-downscale-stabilization=10s",
		},
		Probe:     c.probe(c.Ports.ControllerManager, "/healthz"),
		Needs:     []string{APIServer},
		StopGrace: 5 * time.Second,
	}
}
