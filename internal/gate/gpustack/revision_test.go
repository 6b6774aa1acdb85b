package gpustack

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/check"
)

// A site that leaves nodes out had no rule for older pods: the DaemonSet's counts include those of the other nodes.
func TestFormerRevision(t *testing.T) {
	t.Parallel()
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "driver", UID: "set", Generation: 3}}
	pods := func(revisions ...string) []corev1.Pod {
		var out []corev1.Pod
		for i, r := range revisions {
			owner := metav1.OwnerReference{UID: set.UID, Controller: new(true)}
			if r == "of another" {
				owner.UID = "other"
			}
			out = append(out, corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				UID: types.UID(rune('a' + i)), Labels: map[string]string{"controller-revision-hash": r}, OwnerReferences: []metav1.OwnerReference{owner},
				CreationTimestamp: metav1.Time{Time: time.Unix(int64(100*i), 0)},
			}})
		}
		return out
	}
	leaving := func(list []corev1.Pod, i int) []corev1.Pod {
		list[i].DeletionTimestamp = &metav1.Time{}
		return list
	}
	for name, tt := range map[string]struct {
		pods     []corev1.Pod
		observed int64
		updated  int32
		want     []bool
	}{
		"current":                                {pods("b", "b", "b"), 3, 3, []bool{false, false, false}},
		"more than required":                     {pods("b", "b", "b"), 3, 4, []bool{false, false, false}},
		"one not restarted":                      {pods("a", "b", "b"), 3, 2, []bool{true, false, false}},
		"as many of each":                        {pods("a", "a", "b", "b"), 3, 2, []bool{true, true, false, false}},
		"none restarted":                         {pods("a", "a", "a"), 3, 0, []bool{true, true, true}},
		"a later change after one was restarted": {pods("a", "a", "b"), 3, 0, []bool{true, true, true}},
		"counts that do not fit the pods":        {pods("a", "b", "b"), 3, 1, []bool{true, true, true}},
		"a status of the former generation":      {pods("b", "b", "b"), 2, 3, []bool{true, true, true}},
		"a newer pod of another DaemonSet":       {pods("a", "b", "of another"), 3, 1, []bool{true, false, true}},
		"a newer pod that is being deleted":      {leaving(pods("a", "b", "a"), 2), 3, 1, []bool{true, false, true}},
		"no pods":                                {nil, 3, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := set.DeepCopy()
			set.Status = appsv1.DaemonSetStatus{ObservedGeneration: tt.observed, DesiredNumberScheduled: int32(max(3, len(tt.pods))), UpdatedNumberScheduled: tt.updated}
			former := formerRevision(set, tt.pods)
			var got []bool
			for i := range tt.pods {
				got = append(got, former(&tt.pods[i]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestOperandPodsOfAFormerRevision(t *testing.T) {
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
			f.operands[0].Pods[1].Former = true
			if j := g.Judge(f.observations(t)); j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02/"+f.operands[0].Name {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}
