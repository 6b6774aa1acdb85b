package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// VolcanoScheduler schedules pods with schedulerName volcano. Its configuration is the chart's.
func (c Config) VolcanoScheduler() Component {
	config := c.Conf("volcano-scheduler.conf")
	// Action enqueue refuses a gang that is larger than its queue's share of the cluster.
	actions, gang := "enqueue, allocate, backfill", "  - name: gang\n    enablePreemptable: false\n"
	if c.Faults.HalfGang {
		actions, gang = "allocate, backfill", ""
	}
	return Component{
		Name: VolcanoScheduler,
		Argv: []string{
			"--kubeconfig=" + c.Kubeconfig(pki.VolcanoScheduler),
			"--scheduler-conf=" + config,
			"--leader-elect=false",
			"--enable-healthz=true",
			"--healthz-address=" + c.hostPort(c.Ports.VolcanoScheduler),
			"--cache-dumper=false",
			"--logtostderr",
			"--v=2",
		},
		Files: map[string]string{config: `actions: "` + actions + `"
tiers:
- plugins:
  - name: priority
` + gang + `  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: capacity
  - name: nodeorder
  - name: binpack
`},
		Probe:     c.plainProbe(c.Ports.VolcanoScheduler, "/healthz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraVolcano)},
		StopGrace: 2 * time.Second,
	}
}

// VolcanoControllers keep the state of queues and create the pods of Volcano Jobs. The controllers of
// job flows, which are another chart's, are off.
func (c Config) VolcanoControllers() Component {
	return Component{
		Name: VolcanoControllers,
		Argv: []string{
			"--kubeconfig=" + c.Kubeconfig(pki.VolcanoControllers),
			"--controllers=+gc-controller,+job-controller,+pg-controller,+queue-controller",
			"--leader-elect=false",
			"--enable-healthz=true",
			"--healthz-address=" + c.hostPort(c.Ports.VolcanoControllers),
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
			"--logtostderr",
			"--v=2",
		},
		Probe:     c.plainProbe(c.Ports.VolcanoControllers, "/healthz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraVolcano)},
		StopGrace: 2 * time.Second,
	}
}
