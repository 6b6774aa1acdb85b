package manifest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The definitions are those of the kwok that is pinned.
func TestCRDsAreThePinnedModules(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/kwok")
	cmd.Dir = filepath.Join("..", "..", "..", "components", "kwok")
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
	files, err := filepath.Glob(filepath.Join("crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	for _, f := range files {
		got, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, "kustomize", "crd", "bases", "kwok.x-k8s.io_"+filepath.Base(f)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not the pinned module's: copy it from there", f)
		}
	}
}

func TestManifestsParse(t *testing.T) {
	t.Parallel()
	v := Values{Address: "127.20.30.1", AdapterPort: 6444, CA: []byte("pem")}
	crds, err := CRDs()
	if err != nil || len(crds) != 8 {
		t.Errorf("%d definitions, %v; want 8", len(crds), err)
	}
	roles, err := Roles(v)
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
