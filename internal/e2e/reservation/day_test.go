package reservation_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const byDay = "by-day"

// rotation runs a rotation with fast readiness checks.
func rotation(t *testing.T, code int, way string, args []string, words ...string) {
	t.Helper()
	all := append([]string{"rotation", way, "--file", registry, "--schedule", schedule, "--hooks", hooks}, args...)
	if way == "up" {
		all = append(all, "--ready-checks", "1", "--ready-interval", "1s")
	}
	reservation(t, code, all, words...)
}

// janitor lists deployments and changes nothing.
func janitor(t *testing.T) binary.Result {
	t.Helper()
	return program.Run(t.Context(), "reservation", "janitor", "--file", registry1(t), "--hooks", hooks, "--older-than", "0s")
}

// janitorFinds requires the exit code and words of the output.
func janitorFinds(t *testing.T, code int, words ...string) {
	t.Helper()
	r := janitor(t)
	for _, w := range words {
		if r.Code != code || !strings.Contains(r.Stdout, w) {
			t.Errorf("janitor exited %d, want %d, %q:\n%s%s", r.Code, code, w, r.Stdout, r.Stderr)
		}
	}
}

// registry1 is the registry with only the row that has a hook: the janitor queries each cloud of a
// registry.
func registry1(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	text := "reservations:\n"
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, "name: "+byDay) {
			text = "reservations:\n" + line
		}
	}
	path := filepath.Join(t.TempDir(), "reservations.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// After a missed teardown a deployment without a lease exists. The morning names it and provisions
// nothing; an operator removes it. Then a regular day follows.
func TestMissedTeardownThenADay(t *testing.T) {
	t.Parallel()
	const culprit = "fl-day-r6-rs"
	request := map[string]any{
		"apiVersion": "hooks.firstlight.dev/v1", "verb": "provision", "owner": "team-e2e", "cloud": "kind", "intent": "training",
		"reservation": map[string]any{
			"name": byDay, "slug": "r6", "cloud": "kind", "accelerator": "h100", "gpu-count": 1, "node-count": 1,
			"cluster-config-path": "a", "test-config-dir": "b", "nightly-intents": []string{},
		},
		"deployment": culprit, "lease": map[string]any{"token": 1000, "holder": "somebody"}, "deadline": "2099-01-01T00:00:00Z", "attempt": 1,
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	cmd := program.Command(t.Context(), "reservation", "hook", "lab")
	cmd.Stdin = bytes.NewReader(body)
	if r := binary.Finish(cmd); r.Code != 0 {
		t.Fatalf("the hook exited %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}

	rotation(t, 1, "up", nil, "by-day: blocked "+culprit, "its teardown was missed", "with token 1000, of owner team-e2e")
	v := describe(t, byDay)
	if v.State != "dirty" || v.Dirt == nil || !v.Dirt.ManualOnly || !strings.Contains(v.Dirt.Reason, culprit) {
		t.Fatalf("blocked, it is %+v", v)
	}
	reservation(t, 0, []string{"history", byDay}, "quarantined", culprit)
	reservation(t, 0, []string{"metrics"}, `firstlight_reservation_blocked{reservation="by-day"} 1`, `firstlight_reservation_events_total{reservation="by-day",type="quarantined"} 1`)
	reservation(t, 1, []string{"acquire", byDay}, "is dirty", "rotation down --reservation by-day")
	janitorFinds(t, 1, culprit, "blocked", "rotation down --reservation by-day")
	rotation(t, 1, "up", nil, "it is dirty", culprit)
	rotation(t, 1, "down", nil, "by-day: blocked", "rotation down --reservation by-day") // not removed automatically
	lab := program.Run(t.Context(), "lab", "status", "--name", culprit)
	if lab.Code != 0 {
		t.Fatalf("the deployment is missing: exit %d: %s", lab.Code, lab.Stderr)
	}
	rotation(t, 0, "down", []string{"--reservation", byDay}, "by-day: cleaned "+culprit)
	if v := describe(t, byDay); v.State != "free" {
		t.Fatalf("recovered, it is %+v", v)
	}
	janitorFinds(t, 0, "no deployments found")
	if list, err := os.ReadDir(filepath.Join(program.Home, "labs")); err != nil || len(list) > 0 {
		t.Errorf("labs are left: %v %v", list, err)
	}
	aDay(t)
}

func aDay(t *testing.T) {
	t.Helper()
	rotation(t, 0, "up", []string{"--dry-run"}, "would provision")
	rotation(t, 0, "up", nil, "by-day: up fl-day-r6-")
	rotation(t, 0, "up", nil, "it was up already")
	reservation(t, 1, []string{"access", byDay, "--file", registry, "--hooks", hooks, "--grant", strconv.FormatInt(describe(t, byDay).Token, 10)}, "available for checkout")

	ada := acquired(t, reservation(t, 0, []string{"checkout", byDay, "--as", "ada", "--purpose", "debugging", "-o", "json"}))[0]
	reservation(t, 1, []string{"checkout", byDay, "--as", "eve"}, "ada has checked it out")
	reservation(t, 0, []string{"extend", byDay, "--by", "30m"}, "by-day is yours until")
	reservation(t, 1, []string{"extend", byDay, "--by", "1m"}, "past the maximum term of the lease") // the evening needs its window
	hasAccess(t, ada)
	janitorFinds(t, 0, "fl-day-r6-", "it is published, under lease ")
	rotation(t, 1, "down", nil, "by-day: notified: ada holds it until")
	reservation(t, 0, []string{"renew", byDay}, "asks for its release by")

	reservation(t, 0, []string{"checkin", byDay, "--why", "lunch"}, "checked in")
	stale := strconv.FormatInt(ada.Token, 10)
	reservation(t, 1, []string{"access", byDay, "--file", registry, "--hooks", hooks, "--grant", stale}, "token "+stale+" is stale", "team-e2e/daytime holds it")
	eve := acquired(t, reservation(t, 0, []string{"checkout", byDay, "--as", "eve", "-o", "json"}))[0]
	if eve.Token <= ada.Token {
		t.Errorf("token %d follows %d", eve.Token, ada.Token)
	}
	reservation(t, 0, []string{"checkin", byDay})
	rotation(t, 0, "down", nil, "by-day: down fl-day-r6-")
	if v := describe(t, byDay); v.State != "free" {
		t.Errorf("in the evening it is %+v", v)
	}
	rotation(t, 0, "down", nil, "by-day: unchanged: there is no deployment")
	janitorFinds(t, 0, "no deployments found")
}

// hasAccess is what the holder types: it reaches the lab by an identity that is not in the file.
func hasAccess(t *testing.T, g grant) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	r := reservation(t, 0, []string{"access", byDay, "--file", registry, "--hooks", hooks, "--write-kubeconfig", path},
		"by-day is yours until", "export KUBECONFIG="+path, "kubectl get nodes", "kind: TrainJob", "numNodes: 1")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	c, err := kube.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := c.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) == 0 {
		t.Errorf("%d nodes, %v", len(nodes.Items), err)
	}

	list, err := os.ReadDir(filepath.Join(program.Home, "labs"))
	if err != nil || len(list) != 1 {
		t.Fatalf("the labs are %v, %v", list, err)
	}
	admin := program.Run(t.Context(), "lab", "kubeconfig", "--path", "--name", list[0].Name())
	config, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(admin.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	key := config.KeyData
	if len(key) == 0 { // it is in a file then, or the test looks for nothing
		if key, err = os.ReadFile(config.KeyFile); err != nil {
			t.Fatal(err)
		}
	}
	again := reservation(t, 0, []string{"access", byDay, "--file", registry, "--hooks", hooks, "--grant", strconv.FormatInt(g.Token, 10), "-o", "json"}, `"steps"`)
	if raw, err := os.ReadFile(strings.TrimSpace(admin.Stdout)); err != nil || len(secrets(string(raw)+string(key), key)) < 2 {
		t.Errorf("in a file that has secrets none are found: %v", err)
	}
	for name, text := range map[string]string{"output": r.Stdout + r.Stderr, "file": string(file), "JSON": again.Stdout + again.Stderr} {
		if found := secrets(text, key); len(found) > 0 {
			t.Errorf("there is a secret in the %s: %.20q", name, found)
		}
	}
}

// secrets finds what of a key, or of any other credential, is in a text.
func secrets(text string, key []byte) []string {
	var out []string
	for _, secret := range []string{string(key), strings.Split(string(key), "\n")[1], base64.StdEncoding.EncodeToString(key)[:100], "PRIVATE KEY", "client-key", "token:"} {
		if strings.Contains(text, secret) {
			out = append(out, secret)
		}
	}
	return out
}
