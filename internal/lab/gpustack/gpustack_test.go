package gpustack

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRender(t *testing.T) {
	t.Parallel()
	values, err := Values(Cluster{Driver: "1.2.3", RDMA: true, ControlNode: "head"})
	if err != nil {
		t.Fatal(err)
	}
	chart, err := Render(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	definitions := map[string]bool{}
	for _, d := range chart.Definitions {
		definitions[d.GetName()] = d.GetKind() == "CustomResourceDefinition"
	}
	if diff := cmp.Diff(map[string]bool{
		"clusterpolicies.nvidia.com": true, "nvidiadrivers.nvidia.com": true,
		"nodefeatures.nfd.k8s-sigs.io": true, "nodefeaturegroups.nfd.k8s-sigs.io": true, "nodefeaturerules.nfd.k8s-sigs.io": true,
	}, definitions); diff != "" {
		t.Error(diff)
	}
	for _, o := range chart.Objects {
		if want := map[bool]string{false: Namespace}[clusterScoped[o.GetKind()]]; o.GetNamespace() != want {
			t.Errorf("%s %s is in namespace %q, want %q", o.GetKind(), o.GetName(), o.GetNamespace(), want)
		}
		switch o.GetKind() {
		case "ClusterPolicy":
			want(t, o, "1.2.3", "spec", "driver", "version")
			want(t, o, true, "spec", "driver", "rdma", "enabled")
			want(t, o, "v25.3.2", "spec", "validator", "version")
			want(t, o, "creating", "spec", "daemonsets", "annotations", "firstlight.dev/world-hold")
		case "Deployment":
			want(t, o, "head", "spec", "template", "spec", "nodeSelector", "kubernetes.io/hostname")
			want(t, o, "ready", "spec", "template", "metadata", "annotations", "firstlight.dev/world-hold")
		}
	}
}

func want(t *testing.T, o *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if got, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...); got != value {
		t.Errorf("%s %s: %v is %v, want %v", o.GetKind(), o.GetName(), path, got, value)
	}
}

// The operator reads a directory for each of its states.
func TestInstalled(t *testing.T) {
	t.Parallel()
	files, err := Installed()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pre-requisites/0200_runtime_class.yaml", "state-driver/0500_daemonset.yaml", "state-dcgm-exporter/0900_daemonset.yaml", "manifests/state-driver/0500_daemonset.yaml"} {
		if files[name] == "" {
			t.Errorf("no file %s among %d", name, len(files))
		}
	}
}

// The embedded files equal those of the pinned module.
func TestFilesMatchPinnedModule(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/NVIDIA/gpu-operator")
	cmd.Dir = filepath.Join("..", "..", "..", "components", "gpustack")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("find the pinned module: %v", err)
	}
	_, rest, ok := strings.Cut(string(out), `"Dir": "`)
	dir, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("the module has no directory: %s", out)
	}
	files, err := content()
	if err != nil {
		t.Fatal(err)
	}
	for _, top := range []string{"LICENSE", assetsDir, manifestsDir, chartDir} {
		originals, copies := contents(t, os.DirFS(dir), top), contents(t, files, top)
		if len(originals) == 0 || len(originals) != len(copies) {
			t.Errorf("%s: %d files in the module, %d copies: run go generate ./internal/lab/gpustack", top, len(originals), len(copies))
		}
		for name, text := range originals {
			if copies[name] != text {
				t.Errorf("%s differs from the pinned module's: run go generate ./internal/lab/gpustack", name)
			}
		}
	}
}

func contents(t *testing.T, files fs.FS, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := fs.WalkDir(files, top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		out[name] = string(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
