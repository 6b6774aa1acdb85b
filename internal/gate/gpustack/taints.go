package gpustack

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
)

// judgedElsewhere are the taints of the control plane for states that have findings of their own.
var judgedElsewhere = []string{
	corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure,
	corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable,
}

// judgeTaints requires that pods of the site can be scheduled on a node: otherwise a gang does not fit, and the
// scheduler would be the suspect.
func judgeTaints(b *check.Builder, o check.Observation, n nodeFigures, tolerations []corev1.Toleration) {
	for i := range n.Taints {
		t := &n.Taints[i]
		if slices.Contains(judgedElsewhere, t.Key) || slices.ContainsFunc(tolerations, func(of corev1.Toleration) bool { return of.ToleratesTaint(klog.Background(), t, false) }) {
			continue
		}
		b.Fail(o.ID, n.Name, fmt.Sprintf("find the program that set the taint, and what it waits for; or remove it: kubectl taint node %s %s-; or let the pods of gates tolerate it: workloads.pod.spec.tolerations", n.Name, t.ToString()),
			"has the taint %s, which the pods of the gates do not tolerate", t.ToString())
	}
}

// tolerations are those of the gate's pods.
func (g *Gate) tolerations() ([]corev1.Toleration, error) {
	m, err := workload.Render("default", "taints", workload.Native{}, g.spec(targetFits, 1, max(1, g.perPod()), g.nodes))
	if err != nil {
		return nil, err
	}
	return m.Job.Spec.Template.Spec.Tolerations, nil
}
