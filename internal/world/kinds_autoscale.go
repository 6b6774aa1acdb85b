package world

import "time"

// autoscaleFaults returns the faults of the autoscaling chain, by the hop that must fail first.
// Faults of the exporters are telemetry faults.
func autoscaleFaults() []FaultKind {
	kinds := metricFaults()
	kinds = append(kinds, scaleFaults()...)
	kinds = append(kinds, nodeMakingFaults()...)
	return append(kinds, nodeRemovalFaults()...)
}

const autoscale = "autoscale"

// metricFaults break the path from the exporter to the metrics API.
func metricFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "adapter-down", Gate: autoscale, Hop: "adapter", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "prometheus-adapter does not run", Suspect: `(?i)prometheus-adapter`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.AdapterDown = true },
		},
		{
			Kind: "apiservice-unavailable", Gate: autoscale, Hop: "adapter", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the metrics APIs' APIServices point at a closed port", Suspect: `(?i)APIService.*metrics\.k8s\.io`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.APIServiceUnavailable = true },
		},
		{
			Kind: "gpu-label-dropped", Gate: autoscale, Hop: "series", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "series lack the labels that identify the GPU (gpu, UUID)", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.GPULabelDropped = true })
			},
		},
		{
			Kind: "adapter-rule-wrong", Gate: autoscale, Hop: "served", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the adapter's power rules query a series that does not exist", Suspect: `(?i)gpu_power_usage|adapter`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.AdapterRuleWrong = true },
		},
	}
}

// policyFault applies the policy with the kind's name.
func policyFault(k FaultKind) FaultKind {
	k.Gate, k.TargetForm, k.DefaultTarget = autoscale, FormCluster, FormCluster
	k.apply = func(d *draft, _ target, f Fault) {
		d.Autoscale.Policies = append(d.Autoscale.Policies, Policy{Name: k.Kind, Spare: f.Options["spare"] == "first"})
	}
	return k
}

// spareFirst: a fault that affects the first replica, which is placed before any scaling, fails an
// earlier hop. Sparing the first makes it fail the hop that it belongs to.
func spareFirst() []FaultOption {
	return []FaultOption{{
		Name: "spare", Default: "first", Values: []string{"first", "none"},
		Summary: "first: objects created before the first worker runs are not affected; none: all are, so that an earlier hop fails",
	}}
}

// scaleFaults break the HPA.
func scaleFaults() []FaultKind {
	return []FaultKind{
		policyFault(FaultKind{
			Kind: "hpa-target-unreachable", Hop: "hpa",
			Summary: "the HPA's target is a million and is never reached", Suspect: `(?i)HPA's target`,
		}),
		policyFault(FaultKind{
			Kind: "hpa-max-reached", Hop: "hpa",
			Summary: "the HPA's maximum is the current number of replicas", Suspect: `(?i)HPA has reached its maximum`,
		}),
	}
}

// nodeMakingFaults break the path from pending pods to running ones.
func nodeMakingFaults() []FaultKind {
	return []FaultKind{
		policyFault(FaultKind{
			Kind: "kai-queue-missing", Hop: "unschedulable", Needs: "kai", Options: spareFirst(),
			Summary: "the pods' KAI queue does not exist", Suspect: `(?i)queue missing-queue`,
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
			Summary: "the NodePool requires an instance type that does not exist", Suspect: `(?i)no instance type fits`,
		}),
		{
			Kind: "node-never-registers", Gate: autoscale, Hop: "registered", Needs: "karpenter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "instances start and do not join the cluster, except a run's first", Suspect: `(?i)NodeClaim.*has not registered`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.Boot = 24 * time.Hour },
		},
		{
			Kind: "bound-elsewhere", Gate: autoscale, Hop: "bound", Needs: "karpenter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the new pods are bound to spare nodes while the nodes created for them boot", Suspect: `spare-`,
			apply: func(d *draft, _ target, _ Fault) {
				d.Autoscale.SpareNodes = true
				// Longer than the delay of spare nodes and the scheduler's backoff of 10 s for pods that failed often.
				d.Autoscale.Boot = 40 * time.Second
			},
		},
	}
}

// nodeRemovalFaults break the scale-down.
func nodeRemovalFaults() []FaultKind {
	return []FaultKind{
		policyFault(FaultKind{
			Kind: "consolidation-disabled", Hop: "nodes-gone", Needs: "karpenter",
			Summary: "the NodePool never consolidates", Suspect: `(?i)consolidation is disabled`,
		}),
		{
			Kind: "do-not-disrupt", Gate: autoscale, Hop: "nodes-gone", Needs: "karpenter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "an unrelated pod on each new node must not be disrupted", Suspect: `blockers/blocker-`,
			apply: func(d *draft, _ target, _ Fault) { d.Autoscale.BlockerPods = true },
		},
	}
}
