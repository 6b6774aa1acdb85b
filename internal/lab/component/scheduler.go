package component

import (
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Scheduler reads client CAs from the API server, as the controller manager does.
func (c Config) Scheduler() Component {
	p := c.PKI()
	kubeconfig, config := c.Kubeconfig(pki.Scheduler), c.Conf("scheduler.yaml")
	argv := []string{
		"--config=" + config,
		"--bind-address=" + c.Address,
		"--secure-port=" + strconv.Itoa(c.Ports.Scheduler),
		"--tls-cert-file=" + p.Cert(pki.Scheduler),
		"--tls-private-key-file=" + p.Key(pki.Scheduler),
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
	}
	if !c.Faults.NoGangScheduler && !c.Faults.HalfGang {
		argv = append(argv, "--feature-gates="+gangGates)
	}
	return Component{
		Name: Scheduler, Argv: argv,
		Files: map[string]string{config: `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: ` + strconv.Quote(kubeconfig) + `
  qps: 500
  burst: 1000
leaderElection:
  leaderElect: false
enableProfiling: false
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
`},
		Probe:     c.probe(c.Ports.Scheduler, "/readyz"),
		Needs:     []string{APIServer, Roles},
		StopGrace: 5 * time.Second,
	}
}
