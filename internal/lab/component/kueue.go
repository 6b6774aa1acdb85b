package component

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// KueueNamespace and KueueCertificate are the Secret with the certificates that Kueue creates.
const (
	KueueNamespace   = "kueue-system"
	KueueCertificate = "kueue-webhook-server-cert"
)

// KueueCertificates is the directory in which Kueue has its Secret mounted.
func (c Config) KueueCertificates() string { return c.Data("kueue-certs") }

// Kueue admits jobs to queues. Without its own management of certificates it would read those of its
// metrics in /etc.
func (c Config) Kueue() Component {
	config := c.Conf("kueue.yaml")
	return Component{
		Name: Kueue,
		Argv: []string{"--config=" + config, "--zap-log-level=info"},
		Env:  []string{"KUBECONFIG=" + c.Kubeconfig(pki.Kueue)},
		Files: map[string]string{config: fmt.Sprintf(`apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: %s
webhook:
  host: %s
  port: %d
  certDir: %s
health:
  healthProbeBindAddress: %s
metrics:
  bindAddress: "0"
leaderElection:
  leaderElect: false
clientConnection:
  qps: 500
  burst: 1000
featureGates:
  # Its server would listen on all addresses.
  VisibilityOnDemand: false
internalCertManagement:
  enable: true
  webhookServiceName: kueue-webhook-service
  webhookSecretName: %s
integrations:
  frameworks: [batch/job, jobset.x-k8s.io/jobset, trainer.kubeflow.org/trainjob, kubeflow.org/mpijob]
`, KueueNamespace, c.Address, c.Ports.KueueWebhook, c.KueueCertificates(), c.hostPort(c.Ports.KueueHealth), KueueCertificate)},
		Probe:     c.plainProbe(c.Ports.KueueHealth, "/readyz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraKueue)},
		StopGrace: 5 * time.Second,
	}
}
