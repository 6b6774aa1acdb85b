package accept

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// A run deletes the RayCluster that a killed run left in the namespace of the site's RayCluster, and its own; no other.
func TestTheRayClusterOfAKilledRunIsDeleted(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	create := func(namespace, name, run string) {
		t.Helper()
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ray.io/v1", "kind": "RayCluster"}}
		u.SetName(name)
		if run != "" {
			u.SetLabels(kube.Labels(run, "gpustack"))
		}
		if _, err := c.Dynamic.Resource(kube.RayClusters()).Namespace(namespace).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
	o := holding(t, dir, c, nil)
	killed := unfinished(t, dir, using(func() {}))
	o.Playbook = using(func() { create("ray", "own", newest(t, dir, killed)) })
	create("ray", "ray", "")
	create("ray", "firstlight-killed", killed)
	create("ray", "firstlight-other", "other")
	create("elsewhere", "copy", killed)
	o.Site.Ray = &site.Ray{Namespace: "ray", Cluster: "ray"}
	o.Fresh = true
	if r, err := Run(t.Context(), o); err != nil || r.Verdict != check.Passed || r.Run == killed {
		t.Fatalf("%+v, %v", r, err)
	}
	list, err := c.Dynamic.Resource(kube.RayClusters()).Namespace(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list.Items {
		names = append(names, one.GetName())
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"copy", "firstlight-other", "ray"}) {
		t.Errorf("left: %v", names)
	}
}

// newest is the run of a directory that is not another one.
func newest(t *testing.T, dir, other string) string {
	t.Helper()
	ids, err := evidence.List(dir)
	if err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if id != other {
			return id
		}
	}
	t.Error("no other run")
	return ""
}
