package track

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// nodeHolders are the pods on one node of the run's pools, and the stop function of their
// watch.
type nodeHolders struct {
	stop context.CancelFunc
	pods map[types.UID]snapshot.Holder
}

// doNotDisrupt is the annotation of pods that keep their node.
const doNotDisrupt = "karpenter.sh/do-not-disrupt"

// watchHolders watches the pods of a node of the run, once.
func (t *Tracker) watchHolders(life context.Context, n *corev1.Node) {
	if t.holders[n.UID] != nil {
		return
	}
	ctx, stop := context.WithCancel(life)
	h := &nodeHolders{stop: stop, pods: map[types.UID]snapshot.Holder{}}
	t.holders[n.UID] = h
	t.follow(ctx, source{
		problem: snapshot.ProblemPods + "/" + n.Name, like: &corev1.Pod{},
		lw: chosen(t.o.Cluster.Client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, "", fields.OneTermEqualSelector("spec.nodeName", n.Name).String()),
		put: func(o runtime.Object, _ time.Time) {
			if p, ok := o.(*corev1.Pod); ok {
				t.putHolder(h, p)
			}
		},
		gone: func(o metav1.Object, _ time.Time) { delete(h.pods, o.GetUID()) },
	})
}

func (t *Tracker) putHolder(h *nodeHolders, p *corev1.Pod) {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		delete(h.pods, p.UID)
		return
	}
	h.pods[p.UID] = snapshot.Holder{
		Ref: named("Pod", p), Ours: t.ours(p), DoNotDisrupt: p.Annotations[doNotDisrupt] == "true",
		Daemon: slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" }),
	}
}

// stopHolders stops the watch of a deleted node.
func (t *Tracker) stopHolders(node metav1.Object) {
	if h := t.holders[node.GetUID()]; h != nil {
		h.stop()
		clear(h.pods)
		delete(t.problems, snapshot.ProblemPods+"/"+node.GetName())
		delete(t.unlisted, snapshot.ProblemPods+"/"+node.GetName())
	}
}

// on lists the pods on a node.
func (t *Tracker) on(node types.UID) []snapshot.Holder {
	h := t.holders[node]
	if h == nil {
		return nil
	}
	out := make([]snapshot.Holder, 0, len(h.pods))
	for _, p := range h.pods {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b snapshot.Holder) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}
