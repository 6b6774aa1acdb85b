package component

import (
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Karpenter makes KWOK nodes for pods that find no room. Its health and metrics ports are plain HTTP, read-only,
// and on every address of the machine: it has settings for their numbers alone.
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
			// How long it waits for more pods before it orders nodes for those it has.
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
