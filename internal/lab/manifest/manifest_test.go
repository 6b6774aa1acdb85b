package manifest

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Copies match the pinned modules.
func TestCopiesMatchPinnedModules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pins, module, copies, prefix, originals string }{
		{"shared", "sigs.k8s.io/kwok", "crds/[lp]*.yaml", "kwok.x-k8s.io_", "kustomize/crd/bases"},
		{"definitions", "github.com/prometheus-operator/prometheus-operator", "crds/monitoring.coreos.com_*.yaml", "", "example/prometheus-operator-crd"},
		{"shared", "sigs.k8s.io/karpenter", "karpenter/crds/karpenter.sh_*.yaml", "", "kwok/charts/crds"},
		{"shared", "sigs.k8s.io/karpenter", "karpenter/crds/karpenter.kwok.sh_*.yaml", "", "kwok/apis/crds"},
		{"batch", "github.com/NVIDIA/KAI-scheduler", "kai/crds/*.yaml", "", "deployments/kai-scheduler/crds"},
		{"batch", "github.com/NVIDIA/KAI-scheduler", "kai/rbac/*.yaml", "", "deployments/kai-scheduler/templates/rbac"},
		{"batch", "github.com/NVIDIA/KAI-scheduler", "kai/priorityclasses/*.yaml", "", "deployments/kai-scheduler/templates/priorityclasses"},
		{"batch", "github.com/kubeflow/trainer/v2", "trainer/crds/trainer.kubeflow.org_*.yaml", "", "manifests/base/crds"},
		{"batch", "github.com/kubeflow/trainer/v2", "trainer/rbac/role.yaml", "", "manifests/base/rbac"},
		{"batch", "github.com/kubeflow/trainer/v2", "trainer/after/*.yaml", "", "manifests/base/runtimes"},
		{"..", "sigs.k8s.io/gateway-api", "gateway/crds/*.yaml", "", "config/crd/standard"}, // of the main go.mod
		{"batch", "sigs.k8s.io/jobset", "trainer/crds/jobset.x-k8s.io_*.yaml", "", "config/components/crd/bases"},
		{"volcano", "volcano.sh/volcano", "volcano/crds/*.yaml", "", "installer/helm/chart/volcano/crd/bases"},
		{"kueue", "sigs.k8s.io/kueue", "kueue/crds/*.yaml", "", "config/components/crd/bases"},
		{"mpi", "github.com/kubeflow/mpi-operator", "mpi/crds/*.yaml", "", "manifests/base"},
		{"mpi", "github.com/kubeflow/mpi-operator", "mpi/rbac/*.yaml", "", "manifests/base"},
		{"ray", "github.com/ray-project/kuberay/ray-operator", "ray/crds/*.yaml", "", "config/crd/bases"},
		{"ray", "github.com/ray-project/kuberay/ray-operator", "ray/rbac/*.yaml", "", "config/rbac"},
	} {
		dir := moduleDir(t, c.pins, c.module)
		files, err := filepath.Glob(c.copies)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", c.copies, err)
		}
		for _, f := range files {
			got, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(dir, c.originals, c.prefix+filepath.Base(f)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s differs from the pinned module's: copy that file", f)
			}
		}
	}
}

// The archive has exactly the manifests of this directory.
func TestArchiveMatchesDirectory(t *testing.T) {
	t.Parallel()
	files, err := content()
	if err != nil {
		t.Fatal(err)
	}
	read := func(from fs.FS) map[string]string {
		texts := map[string]string{}
		err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := fs.ReadFile(from, path)
			texts[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return texts
	}
	want, got := read(os.DirFS(".")), read(files)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("content.zip has different files: run go generate ./internal/lab/manifest\n%s", diff)
	}
	for path, text := range want {
		if got[path] != text {
			t.Errorf("content.zip has a different %s: run go generate ./internal/lab/manifest", path)
		}
	}
}

// moduleDir is the directory of a pinned module.
func moduleDir(t *testing.T, pins, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = filepath.Join("..", "..", "..", "components", pins)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("find the pinned module %s: %v", module, err)
	}
	_, rest, ok := strings.Cut(string(out), `"Dir": "`)
	dir, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("the module has no directory: %s", out)
	}
	return dir
}

// Definitions of an extra precede objects of their kinds.
func TestExtras(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		definitions int
		kinds       map[string]int
	}{
		"karpenter": {4, map[string]int{"ClusterRole": 1, "ClusterRoleBinding": 1, "Role": 1, "RoleBinding": 1, "KWOKNodeClass": 1}},
		"kai":       {4, map[string]int{"Namespace": 1, "ClusterRole": 3, "ClusterRoleBinding": 3, "Queue": 2, "PriorityClass": 4}},
		"trainer": {4, map[string]int{
			"Namespace": 2, "Service": 2, "ClusterRole": 2, "ClusterRoleBinding": 2, "Role": 1, "RoleBinding": 1,
			"ValidatingWebhookConfiguration": 2, "MutatingWebhookConfiguration": 1,
		}},
		"volcano": {5, map[string]int{"Namespace": 1, "ClusterRole": 2, "ClusterRoleBinding": 2, "Queue": 1}},
		"kueue": {11, map[string]int{
			"Namespace": 1, "Secret": 1, "Service": 1, "ClusterRole": 1, "ClusterRoleBinding": 1, "Role": 1, "RoleBinding": 1,
			"ValidatingWebhookConfiguration": 1, "MutatingWebhookConfiguration": 1,
		}},
		"mpi":     {1, map[string]int{"Namespace": 1, "ClusterRole": 4, "ClusterRoleBinding": 1}},
		"ray":     {3, map[string]int{"Namespace": 2, "ClusterRole": 1, "ClusterRoleBinding": 1}},
		"gateway": {3, map[string]int{"GatewayClass": 1}},
		"unknown": {0, map[string]int{}},
	} {
		definitions, objects, err := Extra(name, values())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(definitions) != want.definitions {
			t.Errorf("%s: %d definitions, want %d", name, len(definitions), want.definitions)
		}
		for _, d := range definitions {
			if d.GetKind() != "CustomResourceDefinition" {
				t.Errorf("%s: %s is among the definitions", name, d.GetKind())
			}
		}
		kinds := map[string]int{}
		for _, o := range objects {
			kinds[o.GetKind()]++
		}
		if diff := cmp.Diff(want.kinds, kinds); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func values() Values {
	return Values{Address: "127.20.30.1", AdapterPort: 6444, CA: []byte("pem"), JobSetWebhookPort: 9443, TrainerWebhookPort: 9444, KueueWebhookPort: 9445}
}

func TestManifestsParse(t *testing.T) {
	t.Parallel()
	v := values()
	crds, err := CRDs()
	if err != nil || len(crds) != 3 {
		t.Errorf("%d definitions, %v; want 3", len(crds), err)
	}
	roles, err := Roles()
	if err != nil || len(roles) == 0 {
		t.Errorf("%d roles, %v", len(roles), err)
	}
	services, err := APIServices(v)
	if err != nil || len(services) != 2 {
		t.Errorf("%d API services, %v; want 2", len(services), err)
	}
	for _, o := range append(append(crds, roles...), services...) {
		if o.GetKind() == "" || o.GetName() == "" || o.GetAPIVersion() == "" {
			t.Errorf("object without kind or name: %v", o.Object)
		}
	}
}
