package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// build is the build of one batch.
type build struct {
	builder  Builder
	batch    batch
	flags    []string
	dir      string // of the programs in the cache
	programs Programs
	events   func(Event)

	begin       time.Time
	compiling   time.Time
	done, total int
}

// outDir is go build's output directory in the scratch directory.
const outDir = "out"

// takeInterval is the interval of checks for linked programs.
const takeInterval = 200 * time.Millisecond

// run builds the batch in a scratch module.
func (j *build) run(ctx context.Context) (err error) {
	// The lock is held, so an existing scratch directory belongs to a killed process.
	prefix := ".build-" + filepath.Base(j.dir) + "-"
	stale, err := filepath.Glob(filepath.Join(j.builder.root(), prefix+"*"))
	for _, dir := range stale {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return fmt.Errorf("build %s: %w", j.names(), err)
	}
	scratch, err := os.MkdirTemp(j.builder.root(), prefix)
	if err != nil {
		return fmt.Errorf("build %s: %w", j.names(), err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for name, content := range map[string][]byte{"go.mod": j.batch.mod, "go.sum": j.batch.sum} {
		if err := os.WriteFile(filepath.Join(scratch, name), content, 0o600); err != nil {
			return fmt.Errorf("build %s: %w", j.names(), err)
		}
	}
	// The linker's directory is next to the output directory, so that go build can rename.
	for _, dir := range []string{outDir, "tmp"} {
		path := filepath.Join(scratch, dir)
		// Without an inherited set-group-ID bit, with which go build would copy instead.
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o700)); err != nil { //nolint:gosec // a directory
			return fmt.Errorf("build %s: %w", j.names(), err)
		}
	}
	if err := j.count(ctx, scratch); err != nil {
		return err
	}
	return j.compile(ctx, scratch)
}

// report reports the progress of the next program.
func (j *build) report(detail string) {
	e := Event{Program: j.next(), State: Building, Done: j.done, Total: j.total, Elapsed: metav1.Duration{Duration: j.elapsed()}, Detail: detail}
	if j.done >= minSample && j.done < j.total {
		spent := j.builder.Clock.Since(j.compiling)
		e.Remaining.Duration = time.Duration(float64(spent) / float64(j.done) * float64(j.total-j.done)).Round(time.Second)
	}
	j.events(e)
}

// minSample is the number of packages before the first estimate: the standard library's packages
// come first and are small.
const minSample = 50

// count counts the packages that are not in Go's build cache. It downloads the modules.
func (j *build) count(ctx context.Context, dir string) error {
	j.report("reading the module")
	args := append([]string{"list", "-deps", "-f", `{{if .Stale}}{{.StaleReason}}{{"\n"}}{{end}}`}, j.flags...)
	cmd := j.command(ctx, dir, append(args, j.packages()...)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	tail, err := j.follow(cmd, func(line string) {
		if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
			j.report("downloading " + module)
		}
	})
	if err != nil {
		return j.failed(ctx, "list its packages", err, tail)
	}
	for reason := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		if reason != "" && !strings.Contains(reason, "available in build cache") {
			j.total++
		}
	}
	return nil
}

// compile runs go build; with -v it prints each package.
func (j *build) compile(ctx context.Context, dir string) error {
	j.compiling = j.builder.Clock.Now()
	args := append([]string{"build", "-v", "-o", filepath.Join(dir, outDir) + string(filepath.Separator)}, j.flags...)
	cmd := j.command(ctx, dir, append(args, j.packages()...)...)
	lines, ended := make(chan string), make(chan error, 1)
	var tail []string
	go func() {
		defer close(lines)
		var err error
		tail, err = j.follow(cmd, func(line string) { lines <- line })
		ended <- err
	}()
	tick := j.builder.Clock.NewTicker(takeInterval)
	defer tick.Stop()
	var takeErr error
	j.report("compiling")
	for open := true; open; {
		select {
		case line, ok := <-lines:
			open = ok
			if !ok || !namesPackage(line) {
				continue
			}
			j.done = min(j.done+1, j.total)
			j.report(j.doing())
		case <-tick.C():
			if takeErr == nil {
				takeErr = j.take(dir)
			}
		}
	}
	buildErr := <-ended
	if err := errors.Join(takeErr, j.take(dir)); err != nil {
		return err
	}
	if buildErr != nil {
		return j.failed(ctx, "compile", buildErr, tail)
	}
	for _, p := range j.batch.programs {
		if !j.programs.files[p.Name].finished() {
			return fmt.Errorf("build %s: the compiler succeeded without a program", p.Name)
		}
	}
	return nil
}

// namesPackage reports whether a line of go build -v is a package.
func namesPackage(line string) bool { return line != "" && !strings.ContainsAny(line, ": \t") }

func (j *build) doing() string {
	if j.done >= j.total {
		return "linking"
	}
	return "compiling"
}

func (j *build) packages() []string {
	var packages []string
	for _, p := range j.batch.programs {
		packages = append(packages, p.Package)
	}
	return packages
}

// compilerGC reduces garbage collection of the compiler to a quarter: a fifth less CPU time for
// about 200 MiB more memory (measured on k8s.io/client-go/kubernetes).
const compilerGC = "GOGC=400"

// command returns a go command in the scratch module, without the user's build settings.
func (j *build) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, j.builder.Go, args...)
	cmd.Dir = dir
	cmd.Env = append(goEnv(), "PWD="+dir, "GOTMPDIR="+filepath.Join(dir, "tmp"), compilerGC)
	// The compilers are children of the go command and end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// follow runs the command, calls line for each line of standard error and returns the last lines
// that are not packages.
func (j *build) follow(cmd *exec.Cmd, line func(string)) (tail []string, err error) {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line(lines.Text())
		if namesPackage(lines.Text()) {
			continue // progress, not part of the error
		}
		const keep = 15
		if tail = append(tail, lines.Text()); len(tail) > keep {
			tail = tail[1:]
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // the command must not block on the rest of a long line
	return tail, cmd.Wait()
}

// failed returns the error of a build with the compiler's output and a remedy.
func (j *build) failed(ctx context.Context, what string, err error, tail []string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("build %s: %s: %w", j.next(), what, context.Cause(ctx))
	}
	text := strings.Join(tail, "\n  ")
	return fmt.Errorf("build %s: %s: %w:\n  %s\n%s", j.next(), what, err, text, remedy(text))
}
