package binary

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Must runs a command that has to exit 0.
func (f Firstlight) Must(t *testing.T, args ...string) Result {
	t.Helper()
	r := f.Run(t.Context(), args...)
	if r.Code != 0 {
		t.Fatalf("firstlight %s exited %d:\n%s%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
	}
	return r
}

// Cluster opens the cluster of a lab.
func (f Firstlight) Cluster(t *testing.T, lab string) *kube.Cluster {
	t.Helper()
	path := strings.TrimSpace(f.Must(t, "lab", "kubeconfig", "--path", "--name", lab).Stdout)
	cluster, err := kube.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// RequireClean looks into a lab: no object of any run, no pod that has GPUs.
func (f Firstlight) RequireClean(t *testing.T, lab string) {
	t.Helper()
	cluster := f.Cluster(t, lab)
	left, err := kube.Guest{Cluster: cluster}.Leftovers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left in the cluster: %+v", left)
	}
	pods, err := cluster.Client.CoreV1().Pods(corev1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		if kube.PodRequest(&p.Spec, kube.GPUResource) > 0 {
			t.Errorf("pod %s/%s still claims GPUs", p.Namespace, p.Name)
		}
	}
}

// Origins are those of a kind's observations in a run's evidence.
func Origins(t *testing.T, dir, kind string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "observations", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Kind, Origin string }
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if o.Kind == kind {
			out = append(out, o.Origin)
		}
	}
	return out
}
