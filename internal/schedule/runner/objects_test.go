package runner

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// A pod of a Deployment that spreads by matchLabelKeys does so by the hash of its
// ReplicaSet: no two workloads of a scenario may have the same, and each needs one.
func TestPodsOfDeploymentsHaveAHash(t *testing.T) {
	t.Parallel()
	l := &layout{id: "c0001"}
	hashes := map[string]bool{}
	for _, key := range []string{"w0", "w1"} {
		set := l.replicaSet(&workload{key: key, spec: footprint.Workload{Kind: deployment, Name: "x", Replicas: 2}})
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		if err != nil {
			t.Fatal(err)
		}
		hash := set.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		if hash == "" || hashes[hash] || *set.Spec.Replicas != 2 || set.Labels[labelWorkload] != key {
			t.Errorf("%s: hash %q, %+v", key, hash, set)
		}
		hashes[hash] = true
		for _, other := range []string{"w0", "w1"} {
			pods := l.replicaSet(&workload{key: other}).Spec.Template.Labels
			if got := selector.Matches(labels.Set(pods)); got != (key == other) {
				t.Errorf("the selector of %s takes pods of %s: %v", key, other, got)
			}
		}
	}
}
