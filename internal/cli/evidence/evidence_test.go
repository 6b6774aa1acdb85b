package evidence

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// blind is a gate to which nothing answers. It judges as the gate does.
type blind struct {
	check.Check
	interrupt context.CancelFunc
}

// Observe records that nothing could be seen.
func (b blind) Observe(ctx context.Context, rec check.Recorder) error {
	_, err := rec.Record(check.Observation{Kind: "reach", Target: "gpu-01", Command: "connect", Err: "no route to host"})
	if b.interrupt != nil {
		b.interrupt()
		return ctx.Err()
	}
	return err
}

// blindRun is the run of a playbook that saw nothing but which cluster it is; interrupted, it
// ended in the first gate that needs another.
func blindRun(t *testing.T, interrupted bool) string {
	t.Helper()
	return blindRunOn(t, interrupted, "gpu-01")
}

// blindRunOn is one on a cluster of one node.
func blindRunOn(t *testing.T, interrupted bool, name string, annotations ...string) string {
	t.Helper()
	s, err := site.Parse("example", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	prof, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := profile.Raw(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gate.Playbook(s, prof, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range p.Steps {
		b := blind{Check: p.Steps[i].Check}
		if interrupted {
			b.interrupt = cancel
		}
		p.Steps[i].Check, p.Steps[i].Prepare = b, nil
	}
	clock := evidencetest.Clock()
	nodes := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}}}
	for _, key := range annotations {
		nodes[0].Annotations[key] = "x"
	}
	hardware := evidence.HardwareReal
	simulated, why := kube.SimulatedIn(nodes)
	if simulated {
		hardware = evidence.HardwareSimulated
	}
	start := evidence.Start{
		Header: evidence.Header{
			Tool: "v0.1.0", Command: []string{"firstlight", "accept"}, Site: s.Name, Profile: s.Profile,
			Cluster: evidencetest.Cluster, Simulated: hardware, SimulatedWhy: why,
		},
		Plan: p, Site: site.Example(), Profile: raw,
	}
	run, err := evidence.Create(t.TempDir(), start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	seen := accept.Identity{Namespace: corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: evidencetest.Cluster}}, Nodes: nodes}
	identity, err := seen.Observation(clock())
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(corev1.NodeList{Items: nodes})
	if err != nil {
		t.Fatal(err)
	}
	// The list of nodes is of an interrupted attempt.
	for attempt, o := range []check.Observation{identity, {Check: gpustack.Name, Kind: gpustack.KindNodes, Target: "cluster", At: clock(), Raw: list}} {
		if _, err := run.Record(attempt, o); err != nil {
			t.Fatal(err)
		}
	}
	w := plan.Executor{Plan: p, Store: run, Clock: clock}
	out, err := w.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	return run.Dir()
}

// ours runs a command line that must exit so.
func ours(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, code := clitest.Run(t, New, args...)
	if code != want {
		t.Fatalf("%v exits %d, not %d:\n%s%s", args, code, want, stdout, stderr)
	}
	return stdout, stderr
}

// keys are a pair of files.
func keys(t *testing.T, name string) (private, public string) {
	t.Helper()
	base := filepath.Join(t.TempDir(), name)
	ours(t, cmdutil.ExitPassed, "evidence", "keygen", base)
	return base + ".key", base + ".pub"
}

func TestEvidenceFromKeyToRegistryAndBack(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	dir := blindRun(t, false)
	private, public := keys(t, "a")
	_, other := keys(t, "b")

	// Before it is signed.
	out, _ := ours(t, cmdutil.ExitPassed, "evidence", "verify", dir)
	if !strings.Contains(out, dir+" is intact") || !strings.Contains(out, "not signed") {
		t.Errorf("unsigned: %s", out)
	}
	ours(t, cmdutil.ExitFailed, "evidence", "verify", dir, "--key", public)
	_, stderr := ours(t, cmdutil.ExitUsage, "evidence", "pack", dir, "--to", filepath.Join(t.TempDir(), "x"))
	if !strings.Contains(stderr, "is not signed") {
		t.Errorf("packed unsigned: %s", stderr)
	}
	ours(t, cmdutil.ExitUsage, "evidence", "sign", dir)
	ours(t, cmdutil.ExitUsage, "evidence", "sign", dir, "--key", public)

	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "sign", dir, "--key", private)
	if !strings.Contains(out, "unobserved, finished") {
		t.Errorf("signed: %s", out)
	}
	ours(t, cmdutil.ExitUsage, "evidence", "sign", dir, "--key", private)
	ours(t, cmdutil.ExitPassed, "evidence", "sign", dir, "--key", private, "--replace")

	bundle := filepath.Join(t.TempDir(), "run.tar.gz")
	ours(t, cmdutil.ExitPassed, "evidence", "pack", dir, "--to", bundle)
	ours(t, cmdutil.ExitUsage, "evidence", "pack", dir, "--to", bundle)

	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	ref := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/acceptance:one"
	ours(t, cmdutil.ExitPassed, "evidence", "push", bundle, ref)
	one, _ := ours(t, cmdutil.ExitPassed, "evidence", "push", dir, ref, "-o", "json")
	two, _ := ours(t, cmdutil.ExitPassed, "evidence", "push", bundle, ref, "-o", "json")
	if one != two {
		t.Errorf("the directory is pushed as %s, its archive as %s", one, two)
	}
	into := t.TempDir()
	ours(t, cmdutil.ExitPassed, "evidence", "pull", ref, "--to", into)
	ours(t, cmdutil.ExitUsage, "evidence", "pull", ref, "--to", into)
	pulled := filepath.Join(into, filepath.Base(dir))
	if names, err := os.ReadDir(into); err != nil || len(names) != 1 {
		t.Errorf("pull left %v, %v", names, err)
	}

	for _, given := range []string{dir, bundle, ref, pulled} {
		out, _ := ours(t, cmdutil.ExitPassed, "evidence", "verify", given, "--key", public)
		if !strings.Contains(out, "of key SHA256:") || !strings.Contains(out, "8 of 8 verdicts replayed") {
			t.Errorf("verify %s: %s", given, out)
		}
		ours(t, cmdutil.ExitPassed, "evidence", "verify", given, "--key", other, "--key", public)
		out, _ = ours(t, cmdutil.ExitUnobserved, "evidence", "verify", given)
		if !strings.Contains(out, "not everything was checked: signature") {
			t.Errorf("verify %s without key: %s", given, out)
		}
		ours(t, cmdutil.ExitPassed, "evidence", "verify", given, "--unsigned")
		ours(t, cmdutil.ExitFailed, "evidence", "verify", given, "--key", other)
		ours(t, cmdutil.ExitUsage, "evidence", "verify", given, "--key", private)
		ours(t, cmdutil.ExitUsage, "evidence", "verify", given, "--key", public, "--unsigned")
	}
	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "verify", bundle, "--key", public, "-o", "json")
	var v verification
	if err := json.Unmarshal([]byte(out), &v); err != nil || !v.Intact || v.Run != filepath.Base(dir) || len(v.Checks) < 10 {
		t.Errorf("%+v, %v", v, err)
	}
	stable := regexp.MustCompile(`SHA256:\S+|[0-9a-f]{64}|\d{8}-\d{6}-[0-9a-f]{4}|/\S+/run\.tar\.gz|\d+ files`)
	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "verify", bundle, "--key", public)
	golden.Compare(t, "testdata/golden/evidence-verify.txt", stable.ReplaceAll([]byte(out), []byte("X")))
}

func TestEvidenceThatWasChanged(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := blindRun(t, false)
	private, public := keys(t, "a")
	ours(t, cmdutil.ExitPassed, "evidence", "sign", dir, "--key", private)
	bundle := filepath.Join(t.TempDir(), "run.tar.gz")
	ours(t, cmdutil.ExitPassed, "evidence", "pack", dir, "--to", bundle)
	data, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		length int
		want   string
	}{
		"truncated in the header": {5, "archive: not a gzip archive, or truncated in its header"},
		"truncated in the middle": {len(data) / 2, "archive: truncated or damaged within "},
		"truncated at the end":    {len(data) - 1, "archive: truncated or damaged after "},
	} {
		if err := os.WriteFile(bundle, data[:tt.length], 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := ours(t, cmdutil.ExitFailed, "evidence", "verify", bundle, "--key", public)
		if !strings.Contains(out, tt.want) {
			t.Errorf("%s: %s", name, out)
		}
		ours(t, cmdutil.ExitFailed, "evidence", "push", bundle, "127.0.0.1:1/x:y")
	}
	if err := os.WriteFile(filepath.Join(dir, "site.yaml"), []byte("name: another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := ours(t, cmdutil.ExitFailed, "evidence", "verify", dir, "--key", public)
	if !strings.Contains(out, "is NOT intact:\n") || !strings.Contains(out, "files: site.yaml: changed") {
		t.Errorf("changed: %s", out)
	}
	ours(t, cmdutil.ExitFailed, "evidence", "sign", dir, "--key", private, "--replace")
	ours(t, cmdutil.ExitUsage, "evidence", "verify", filepath.Join(dir, "none"))
	ours(t, cmdutil.ExitUsage, "evidence", "verify", t.TempDir())
	ours(t, cmdutil.ExitUsage, "evidence", "verify", "oci://x")
	ours(t, cmdutil.ExitUnobserved, "evidence", "verify", "oci://127.0.0.1:1/x:y")
}

func TestEvidenceOfAnInterruptedRun(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := blindRun(t, true)
	private, public := keys(t, "a")
	ours(t, cmdutil.ExitFailed, "evidence", "verify", dir)
	out, _ := ours(t, cmdutil.ExitPassed, "evidence", "sign", dir, "--key", private)
	if !strings.Contains(out, "interrupted before its first verdict; missing: facility") {
		t.Errorf("signed: %s", out)
	}
	bundle := filepath.Join(t.TempDir(), "run.tar.gz")
	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "pack", dir, "--to", bundle)
	if !strings.Contains(out, "the run was interrupted") {
		t.Errorf("packed: %s", out)
	}
	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "verify", bundle, "--key", public)
	if !strings.Contains(out, "unobserved, interrupted before its first verdict; missing: facility") {
		t.Errorf("verified: %s", out)
	}
}

func TestKeygenDoesNotOverwrite(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	private, _ := keys(t, "a")
	was, err := os.ReadFile(private)
	if err != nil {
		t.Fatal(err)
	}
	ours(t, cmdutil.ExitUsage, "evidence", "keygen", strings.TrimSuffix(private, ".key"))
	if is, err := os.ReadFile(private); err != nil || string(is) != string(was) {
		t.Errorf("the key is another one, %v", err)
	}
}

func TestEvidenceExport(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := blindRun(t, false)
	for format, want := range map[string]string{"ctrf": `"reportFormat": "CTRF"`, "junit": "<testsuites", "nvcre": `"result": "INCOMPLETE"`} {
		out, _ := ours(t, cmdutil.ExitPassed, "evidence", "export", dir, "--format", format)
		if !strings.Contains(out, want) {
			t.Errorf("%s: %s", format, out)
		}
	}
	out, _ := ours(t, cmdutil.ExitPassed, "evidence", "export", dir, "--format", "nvcre", "--platform", "aws")
	if !strings.Contains(out, `"platform": "aws"`) || !strings.Contains(out, `"gpu": "h100"`) {
		t.Errorf("nvcre: %s", out)
	}
	ours(t, cmdutil.ExitUsage, "evidence", "export", dir)
	ours(t, cmdutil.ExitUsage, "evidence", "export", dir, "--format", "pdf")
	ours(t, cmdutil.ExitUsage, "evidence", "export", blindRun(t, true), "--format", "ctrf")
}

// A bundle of a stranger has no say over the terminal that it is verified on.
func TestControlCharactersOfEvidenceAreEscaped(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := blindRun(t, false)
	if err := os.WriteFile(filepath.Join(dir, "x\x1b[2Jy"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := ours(t, cmdutil.ExitFailed, "evidence", "verify", dir)
	if strings.Contains(out, "\x1b") || !strings.Contains(out, "[2Jy: extra") {
		t.Errorf("printed %q", out)
	}
}
