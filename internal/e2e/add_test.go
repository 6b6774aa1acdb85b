package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

// cordon cordons a node of the shared lab, or uncordons it.
func cordon(t *testing.T, node string, cordoned bool) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, cordoned)
	if _, err := program.Cluster(t, labName).Client.CoreV1().Nodes().Patch(t.Context(), node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// newNodes writes a file of these nodes of the lab.
func newNodes(t *testing.T, names ...string) string {
	t.Helper()
	s, err := site.Load(strings.TrimSpace(program.Must(t, "lab", "site", "--path", "--name", labName).Stdout))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("nodes:\n")
	for _, n := range s.Inventory.Nodes {
		for _, name := range names {
			if n.Name == name {
				fmt.Fprintf(&text, "  - {name: %s, address: %q, rack: %s}\n", n.Name, n.Address, n.Rack)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAddedCapacity adds three nodes to an accepted lab of one: a node that fails gate 3, a node that is
// slow in its pair, and a node without a cordon are named and left out, the others are added.
func TestAddedCapacity(t *testing.T) {
	sharedLab(t)
	dir := t.TempDir()
	names := []string{"gpu-02", "gpu-03", "gpu-04"}
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	for _, name := range names { // they were left out before they were repaired
		program.Must(t, "lab", "fault", "add", "gpu-off-bus", name+"/gpu5", "--name", labName)
	}
	base, r := accept(t, "--fresh", "--allow-failed", "3", "--evidence", dir)
	if r.Code != 0 || base.verdicts() != partialNode {
		t.Fatalf("exit %d: %s\n%s", r.Code, base.verdicts(), r.Stderr)
	}
	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	to := filepath.Join(dir, base.Run)
	file := newNodes(t, names...)
	for _, name := range names {
		cordon(t, name, true)
		defer cordon(t, name, false)
	}

	program.Must(t, "lab", "fault", "add", "gpu-off-bus", "gpu-02/gpu5", "--name", labName)
	program.Must(t, "lab", "fault", "add", "straggler-node", "gpu-03", "--name", labName)
	faulty, r := accept(t, "--add", file, "--evidence", dir)
	if r.Code != 0 || faulty.verdicts() != "cordon=passed node=partial pairs=partial collective=passed" ||
		!strings.Contains(r.Stdout, "left out: gpu-02, which failed gate node") || !strings.Contains(r.Stdout, "left out: gpu-03, which failed gate pairs") ||
		!strings.HasPrefix(faulty.Gates[3].Reason, "gpu-04 added to 1 accepted nodes: ") {
		t.Fatalf("two faulty nodes: exit %d: %s\n%s%s", r.Code, faulty.verdicts(), r.Stdout, r.Stderr)
	}
	program.Must(t, "evidence", "replay", filepath.Join(dir, faulty.Run))
	program.Must(t, "evidence", "verify", filepath.Join(dir, faulty.Run))
	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)

	cordon(t, "gpu-02", false)
	open, r := accept(t, "--add", file, "--to", to, "--evidence", dir)
	if r.Code != 0 || open.verdicts() != "cordon=partial node=passed pairs=passed collective=passed" || open.Gates[0].Findings[0].Suspect != "gpu-02" ||
		!strings.HasPrefix(open.Gates[3].Reason, "gpu-03, gpu-04 added to 1 accepted nodes: ") {
		t.Fatalf("a node without a cordon: exit %d: %s\n%s%s", r.Code, open.verdicts(), r.Stdout, r.Stderr)
	}
	for _, name := range names { // as the owner does: accepted nodes must be in service
		cordon(t, name, name == "gpu-02")
	}
	last, r := accept(t, "--add", newNodes(t, "gpu-02"), "--evidence", dir) // to the newest run, which added the others
	if r.Code != 0 || last.verdicts() != "cordon=passed node=passed pairs=passed collective=passed" || !strings.HasPrefix(last.Gates[3].Reason, "gpu-02 added to 3 accepted nodes: ") {
		t.Fatalf("healthy: exit %d: %s\n%s%s", r.Code, last.verdicts(), r.Stdout, r.Stderr)
	}
	program.RequireClean(t, labName)
	requireRefused(t, dir, to, file, filepath.Join(dir, last.Run))
}

// requireRefused requires that nothing is added to evidence that was changed, is too old, or has the
// nodes already, and that a run with added nodes is neither a baseline nor a run to keep verdicts from.
func requireRefused(t *testing.T, dir, to, file, added string) {
	t.Helper()
	edited := filepath.Join(t.TempDir(), filepath.Base(to))
	if err := os.CopyFS(edited, os.DirFS(to)); err != nil {
		t.Fatal(err)
	}
	data := read(t, edited, "journal.jsonl")
	if err := os.WriteFile(filepath.Join(edited, "journal.jsonl"), []byte(strings.Replace(data, `"gpu-04"`, `"gpu-05"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	add := func(more ...string) []string {
		return append([]string{"accept", "--lab", labName, "--evidence", dir, "--add"}, more...)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a changed run":   {add(file, "--to", edited), 1, "does not verify"},
		"an old run":      {add(file, "--to", to, "--max-age", "1s"), 2, "the limit is 1s"},
		"accepted nodes":  {add(file), 2, "gpu-03 is an accepted node"},
		"no accepted run": {append(add(file), "--evidence", t.TempDir()), 2, "no accepted run of site"},
		"a baseline":      {[]string{"baseline", "show", added}, 2, "is not an accepted run"},
	} {
		if r := program.Run(t.Context(), tt.args...); r.Code != tt.code || !strings.Contains(r.Stderr, tt.want) {
			t.Errorf("%s: exit %d, want %d and %q: %s%s", name, r.Code, tt.code, tt.want, r.Stdout, r.Stderr)
		}
	}
}

// Nodes are not added to a run of another cluster, also not if its site has the same name.
func TestAddedToARunOfAnotherCluster(t *testing.T) {
	suite.Require(t, suite.All)
	_, _, earlier := healthyRun(t)
	const other = "other"
	program.Must(t, "lab", "up", "--name", other)
	defer program.Must(t, "lab", "down", "--name", other)
	dir := t.TempDir()
	file, over := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "site.yaml")
	for path, text := range map[string]string{file: "nodes: [{name: gpu-05}]\n", over: "name: " + labName + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := program.Run(t.Context(), "accept", "--lab", other, "--site", over, "--evidence", earlier, "--add", file); r.Code != 2 || !strings.Contains(r.Stderr, "(UID of namespace kube-system)") {
		t.Errorf("exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
}
