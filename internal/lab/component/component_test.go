package component

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func config() Config {
	return Config{
		Dir: "/lab", Address: "127.20.30.1", AlertWebhook: "http://127.20.30.1:9094/",
		Ports: Ports{
			Etcd: 2379, EtcdPeer: 2380, APIServer: 6443, ControllerManager: 10257, Scheduler: 10259,
			Kwok: 10250, Prometheus: 9090, Alertmanager: 9093, Adapter: 6444, AlertWebhook: 9094,
		},
	}
}

// text is a component as the goldens have it.
func text(c Component) string {
	var b strings.Builder
	for _, a := range c.Argv {
		b.WriteString(a + "\n")
	}
	b.WriteString("\nprobe: " + c.Probe.URL + "\nneeds: " + strings.Join(c.Needs, " ") + "\ngrace: " + c.StopGrace.String() + "\n")
	var paths []string
	for p := range c.Files {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	for _, p := range paths {
		if filepath.Base(p) == "kwok.yaml" {
			continue // the stages have a test of their own
		}
		b.WriteString("\n--- " + p + "\n" + c.Files[p])
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for _, c := range All(config()) {
		golden(t, c.Name, text(c))
	}
}

func TestGoldensOfFaults(t *testing.T) {
	t.Parallel()
	c := config()
	c.Faults = Faults{NoGangScheduler: true}
	golden(t, "no-gang-scheduler", text(c.APIServer())+text(c.Scheduler()))
	c.Faults = Faults{HalfGang: true}
	golden(t, "half-gang", text(c.APIServer())+text(c.Scheduler()))
	c.Faults = Faults{AlertRouteMissing: true}
	golden(t, "alert-route-missing", text(c.Alertmanager()))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-golden +got; rewrite with -update):\n%s", name, diff)
	}
}

// What a lab serves, it serves on its own address.
func TestEverythingListensOnTheLabsAddress(t *testing.T) {
	t.Parallel()
	listen := []string{"--bind-address", "--listen-client-urls", "--listen-peer-urls", "--server-address", "--web.listen-address"}
	for _, c := range All(config()) {
		found := false
		for _, a := range c.Argv {
			name, value, _ := strings.Cut(a, "=")
			if slices.Contains(listen, name) {
				found = true
				if !strings.Contains(value, "127.20.30.1") {
					t.Errorf("%s: %s is not the lab's address", c.Name, a)
				}
			}
		}
		if !found {
			t.Errorf("%s: no flag says where it listens", c.Name)
		}
		if !strings.HasPrefix(c.Probe.URL, "https://127.20.30.1:") {
			t.Errorf("%s: probed at %s", c.Name, c.Probe.URL)
		}
	}
}

func TestNeedsAreComponents(t *testing.T) {
	t.Parallel()
	known := map[string]bool{Objects: true}
	for _, c := range All(config()) {
		for _, n := range c.Needs {
			if !known[n] {
				t.Errorf("%s needs %s, which does not come before it", c.Name, n)
			}
		}
		known[c.Name] = true
	}
}

// Every file that is YAML parses, and the stages say nothing of jobs: whether
// a workload's pod succeeds is the world's to say.
func TestFilesParse(t *testing.T) {
	t.Parallel()
	for _, c := range All(config()) {
		for path, content := range c.Files {
			for doc := range strings.SplitSeq("\n"+content, "\n---\n") {
				var v map[string]any
				if err := yaml.UnmarshalStrict([]byte(doc), &v); err != nil {
					t.Errorf("%s: %s: %v", c.Name, path, err)
				}
				if meta, ok := v["metadata"].(map[string]any); ok && meta["name"] == "pod-complete" {
					t.Errorf("%s: a stage completes pods", c.Name)
				}
			}
			if strings.Contains(content, "${") || strings.Contains(content, "KUBELET_ADDRESS") {
				t.Errorf("%s: %s has a gap that was not filled", c.Name, path)
			}
		}
	}
}
