package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// KAIScheduler schedules pods with schedulerName kai-scheduler and creates BindRequests for the
// binder. Its configuration is the one that KAI's operator generates for a shard without settings.
func (c Config) KAIScheduler() Component {
	config := c.Conf("kai-scheduler.yaml")
	return Component{
		Name: KAIScheduler,
		Argv: []string{
			"--scheduler-conf=" + config,
			"--listen-address=" + c.hostPort(c.Ports.KAIScheduler),
			// The plugin server listens on all addresses. An invalid port disables it.
			"--plugin-server-port=-1",
			"--schedule-period=1s",
			"--qps=500",
			"--burst=1000",
			"--v=1",
		},
		Env: []string{"KUBECONFIG=" + c.Kubeconfig(pki.KAIScheduler)},
		Files: map[string]string{config: `actions: allocate, consolidation, reclaim, preempt, stalegangeviction
tiers:
- plugins:
  - name: predicates
  - name: proportion
  - name: priority
  - name: nodeavailability
  - name: resourcetype
  - name: podaffinity
  - name: elastic
  - name: kubeflow
  - name: ray
  - name: subgrouporder
  - name: taskorder
  - name: nominatednode
  - name: dynamicresources
  - name: minruntime
  - name: topology
  - name: gpupack
  - name: nodeplacement
    arguments: {cpu: binpack, gpu: binpack}
  - name: gpusharingorder
`},
		Probe:     c.plainProbe(c.Ports.KAIScheduler, "/metrics"),
		Needs:     []string{APIServer, ObjectsOf(ExtraKAI)},
		StopGrace: 2 * time.Second,
	}
}

// KAIBinder binds the pods of BindRequests.
func (c Config) KAIBinder() Component {
	return Component{
		Name: KAIBinder,
		Argv: []string{
			"--metrics-bind-address=" + c.hostPort(c.Ports.KAIBinder),
			"--health-probe-bind-address=0", // no check is registered
			"--qps=500",
			"--burst=1000",
		},
		Env:       []string{"KUBECONFIG=" + c.Kubeconfig(pki.KAIBinder)},
		Probe:     c.plainProbe(c.Ports.KAIBinder, "/metrics"),
		Needs:     []string{APIServer, ObjectsOf(ExtraKAI)},
		StopGrace: 5 * time.Second,
	}
}

// KAIPodGrouper creates PodGroups for pods and their owners.
func (c Config) KAIPodGrouper() Component {
	return Component{
		Name: KAIPodGrouper,
		Argv: []string{
			"--health-probe-bind-address=" + c.hostPort(c.Ports.KAIPodGrouper),
			"--metrics-bind-address=0",
			"--qps=500",
			"--burst=1000",
		},
		Env:       []string{"KUBECONFIG=" + c.Kubeconfig(pki.KAIPodGrouper)},
		Probe:     c.plainProbe(c.Ports.KAIPodGrouper, "/readyz"),
		Needs:     []string{APIServer, ObjectsOf(ExtraKAI)},
		StopGrace: 5 * time.Second,
	}
}
