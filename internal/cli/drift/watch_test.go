package drift

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/drift/watch"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/site"
)

// Flags that have no effect, and intervals that no host can keep, are refused before a cluster is used.
func TestFlagsOfWatch(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prod.baseline.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--every 1m":                     "need --watch",
		"--listen :0":                    "need --watch",
		"--watch --every 9s":             "must be at least 10s",
		"--watch --every -5m":            "must be at least 10s",
		"--watch -o yaml":                "-o yaml is not available",
		"--watch --fresh":                "none of the others can be",
		"--watch --namespace team-a":     "none of the others can be",
		"--watch --against " + file:      "is a recorded baseline",
		"--watch --kubeconfig /tmp/none": "--kubeconfig needs --site",
	} {
		var out, errs bytes.Buffer
		code := cmdutil.Execute(t.Context(), New(cmdutil.Streams{Out: &out, Err: &errs}), strings.Fields(args), cmdutil.Streams{Out: &out, Err: &errs})
		if code != cmdutil.ExitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit %d, want %q:\n%s", args, code, want, errs.String())
		}
	}
}

var changed = watch.Transition{
	Seq: 7, At: time.Date(2026, 11, 21, 12, 5, 0, 0, time.UTC), Since: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Node: "gpu-02", Checks: []string{"nvidia-smi", "dmesg"},
	From: watch.OK, To: watch.Failed, Observations: 2, Flapping: true, Accept: "firstlight accept",
	Findings: []check.Finding{{Suspect: "gpu-02/gpu3", Message: "is \x1b[31mhot", Remedy: "cool it"}},
}

func TestTransitionsArePrinted(t *testing.T) {
	t.Parallel()
	f := &driftFlags{out: &cmdutil.Output{}}
	var text, lines bytes.Buffer
	if err := f.reporter(&text)(changed); err != nil {
		t.Fatal(err)
	}
	const want = `2026-11-21T12:05:00Z gpu-02: ok -> failed (nvidia-smi, dmesg; 2 observations since 12:00:00, flapping)
  gpu-02/gpu3: is \x1b[31mhot
    cool it
  to accept the change: firstlight accept
`
	if text.String() != want {
		t.Errorf("%s", text.String())
	}
	cmd := New(cmdutil.Streams{})
	if err := cmd.ParseFlags([]string{"-o", "json"}); err != nil {
		t.Fatal(err)
	}
	out, ok := cmd.Flags().Lookup("output").Value.(*cmdutil.Output)
	if !ok {
		t.Fatal("no output flag")
	}
	f.out = out
	report := f.reporter(&lines)
	for range 2 {
		if err := report(changed); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Split(strings.TrimSpace(lines.String()), "\n")
	var tr watch.Transition
	if len(all) != 2 || json.Unmarshal([]byte(all[1]), &tr) != nil || tr.Seq != 7 || strings.Contains(all[0], "\x1b") {
		t.Errorf("%q", lines.String())
	}
}

func TestAcceptCommand(t *testing.T) {
	t.Parallel()
	f := &driftFlags{evidence: "evidence"}
	if got := f.acceptCommand(); got != "firstlight accept" {
		t.Error(got)
	}
	f.evidence, f.target.Site = "/srv/my evidence", "prod.yaml"
	if got := f.acceptCommand(); got != "firstlight accept --site prod.yaml --evidence '/srv/my evidence'" {
		t.Error(got)
	}
}

// Nodes that were not accepted are not watched; an accepted one that the site does not have is an error.
func TestNodesOfWatch(t *testing.T) {
	t.Parallel()
	accepted := watch.Accepted{Machines: []node.Machine{{Host: "gpu-01"}, {Host: "gpu-02"}}}
	target := func(names ...string) *cmdutil.Target {
		s := &site.Site{}
		for _, n := range names {
			s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n})
		}
		return &cmdutil.Target{Site: s}
	}
	more := target("gpu-01", "gpu-02", "gpu-03")
	if err := sameNodes(more, accepted); err != nil || len(more.Site.NodeNames()) != 2 {
		t.Errorf("%v, %v", more.Site.NodeNames(), err)
	}
	if got := notWatched(more.Site, "R"); !strings.HasPrefix(got, "not watched: gpu-03, as run R did not accept it: ") {
		t.Errorf("%q", got)
	}
	same := target("gpu-01", "gpu-02")
	if err := sameNodes(same, accepted); err != nil || notWatched(same.Site, "R") != "" {
		t.Errorf("%v, %q", err, notWatched(same.Site, "R"))
	}
	if err := sameNodes(target("gpu-01"), accepted); cmdutil.ExitCode(err) != cmdutil.ExitUsage || !strings.Contains(err.Error(), "gpu-02") {
		t.Error(err)
	}
}

// The server answers until the watch ends; an address that is in use is an error.
func TestWatchServer(t *testing.T) {
	t.Parallel()
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "firstlight_watch_test"}, func() float64 { return 3 })
	s, err := serveWatch(t.Context(), "127.0.0.1:0", gauge)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := serveWatch(t.Context(), s.address, gauge); err == nil {
		t.Error("two servers on one address")
	}
	ended := errors.New("the journal is full")
	err = s.whileServing(t.Context(), func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/metrics", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(body), "firstlight_watch_test 3") {
			t.Errorf("%s, %v", body, err)
		}
		return ended
	})
	if !errors.Is(err, ended) {
		t.Error(err)
	}
}
