package training

import (
	"context"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/workload"
)

// node makes a map of a node's ranks.
func node[V any](n int, v V) map[int]V {
	m := map[int]V{}
	for local := range 8 {
		m[n*8+local] = v
	}
	return m
}

func TestJudge(t *testing.T) {
	t.Parallel()
	titan, mega := frameworkTorchtitan, frameworkMegatron
	tests := map[string]struct {
		framework string
		world     fakeTrainer
		verdict   check.Verdict
		suspect   string // of some finding
		message   string // of that finding
	}{
		"healthy":                        {titan, fakeTrainer{}, check.Passed, "", ""},
		"healthy megatron":               {mega, fakeTrainer{}, check.Passed, "", ""},
		"healthy megatron, last rank":    {mega, fakeTrainer{lastOnly: true}, check.Passed, "", ""},
		"FP8 prints no MFU":              {titan, fakeTrainer{noMFU: true}, check.Passed, "", ""},
		"older without tflops":           {titan, fakeTrainer{noTFLOPS: true, speed: 1.2}, check.Passed, "", ""},
		"mfu low":                        {titan, fakeTrainer{speed: 0.7}, check.Failed, "MFU of job training", "MFU is 28."},
		"mfu low megatron":               {mega, fakeTrainer{speed: 0.7}, check.Failed, "MFU of job training", "MFU is 28."},
		"inflated peak hides low MFU":    {titan, fakeTrainer{speed: 0.5, peak: 312}, check.Failed, "MFU of job training", "the trainer prints an MFU of 64"},
		"unsteady":                       {titan, fakeTrainer{jitter: 0.12}, check.Failed, "step time of job training", "95th percentile"},
		"drift":                          {titan, fakeTrainer{drift: 0.05}, check.Failed, "step time of job training", "drifts"},
		"straggler node":                 {titan, fakeTrainer{slow: node(2, 0.9)}, check.Failed, "gpu-03 (rank 17)", "slower than the median"},
		"slow GPU":                       {titan, fakeTrainer{slow: map[int]float64{13: 0.93}}, check.Failed, "gpu-02 (rank 13)", "slower than the median"},
		"megatron, an image pulled late": {mega, fakeTrainer{lastOnly: true, pulled: map[int]time.Duration{2: 5 * time.Minute}}, check.Passed, "", ""},
		"megatron, a rank begins late":   {mega, fakeTrainer{lastOnly: true, late: node(1, 10*time.Minute)}, check.Failed, "gpu-02", "rank 8 on gpu-02 started 600 s after rank 0"},
		"megatron, silent ranks":         {mega, fakeTrainer{lastOnly: true, noBegins: true}, check.Failed, "gpu-01", "ranks 1, 2, 3, 4, 5, 6, 7 on gpu-01 have no output"},
		"straggler by its reports":       {mega, fakeTrainer{lastOnly: true, slow: map[int]float64{17: 0.8}}, check.Failed, "gpu-03 (rank 17)", "behind the fastest rank"},
		"straggler node by reports":      {mega, fakeTrainer{lastOnly: true, slow: node(2, 0.8)}, check.Failed, "gpu-03 (rank 17)", "behind the fastest rank"},
		"no straggler report":            {mega, fakeTrainer{lastOnly: true, noReports: true}, check.Unobserved, "job training", "slowest rank is unknown: 1 of 32"},
		"megatron's pipeline":            {mega, fakeTrainer{lastOnly: true, stages: true}, check.Passed, "", ""},
		"straggler in a pipeline":        {mega, fakeTrainer{lastOnly: true, stages: true, slow: map[int]float64{17: 0.8}}, check.Unobserved, "job training", "the model has 4 pipeline stages"},
		"loss not finite":                {titan, fakeTrainer{nanAt: 30}, check.Failed, "loss of job training", `"nan" at step 30 on every rank`},
		"loss of one rank not finite":    {titan, fakeTrainer{nanAt: 30, nanRank: 13}, check.Failed, "gpu-02 (rank 13)", `the loss of rank 13 is "nan" at step 30`},
		"a GPU slow in lockstep":         {titan, fakeTrainer{speed: 0.9, gpus: map[int]float64{21: 0.9}}, check.Failed, "gpu-03/gpu5 (rank 21)", "all ranks wait for it"},
		"the same with megatron":         {mega, fakeTrainer{speed: 0.9, gpus: map[int]float64{21: 0.9}}, check.Failed, "gpu-03/gpu5 (rank 21)", "all ranks wait for it"},
		"a power limit lowered":          {titan, fakeTrainer{gpus: map[int]float64{21: 0.845}}, check.Failed, "gpu-03/gpu5 (rank 21)", "its power limit is 500 W, the card's own 700 W; its SM clock is 1700 MHz"},
		"all a little slow":              {titan, fakeTrainer{speed: 0.9}, check.Passed, "", ""},
		"a GPU a little slower":          {titan, fakeTrainer{gpus: map[int]float64{21: 0.95}}, check.Passed, "", ""},
		"no GPUs measured on a node":     {titan, fakeTrainer{unmeasured: map[int]bool{2: true}}, check.Unobserved, "gpu-03", "0 of 8 GPUs of gpu-03 were measured"},
		"a GPU not measured":             {titan, fakeTrainer{gpus: map[int]float64{9: 0}}, check.Unobserved, "gpu-02", "7 of 8 GPUs"},
		"a GPU without a rate":           {titan, fakeTrainer{gpus: map[int]float64{9: 1e-9}}, check.Unobserved, "gpu-02", "is not a plausible rate"},
		"loss not falling":               {titan, fakeTrainer{lossUp: true}, check.Failed, "loss of job training", "does not decrease"},
		"iterations skipped":             {mega, fakeTrainer{skipped: 2}, check.Failed, "job training", "skipped"},
		"a rank stops early":             {titan, fakeTrainer{lastStep: map[int]int{9: 41}}, check.Failed, "gpu-02 (rank 9)", "ended at step 41 of 60"},
		"a rank without output":          {titan, fakeTrainer{mute: map[int]bool{31: true}}, check.Failed, "gpu-04", "have no output"},
		"a node without output":          {titan, fakeTrainer{mute: node(1, true)}, check.Failed, "gpu-02", "have no output"},
		"no output at all":               {titan, fakeTrainer{mute: merge(node(0, true), node(1, true), node(2, true), node(3, true))}, check.Failed, "gpu-01", "have no output"},
		"no labels":                      {titan, fakeTrainer{unlabel: true}, check.Failed, "gpu-01", "have no output"},
		"late node":                      {titan, fakeTrainer{late: node(3, 10*time.Minute)}, check.Failed, "gpu-04", "600 s after"},
		"hang":                           {titan, fakeTrainer{timeout: true, watchdog: 11, lastStep: merge(node(0, 7), node(1, 7), node(2, 7), node(3, 7))}, check.Failed, "gpu-02 (rank 11)", "collective-timeout"},
		"hang without a word":            {titan, fakeTrainer{timeout: true, lastStep: merge(node(0, 7), node(1, 7), node(2, 7), node(3, 7))}, check.Failed, "job training", "hangs"},
		"a pod fails":                    {titan, fakeTrainer{exit: map[int]int32{2: 1}}, check.Failed, "pod firstlight-test/training-2-abcde", "exit code 1"},
		"no timestamps: pods' are had":   {titan, fakeTrainer{noStamp: true}, check.Passed, "", ""},
		// torchtitan issue 1232: "step:  1  loss: -1.0000" on all pipeline stages but the last.
		"pipeline stages without a loss": {titan, fakeTrainer{stages: true}, check.Passed, "", ""},
		// "loss: -4.00000" on the stages without a loss, with four accumulated batches: train_step of
		// https://github.com/pytorch/torchtitan/blob/000204a4a8bf3d0f31adc44fc29855fbb6ea13d8/torchtitan/train.py.
		"pipeline stages, batches accumulated":              {titan, fakeTrainer{stages: true, noLoss: "-4.00000"}, check.Passed, "", ""},
		"pipeline stages, batches accumulated, not falling": {titan, fakeTrainer{stages: true, noLoss: "-4.00000", lossUp: true}, check.Failed, "loss of job training", "does not decrease"},
		"stages of a constant fraction":                     {titan, fakeTrainer{stages: true, noLoss: "-1.50000"}, check.Failed, "loss of job training", "does not decrease"},
		"stages of a constant loss":                         {titan, fakeTrainer{stages: true, noLoss: " 4.00000"}, check.Failed, "loss of job training", "does not decrease"},
		"pipeline stages, not finite":                       {titan, fakeTrainer{stages: true, nanAt: 30}, check.Failed, "loss of job training", `"nan" at step 30 on every rank`},
		"pipeline stages, not falling":                      {titan, fakeTrainer{stages: true, lossUp: true}, check.Failed, "loss of job training", "does not decrease"},
		// torchrun restarts all workers after a failure, up to --max-restarts or PET_MAX_RESTARTS times.
		"restarted":             {titan, fakeTrainer{restarted: 23}, check.Failed, "job training", "rank 0 on gpu-01 printed step 1 after step 23"},
		"restarted megatron":    {mega, fakeTrainer{restarted: 23, lastOnly: true}, check.Failed, "job training", "rank 31 on gpu-04 printed step 1 after step 23"},
		"restarted for a cause": {titan, fakeTrainer{restarted: 23, watchdog: 11}, check.Failed, "gpu-02 (rank 11)", "training was restarted: collective-timeout"},
		"never ran":             {titan, fakeTrainer{unstarted: true}, check.Unobserved, "job training", "Insufficient"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite(tt.framework))
			j, obs := observeAndJudge(t, g, tt.world)
			if j.Verdict != tt.verdict {
				t.Fatalf("verdict %s (%s), want %s: %+v", j.Verdict, j.Reason, tt.verdict, j.Findings)
			}
			if diff := cmp.Diff(j, g.Judge(obs)); diff != "" {
				t.Errorf("not the same twice: %s", diff)
			}
			if tt.verdict == check.Passed {
				if len(j.Findings) > 0 || len(j.Figures) < 8 {
					t.Errorf("findings %+v, figures %+v", j.Findings, j.Figures)
				}
				return
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect && oneOf(f.Message+f.Remedy, tt.message) }) {
				t.Errorf("no finding of %q says %q: %+v", tt.suspect, tt.message, j.Findings)
			}
			for _, f := range j.Findings {
				if f.Remedy == "" || f.Message == "" || len(f.Observations) == 0 {
					t.Errorf("finding without remedy, message or evidence: %+v", f)
				}
			}
		})
	}
}

func oneOf(text, alternatives string) bool {
	for word := range strings.SplitSeq(alternatives, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func merge[V any](all ...map[int]V) map[int]V {
	out := map[int]V{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

func TestJudgeRemarksOnAnInflatedMFU(t *testing.T) {
	t.Parallel()
	j, _ := observeAndJudge(t, testGate(t, testSite(frameworkTorchtitan)), fakeTrainer{peak: 312})
	if j.Verdict != check.Passed || !strings.Contains(j.Reason, "another peak") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	if j, _ := observeAndJudge(t, testGate(t, testSite(frameworkTorchtitan)), fakeTrainer{}); strings.Contains(j.Reason, "another peak") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestJudgeLogsOfAnotherFramework(t *testing.T) {
	t.Parallel()
	for site, log := range map[string]string{frameworkMegatron: frameworkTorchtitan, frameworkTorchtitan: frameworkMegatron} {
		g := testGate(t, testSite(site))
		g.run = fakeTrainer{}.fake(log, 60)
		g.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
		rec := &recorder{}
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if j := g.Judge(rec.obs); j.Verdict == check.Passed {
			t.Errorf("%s logs read as %s: %s", log, site, j.Verdict)
		}
	}
}

func TestJudgeSiteLimit(t *testing.T) {
	t.Parallel()
	s := testSite(frameworkTorchtitan)
	s.Workloads.Training.MinMFU = 0.45
	if j, _ := observeAndJudge(t, testGate(t, s), fakeTrainer{}); j.Verdict != check.Failed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestJudgeNothing(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	_, healthy := observeAndJudge(t, g, fakeTrainer{})
	for name, obs := range map[string][]check.Observation{
		"none":          nil,
		"an error":      {{Kind: "error", Err: "no cluster"}},
		"job only":      healthy[:1],
		"logs only":     healthy[1:],
		"one log less":  healthy[:4],
		"empty figures": {{Kind: KindJob, Figures: []byte(`{}`)}},
		"no JSON":       {{Kind: KindJob, Figures: []byte(`{`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j := g.Judge(obs); j.Verdict == check.Passed {
				t.Errorf("verdict %s: %s", j.Verdict, j.Reason)
			}
		})
	}
}

func TestJudgeOfAnotherSite(t *testing.T) {
	t.Parallel()
	small := testSite(frameworkTorchtitan)
	small.Workloads.Training.Nodes = 2
	_, obs := observeAndJudge(t, testGate(t, small), fakeTrainer{})
	if j := testGate(t, testSite(frameworkTorchtitan)).Judge(obs); j.Verdict == check.Passed {
		t.Errorf("verdict %s with half the nodes", j.Verdict)
	}
}

func TestScriptsAreBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{torchtitanScript, megatronScript} {
		if out, err := exec.CommandContext(t.Context(), bash, "-n", "-c", script).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	g := testGate(t, testSite(frameworkMegatron))
	spec := g.spec()
	if g.Claims() != 32 || spec.Pods != 4 || spec.GPUs != 8 || !strings.Contains(spec.Script, "pretrain_gpt.py") || spec.Env["STEPS"] != "60" || spec.Env["FRAMEWORK"] != "megatron" {
		t.Errorf("%d GPUs: %+v", g.Claims(), spec)
	}
	if spec := testGate(t, testSite(frameworkTorchtitan)).spec(); !strings.Contains(spec.Script, "torchtitan") || strings.Contains(spec.Script, "pretrain_gpt.py") {
		t.Errorf("%+v", spec)
	}
}

// TestOneRank: a job of one GPU has no adapters to name, and its one rank has to say
// everything.
func TestOneRank(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("a3-highgpu-1g")
	if err != nil {
		t.Fatal(err)
	}
	s := testSite(frameworkTorchtitan)
	s.Inventory.Nodes, s.Fabric.HCAs, s.Workloads.Training.Nodes = s.Inventory.Nodes[:1], nil, 1
	g := New(s, p, Deps{})
	if spec := g.spec(); g.Claims() != 1 || spec.Pods != 1 || spec.GPUs != 1 {
		t.Errorf("%+v", spec)
	} else if hca, there := spec.Env["NCCL_IB_HCA"]; there {
		t.Errorf("NCCL is configured with %q", hca)
	}
	if env := testGate(t, testSite(frameworkTorchtitan)).spec().Env; env["NCCL_IB_HCA"] != "=mlx5_0" {
		t.Errorf("%v", env)
	}
}
