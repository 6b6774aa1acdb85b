package site

import (
	"cmp"
	"time"
)

// Defaults of what a site may leave out.
const (
	DefaultSSHConcurrency    = 16
	DefaultSSHConnectTimeout = 20 * time.Second
	DefaultSSHTimeout        = 30 * time.Minute
	// DiagnosticTimeout is the least limit of dcgmi diag. Level 3 takes 15 to 30 minutes on H100, and longer with more
	// memory; DCGM itself allows 8 hours (NVIDIA/DCGM issue 120).
	DiagnosticTimeout     = 2 * time.Hour
	DefaultPrepareTimeout = 30 * time.Minute
	DefaultServerPort     = 8000            // vLLM's
	DefaultJobTimeout     = 5 * time.Minute // of a small job of Slurm: slurmctld starts it within a minute on free nodes
	// DefaultRuleWithin: prometheus-operator writes a ConfigMap, the kubelet syncs it within a minute and
	// a half, and rules are evaluated once a minute by default.
	DefaultRuleWithin = 5 * time.Minute
)

// DefaultHealthWithin applies to components that were observed with desired =
// ready just before: they are not being installed.
const DefaultHealthWithin = 2 * time.Minute

// Defaults of the autoscaling chain.
const (
	DefaultAdapter     = "monitoring/prometheus-adapter"
	DefaultTaint       = "nvidia.com/gpu=present:NoSchedule"
	DefaultLoadGPUs    = 4
	DefaultMaxReplicas = 3
	DefaultWindow      = 10 * time.Second
	DefaultWorkerImage = "registry.k8s.io/pause:3.10"
	DefaultGang        = 3
)

func (s *Site) setDefaults() {
	s.Reach.SSH.Concurrency = cmp.Or(s.Reach.SSH.Concurrency, DefaultSSHConcurrency)
	s.Reach.SSH.ConnectTimeout = cmp.Or(s.Reach.SSH.ConnectTimeout, Duration(DefaultSSHConnectTimeout))
	s.Reach.SSH.Timeout = cmp.Or(s.Reach.SSH.Timeout, Duration(DefaultSSHTimeout))
	if s.Reach.SSH.FabricHost == "" && len(s.Inventory.Nodes) > 0 {
		s.Reach.SSH.FabricHost = s.Inventory.Nodes[0].Name
	}
	s.GPUStack.setProvider()
	s.GPUStack.ManagedBy = cmp.Or(s.GPUStack.ManagedBy, ManagedByOperator)
	if s.Reach.GPUTools == "" && (s.GPUStack.Provided() || !s.Kubernetes()) {
		s.Reach.GPUTools = ToolsOnHost // there are no pods of the GPU Operator
	}
	s.Reach.GPUTools = cmp.Or(s.Reach.GPUTools, ToolsAuto)
	s.GPUStack.GangScheduler = cmp.Or(s.GPUStack.GangScheduler, "auto")
	s.Workloads.Training.Nodes = cmp.Or(s.Workloads.Training.Nodes, len(s.Inventory.Nodes))
	if s.Slurm != nil {
		s.Slurm.setDefaults()
	}
	s.Telemetry.Alert.setDefaults()
	s.Workloads.Inference.setDefaults()
	s.Autoscale.setDefaults()
	for i := range s.Prepare {
		s.Prepare[i].Timeout = cmp.Or(s.Prepare[i].Timeout, Duration(DefaultPrepareTimeout))
	}
}

func (a *AlertProof) setDefaults() {
	a.Through = cmp.Or(a.Through, ThroughRule)
	a.RuleWithin = cmp.Or(a.RuleWithin, Duration(DefaultRuleWithin))
	if len(a.Labels) == 0 {
		a.Labels = map[string]string{"severity": "critical"}
	}
}

func (i *InferenceWorkload) setDefaults() {
	if i.Client == "" {
		i.Client = ClientMachine
		if i.LoadImage != "" {
			i.Client = ClientCluster
		}
	}
}

func (a *Autoscale) setDefaults() {
	a.Autoscaler = cmp.Or(a.Autoscaler, Karpenter)
	a.Adapter = cmp.Or(a.Adapter, DefaultAdapter)
	a.Controller = cmp.Or(a.Controller, "kube-system/"+a.Autoscaler)
	a.Taint = cmp.Or(a.Taint, DefaultTaint)
	a.GPUsPerReplica = cmp.Or(a.GPUsPerReplica, 1)
	a.LoadGPUs = cmp.Or(a.LoadGPUs, DefaultLoadGPUs)
	a.MinReplicas = cmp.Or(a.MinReplicas, 1)
	a.MaxReplicas = cmp.Or(a.MaxReplicas, max(DefaultMaxReplicas, a.MinReplicas+1))
	a.Window = cmp.Or(a.Window, Duration(DefaultWindow))
	a.WorkerImage = cmp.Or(a.WorkerImage, DefaultWorkerImage)
	a.Gang = cmp.Or(a.Gang, DefaultGang)
}
