package exporter

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newWorld(t *testing.T, nodes int) *world.World {
	t.Helper()
	spec := world.DefaultSpec(nodes)
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = fmt.Sprintf("127.213.7.%d:22", i+1)
	}
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	w, err := world.New(spec, world.WithClock(func() time.Time { return at }), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func expose(t *testing.T, w *world.World, node string) string {
	t.Helper()
	s := w.State()
	n, ok := s.Node(node)
	if !ok {
		t.Fatalf("no node %s", node)
	}
	return string(Expose(s, n, n.Exporter.StaleSince))
}

func series(text, family string) []string {
	return regexp.MustCompile(`(?m)^`+family+`\{.*$`).FindAllString(text, -1)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	if _, err := w.Occupy(world.Pod{UID: "u1", Namespace: "team", Name: "job-0", Container: "main"}, "gpu-01", 1, world.Load{Util: 97, PowerFrac: 0.95, MemMiB: 40000}); err != nil {
		t.Fatal(err)
	}
	got := expose(t, w, "gpu-01")
	path := "testdata/gpu-01.txt"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("exposition (-want +got):\n%s", diff)
	}
}

func TestEveryFamilyPerGPU(t *testing.T) {
	t.Parallel()
	text := expose(t, newWorld(t, 1), "gpu-01")
	for _, f := range families {
		want := 8
		if f.name == "DCGM_FI_DEV_XID_ERRORS" {
			want = 0 // blank values are not exported
		}
		if n := len(series(text, f.name)); n != want {
			t.Errorf("%d series of %s, want %d", n, f.name, want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind  string
		check func(t *testing.T, text string)
	}{
		{"gpu-off-bus", func(t *testing.T, text string) {
			t.Helper()
			if n := len(series(text, "DCGM_FI_DEV_GPU_UTIL")); n != 7 {
				t.Errorf("%d GPUs exported, want 7", n)
			}
		}},
		{"host-label-dropped", func(t *testing.T, text string) {
			t.Helper()
			if strings.Contains(strings.ToLower(text), "hostname=") {
				t.Error("the host label is still there")
			}
		}},
		{"host-label-lowercase", func(t *testing.T, text string) {
			t.Helper()
			if !strings.Contains(text, `,hostname="gpu-0`) || strings.Contains(text, "Hostname=") {
				t.Error("the host label is not lower case")
			}
		}},
		{"gpu-label-dropped", func(t *testing.T, text string) {
			t.Helper()
			all := series(text, "DCGM_FI_DEV_POWER_USAGE")
			names := map[string]bool{}
			for _, s := range all {
				name, _, _ := strings.Cut(s, "}")
				names[name] = true
			}
			if len(names) != 8 || strings.Contains(text, `gpu="`) || strings.Contains(text, "UUID=") {
				t.Errorf("%d series, want 8 that do not say their GPU: %.200s", len(names), text)
			}
		}},
		{"stale-series", func(t *testing.T, text string) {
			t.Helper()
			if !regexp.MustCompile(`(?m)^DCGM_FI_DEV_GPU_UTIL\{.*\} 0 \d{13}$`).MatchString(text) {
				t.Error("samples carry no timestamp")
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 4)
			f, err := w.AddFault(world.Fault{Kind: tt.kind})
			if err != nil {
				t.Fatal(err)
			}
			node, _, _ := strings.Cut(f.Target, "/")
			if _, ok := w.State().Node(node); !ok {
				node = "gpu-01" // cluster-wide
			}
			tt.check(t, expose(t, w, node))
		})
	}
}

// Swapped host names, shifted pods and future timestamps change only these labels and times.
func TestFaultsOfLabelsAndTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for _, node := range []string{"gpu-02", "gpu-03", "gpu-04"} {
		if _, err := w.Occupy(world.Pod{UID: node, Namespace: "team", Name: "job-" + node, Container: "main"}, node, 1, world.Load{Util: 97}); err != nil {
			t.Fatal(err)
		}
	}
	util := func(node string) []string { return series(expose(t, w, node), "DCGM_FI_DEV_GPU_UTIL") }
	healthy2, healthy3 := util("gpu-02"), util("gpu-03")
	for _, f := range []world.Fault{{Kind: "exporter-hosts-swapped", Target: "gpu-02"}, {Kind: "exporter-pod-mapping-wrong", Target: "gpu-04"}} {
		if _, err := w.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(all []string, from, to string) string {
		return strings.ReplaceAll(strings.Join(all, "\n"), `Hostname="`+from+`"`, `Hostname="`+to+`"`)
	}
	if diff := cmp.Diff(rename(healthy2, "gpu-02", "gpu-03"), strings.Join(util("gpu-02"), "\n")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(rename(healthy3, "gpu-03", "gpu-02"), strings.Join(util("gpu-03"), "\n")); diff != "" {
		t.Error(diff)
	}
	for i, s := range util("gpu-04") {
		if loaded, named := strings.HasSuffix(s, " 97"), strings.Contains(s, `pod="job-gpu-04"`); loaded != (i == 0) || named != (i == 1) {
			t.Errorf("GPU %d: %s", i, s)
		}
	}
	if !w.State().NodeLabelOff {
		t.Error("the swap shows in the labels of the scrape")
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	port := freePort(t, "127.213.7.1")
	e, err := Start(t.Context(), w, Options{Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	get := func(node int, path string) (string, error) {
		resp, err := client.Get(fmt.Sprintf("http://127.213.7.%d:%d%s", node, port, path))
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	for node := 1; node <= 2; node++ {
		text, err := get(node, "/metrics")
		if err != nil || !strings.Contains(text, fmt.Sprintf(`Hostname="gpu-%02d"`, node)) {
			t.Fatalf("node %d: %v, %.80s", node, err, text)
		}
	}
	if body, err := get(1, "/health"); err != nil || body != "OK" {
		t.Errorf("health = %q, %v", body, err)
	}

	f, err := w.AddFault(world.Fault{Kind: "exporter-down", Target: "gpu-02"})
	if err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "node 2 to refuse", func() bool { _, err := get(2, "/metrics"); return err != nil })
	if _, err := get(1, "/metrics"); err != nil {
		t.Errorf("node 1 went down with node 2: %v", err)
	}
	if err := w.ClearFault(f.ID); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "node 2 to come back", func() bool { _, err := get(2, "/metrics"); return err == nil })

	if _, err := w.AddFault(world.Fault{Kind: "stale-series", Target: "gpu-01"}); err != nil {
		t.Fatal(err)
	}
	first, err := get(1, "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Occupy(world.Pod{UID: "u", Namespace: "n", Name: "p"}, "gpu-01", 8, world.Load{Util: 100, PowerFrac: 1}); err != nil {
		t.Fatal(err)
	}
	if again, _ := get(1, "/metrics"); again != first {
		t.Error("a stale exporter's reading changed")
	}

	if _, err := w.AddFault(world.Fault{Kind: "samples-from-the-future", Target: "gpu-02"}); err != nil {
		t.Fatal(err)
	}
	ahead, err := get(2, "/metrics")
	if stamp := fmt.Sprintf(" %d\n", w.State().Now.Add(time.Hour).UnixMilli()); err != nil || strings.Count(ahead, stamp) != strings.Count(ahead, "{") {
		t.Errorf("%v: not every sample is of an hour ahead: %.200s", err, ahead)
	}
}

func TestStartReportsPortInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	l, err := net.Listen("tcp", "127.213.7.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if e, err := Start(t.Context(), w, Options{Port: l.Addr().(*net.TCPAddr).Port}); err == nil {
		e.Stop()
		t.Error("started on a taken port")
	}
}

func freePort(t *testing.T, ip string) int {
	t.Helper()
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
