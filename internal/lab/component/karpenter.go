package component

import (
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Karpenter creates KWOK nodes for pending pods. Its health and metrics ports are plain, read-only
// HTTP on all addresses; only their numbers are configurable.
func (c Config) Karpenter() Component {
	types := c.Conf("instance-types.json")
	return Component{
		Name: Karpenter,
		Env: []string{
			"KUBECONFIG=" + c.Kubeconfig(pki.Karpenter),
			"DISABLE_LEADER_ELECTION=true",
			"HEALTH_PROBE_PORT=" + strconv.Itoa(c.Ports.KarpenterHealth),
			"METRICS_PORT=" + strconv.Itoa(c.Ports.KarpenterMetrics),
			"KUBE_CLIENT_QPS=500",
			"KUBE_CLIENT_BURST=1000",
			// Karpenter batches pods for this long before it creates nodes.
			"BATCH_IDLE_DURATION=200ms",
			"BATCH_MAX_DURATION=1s",
			"INSTANCE_TYPES_FILE_PATH=" + types,
			"LOG_LEVEL=info",
		},
		Files:     map[string]string{types: c.InstanceTypes},
		Probe:     c.plainProbe(c.Ports.KarpenterHealth, "/readyz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraKarpenter)},
		StopGrace: 5 * time.Second,
	}
}
