package chain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// chain is the -o json object of autoscale.
type chain struct {
	Run       string
	Verdict   string
	Simulated bool
	Hops      []hop
}

type hop struct {
	Hop      string
	Phase    string
	Verdict  string
	At       time.Time
	Took     float64
	Budget   float64
	Object   string
	Reason   string
	Findings []struct{ Suspect, Message, Remedy string }
}

// autoscale proves the chain of a lab; the exit code is for the caller to judge.
// A run on which the machine stalled is repeated.
func autoscale(t *testing.T, lab string, args ...string) (c chain, r binary.Result) {
	t.Helper()
	suite.Repeat(t, func() string {
		r = program.Run(t.Context(), append([]string{"autoscale", "-o", "json", "--lab", lab, "--evidence", t.TempDir()}, args...)...)
		c = decodeChain(t, r)
		for _, h := range c.Hops {
			if h.Verdict == "unobserved" {
				return h.Reason
			}
		}
		return ""
	})
	return c, r
}

func decodeChain(t *testing.T, r binary.Result) chain {
	t.Helper()
	var c chain
	if err := json.Unmarshal([]byte(r.Stdout), &c); err != nil {
		t.Fatalf("autoscale exited %d, and its output is not JSON: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	return c
}

// wholeChain: exactly the hops there are, in order, each passed and each with
// the object that it happened to.
func wholeChain(t *testing.T, c chain, r binary.Result) {
	t.Helper()
	if r.Code != 0 || c.Verdict != "passed" || !c.Simulated {
		t.Errorf("exit %d, verdict %s, simulated %v\n%s", r.Code, c.Verdict, c.Simulated, r.Stderr)
	}
	var want, got []string
	for _, p := range snapshot.Chain() {
		want = append(want, p.Hops...)
	}
	for _, h := range c.Hops {
		got = append(got, h.Hop)
		if h.Verdict != "passed" {
			t.Errorf("hop %s is %s: %s %+v", h.Hop, h.Verdict, h.Reason, h.Findings)
		}
		if h.At.IsZero() {
			t.Errorf("hop %s has no time", h.Hop)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("hops %v, want %v", got, want)
	}
}

// TestAutoscale proves the chain with each kind of metric. For every change, the run that follows a
// killed one (TestKilledAutoscale) is the healthy one.
func TestAutoscale(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.All)
	for _, metric := range []string{"external", "custom"} {
		t.Run(metric, func(t *testing.T) {
			t.Parallel()
			lab := chainLab(t)
			c, r := autoscale(t, lab, "--metric", metric)
			wholeChain(t, c, r)
			program.RequireClean(t, lab)
		})
	}
}

// A Prometheus that does not honour the exporter's labels has them under other
// names: the chain follows them.
func TestAutoscaleWithExportedLabels(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.All)
	lab := chainLab(t)
	program.Must(t, "lab", "fault", "add", "honor-labels-off", "--name", lab)
	c, r := autoscale(t, lab, "--metric", "custom")
	wholeChain(t, c, r)
}

// TestAutoscaleThroughKAI has the workload scheduled by KAI, through a queue.
func TestAutoscaleThroughKAI(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.All)
	lab := chainLab(t)
	c, r := autoscale(t, lab, "--scheduler", "kai")
	wholeChain(t, c, r)
	program.RequireClean(t, lab)
}

// TestAutoscaleFaults puts each fault of the chain alone into a lab: its hop
// must fail, no earlier hop may fail, and the finding must match.
func TestAutoscaleFaults(t *testing.T) {
	t.Parallel()
	var c struct {
		Kinds []struct{ Kind, Gate, Hop string }
	}
	if err := json.Unmarshal([]byte(program.Must(t, "lab", "fault", "list", "--kinds", "-o", "json").Stdout), &c); err != nil {
		t.Fatal(err)
	}
	n := 0
	// The later the hop, the longer its test: those begin first.
	for _, k := range slices.Backward(c.Kinds) {
		if k.Hop == "" {
			continue
		}
		n++
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			suite.RequireFault(t, "internal/e2e/chain TestAutoscaleFaults", k.Kind)
			lab := chainLab(t)
			added := program.Must(t, "lab", "fault", "add", k.Kind, "--name", lab, "-o", "json")
			var fault struct{ ID, Target, Suspect string }
			if err := json.Unmarshal([]byte(added.Stdout), &fault); err != nil {
				t.Fatal(err)
			}
			args := []string{"--hop-timeout", "60s"}
			if strings.HasPrefix(k.Kind, "kai-") {
				args = append(args, "--scheduler", "kai")
			}
			c, r := autoscale(t, lab, args...)
			if k.Kind == "do-not-disrupt" {
				hopFails(t, c, r, k.Hop, fault.Suspect, check.Unobserved)
				deleteKept(t, c, lab)
			} else {
				hopFails(t, c, r, k.Hop, fault.Suspect, check.Passed)
			}
			program.RequireClean(t, lab)
		})
	}
	if n < 15 {
		t.Errorf("%d faults of the chain, 15 are promised", n)
	}
}

// deleteKept follows the remedies of hop clean: when the pods of others have ended, it deletes what was kept for them.
func deleteKept(t *testing.T, c chain, lab string) {
	t.Helper()
	program.Must(t, "lab", "fault", "clear", "--all", "--name", lab)
	cluster := program.Cluster(t, lab)
	polltest.Until(t, "the pods of others to end", func() bool {
		pods, err := cluster.Client.CoreV1().Pods("blockers").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0
	})
	pools := map[string]bool{}
	for _, f := range c.Hops[len(c.Hops)-1].Findings {
		_, names, _ := strings.Cut(f.Remedy, "kubectl delete nodepool ")
		for name := range strings.FieldsSeq(names) {
			pools[name] = true
		}
	}
	if len(pools) != 1 {
		t.Errorf("remedies of hop clean delete the NodePools %v, want the one of the run", pools)
	}
	for name := range pools {
		if err := cluster.Dynamic.Resource(kube.NodePools()).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	polltest.Until(t, "the NodePool and its nodes to be deleted", func() bool {
		left, err := kube.Guest{Cluster: cluster}.Leftovers(t.Context())
		return err == nil && len(left) == 0
	})
}

// hopFails: hop name failed with a finding like suspect, no earlier one did, and hop clean is cleaned.
func hopFails(t *testing.T, c chain, r binary.Result, name, suspect string, cleaned check.Verdict) {
	t.Helper()
	if r.Code != 1 || c.Verdict != "failed" {
		t.Errorf("exit %d, verdict %s, want 1 and failed\n%s", r.Code, c.Verdict, r.Stderr)
	}
	want := regexp.MustCompile(suspect)
	reached := false
	for _, h := range c.Hops {
		switch {
		case h.Hop == name:
			reached = true
			named := false
			for _, f := range h.Findings {
				named = named || want.MatchString(f.Suspect) || want.MatchString(f.Message)
			}
			if h.Verdict != "failed" || h.Reason == "" || !named {
				t.Errorf("hop %s is %s (%s), want failed with a finding like %s: %+v", name, h.Verdict, h.Reason, suspect, h.Findings)
			}
			t.Logf("%s: %s", name, h.Reason)
		case h.Phase == snapshot.PhaseClean && h.Verdict != string(cleaned):
			t.Errorf("clean-up is %s: %s, want %s", h.Verdict, h.Reason, cleaned)
		case !reached && h.Verdict != "passed":
			t.Errorf("hop %s before %s is %s (%s), want passed", h.Hop, name, h.Verdict, h.Reason)
		case reached && h.Verdict == "passed" && h.Phase != snapshot.PhaseClean && h.Phase != snapshot.PhaseGang:
			t.Errorf("hop %s after %s is passed", h.Hop, name)
		}
	}
	if !reached {
		t.Errorf("no hop %s", name)
	}
}

// TestKilledAutoscale kills the chain in the middle: the next run removes
// its leftovers by their label, and passes as one without a kill does.
func TestKilledAutoscale(t *testing.T) {
	t.Parallel()
	lab, dir := chainLab(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := program.Command(ctx, "autoscale", "-o", "json", "--lab", lab, "--evidence", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// In the middle: the load was observed, so pools, workload and load exist.
	polltest.Until(t, "the load", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "*", "observations", "*-"+snapshot.HopLoad+"*"))
		return err == nil && len(found) > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: that is the point
	c, r := autoscale(t, lab, "--evidence", dir)
	wholeChain(t, c, r)
	program.RequireClean(t, lab)
}

// TestAutoscaleThroughKubeconfig proves the chain of the running lab as of any
// cluster: with a home without a lab.
func TestAutoscaleThroughKubeconfig(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.All)
	lab, dir := chainLab(t), t.TempDir()
	program.Must(t, "lab", "up", "--name", lab, "--with", "adapter") // as autoscale --lab does
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(program.Must(t, "lab", "kubeconfig", "--name", lab).Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(program.Must(t, "lab", "site", "--path", "--name", lab).Stdout)
	cmd := program.Command(t.Context(), "autoscale", "-o", "json", "--kubeconfig", kubeconfig, "--site", path, "--evidence", filepath.Join(dir, "evidence"))
	cmd.Env = append(cmd.Env, "FIRSTLIGHT_HOME="+filepath.Join(dir, "home"))
	r := binary.Finish(cmd)
	wholeChain(t, decodeChain(t, r), r)
	program.RequireClean(t, lab)
}

// TestControlRuns is for the soak: 20 chains, each with its control run, and
// none of them scales without load.
func TestControlRuns(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.Soak)
	for i := range 20 {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			c, r := autoscale(t, chainLab(t))
			wholeChain(t, c, r)
		})
	}
}
