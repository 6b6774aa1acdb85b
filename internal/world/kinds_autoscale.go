package world

import "time"

// autoscaleFaults are those of the autoscaling chain, by the hop that must fail
// first. What is wrong with the exporters themselves is among the telemetry's.
func autoscaleFaults() []FaultKind {
	kinds := metricFaults()
	kinds = append(kinds, scaleFaults()...)
	kinds = append(kinds, nodeMakingFaults()...)
	return append(kinds, nodeRemovalFaults()...)
}

// gate of the chain.
const autoscale = "autoscale"

// metricFaults break the way from the exporter to the metrics API.
func metricFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "adapter-down", Gate: autoscale, Hop: "adapter", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "prometheus-adapter does not run", Suspect: `(?i)prometheus-adapter`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.AdapterDown = true },
		},
		{
			Kind: "apiservice-unavailable", Gate: autoscale, Hop: "adapter", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the metrics APIs' APIServices lead to a port where nobody listens", Suspect: `(?i)APIService.*metrics\.k8s\.io`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.APIServiceUnavailable = true },
		},
		{
			Kind: "gpu-label-dropped", Gate: autoscale, Hop: "series", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "series have lost the labels that say which GPU they are of (gpu, UUID)", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.GPULabelDropped = true })
			},
		},
		{
			Kind: "adapter-rule-wrong", Gate: autoscale, Hop: "served", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the adapter's power rules ask for a series that is not there", Suspect: `(?i)gpu_power_usage|adapter`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.AdapterRuleWrong = true },
		},
	}
}

// policyFault is a kind that puts a policy of its own name into the API server.
func policyFault(k FaultKind) FaultKind {
	k.Gate, k.TargetForm, k.DefaultTarget = autoscale, FormCluster, FormCluster
	k.apply = func(d *draft, _ target, f Fault) {
		d.Autoscale.Policies = append(d.Autoscale.Policies, Policy{Name: k.Kind, Spare: f.Options["spare"] == "first"})
	}
	return k
}

// spareFirst: a fault that would hit the first replica, which is placed before
// anything is to scale, is seen at the hop that it belongs to when it comes after.
func spareFirst() []FaultOption {
	return []FaultOption{{
		Name: "spare", Default: "first", Values: []string{"first", "none"},
		Summary: "first: what comes before a worker runs is left alone; none: all is hit, so that an earlier hop fails",
	}}
}

// scaleFaults break the HPA.
func scaleFaults() []FaultKind {
	return []FaultKind{
		policyFault(FaultKind{
			Kind: "hpa-target-unreachable", Hop: "hpa",
			Summary: "the HPA's target is a million: nothing reaches it", Suspect: `(?i)HPA's target`,
		}),
		policyFault(FaultKind{
			Kind: "hpa-max-reached", Hop: "hpa",
			Summary: "the HPA's maximum is what runs already", Suspect: `(?i)HPA has reached its maximum`,
		}),
	}
}

// nodeMakingFaults break the way from pending pods to running ones.
func nodeMakingFaults() []FaultKind {
	return []FaultKind{
		policyFault(FaultKind{
			Kind: "kai-queue-missing", Hop: "unschedulable", Needs: "kai", Options: spareFirst(),
			Summary: "the pods' KAI queue does not exist", Suspect: `(?i)queue nobody-made-this`,
		}),
		policyFault(FaultKind{
			Kind: "taint-not-tolerated", Hop: "nodeclaim", Needs: "karpenter", Options: spareFirst(),
			Summary: "the worker pods do not tolerate the GPU nodes' taint", Suspect: `(?i)taint not tolerated`,
		}),
		policyFault(FaultKind{
			Kind: "pool-limit-zero", Hop: "nodeclaim", Needs: "karpenter", Options: spareFirst(),
			Summary: "the NodePool's limit is 0 GPUs", Suspect: `(?i)NodePool limit reached`,
		}),
		policyFault(FaultKind{
			Kind: "no-instance-type", Hop: "nodeclaim", Needs: "karpenter", Options: spareFirst(),
			Summary: "the NodePool demands an instance type that does not exist", Suspect: `(?i)no instance type fits`,
		}),
		{
			Kind: "node-never-registers", Gate: autoscale, Hop: "registered", Needs: "karpenter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "instances are started and do not join the cluster, but for a run's first", Suspect: `(?i)NodeClaim.*has not registered`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.Boot = 24 * time.Hour },
		},
		{
			Kind: "bound-elsewhere", Gate: autoscale, Hop: "bound", Needs: "karpenter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the new pods find room on nodes that were not made for them, while theirs boot", Suspect: `spare-`,
			apply: func(d *draft, _ target, _ Fault) {
				d.Autoscale.SpareNodes = true
				// Long enough for the scheduler on a busy machine: a pod that has failed
				// often waits 10 s for its next attempt.
				d.Autoscale.Boot = 20 * time.Second
			},
		},
	}
}

// nodeRemovalFaults break the way down.
func nodeRemovalFaults() []FaultKind {
	return []FaultKind{
		policyFault(FaultKind{
			Kind: "consolidation-disabled", Hop: "nodes-gone", Needs: "karpenter",
			Summary: "the NodePool never consolidates", Suspect: `(?i)consolidation is disabled`,
		}),
		{
			Kind: "do-not-disrupt", Gate: autoscale, Hop: "nodes-gone", Needs: "karpenter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "somebody's pod on each new node must not be disrupted", Suspect: `blockers/blocker-`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.BlockerPods = true },
		},
	}
}
