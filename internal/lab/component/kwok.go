package component

import (
	"strconv"
	"strings"
	"time"

	_ "embed" // the stages

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// KwokAnnotation and its value select the nodes that kwok manages.
const (
	KwokAnnotation      = "kwok.x-k8s.io/node"
	KwokAnnotationValue = "fake"
)

// PodCIDR is where KWOK pods that are not on the host's network get addresses
// from. Nothing routes it; the lab's Prometheus has a way there (Config.PodNetwork).
const PodCIDR = "10.244.0.0/16"

// stages are how a node becomes ready and a pod lives; see stages.yaml.
//
//go:embed stages.yaml
var stages string

// kwokCRDs are the kinds that the world configures kwok with while it runs.
// Stages are not among them: they are in its configuration file, so that no
// node waits for them.
//
// Nor are kinds that the world does not use. kwok's server serves TLS and asks no client for a
// certificate (v0.8.0, pkg/kwok/server/server.go: it has settings for neither clients'
// certificates nor tokens, and serves plain HTTP on the same port). An Exec or an object for a
// whole cluster (ClusterLogs) would lead every process of the machine to what it is for. The
// world's objects have names that cannot be guessed (internal/world/cluster, secretNames).
var kwokCRDs = []string{"Logs", "PortForward"}

// Kwok stands in for the kubelets.
func (c Config) Kwok() Component {
	p := c.PKI()
	config := c.Conf("kwok.yaml")
	return Component{
		Name: Kwok,
		Argv: []string{
			"--config=" + config,
			"--kubeconfig=" + c.Kubeconfig(pki.Kwok),
			"--manage-all-nodes=false",
			"--manage-nodes-with-annotation-selector=" + KwokAnnotation + "=" + KwokAnnotationValue,
			"--cidr=" + PodCIDR,
			"--node-ip=" + c.Address,
			"--node-port=" + strconv.Itoa(c.Ports.Kwok),
			"--server-address=" + c.hostPort(c.Ports.Kwok),
			"--tls-cert-file=" + p.Cert(pki.Kwok),
			"--tls-private-key-file=" + p.Key(pki.Kwok),
			"--node-lease-duration-seconds=40",
			"--enable-crds=" + strings.Join(kwokCRDs, ","),
		},
		Files: map[string]string{config: `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  # A configuration file turns off what is on without one: logs, exec, port-forward.
  enableDebuggingHandlers: true
  enableProfilingHandler: false
  podPlayStageParallelism: 16
  nodePlayStageParallelism: 16
  nodeLeaseParallelism: 4
---
` + strings.ReplaceAll(stages, "KUBELET_ADDRESS", c.Address)},
		Probe:     c.probe(c.Ports.Kwok, "/healthz"),
		Needs:     []string{APIServer, Objects},
		StopGrace: 5 * time.Second,
	}
}
