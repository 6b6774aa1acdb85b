package track

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func (t *Tracker) claimSource() source {
	s := source{problem: snapshot.ProblemClaims, lw: untyped(t.o.Cluster.Dynamic, kube.NodeClaims()), like: &unstructured.Unstructured{}}
	s.put = func(o runtime.Object, now time.Time) {
		u, ok := o.(*unstructured.Unstructured)
		if !ok || t.old(u) {
			return
		}
		t.claims.put(u.GetUID(), func(row *snapshot.Claim) {
			readClaim(row, u, now)
			row.Ours = t.ofPools(row.Pool) || t.ours(u)
		})
	}
	s.gone = func(o metav1.Object, now time.Time) {
		delete(t.oldClaims, o.GetUID())
		t.claims.gone(o.GetUID(), now)
	}
	return s
}

// old reports whether a claim existed before the run.
func (t *Tracker) old(u *unstructured.Unstructured) bool {
	if t.ours(u) {
		return false
	}
	if !t.settled || u.GetCreationTimestamp().Time.Before(t.began.Truncate(time.Second)) {
		t.oldClaims[u.GetUID()] = true
	}
	return t.oldClaims[u.GetUID()]
}

func readClaim(row *snapshot.Claim, u *unstructured.Unstructured, now time.Time) {
	row.Ref = named("NodeClaim", u)
	lives(&row.Life, u, now)
	row.Pool = u.GetLabels()[render.PoolLabel]
	row.InstanceType = u.GetLabels()["node.kubernetes.io/instance-type"]
	row.Node, _, _ = unstructured.NestedString(u.Object, "status", "nodeName")
	row.ProviderID, _, _ = unstructured.NestedString(u.Object, "status", "providerID")
	row.GPUs = quantity(u, "spec", "resources", "requests", kube.GPUResource)
	row.Conditions = held(row.Conditions, conditions(u), now)
}

func (t *Tracker) poolSource() source {
	s := source{problem: snapshot.ProblemPools, lw: untyped(t.o.Cluster.Dynamic, kube.NodePools()), like: &unstructured.Unstructured{}}
	s.put = func(o runtime.Object, now time.Time) {
		if u, ok := o.(*unstructured.Unstructured); ok && t.ofPools(u.GetName()) {
			t.pools.put(u.GetUID(), func(row *snapshot.Pool) { readPool(row, u, now) })
		}
	}
	s.gone = func(o metav1.Object, now time.Time) { t.pools.gone(o.GetUID(), now) }
	return s
}

func readPool(row *snapshot.Pool, u *unstructured.Unstructured, now time.Time) {
	row.Ref = named("NodePool", u)
	lives(&row.Life, u, now)
	row.GPULimit = -1
	if _, limited, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "limits", kube.GPUResource); limited {
		row.GPULimit = quantity(u, "spec", "limits", kube.GPUResource)
	}
	row.GPUs = quantity(u, "status", "resources", kube.GPUResource)
	row.ConsolidateAfter, _, _ = unstructured.NestedString(u.Object, "spec", "disruption", "consolidateAfter")
	row.Policy, _, _ = unstructured.NestedString(u.Object, "spec", "disruption", "consolidationPolicy")
	row.Budgets = nil
	for _, b := range objects(u, "spec", "disruption", "budgets") {
		row.Budgets = append(row.Budgets, budget(b))
	}
	row.Taints = nil
	for _, x := range objects(u, "spec", "template", "spec", "taints") {
		row.Taints = append(row.Taints, taintText(text(x, "key"), text(x, "value"), text(x, "effect")))
	}
	row.Requirements = nil
	for _, r := range objects(u, "spec", "template", "spec", "requirements") {
		row.Requirements = append(row.Requirements, requirement(r))
	}
	class, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "spec", "nodeClassRef")
	row.NodeClass = snapshot.Ref{Kind: class["kind"], Name: class["name"]}
	row.Conditions = held(row.Conditions, conditions(u), now)
}

// budget formats a disruption budget of a NodePool: "0", "0 for Drifted", "0 from 0 9 * * 1-5 for 8h". A reason of empty
// nodes, which a chain removes, is left out.
func budget(b map[string]any) string {
	out := text(b, "nodes")
	if reasons, _, _ := unstructured.NestedStringSlice(b, "reasons"); len(reasons) > 0 && !slices.Contains(reasons, "Empty") {
		out += " for " + strings.Join(reasons, ", ")
	}
	if schedule := text(b, "schedule"); schedule != "" {
		out += " from " + schedule + " for " + text(b, "duration")
	}
	return out
}

// requirement formats a NodePool requirement: "key In a, b".
func requirement(r map[string]any) string {
	values, _, _ := unstructured.NestedStringSlice(r, "values")
	return strings.TrimSpace(text(r, "key") + " " + text(r, "operator") + " " + strings.Join(values, ", "))
}
