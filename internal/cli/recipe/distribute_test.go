package recipe

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/fanout"
)

// Invalid flags are refused before the cluster is used.
func TestDistributeRefusesBadInput(t *testing.T) {
	t.Parallel()
	const base = "test --all --distribute kubernetes --image i "
	dir := recipeDir(t, map[string]string{"large.txt": noise(2 << 20)})
	for line, want := range map[string]string{
		"test --all --image i":                                                     "--image needs --distribute kubernetes",
		"test --all --keep --shards 2":                                             "--keep needs --distribute kubernetes",
		"test --all --timeout 2m":                                                  "--timeout needs --distribute kubernetes",
		"test --all --distribute slurm --image i":                                  "want kubernetes",
		"test --all --distribute kubernetes":                                       "needs --image",
		base + "--shard-index 0":                                                   "--shard-index cannot be used with --distribute",
		base + "--evidence here":                                                   "--evidence cannot be used with --distribute",
		base + "--record here":                                                     "--record cannot be used with --distribute",
		base + "--publish a/b --publish-run r --publish-owner j/u":                 "--publish cannot be used with --distribute",
		base + "--shards 0":                                                        "--shards 0",
		base + "--parallel 0":                                                      "--parallel 0",
		base + "--shard-cpu many":                                                  "--shard-cpu many",
		base + "--shard-memory 4GiB":                                               "--shard-memory 4GiB",
		"test --all --publish here":                                                "must be NAMESPACE/NAME",
		"test --all --publish a/b":                                                 "--publish-owner JOB/UID",
		"test --names-file @/absent" + smallTree:                                   "read names of recipes",
		"test --names-file @/criteria.yaml --all" + smallTree:                      "mutually exclusive",
		base + "--shard-timeout 3h --recipes @/recipes":                            "must be at least 1s, and the shard's at most the run's",
		base + "--pull-secret s --recipes @/recipes":                               "--namespace",
		base + "--recipes @/recipes":                                               "the limit of a ConfigMap is 1008",
		"test --all --distribute kubernetes --image i --kubeconfig @/no-such-file": "no-such-file",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, stderr, code := recipeRun(t, dir, line)
			if code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
				t.Errorf("exit %d, %s; want a usage error with %q", code, stderr, want)
			}
		})
	}
}

// noise is incompressible text.
func noise(n int) string {
	var b strings.Builder
	for x := uint64(1); b.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteByte(' ' + byte(x>>32)%90)
	}
	return b.String()
}

func TestSpecOf(t *testing.T) {
	t.Parallel()
	chosen := func(n int) schedule.Selection {
		var cases []schedule.Case
		for i := range n {
			cases = append(cases, schedule.Case{Recipe: strings.Repeat("r", i+1)})
		}
		return schedule.Each(0, cases)
	}
	for line, tt := range map[string]struct {
		recipes          int
		shards, parallel int
	}{
		"":                        {113, 2, 2},
		"--shards 5":              {113, 5, 5},
		"--shards 5 --parallel 2": {113, 5, 2},
		"--shards 1":              {113, 1, 1},
		"--shards 50":             {3, 3, 3}, // no shard is empty
		"--parallel 9":            {3, 1, 9},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			cmd := newTest(cmdutil.Streams{})
			f := &scheduleFlags{jobs: 4, perPlane: 100}
			f.distribute.given = cmd.Flags().Changed
			if err := cmd.ParseFlags(strings.Fields("--distribute kubernetes --image i " + line)); err != nil {
				t.Fatal(err)
			}
			read := func(name string) int {
				n, err := cmd.Flags().GetInt(name)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			f.choice.shards = read("shards")
			f.distribute.where, f.distribute.cpu, f.distribute.memory = "kubernetes", "2", "4Gi"
			f.distribute.spec = fanout.Spec{Image: "i", Parallel: read("parallel"), Within: time.Hour, ShardWithin: time.Minute}
			if err := f.distribute.check(&f.choice); err != nil {
				t.Fatal(err)
			}
			if f.choice.shards != 1 {
				t.Errorf("the caller would select one of %d shards", f.choice.shards)
			}
			spec, err := f.distribute.specOf(f, chosen(tt.recipes))
			if err != nil || spec.Shards != tt.shards || spec.Parallel != tt.parallel || spec.Jobs != 4 || spec.PerPlane != 100 || spec.RunID == "" {
				t.Errorf("%+v, %v", spec, err)
			}
		})
	}
}

func TestShardProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	board := display.New(&out, display.Options{Clock: func() time.Time { return at }})
	p := &shardProgress{board: board, shards: map[int]fanout.Progress{}, total: 3}
	waiting := func(shard int) fanout.Progress {
		return fanout.Progress{Shard: shard, Phase: fanout.Waiting, Text: "for resources: 0/3 nodes"}
	}
	p.show([]fanout.Progress{waiting(0), waiting(1), {Shard: 2, Phase: fanout.Waiting, Text: "for its turn"}})
	p.show([]fanout.Progress{{Shard: 0, Phase: fanout.Running, Text: "on n1"}})
	if got, want := p.text(), "0 of 3 done, 1 running, 2 waiting for its turn"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.show([]fanout.Progress{{Shard: 0, Phase: fanout.Done, Verdict: check.Passed, Text: "2 recipes passed"}, {Shard: 1, Phase: fanout.Failed, Text: "given up: exit code 3"}})
	p.show([]fanout.Progress{{Shard: 2, Phase: fanout.Running, Text: "on n1"}})
	p.show([]fanout.Progress{{Shard: 2, Phase: fanout.Done, Verdict: check.Failed, Text: "1 failed: a"}})
	board.Close()
	var got []string
	for line := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		got = append(got, strings.Join(strings.Fields(line)[1:], " "))
	}
	want := []string{
		"shards all running 0 of 3 done, 3 waiting for resources: 0/3 nodes",
		"shards shard 0 running on n1",
		"shards shard 0 done 2 recipes passed",
		"shards shard 1 failed given up: exit code 3",
		"shards shard 2 running on n1",
		"shards shard 2 failed 1 failed: a",
		"shards all failed 2 of 3 done, 1 given up",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A shard that cannot reach its cluster is unobserved.
func TestPublishNeedsACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "absent"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	p := &publishFlags{to: "ns/recipes-run-0", run: "run", owner: "recipes-run/uid"}
	if err := p.publish(t.Context(), schedule.Report{}, 0, 1); cmdutil.ExitCode(err) != cmdutil.ExitUnobserved {
		t.Errorf("got %v", err)
	}
}
