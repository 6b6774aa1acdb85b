package track

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func (t *Tracker) nodeSource(life context.Context) source {
	return source{
		problem: snapshot.ProblemNodes, like: &corev1.Node{},
		lw: chosen(t.o.Cluster.Client.CoreV1().RESTClient(), "nodes", metav1.NamespaceNone, "", ""),
		put: func(o runtime.Object, now time.Time) {
			if n, ok := o.(*corev1.Node); ok {
				t.putNode(life, n, now)
			}
		},
		gone: func(o metav1.Object, now time.Time) {
			if !t.settled {
				delete(t.before, o.GetUID())
				return
			}
			if ref, was := t.before[o.GetUID()]; was {
				t.missing[o.GetUID()] = ref
				return
			}
			t.nodes.gone(o.GetUID(), now)
			t.stopHolders(o)
		},
	}
}

// putNode records initial nodes by name, and added nodes with their state.
func (t *Tracker) putNode(life context.Context, n *corev1.Node, now time.Time) {
	if _, was := t.before[n.UID]; was || !t.settled {
		t.before[n.UID] = named("Node", n)
		if pool := t.poolOf(n); pool != "" {
			t.beforePools[n.Name] = pool
		}
		return
	}
	ours := t.ofPools(t.poolOf(n))
	t.nodes.put(n.UID, func(row *snapshot.Node) {
		readNode(row, n, now)
		row.Pool, row.Ours = t.poolOf(n), ours
	})
	if ours {
		t.watchHolders(life, n)
	}
}

// poolOf is the NodePool or node group of a node. A node has another group if it has a label of the run's
// group with another value, except labels of Kubernetes itself: those name a zone or an instance type.
func (t *Tracker) poolOf(n *corev1.Node) string {
	if len(t.o.Group) == 0 {
		return n.Labels[render.PoolLabel]
	}
	pool := t.o.GroupName
	for _, k := range slices.Sorted(maps.Keys(t.o.Group)) {
		switch got, labelled := n.Labels[k]; {
		case got == t.o.Group[k]:
		case labelled && !ofKubernetes(k):
			return got
		default:
			pool = ""
		}
	}
	return pool
}

// ofKubernetes reports whether a label has a prefix that is reserved for Kubernetes' core.
func ofKubernetes(label string) bool {
	domain, _, _ := strings.Cut(label, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}

// ofPools reports whether the pool belongs to the run.
func (t *Tracker) ofPools(name string) bool {
	if len(t.o.Group) > 0 {
		return name == t.o.GroupName && name != ""
	}
	return slices.Contains(t.o.Pools, name)
}

func readNode(row *snapshot.Node, n *corev1.Node, now time.Time) {
	row.Ref = named("Node", n)
	lives(&row.Life, n, now)
	row.InstanceType, row.ProviderID = n.Labels[corev1.LabelInstanceTypeStable], n.Spec.ProviderID
	row.GPUs = kube.Count(n.Status.Allocatable, kube.GPUResource)
	evicted := row.Evicts()
	row.Taints = nil
	for _, x := range n.Spec.Taints {
		row.Taints = append(row.Taints, taintText(x.Key, x.Value, string(x.Effect)))
	}
	if evicted && !row.Evicts() {
		row.Untainted = now
	}
	var have []snapshot.Condition
	for _, c := range n.Status.Conditions {
		have = append(have, snapshot.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, At: c.LastTransitionTime.Time})
	}
	row.Conditions = held(row.Conditions, have, now)
}

// taintText is key=value:effect.
func taintText(key, value, effect string) string {
	if value != "" {
		key += "=" + value
	}
	return key + ":" + effect
}
