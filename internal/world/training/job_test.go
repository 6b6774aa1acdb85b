package training

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

func healthy(t *testing.T) Job {
	t.Helper()
	hw, err := world.LoadHardware("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	j := Job{
		Figures: hw.Training, MemoryGiB: float64(hw.GPU.MemoryMiB) / 1024, Framework: Torchtitan, Model: "llama3_8b",
		Steps: 60, Seed: 3, MFUFactor: 1, Start: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
	}
	for range 4 {
		j.Nodes = append(j.Nodes, Node{GPUs: 8, Slow: 1})
	}
	return j
}

func run(t *testing.T, j Job) string {
	t.Helper()
	var b strings.Builder
	noWait := func(context.Context, time.Duration) error { return nil }
	if err := j.Run(t.Context(), &b, noWait); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type row struct {
	rank, step             int
	loss, tps, tflops, mfu float64
}

var stepLine = regexp.MustCompile(`(?m)^\[rank(\d+)\]:\[titan\] \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - root - INFO - step: +(\d+)  loss: +([\d.]+)  grad_norm: +[\d.]+  memory: +[\d.]+GiB\([\d.]+%\)  tps: ([\d,]+)  tflops: ([\d.]+)  mfu: ([\d.]+)%$`)

func rows(t *testing.T, out string) []row {
	t.Helper()
	num := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var got []row
	for _, m := range stepLine.FindAllStringSubmatch(out, -1) {
		got = append(got, row{int(num(m[1])), int(num(m[2])), num(m[3]), num(m[4]), num(m[5]), num(m[6])})
	}
	return got
}

// steady returns the mean tps of each rank after warm-up.
func steady(all []row) map[int]float64 {
	sum, n := map[int]float64{}, map[int]float64{}
	for _, r := range all {
		if r.step > 10 {
			sum[r.rank] += r.tps
			n[r.rank]++
		}
	}
	for k := range sum {
		sum[k] /= n[k]
	}
	return sum
}

func TestHealthyRun(t *testing.T) {
	t.Parallel()
	j := healthy(t)
	j.Index = 1
	all := rows(t, run(t, j))
	if len(all) != 8*60 {
		t.Fatalf("%d step lines, want 480", len(all))
	}
	distinct := map[float64]bool{}
	for rank, tps := range steady(all) {
		if rank < 8 || rank > 15 {
			t.Errorf("rank %d printed by node 1", rank)
		}
		if math.Abs(tps/6620-1) > 0.01 {
			t.Errorf("rank %d: %.0f tokens/s, want about 6620", rank, tps)
		}
		distinct[tps] = true
	}
	if len(distinct) != 8 {
		t.Errorf("%d distinct rank figures, want 8", len(distinct))
	}
	var loss, times []float64
	for _, r := range all {
		if math.Abs(r.tflops-r.tps*6.1e10/1e12) > 0.1 || math.Abs(r.mfu-100*r.tflops/989) > 0.02 {
			t.Errorf("figures of one line disagree: %+v", r)
		}
		if r.rank == 8 {
			loss = append(loss, r.loss)
			if r.step > 10 {
				times = append(times, 1/r.tps)
			}
		}
	}
	if loss[0] < loss[59]+3 {
		t.Errorf("loss went from %.2f to %.2f", loss[0], loss[59])
	}
	slices.Sort(times)
	if ratio := times[47] / times[25]; ratio > 1.02 {
		t.Errorf("p95/p50 of step times = %.3f on a healthy run", ratio)
	}
	if all[0].tps > 0.7*6620 {
		t.Errorf("first step: %.0f tokens/s, want a slow one", all[0].tps)
	}
}

func TestDefects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*Job)
		check  func(t *testing.T, all []row)
	}{
		{"mfu low", func(j *Job) { j.MFUFactor = 0.8 }, func(t *testing.T, all []row) {
			t.Helper()
			for rank, tps := range steady(all) {
				if math.Abs(tps/(0.8*6620)-1) > 0.01 {
					t.Errorf("rank %d: %.0f tokens/s, want about %.0f", rank, tps, 0.8*6620)
				}
			}
		}},
		{"unstable steps", func(j *Job) { j.StepJitter = 0.3 }, func(t *testing.T, all []row) {
			t.Helper()
			var times []float64
			for _, r := range all {
				if r.rank == 0 && r.step > 10 {
					times = append(times, 1/r.tps)
				}
			}
			slices.Sort(times)
			if ratio := times[len(times)*95/100] / times[len(times)/2]; ratio < 1.08 {
				t.Errorf("p95/p50 of step times = %.3f, want well above 1.05", ratio)
			}
		}},
		{"slow node elsewhere", func(j *Job) { j.Nodes[2].Slow = 1.3 }, func(t *testing.T, all []row) {
			t.Helper()
			for rank, tps := range steady(all) {
				if tps > 0.85*6620 {
					t.Errorf("rank %d: %.0f tokens/s though it waits for a slow node", rank, tps)
				}
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := healthy(t)
			tt.change(&j)
			tt.check(t, rows(t, run(t, j)))
		})
	}
}

// Every rank prints the loss reduced over all ranks, in Python's format.
func TestNaN(t *testing.T) {
	t.Parallel()
	j := healthy(t)
	j.NaNFrom = 20
	out := run(t, j)
	if n := strings.Count(out, "  loss:      nan  grad_norm:     nan  memory: "); n != 8*41 {
		t.Errorf("%d steps without a loss, want 41 of each of 8 ranks", n)
	}
	if all := rows(t, out); len(all) != 8*19 {
		t.Errorf("%d steps with one, want 19 of each rank", len(all))
	}
	j.Framework, j.Index = Megatron, 3
	if n := strings.Count(run(t, j), "| lm loss: NAN | loss scale: 1.0 | grad norm: nan |"); n != 41 {
		t.Errorf("Megatron: %d steps without a loss", n)
	}
}

func TestMatmul(t *testing.T) {
	t.Parallel()
	gpus := []GPU{{"GPU-a", 680, 700, 700, 1755}, {"GPU-b", 612, 500, 700, 1485}}
	var b, again, other strings.Builder
	for out, seed := range map[*strings.Builder]uint64{&b: 3, &again: 3, &other: 4} {
		if err := WriteMatmul(out, 8, gpus, seed); err != nil {
			t.Fatal(err)
		}
	}
	line := regexp.MustCompile(`(?m)^gpu matmul: \{"rank": (\d+), "device": (\d), "uuid": "(GPU-\w)", "size": 8192, "seconds": 10\.\d\d, "tflops": (\d+\.\d\d), "powerLimitWatts": [57]00\.0, "powerDefaultWatts": 700\.0, "smClockMHz": 1\d{3}\.0\}$`)
	found := line.FindAllStringSubmatch(b.String(), -1)
	if len(found) != 2 || strings.Count(b.String(), "\n") != 2 {
		t.Fatalf("%q", b.String())
	}
	for i, m := range found {
		v, err := strconv.ParseFloat(m[4], 64)
		if err != nil || math.Abs(v/gpus[i].TFLOPS-1) > 0.016 || m[1] != strconv.Itoa(8+i) || m[2] != strconv.Itoa(i) || m[3] != gpus[i].UUID {
			t.Errorf("%q of %+v, %v", m, gpus[i], err)
		}
	}
	if b.String() != again.String() || b.String() == other.String() {
		t.Error("the seed does not make the figures")
	}
}

func TestSlowNodeShowsInItsRanks(t *testing.T) {
	t.Parallel()
	j := healthy(t)
	j.Nodes[2].Slow = 1.3
	fast := steady(rows(t, run(t, j)))[0]
	j.Index = 2
	slow := steady(rows(t, run(t, j)))[16]
	if lag := 1 - slow/fast; lag < 0.035 {
		t.Errorf("slow node's rank lags by %.3f, want more than 0.035", lag)
	}
}

func TestMegatronLine(t *testing.T) {
	t.Parallel()
	j := healthy(t)
	j.Framework = Megatron
	first := run(t, j)
	if n, reports := strings.Count(first, " begins, datetime: 2026-11-21 10:00:00\n"), strings.Count(first, "[rank0]:INFO:megatron.core.utils:[2026-11-21 "); n != 8 || reports != 60 || strings.Contains(first, "iteration") {
		t.Errorf("%d ranks begin, want 8; %d reports, want 60; %s", n, reports, first)
	}
	j.Index = 3
	out := run(t, j)
	line := regexp.MustCompile(`(?m)^\[rank31\]: \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\] iteration +(\d+)/ +60 \| consumed samples: +\d+ \| elapsed time per iteration \(ms\): ([\d.]+) \| throughput per GPU \(TFLOP/s/GPU\): [\d.]+ \| learning rate: \d\.\d{6}E-\d\d \| global batch size: +64 \| lm loss: \d\.\d{6}E\+\d\d \| loss scale: 1\.0 \| grad norm: [\d.]+ \| number of skipped iterations:   0 \| number of nan iterations:   0 \|$`)
	if n := len(line.FindAllString(out, -1)); n != 60 {
		t.Errorf("%d iteration lines, want 60 of the last rank", n)
	}
}

func TestPodsAgreeAndSeedsDiffer(t *testing.T) {
	t.Parallel()
	a := healthy(t)
	b := a
	b.Index = 3
	ra, rb := rows(t, run(t, a)), rows(t, run(t, b))
	if ra[0].loss != rb[0].loss {
		t.Error("pods of one job print different losses")
	}
	if first, again := run(t, a), run(t, a); first != again {
		t.Error("two runs of one seed differ")
	}
	c := a
	c.Seed++
	if run(t, a) == run(t, c) {
		t.Error("another seed prints the same")
	}
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	stop := errors.New("stop")
	err := healthy(t).Run(t.Context(), &b, func(context.Context, time.Duration) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("err = %v, want the wait's", err)
	}
	if err := (Job{}).Run(t.Context(), &b, nil); err == nil {
		t.Error("an empty job ran")
	}
}
