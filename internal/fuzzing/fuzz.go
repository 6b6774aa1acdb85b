package fuzzing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Options select targets and effort.
type Options struct {
	Root     string   // of the module
	Patterns []string // of packages
	Effort   Effort
	Minimize time.Duration // of one interesting input
	// Cache has the interesting inputs of all runs.
	Cache string
	// Results has the results of earlier runs. With Resume, a target is skipped if the same
	// binary passed the same effort.
	Results Results
	Resume  bool
	Out     io.Writer
}

// Run fuzzes the targets one after the other. A target that fails does not end the run: its input
// is kept in testdata/fuzz of its package, and Run returns an error for it at the end.
func Run(ctx context.Context, o Options) error {
	packages, err := Packages(ctx, o.Root, o.Patterns)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fl-fuzz-")
	if err != nil {
		return fmt.Errorf("make directory of test binaries: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	instrument := filepath.Join(dir, "instrument")
	if err := goTool(ctx, o.Root, "build", "-o", instrument, "./internal/fuzzing/instrument"); err != nil {
		return err
	}
	total, n := 0, 0
	for _, p := range packages {
		total += len(p.Targets)
	}
	var failures []error
	for _, p := range packages {
		binary := filepath.Join(dir, "fuzz.test")
		if err := goTool(ctx, o.Root, "test", "-c", "-vet=off", "-fuzz=.", "-toolexec", instrument, "-o", binary, p.Path); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted after %d of %d targets: %w", n, total, context.Cause(ctx))
			}
			_, _ = fmt.Fprintln(o.Out, err)
			failures = append(failures, fmt.Errorf("%s was not built; not run: %s", p.Path, strings.Join(p.Targets, ", ")))
			n += len(p.Targets)
			continue
		}
		for _, target := range p.Targets {
			n++
			_, _ = fmt.Fprintf(o.Out, "%s %d/%d ", time.Now().Format(time.TimeOnly), n, total)
			if err := o.run(ctx, binary, p, target); err != nil {
				if ctx.Err() != nil {
					return fmt.Errorf("interrupted after %d of %d targets: %w", n-1, total, context.Cause(ctx))
				}
				_, _ = fmt.Fprintln(o.Out, err)
				failures = append(failures, fmt.Errorf("%s %s failed", p.Path, target))
			}
		}
	}
	return errors.Join(failures...)
}

// run fuzzes one target, or finds that it was.
func (o Options) run(ctx context.Context, binary string, p Package, target string) error {
	sum, err := sumOf(binary)
	if err != nil {
		return err
	}
	result := Result{Target: p.Path + " " + target, Binary: sum}
	if o.Resume {
		if earlier, ok := o.Results.get(result, o.Effort); ok {
			_, _ = fmt.Fprintf(o.Out, "%s (an earlier run of the same binary)\n", earlier)
			return nil
		}
	}
	begin := time.Now()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^"+target+"$", "-test.fuzztime="+o.Effort.String(), "-test.timeout=0",
		"-test.fuzzminimizetime="+o.Minimize.String(), "-test.fuzzcachedir="+filepath.Join(o.Cache, filepath.FromSlash(p.Path)), "-test.paniconexit0")
	cmd.Dir = p.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the fuzzer's workers
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	result.TookSeconds = time.Since(begin).Seconds()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", result.Target, err, tail(string(out)))
	}
	if err := result.counts(string(out)); err != nil {
		return fmt.Errorf("%s: %w", result.Target, err)
	}
	if err := o.Effort.check(result); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.Out, result)
	return o.Results.put(result)
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read test binary: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read test binary: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func goTool(ctx context.Context, root string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, tail(string(out)))
	}
	return nil
}
