// Command run measures how many mutants of the judges their tests kill (package mutants).
//
//	go run ./internal/mutants/run [-seed N] [-sample N] [-jobs N] [-o text|json] [package or file ...]
//
// It runs in the root of the module, and ends with 1 when fewer are killed than
// internal/mutants/targets.yaml demands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/firstlight/firstlight/internal/mutants"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

var errTooFew = errors.New("tests kill too few mutants")

func run(ctx context.Context) error {
	data := filepath.Join("internal", "mutants")
	targets, err := mutants.ReadTargets(filepath.Join(data, "targets.yaml"))
	if err != nil {
		return err
	}
	equivalent, err := mutants.ReadEquivalent(filepath.Join(data, "equivalent.yaml"))
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	o := mutants.Options{Root: root, Targets: targets, Equivalent: equivalent, Progress: os.Stderr}
	flag.Uint64Var(&o.Seed, "seed", 1, "choose the sample by this seed")
	flag.IntVar(&o.Sample, "sample", targets.Sample, "number of mutants to run; 0 for all")
	flag.IntVar(&o.Jobs, "jobs", runtime.NumCPU(), "mutants that run at once")
	output := flag.String("o", "text", "output: text or json")
	flag.Parse()
	o.Packages = flag.Args()
	if *output != "text" && *output != "json" {
		return fmt.Errorf("invalid -o %q: want text or json", *output)
	}
	packages, err := mutants.Run(ctx, o)
	if packages == nil {
		return err
	}
	report := mutants.Report{Seed: o.Seed, Sample: o.Sample, Threshold: targets.Threshold, Score: mutants.Total(packages), Packages: packages}
	if *output == "json" {
		err = errors.Join(err, report.JSON(os.Stdout))
	} else {
		report.Text(os.Stdout)
	}
	if report.Score.Share() < targets.Threshold || len(report.Weak()) > 0 {
		err = errors.Join(err, errTooFew)
	}
	return err
}
