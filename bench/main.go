// Command bench measures the parts of a walk, of the autoscaling chain and of the
// recipes' test, as a user runs them: the built binary, a lab of its own and one that is
// up. It prints medians and spread, holds them against thresholds.yaml, and
// exits 1 when one is missed.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

//go:embed thresholds.yaml
var thresholdsFile []byte

type thresholds struct {
	Accept struct {
		WithLabStart float64 `json:"withLabStart"`
		OnRunningLab float64 `json:"onRunningLab"`
	} `json:"accept"`
	Autoscale struct {
		UpPath   float64 `json:"upPath"`
		DownPath float64 `json:"downPath"`
		Whole    float64 `json:"whole"`
	} `json:"autoscale"`
	Recipe struct {
		All       float64 `json:"all"`
		Generated float64 `json:"generated"`
		Plan      float64 `json:"plan"`
	} `json:"recipe"`
	Reservation struct {
		Crowded float64 `json:"crowded"`
		Boskos  float64 `json:"boskos"`
	} `json:"reservation"`
}

// report is what accept -o json prints, as far as it is measured.
type report struct {
	Verdict string `json:"verdict"`
	Gates   []struct {
		Gate     string  `json:"gate"`
		Duration float64 `json:"duration"`
	} `json:"gates"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	binary := flag.String("binary", "bin/firstlight", "the binary to measure")
	n := flag.Int("n", 5, "repetitions")
	only := flag.String("only", "", "measure only accept, autoscale, recipe, plan or reservation")
	flag.Parse()
	var limits thresholds
	if err := yaml.UnmarshalStrict(thresholdsFile, &limits); err != nil {
		return fmt.Errorf("read thresholds: %w", err)
	}
	dir, err := os.MkdirTemp("", "firstlight-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // of a run that is over
	b := &bench{binary: *binary, dir: dir, n: *n, samples: map[string][]float64{}}
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{{"accept", b.measure}, {"autoscale", b.measureChain}, {"recipe", b.measureRecipes}, {"plan", b.measurePlan}, {"reservation", b.measureReservations}} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.measure(ctx); err != nil {
			return err
		}
	}
	b.print(os.Stdout)
	return b.judge(limits)
}

type bench struct {
	binary, dir string
	n           int
	order       []string
	samples     map[string][]float64 // seconds
	said        []string             // what is no duration: rates, ratios
	ratios      []ratio
}

// ratio of ours to a peer's; above 1 is better than the peer.
type ratio struct {
	name  string
	value float64
}

func (b *bench) add(name string, seconds float64) {
	if _, ok := b.samples[name]; !ok {
		b.order = append(b.order, name)
	}
	b.samples[name] = append(b.samples[name], seconds)
}

const (
	withLab = "accept, lab start included"
	onLab   = "accept on a running lab"
)

func (b *bench) measure(ctx context.Context) error {
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: walk %d of %d, lab start included\n", i+1, b.n)
		if err := b.accept(ctx, withLab, "bench-own"); err != nil {
			return err
		}
	}
	up, err := b.timed(ctx, nil, "lab", "up", "--name", "bench-up")
	if err != nil {
		return err
	}
	b.add("lab up", up)
	defer func() {
		if _, err := b.timed(context.WithoutCancel(ctx), nil, "lab", "down", "--name", "bench-up"); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: walk %d of %d on a running lab\n", i+1, b.n)
		if err := b.accept(ctx, onLab, "bench-up"); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) accept(ctx context.Context, what, lab string) error {
	var out bytes.Buffer
	took, err := b.timed(ctx, &out, "accept", "--fresh", "-o", "json", "--lab", lab, "--evidence", b.dir)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	b.add(what, took)
	for _, g := range r.Gates {
		b.add(what+": gate "+g.Gate, g.Duration)
	}
	return nil
}

// timed runs the binary; anything but exit 0 is an error with its last words.
func (b *bench) timed(ctx context.Context, stdout *bytes.Buffer, args ...string) (float64, error) {
	return b.timedIn(ctx, "", stdout, args...)
}

// timedIn does so in a directory; empty: this one.
func (b *bench) timedIn(ctx context.Context, dir string, stdout *bytes.Buffer, args ...string) (float64, error) {
	binary, err := filepath.Abs(b.binary)
	if err != nil {
		return 0, fmt.Errorf("find the binary: %w", err)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if stdout != nil {
		cmd.Stdout = stdout
	}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("firstlight %v: %w\n%s", args, err, stderr.Bytes())
	}
	return time.Since(began).Seconds(), nil
}

func (b *bench) print(out *os.File) {
	fmt.Fprintf(out, "%-44s %4s %8s %8s %8s\n", "PART", "N", "MEDIAN", "MIN", "MAX")
	for _, name := range b.order {
		s := b.samples[name]
		fmt.Fprintf(out, "%-44s %4d %8s %8s %8s\n", name, len(s), spell(median(s)), spell(slices.Min(s)), spell(slices.Max(s)))
	}
	for _, line := range b.said {
		fmt.Fprintln(out, line)
	}
}

func (b *bench) judge(limits thresholds) error {
	if len(b.samples) == 0 {
		return errors.New("nothing was measured: -only is accept, autoscale, recipe, plan or reservation")
	}
	for name, limit := range map[string]float64{
		withLab: limits.Accept.WithLabStart, onLab: limits.Accept.OnRunningLab,
		chainUp: limits.Autoscale.UpPath, chainDown: limits.Autoscale.DownPath, chainWhole: limits.Autoscale.Whole,
		recipeAll: limits.Recipe.All, recipeGenerated: limits.Recipe.Generated, recipePlan: limits.Recipe.Plan,
		crowdedList: limits.Reservation.Crowded, crowdedAcquire: limits.Reservation.Crowded,
	} {
		if len(b.samples[name]) == 0 {
			continue // not asked for
		}
		if got := median(b.samples[name]); got > limit {
			return fmt.Errorf("%s: median %s, at most %s is promised", name, spell(got), spell(limit))
		}
	}
	for _, r := range b.ratios {
		if r.value < limits.Reservation.Boskos {
			return fmt.Errorf("%s: %.2f, at least %.2f is promised", r.name, r.value, limits.Reservation.Boskos)
		}
	}
	return nil
}

// spell writes seconds so that milliseconds can be read.
func spell(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.1fms", seconds*1000)
	}
	return fmt.Sprintf("%.2fs", seconds)
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}
