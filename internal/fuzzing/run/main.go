// Command run runs fuzz targets (package fuzzing).
//
//	go run ./internal/fuzzing/run [-fuzztime 20s|10000000x] [-fuzzminimizetime 1s] [-resume] [package ...]
//
// It runs in the root of the module and ends with 1 if a target fails, was not built, or ran fewer
// executions than asked for.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/fuzzing"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	effort := flag.String("fuzztime", "20s", "time, or number of executions, of each target")
	minimize := flag.Duration("fuzzminimizetime", time.Second, "limit for minimizing an input: a short one leaves the time to new inputs")
	resume := flag.Bool("resume", false, "skip a target if an unchanged test binary passed as many executions in an earlier run")
	flag.Parse()
	o := fuzzing.Options{Patterns: flag.Args(), Minimize: *minimize, Resume: *resume, Out: os.Stdout}
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./internal/..."}
	}
	var err error
	if o.Effort, err = fuzzing.ParseEffort(*effort); err != nil {
		return err
	}
	if o.Root, err = os.Getwd(); err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find the cache of inputs: %w", err)
	}
	o.Cache = filepath.Join(cache, "firstlight", "fuzz", "inputs")
	o.Results = fuzzing.Results(filepath.Join(cache, "firstlight", "fuzz", "results"))
	return fuzzing.Run(ctx, o)
}
