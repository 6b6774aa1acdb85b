package gpustack

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/check"
)

// A site that leaves nodes out had no rule for outdated pods: the DaemonSet's counts include those of the other nodes.
func TestOutdatedPods(t *testing.T) {
	t.Parallel()
	owned := func(by types.UID, hash string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Labels: map[string]string{"controller-revision-hash": hash}, OwnerReferences: []metav1.OwnerReference{{UID: by, Controller: new(true)}}}
	}
	history := []appsv1.ControllerRevision{
		{ObjectMeta: owned("driver", "b"), Revision: 2}, {ObjectMeta: owned("driver", "a"), Revision: 1}, {ObjectMeta: owned("plugin", "c"), Revision: 9},
	}
	for name, tt := range map[string]struct {
		history  []appsv1.ControllerRevision
		observed int64
		updated  int32
		want     []bool // of a pod of revision a and one of b
	}{
		"all are up to date":                   {nil, 3, 2, []bool{false, false}},
		"more than required":                   {nil, 3, 3, []bool{false, false}},
		"one not restarted":                    {history, 3, 1, []bool{true, false}},
		"a rollback: the older template again": {append(history[:2:2], appsv1.ControllerRevision{ObjectMeta: owned("driver", "a"), Revision: 3}), 3, 1, []bool{false, true}},
		"none restarted":                       {append(history[:2:2], appsv1.ControllerRevision{ObjectMeta: owned("driver", "d"), Revision: 3}), 3, 0, []bool{true, true}},
		"a status of the last generation":      {history, 2, 2, []bool{true, true}},
		"only revisions of others":             {history[2:], 3, 1, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := &appsv1.DaemonSet{
				ObjectMeta: metav1.ObjectMeta{Name: "driver", UID: "driver", Generation: 3},
				Status:     appsv1.DaemonSetStatus{ObservedGeneration: tt.observed, DesiredNumberScheduled: 2, UpdatedNumberScheduled: tt.updated},
			}
			old := outdated(set, tt.history)
			got := []bool{old(&corev1.Pod{ObjectMeta: owned("driver", "a")}), old(&corev1.Pod{ObjectMeta: owned("driver", "b")})}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestOutdatedPodsOfOperands(t *testing.T) {
	t.Parallel()
	for name, leftOut := range map[string][]string{"all nodes": nil, "a node is left out": {"gpu-09"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			g.site.Inventory.LeftOut = leftOut
			f := healthy(g)
			if j := g.Judge(f.observations(t)); j.Verdict != check.Passed {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			f.operands[0].Pods[1].Outdated = true
			if j := g.Judge(f.observations(t)); j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02/"+f.operands[0].Name {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}
