// Command bench measures what ships: the binary as a user runs it, on labs of its own, and
// peers (kwokctl, Boskos) in turns with it. It prints one table with the figure, its peer,
// their ratio and the threshold, writes it to bench/RESULTS.md, and exits 1 when a threshold
// of thresholds.yaml is missed or its figure could not be measured.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"k8s.io/klog/v2"
)

// resultsFile is written by a run of all parts.
const resultsFile = "bench/RESULTS.md"

func main() {
	klog.SetLogger(klog.Logger{}) // client-go reports failures as errors as well
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	binary := flag.String("binary", "bin/firstlight", "the binary to measure, as make build makes it")
	n := flag.Int("n", 5, "repetitions")
	only := flag.String("only", "", "measure only these parts, separated by commas: "+strings.Join(namesOf(parts), ", "))
	scale := flag.String("scale", "", "nodes of the labs of part scale (default 10,32,100)")
	results := flag.String("results", "", "write the table as Markdown to this file (default "+resultsFile+" when all parts are measured)")
	flag.Parse()
	if *n < 1 || flag.NArg() > 0 {
		return errors.New("invalid arguments: -n must be at least 1, and no arguments are accepted")
	}
	selected, err := selectParts(*only)
	if err != nil {
		return err
	}
	sizes, err := parseScale(*scale)
	if err != nil {
		return err
	}
	limits, err := readThresholds(thresholdsFile, figures)
	if err != nil {
		return err
	}
	file := *results
	if file == "" && *only == "" {
		file = resultsFile
	}
	dir, err := os.MkdirTemp("", "firstlight-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // of a run that is over
	b := &bench{binary: *binary, dir: dir, n: *n, scale: sizes}
	env, err := b.environment(ctx)
	if err != nil {
		return err
	}
	r := b.report(ctx, selected, figures, limits)
	r.env = env
	if err := r.text(os.Stdout); err != nil {
		return err
	}
	if file != "" && ctx.Err() == nil {
		r.problems = append(r.problems, writeResults(r, file))
	}
	return errors.Join(r.problems...)
}

// report measures the parts. A part that fails does not keep the others from being
// measured; its error is a problem of the report.
func (b *bench) report(ctx context.Context, selected []part, declared []figure, limits []threshold) report {
	var r report
	for _, p := range selected {
		b.part = p.name
		err := context.Cause(ctx)
		if err == nil {
			err = p.measure(b, ctx)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s ended with an error\n", p.name) // which is printed at the end
			r.failed, r.problems = append(r.failed, p.name), append(r.problems, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	r.rows, r.notes = judge(declared, namesOf(selected), b.samples, limits), b.notes
	for _, row := range r.rows {
		if err := row.problem(); err != nil {
			r.problems = append(r.problems, err)
		}
	}
	return r
}

func writeResults(r report, file string) error {
	var page bytes.Buffer
	if err := r.markdown(&page); err != nil {
		return err
	}
	if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil { //nolint:gosec // a page of the repository
		return fmt.Errorf("write results: %w", err)
	}
	fmt.Fprintln(os.Stderr, "bench: wrote", file)
	return nil
}

// part is what -only names.
type part struct {
	name    string
	measure func(*bench, context.Context) error
}

// parts in the order in which they are measured.
var parts = []part{
	{partBinary, (*bench).measureBinary},
	{partLab, (*bench).measureLab},
	{partAccept, (*bench).measureAccept},
	{partAutoscale, (*bench).measureChain},
	{partRecipe, (*bench).measureRecipes},
	{partPlan, (*bench).measurePlan},
	{partReservation, (*bench).measureReservations},
	{partLocalise, (*bench).measureLocalise},
	{partScale, (*bench).measureScale},
}

func namesOf(parts []part) []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// selectParts reads -only; empty means all parts.
func selectParts(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	names := strings.Split(only, ",")
	for _, name := range names {
		if !slices.Contains(namesOf(parts), name) {
			return nil, fmt.Errorf("unknown part %q: want %s", name, strings.Join(namesOf(parts), ", "))
		}
	}
	var selected []part
	for _, p := range parts {
		if slices.Contains(names, p.name) {
			selected = append(selected, p)
		}
	}
	return selected, nil
}

// bench measures the parts, one after the other.
type bench struct {
	binary, dir string
	n           int
	scale       []int  // nodes of the labs of partScale
	part        string // that is being measured
	samples     samples
	notes       []string
	warmed      bool
}

// add records a value of the part that is being measured.
func (b *bench) add(name string, value float64) { b.samples.add(b.part, name, value) }

// say adds a note below the table.
func (b *bench) say(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}
