package component

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// leaderElection is as in the programs' own installations; the lease shows which process leads.
const leaderElection = `leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  retryPeriod: 2s
  resourceLock: leases
  resourceName: %s
  resourceNamespace: %s
`

// JobSet creates Jobs for JobSets. Its webhooks set defaults that its controller relies on.
func (c Config) JobSet() Component {
	config := c.Conf("jobset.yaml")
	certs := c.Data("jobset-certs")
	return Component{
		Name: JobSet,
		Argv: []string{"--config=" + config, "--zap-devel=false", "--zap-log-level=info"},
		Env:  []string{"KUBECONFIG=" + c.Kubeconfig(pki.JobSet)},
		Files: map[string]string{config: fmt.Sprintf(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  host: %s
  port: %d
  certDir: %s
health:
  healthProbeBindAddress: %s
metrics:
  bindAddress: "0"
clientConnection:
  qps: 500
  burst: 1000
# Its certificates are the lab's.
internalCertManagement:
  enable: false
`, c.Address, c.Ports.JobSetWebhook, certs, c.hostPort(c.Ports.JobSetHealth)) +
			fmt.Sprintf(leaderElection, "6d4f6a47.jobset.x-k8s.io", "jobset-system")},
		Copies:    c.serving(certs, pki.JobSet),
		Probe:     c.plainProbe(c.Ports.JobSetHealth, "/readyz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraTrainer)},
		StopGrace: 5 * time.Second,
	}
}

// KubeflowTrainer creates JobSets for TrainJobs. It reads its certificates below its temporary
// directory, which is therefore not shared.
func (c Config) KubeflowTrainer() Component {
	config := c.Conf("kubeflow-trainer.yaml")
	tmp := c.Data("kubeflow-trainer-tmp")
	return Component{
		Name: KubeflowTrainer,
		Argv: []string{"--config=" + config, "--zap-log-level=info"},
		Env:  []string{"KUBECONFIG=" + c.Kubeconfig(pki.KubeflowTrainer), "TMPDIR=" + tmp},
		Files: map[string]string{config: fmt.Sprintf(`apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
webhook:
  host: %s
  port: %d
health:
  healthProbeBindAddress: %s
metrics:
  bindAddress: "0"
clientConnection:
  qps: 500
  burst: 1000
# Its certificates are the lab's.
certManagement:
  enable: false
`, c.Address, c.Ports.TrainerWebhook, c.hostPort(c.Ports.TrainerHealth)) +
			fmt.Sprintf(leaderElection, "trainer.kubeflow.org", "kubeflow-system")},
		Copies:    c.serving(filepath.Join(tmp, "k8s-webhook-server", "serving-certs"), pki.KubeflowTrainer),
		Probe:     c.plainProbe(c.Ports.TrainerHealth, "/readyz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraTrainer)},
		StopGrace: 5 * time.Second,
	}
}

// serving returns copies of a serving pair under the names that controller-runtime expects.
func (c Config) serving(dir, identity string) map[string]string {
	p := c.PKI()
	return map[string]string{
		filepath.Join(dir, "tls.crt"): p.Cert(identity),
		filepath.Join(dir, "tls.key"): p.Key(identity),
	}
}
