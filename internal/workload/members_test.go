package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A wait for a gang of 1,000 pods compared each pod with each other one after each change: the process used
// a whole core, which the control plane lacked. The results are those of the comparisons.
func TestMembersAndPlacementsOfManyPods(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 9))
	for range 300 {
		var pods []corev1.Pod
		g := &Gang{everBound: map[types.UID]bool{}}
		for i := range rng.IntN(30) {
			index := strconv.Itoa(rng.IntN(12))
			if rng.IntN(6) == 0 {
				index = "none"
			}
			p := pod(fmt.Sprintf("p-%d", i), index, nil)
			p.UID = types.UID(p.Name)
			p.CreationTimestamp = metav1.NewTime(time.Unix(int64(rng.IntN(5)), 0))
			if rng.IntN(5) == 0 {
				p.DeletionTimestamp = &p.CreationTimestamp
			}
			if rng.IntN(2) == 0 {
				p.Spec.NodeName = "n"
			}
			if rng.IntN(3) == 0 {
				g.everBound[p.UID] = true
			}
			if rng.IntN(5) > 0 {
				pods = append(pods, p)
			}
		}
		sortPods(pods)
		var want, got []string
		for _, p := range membersByComparison(pods) {
			want = append(want, p.Name)
		}
		for _, p := range members(pods) {
			got = append(got, p.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("members: %s", diff)
		}
		replaced := 0
		for uid := range g.everBound {
			if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == uid }) {
				replaced++
			}
		}
		for _, p := range pods {
			if p.Spec.NodeName != "" && !slices.Contains(want, p.Name) {
				replaced++
			}
		}
		if p := g.placementOf(state{pods: pods}); p.Replaced != replaced || p.Exist != len(want) {
			t.Fatalf("%d replaced of %d, want %d of %d", p.Replaced, p.Exist, replaced, len(want))
		}
	}
}

// membersByComparison compares each pod with the earlier ones.
func membersByComparison(pods []corev1.Pod) []corev1.Pod {
	var out []corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		i := slices.IndexFunc(out, func(p corev1.Pod) bool { return Index(&p) >= 0 && Index(&p) == Index(&pod) })
		switch {
		case i < 0:
			out = append(out, pod)
		case out[i].CreationTimestamp.Before(&pod.CreationTimestamp):
			out[i] = pod
		}
	}
	return out
}
