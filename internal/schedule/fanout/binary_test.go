package fanout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/schedule"
)

// binaryImage is the one of shards that are firstlight itself.
const binaryImage = "registry.example.com/firstlight:built"

// Two recipes of which one fails, in two shards of firstlight itself, come to what
// they come to when they are tested without a cluster.
func (b *bench) testBinary(t *testing.T) {
	t.Parallel()
	tree := brokenTree(t)
	test := []string{"recipe", "test", "h100-eks-amazonlinux-training", "h100-kind-training", "--recipes", tree, "--output", "json"}
	alone := b.report(t, append(test, "--evidence", filepath.Join(t.TempDir(), "evidence"))...)
	if alone.Verdict != check.Failed || len(alone.Recipes) != 2 || alone.Recipes[1].Verdict != check.Passed {
		t.Fatalf("the test needs one that fails and one that passes: %s", alone.Reason)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfigOf(b.admin.Config, b.caller.Config.BearerToken), kubeconfig); err != nil {
		t.Fatal(err)
	}
	joined := b.report(t, append(test, "--distribute", "kubernetes", "--image", binaryImage, "--kubeconfig", kubeconfig, "--shards", "2")...)
	ignored := cmpopts.IgnoreFields(schedule.Result{}, "Seconds")
	if diff := cmp.Diff(alone.Recipes, joined.Recipes, ignored); diff != "" {
		t.Errorf("(-alone +distributed):\n%s\n%s", diff, strings.Join(joined.Notes, "\n"))
	}
	if joined.Verdict != check.Failed || joined.Reason != alone.Reason || joined.Tree != alone.Tree || joined.Totals != alone.Totals || joined.Run == "" {
		t.Errorf("%+v", joined)
	}
	requireAll(t, "the notes", strings.Join(joined.Notes, "\n"), []string{"tested in 2 shards by Job firstlight-" + joined.Run})
	b.requireGone(t, Spec{RunID: joined.Run})
}

// brokenTree is a copy of our recipes in which the EFA device plugin does not
// tolerate the taint of GPU nodes.
func brokenTree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "recipes")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "recipes"))); err != nil {
		t.Fatal(err)
	}
	values := filepath.Join(dir, "components", "aws-efa-k8s-device-plugin", "values.yaml")
	data, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(data), "nvidia.com/gpu", "nvidia.com/gpus", 1)
	if broken == string(data) {
		t.Fatalf("%s has no toleration to break", values)
	}
	if err := os.WriteFile(values, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// report runs firstlight, which has to exit 1, and reads its report.
func (b *bench) report(t *testing.T, args ...string) schedule.Report {
	t.Helper()
	started := b.firstlight.Run(t.Context(), args...)
	var r schedule.Report
	if err := json.Unmarshal([]byte(started.Stdout), &r); err != nil || started.Code != 1 {
		t.Fatalf("firstlight %s exited %d: %v\n%s%s", strings.Join(args, " "), started.Code, err, started.Stdout, started.Stderr)
	}
	return r
}

// buildFirstlight builds it once for the bench.
func (b *bench) buildFirstlight(t *testing.T) {
	t.Helper()
	var err error
	if b.firstlight, err = binary.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// cacheEnv is where an image has the programs of a control plane: here, where this
// machine has them.
func cacheEnv() string {
	if dir := os.Getenv("FIRSTLIGHT_CACHE"); dir != "" {
		return "FIRSTLIGHT_CACHE=" + dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "FIRSTLIGHT_CACHE="
	}
	return "FIRSTLIGHT_CACHE=" + filepath.Join(dir, "firstlight")
}
