package preflight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// nodeFacts are the observations of the nodes.
type nodeFacts struct {
	nodes []corev1.Node
	// class is the DeviceClass of the pods' claims; empty: they request the device plugin's resource.
	class string
	// offered are the GPUs in ResourceSlices of the class, by node.
	offered map[string]int
	// usage is that of the GPUs, by node.
	usage map[string]kube.Usage
	err   error
}

func observeNodes(ctx context.Context, c *kube.Cluster, class string, mig *site.MIG, names []string) nodeFacts {
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nodeFacts{err: fmt.Errorf("list nodes: %w", err)}
	}
	f := nodeFacts{nodes: list.Items, class: class}
	if class != "" {
		all, err := inventory.ListSlices(ctx, c)
		if err != nil {
			return nodeFacts{err: err}
		}
		f.offered = map[string]int{}
		for _, name := range names {
			gpus, _, _ := inventory.GPUsOnNode(all, name)
			f.offered[name] = len(gpus)
		}
	}
	if class == "" && mig != nil {
		f.usage, f.err = c.Usage(ctx, names, mig.Largest()) // the resource of the gangs
		return f
	}
	f.usage, f.err = inventory.UsageBy(ctx, c, class, names)
	return f
}

// differs says which GPUs, or MIG devices, that pods can get on a node are not those of the demand; empty if none.
func (f nodeFacts) differs(n *corev1.Node, d nodeDemand) string {
	if f.class != "" {
		if f.offered[n.Name] != d.gpus[n.Name] {
			return fmt.Sprintf("has %d GPUs in ResourceSlices of %s, want %d", f.offered[n.Name], f.class, d.gpus[n.Name])
		}
		return ""
	}
	resources := map[string]int{kube.GPUResource: d.gpus[n.Name]}
	if d.mig != nil {
		resources = d.mig.Resources()
	}
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if has := kube.Count(n.Status.Allocatable, name); has != resources[name] {
			return fmt.Sprintf("has %d of %s allocatable, want %d", has, name, resources[name])
		}
	}
	return ""
}

// divided says how the GPUs of a node are divided, where the site does not declare it; empty if they are not.
func (d nodeDemand) divided(n *corev1.Node) string {
	var what []string
	for _, division := range kube.Divisions(n) {
		if !division.MIG || d.mig == nil {
			what = append(what, division.What)
		}
	}
	return strings.Join(what, "; ")
}

// nodeDemand is what the gates need of the nodes.
type nodeDemand struct {
	names []string
	// gpus are those of each node by name, ports those of every node, networkResource the resource of the
	// ports.
	gpus map[string]int
	// mig is how the site declares that its GPUs are partitioned; nil: they are whole.
	mig             *site.MIG
	ports           int
	networkResource string
	// every: each node must be usable, not only as many as the pods need.
	every     bool
	workloads []workload.Spec
	// tolerations of the pods of each workload.
	tolerations [][]corev1.Toleration
}

const (
	whatNode = "node"
	whatGPUs = "GPUs"
)

// judgeNodes has a line for each node that the gates cannot use, and one for each workload that
// does not fit the free GPUs of the other nodes.
func judgeNodes(f nodeFacts, d nodeDemand) []Line {
	const remedyNodes = "make the API server reachable, and let the account list nodes and pods"
	if f.err != nil {
		return []Line{unobserved(whatNode, "inventory", remedyNodes, "%v", f.err)}
	}
	var out []Line
	unusable := map[string]bool{}
	for _, name := range d.names {
		i := slices.IndexFunc(f.nodes, func(n corev1.Node) bool { return n.Name == name })
		if i < 0 {
			unusable[name] = true
			out = append(out, stop(whatNode, name, "join the node to the cluster, or correct the inventory", "is in the inventory and not in the cluster"))
			continue
		}
		if line := d.judgeNode(f, &f.nodes[i]); line.Result != OK {
			unusable[name] = true
			out = append(out, line)
		}
	}
	held, fit := d.judgeFit(f.usage, unusable)
	if !d.every && fit { // on the other nodes
		for i := range out {
			out[i].Result, out[i].Remedy = OK, ""
			out[i].Observed += "; the gates can do without it"
		}
	}
	if usable := len(d.names) - len(unusable); usable > 0 {
		out = append(out, ok(whatNode, fmt.Sprintf("%d of %d nodes", usable, len(d.names)), "Ready, schedulable, their GPUs allocatable, taints tolerated"))
	}
	return append(out, held...)
}

// judgeNode finds why a node cannot be used.
func (d nodeDemand) judgeNode(f nodeFacts, n *corev1.Node) Line {
	taint, tainted := d.untolerated(n)
	differs, divided := f.differs(n, d), d.divided(n)
	var defects []string
	observed := true
	if d.every { // as gate gpustack demands
		defects, observed = gpustack.Defects(n)
	}
	ports := kube.Count(n.Status.Allocatable, d.networkResource)
	switch {
	case !kube.Ready(n):
		return stop(whatNode, n.Name, "look at the node's kubelet: "+distribution.KubeletLog(n), "is not Ready: %s", kube.NotReadyWhy(n))
	case n.Spec.Unschedulable:
		return stop(whatNode, n.Name, "kubectl uncordon "+n.Name+" once the reason for the cordon is resolved", "is cordoned")
	case tainted:
		return stop(whatNode, n.Name, fmt.Sprintf("remove the taint: kubectl taint node %s %s-", n.Name, taint.ToString()), "has the taint %s, which the pods of the gates do not tolerate", taint.ToString())
	case !observed:
		return unobserved(whatNode, n.Name, "look at the monitor of the node that writes the condition", "%s", strings.Join(defects, "; "))
	case len(defects) > 0:
		return stop(whatNode, n.Name, "kubectl describe node "+n.Name+"; repair or replace the node, or wait for the driver's upgrade", "%s", strings.Join(defects, "; "))
	case divided != "":
		return stop(whatNode, n.Name, "remove the sharing from the device plugin's configuration or the node pool, or declare MIG devices in gpustack.mig", "its GPUs are divided: %s", divided)
	case differs != "":
		return stop(whatNode, n.Name, f.remedyGPUs(), "%s", differs)
	case d.networkResource != "" && ports != d.ports:
		return stop(whatNode, n.Name, "look at the RDMA device plugin's pod of the node and at ibstat on it", "has %d of %s allocatable, want %d", ports, d.networkResource, d.ports)
	default:
		return ok(whatNode, n.Name, "can be used")
	}
}

func (f nodeFacts) remedyGPUs() string {
	if f.class != "" {
		return "look at the DRA driver's kubelet plugin on the node and at nvidia-smi on it"
	}
	return "look at the nvidia-device-plugin pod of the node and at nvidia-smi on it"
}

// untolerated is a taint that the pods of a workload do not tolerate.
func (d nodeDemand) untolerated(n *corev1.Node) (corev1.Taint, bool) {
	for _, of := range d.tolerations {
		if taint, found := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, of, scheduling, false); found {
			return taint, true
		}
	}
	return corev1.Taint{}, false
}

// scheduling selects the taints that keep pods off a node. The taints of the node controller for a
// node that is cordoned or not Ready are other lines.
func scheduling(t *corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule
}

// judgeFit has a line for each node whose GPUs other pods hold, if a workload does not fit for that
// reason. A workload that does not fit because of unusable nodes is left to their lines. fit: every
// workload fits.
func (d nodeDemand) judgeFit(usage map[string]kube.Usage, unusable map[string]bool) (out []Line, fit bool) {
	var waiting []string
	short := map[string]bool{}
	for _, w := range d.workloads {
		if len(w.Nodes) == 0 || gangjob.Missing(w, usage) == "" {
			continue
		}
		waiting = append(waiting, w.Gate)
		for _, name := range w.Nodes {
			if u := usage[name]; !unusable[name] && u.Free() < u.Allocatable {
				short[name] = true
			}
		}
	}
	for _, name := range d.names {
		if !short[name] {
			continue
		}
		u := usage[name]
		var holders []string
		for _, h := range u.Holders {
			if h.Namespace == "" { // of a claim
				holders = append(holders, h.Pod+" holds some")
				continue
			}
			holders = append(holders, fmt.Sprintf("pod %s/%s holds %d", h.Namespace, h.Pod, h.Count))
		}
		out = append(out, stop(whatGPUs, name, "wait until these pods have ended, or remove them: gates use free GPUs only",
			"%d of %d are free: %s; needed by %s", u.Free(), u.Allocatable, strings.Join(holders, ", "), strings.Join(slices.Compact(waiting), ", ")))
	}
	if len(waiting) > 0 && len(out) == 0 && len(unusable) == 0 {
		out = append(out, stop(whatGPUs, "inventory", "give the gates fewer GPUs in the site file, or add nodes", "too few for %s", strings.Join(slices.Compact(waiting), ", ")))
	}
	if len(waiting) == 0 && len(d.workloads) > 0 {
		out = append(out, ok(whatGPUs, "inventory", "free for every gate"))
	}
	return out, len(waiting) == 0
}
