package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// serving is a cluster that serves these resources.
func serving(lists ...*metav1.APIResourceList) *kube.Cluster {
	client := fake.NewClientset()
	client.Resources = lists
	return &kube.Cluster{Client: client}
}

func list(gv, resource string) *metav1.APIResourceList {
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{{Name: resource}}}
}

func TestDetectGang(t *testing.T) {
	t.Parallel()
	native, kai := list("scheduling.k8s.io/v1alpha2", "podgroups"), list("scheduling.run.ai/v2alpha2", "podgroups")
	for name, tt := range map[string]struct {
		cluster *kube.Cluster
		want    string
		found   []Detected
	}{
		"nothing":                      {serving(), Auto, nil},
		"the group without its kind":   {serving(list("scheduling.k8s.io/v1alpha2", "workloads")), Auto, nil},
		"native":                       {serving(native), "", []Detected{{"native", "scheduling.k8s.io/v1alpha2"}}},
		"native of Kubernetes 1.37":    {serving(list("scheduling.k8s.io/v1beta1", "podgroups")), Auto, []Detected{{"native", "scheduling.k8s.io/v1beta1"}}},
		"installed before native":      {serving(native, kai), Auto, []Detected{{"kai", "scheduling.run.ai/v2alpha2"}, {"native", "scheduling.k8s.io/v1alpha2"}}},
		"the one that is wanted":       {serving(native, kai), "native", []Detected{{"native", "scheduling.k8s.io/v1alpha2"}}},
		"wanted and not there":         {serving(native), "volcano", nil},
		"kueue, older API":             {serving(list("kueue.x-k8s.io/v1beta1", "workloads")), "kueue", []Detected{{"kueue", "kueue.x-k8s.io/v1beta1"}}},
		"kueue, both, the newer first": {serving(list("kueue.x-k8s.io/v1beta1", "workloads"), list("kueue.x-k8s.io/v1beta2", "workloads")), "kueue", []Detected{{"kueue", "kueue.x-k8s.io/v1beta2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := DetectGang(t.Context(), tt.cluster, tt.want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := DetectGang(t.Context(), serving(native), "slurm"); err == nil {
		t.Error("an unknown gang scheduler was accepted")
	}
}

func TestQueuesAreDemanded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"native": true, "volcano": true, "kai": false, "kueue": false} {
		_, err := Detected{Name: name, API: "a/v1"}.Scheduler("")
		if (err == nil) != want {
			t.Errorf("%s without a queue: %v", name, err)
		}
		if _, err := (Detected{Name: name, API: "a/v1"}).Scheduler("q"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Kubernetes 1.37 serves v1beta1 and no longer v1alpha2 (k8s.io/api v0.37.0; KEP-4671).
func TestTheNativePodGroupHasTheServedVersion(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"scheduling.k8s.io/v1alpha2": "scheduling.k8s.io/v1alpha2",
		"scheduling.k8s.io/v1beta1":  "scheduling.k8s.io/v1beta1",
	} {
		scheduler, err := Detected{Name: "native", API: api}.Scheduler("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := Render("ns", "run", scheduler, collectiveSpec())
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Groups[0].GetAPIVersion(); got != want || scheduler.GroupResource().GroupVersion().String() != want {
			t.Errorf("%s: the group is of %s, watched as %s", api, got, scheduler.GroupResource())
		}
	}
}
