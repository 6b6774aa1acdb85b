package training

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// trainer writes logs as torchtitan and Megatron do, with defects.
type fakeTrainer struct {
	speed     float64         // factor on throughput; 0 is 1
	slow      map[int]float64 // rank: factor
	jitter    float64
	drift     float64
	peak      float64 // that the trainer assumes; 0 is the right one
	noMFU     bool
	noTFLOPS  bool
	lossUp    bool
	nanAt     int
	lastStep  map[int]int // rank
	mute      map[int]bool
	late      map[int]time.Duration
	unlabel   bool
	noStamp   bool
	watchdog  int // rank that reports a hang; 0 none
	exit      map[int]int32
	timeout   bool
	lastOnly  bool // Megatron as it is: the last rank prints steps, rank 0 a straggler report of each, and the others nothing
	noBegins  bool // the ranks do not begin with the script's line
	noReports bool // without --log-straggler
	skipped   int
	unstarted bool
	nanRank   int // the only rank with the loss of nanAt; 0 is all
	// pulled is how much later the container of a pod started.
	pulled map[int]time.Duration
	// gpus is the factor on what a rank's GPU computes on its own; 0 prints nothing of it.
	gpus map[int]float64
	// unmeasured pods print nothing of their GPUs.
	unmeasured map[int]bool
	// checkpoint is a pod's line of the test of the directory for checkpoints; missing: a healthy one.
	checkpoint map[int]string
	// restarted is the step after which every rank began again with step 1; 0: none did.
	restarted int
	// stages: four pipeline stages, of which the last computes the loss. noLoss is what the others print of it; "" is -1.
	stages bool
	noLoss string
}

// printed are the steps that a rank prints, in their order.
func (w fakeTrainer) printed(end int) []int {
	var steps []int
	for _, last := range []int{w.restarted, end} {
		for step := 1; step <= last; step++ {
			steps = append(steps, step)
		}
	}
	return steps
}

func testSite(framework string) *site.Site {
	s := &site.Site{Name: "test"}
	for i := 1; i <= 4; i++ {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i)})
	}
	s.Fabric.HCAs = []string{"mlx5_0"}
	s.Workloads.Training = site.TrainingWorkload{
		Image: "registry.example/torchtitan:1", Framework: framework, Model: "llama3_8b", Nodes: 4, Steps: 60, Timeout: site.Duration(time.Minute),
		Checkpoint: &site.Checkpoint{Directory: "/mnt/checkpoints", SizeGiB: 16},
	}
	return s
}

func testGate(t *testing.T, s *site.Site) *Gate {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	return New(s, p, Deps{})
}

const (
	healthyTFLOPS = 405.0
	healthyTPS    = 6667.0
	stepMs        = 2457.0
)

// factor on the speed of a rank at a step.
func (w fakeTrainer) factor(rank, step int) float64 {
	f := 1 + 0.002*math.Sin(float64(rank)) // spread of ranks
	if w.speed > 0 {
		f *= w.speed
	}
	if v, ok := w.slow[rank]; ok {
		f *= v
	}
	if step <= 3 {
		f *= 0.5 // warm-up
	}
	f *= 1 + w.jitter*math.Sin(float64(step*step))
	return f * (1 - w.drift*float64(step)/60)
}

func (w fakeTrainer) loss(rank, step int) string {
	v := 6 + 5*math.Exp(-float64(step)/28)
	if w.stages && rank < 24 {
		return cmp.Or(w.noLoss, "-1.00000")
	}
	if w.lossUp {
		v = 6 + float64(step)/100
	}
	if step == w.nanAt && (w.nanRank == 0 || w.nanRank == rank) {
		return "nan"
	}
	return fmt.Sprintf("%8.5f", v)
}

func (w fakeTrainer) log(framework string, pod, steps int) string {
	var b strings.Builder
	begin := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	for local := 0; local < 8 && !w.unmeasured[pod]; local++ {
		rank, f := pod*8+local, 1.0
		if v, ok := w.gpus[rank]; ok {
			f = v
		}
		if f > 0 {
			fmt.Fprintf(&b, "gpu matmul: {\"rank\": %d, \"device\": %d, \"uuid\": \"GPU-%d\", \"size\": 8192, \"seconds\": 10.01, \"tflops\": %.2f, \"powerLimitWatts\": %.1f, \"powerDefaultWatts\": 700.0, \"smClockMHz\": 1700.0}\n", rank, local, rank, 650*f*(1+0.01*math.Sin(float64(rank))), 700*f*f)
		}
	}
	for local := range 8 {
		rank := pod*8 + local
		if w.mute[rank] {
			continue
		}
		label := fmt.Sprintf("[rank%d]:", rank)
		if w.unlabel {
			label = ""
		}
		at := begin.Add(w.late[rank])
		end := steps
		if n, ok := w.lastStep[rank]; ok {
			end = n
		}
		if framework == frameworkMegatron {
			w.megatron(&b, label, rank, end, steps, at)
			continue
		}
		w.torchtitan(&b, label, rank, end, at)
	}
	if w.watchdog > 0 && pod == w.watchdog/8 {
		fmt.Fprintf(&b, "[rank%d]:[Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n", w.watchdog, w.watchdog)
	}
	return b.String()
}

func (w fakeTrainer) torchtitan(b *strings.Builder, label string, rank, end int, at time.Time) {
	peak := 989.0
	if w.peak > 0 {
		peak = w.peak
	}
	say := func(format string, args ...any) {
		stamp := ""
		if !w.noStamp {
			stamp = fmt.Sprintf("[titan] %s - root - INFO - ", at.Format("2006-01-02 15:04:05,000"))
		}
		fmt.Fprintf(b, "%s%s%s\n", label, stamp, fmt.Sprintf(format, args...))
	}
	say("Starting job: llama3_8b training")
	say("Model llama3 8B size: 8,030,261,248 total parameters")
	say("Peak FLOPS used for computing MFU: %.3e", peak*1e12)
	for _, step := range w.printed(end) {
		f := w.factor(rank, step)
		tflops := fmt.Sprintf("  tflops: %.2f", healthyTFLOPS*f)
		if w.noTFLOPS {
			tflops = ""
		}
		mfu := fmt.Sprintf("  mfu: %.2f%%", 100*healthyTFLOPS*f/peak)
		if w.noMFU {
			mfu = "  mfu: N/A"
		}
		tps := fmt.Sprintf("%d,%03d", int(healthyTPS*f)/1000, int(healthyTPS*f)%1000)
		say("\x1b[31mstep: %2d  \x1b[32mloss: %s  \x1b[33mgrad_norm:  9.6669  \x1b[36mmemory: 48.87GiB(51.44%%)  \x1b[34mtps: %s\x1b[36m%s%s\x1b[39m", step, w.loss(rank, step), tps, tflops, mfu)
	}
	if end > 0 {
		say("Training completed")
	}
}

func (w fakeTrainer) megatron(b *strings.Builder, label string, rank, end, steps int, at time.Time) {
	if !w.noBegins {
		fmt.Fprintf(b, "%sfirstlight: rank %d of 32 begins, datetime: %s\n", label, rank, at.Format("2006-01-02 15:04:05"))
	}
	if rank == 0 {
		fmt.Fprintf(b, "%s> initialized tensor model parallel with size 1\n", label)
	}
	if w.lastOnly && rank == 0 {
		w.reports(b, label, end, at)
	}
	if w.lastOnly && rank != 31 {
		return
	}
	for _, step := range w.printed(end) {
		f := w.factor(rank, step)
		fmt.Fprintf(b, "%s [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): %.1f | learning rate: 1.000000E-04 | global batch size:   256 | lm loss: %s | loss scale: 1.0 | grad norm: 3.210 | number of skipped iterations: %3d | number of nan iterations: %3d |\n",
			label, at.Format("2006-01-02 15:04:05.000000"), step, steps, step*256, stepMs/f, healthyTFLOPS*f, strings.TrimSpace(w.loss(rank, step)), w.skipped, 0)
	}
	fmt.Fprintf(b, "%s[after training is done] datetime: %s \n", label, at.Format("2006-01-02 15:04:05"))
}

// reports are what rank 0 of Megatron prints: the number of pipeline stages and, of each step, the slowest and the fastest
// rank, in the format of megatron/core/README_STRAGGLER.md.
func (w fakeTrainer) reports(b *strings.Builder, label string, end int, at time.Time) {
	stages := 1
	if w.stages {
		stages = 4
	}
	fmt.Fprintf(b, "%s> initialized pipeline model parallel with size %d\n", label, stages)
	for _, step := range w.printed(end) {
		if w.noReports {
			break
		}
		slowest, fastest := 0, 0
		for rank := range 32 {
			if w.factor(rank, step) < w.factor(slowest, step) {
				slowest = rank
			}
			if w.factor(rank, step) > w.factor(fastest, step) {
				fastest = rank
			}
		}
		fmt.Fprintf(b, "%sINFO:megatron.core.utils:[%s] | MnRtt/Rnk: %.2fms/%d | MxRtt/Rnk: %.2fms/%d | MnPwr/Rnk: 601796W/8 | MxPwr/Rnk: 683801W/18 | MnTmp/Rnk: 52C/0 | MxTmp/Rnk: 65C/21 | MnUtl/Rnk: 97%%/8 | MxUtl/Rnk: 100%%/6 | MnClk/Rnk: 1950MHz/28 | MxClk/Rnk: 1980MHz/0 | MnDRtt/Rnk: 14.27ms/23 | MxDRtt/Rnk: 34.65ms/3 | MnEtpt/Rnk: %.2fTF/%d | MxEtpt/Rnk: %.2fTF/%d\n",
			label, at.Format("2006-01-02 15:04:05"), stepMs/3/w.factor(fastest, step), fastest, stepMs/3/w.factor(slowest, step), slowest,
			healthyTFLOPS*w.factor(slowest, step), slowest, healthyTFLOPS*w.factor(fastest, step), fastest)
	}
}

func (w fakeTrainer) fake(framework string, steps int) func(context.Context, *workload.Launcher, workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
	return func(_ context.Context, _ *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
		out := gangjob.Outcome{Namespace: "firstlight-test", Ended: gangjob.EndedDone, Succeeded: true}
		if w.timeout {
			out.Ended, out.Succeeded, out.Problem = gangjob.EndedTimeout, false, "context deadline exceeded"
		}
		if w.unstarted {
			return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: "training was not placed: Insufficient nvidia.com/gpu"}, nil, nil
		}
		var logs []gangjob.Log
		for i := range spec.Pods {
			code := w.exit[i]
			if code != 0 {
				out.Succeeded = false
			}
			p := workload.Outcome{Pod: fmt.Sprintf("training-%d-abcde", i), Index: i, Node: spec.Nodes[i], Phase: "Succeeded", ExitCode: &code, Started: time.Date(2026, 11, 21, 0, 58, i, 0, time.UTC).Add(w.pulled[i])}
			out.Pods = append(out.Pods, p)
			log := w.log(framework, i, steps)
			if spec.HostDirectory != "" {
				line, ok := w.checkpoint[i]
				if !ok {
					line = checkpointLine(i, "lustre", `"bytes": 17179869184, "writeSeconds": 5.5, "readSeconds": 3.25`)
				}
				log = line + log
			}
			logs = append(logs, gangjob.Log{Pod: p, Data: []byte(log)})
		}
		return out, logs, nil
	}
}

type recorder struct{ obs []check.Observation }

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	o.ID = fmt.Sprintf("%04d-%s", len(r.obs)+1, o.Target)
	r.obs = append(r.obs, o)
	return o, nil
}

func (r *recorder) Progress(string, ...any) {}

func observeAndJudge(t *testing.T, g *Gate, w fakeTrainer) (check.Judgement, []check.Observation) {
	t.Helper()
	g.run = w.fake(g.site.Workloads.Training.Framework, g.site.Workloads.Training.Steps)
	g.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, rec.obs), rec.obs
}
