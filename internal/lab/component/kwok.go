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

// PodCIDR is the address range of KWOK pods outside the host network. It is not routed; the lab's
// Prometheus uses Config.PodNetwork.
const PodCIDR = "10.244.0.0/16"

// stages define the life of nodes and pods.
//
//go:embed stages.yaml
var stages string

// kwokCRDs are the kinds that the world creates to configure kwok. Stages are in kwok's
// configuration file instead, so that no node waits for them.
//
// Kinds that the world does not use are disabled. kwok's server requires no client certificate and
// has no setting for one (v0.8.0, pkg/kwok/server/server.go; it serves plain HTTP on the same port
// too). An Exec or a cluster-wide object (ClusterLogs) would be reachable by every process of the
// machine. The world's objects have names that cannot be guessed (internal/world/cluster,
// secretNames).
var kwokCRDs = []string{"Logs", "PortForward"}

// Kwok simulates the kubelets.
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
			// A kubelet's is 40. A node renews its lease after a quarter of it, and each renewal of each node
			// is a write; the controller manager waits for three minutes.
			"--node-lease-duration-seconds=120",
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
		Needs:     []string{APIServer, Roles, Objects},
		StopGrace: 5 * time.Second,
	}
}
