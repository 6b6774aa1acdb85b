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
)

// build is the building of one program.
type build struct {
	builder Builder
	group   group
	program program
	flags   []string
	begin   time.Time
	events  func(Event)
}

// run builds the program into a scratch module and moves it to path.
func (j build) run(ctx context.Context, path string) (err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(filepath.Dir(path)), ".build-")
	if err != nil {
		return fmt.Errorf("build %s: %w", j.program.Name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for name, content := range map[string][]byte{"go.mod": j.group.mod, "go.sum": j.group.sum} {
		if err := os.WriteFile(filepath.Join(scratch, name), content, 0o600); err != nil {
			return fmt.Errorf("build %s: %w", j.program.Name, err)
		}
	}
	total, err := j.count(ctx, scratch)
	if err != nil {
		return err
	}
	binary := filepath.Join(scratch, j.program.Name)
	if err := j.compile(ctx, scratch, binary, total); err != nil {
		return err
	}
	if !usable(binary) {
		return fmt.Errorf("build %s: the compiler succeeded without a program", j.program.Name)
	}
	if err := os.Rename(binary, path); err != nil {
		return fmt.Errorf("build %s: %w", j.program.Name, err)
	}
	j.tell(Built, total, total, "")
	return nil
}

func (j build) tell(s State, done, total int, detail string) {
	j.events(Event{
		Program: j.program.Name, State: s, Done: done, Total: total,
		Elapsed: j.builder.Clock.Since(j.begin), Detail: detail,
	})
}

// count asks how many packages are to be compiled: those that Go's build cache
// does not have. It downloads the modules on the way.
func (j build) count(ctx context.Context, dir string) (int, error) {
	j.tell(Building, 0, 0, "reading the module")
	args := append([]string{"list", "-deps", "-f", `{{if .Stale}}{{.StaleReason}}{{"\n"}}{{end}}`}, j.flags...)
	cmd := j.command(ctx, dir, append(args, j.program.Package)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	tail, err := j.follow(cmd, func(line string) {
		if what, ok := strings.CutPrefix(line, "go: downloading "); ok {
			j.tell(Building, 0, 0, "downloading "+what)
		}
	})
	if err != nil {
		return 0, j.failed(ctx, "list its packages", err, tail)
	}
	n := 0
	for reason := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		if reason != "" && !strings.Contains(reason, "available in build cache") {
			n++
		}
	}
	return n, nil
}

// compile runs go build; -v makes it name each package as it compiles it.
func (j build) compile(ctx context.Context, dir, binary string, total int) error {
	args := append([]string{"build", "-v", "-o", binary}, j.flags...)
	cmd := j.command(ctx, dir, append(args, j.program.Package)...)
	done := 0
	detail := func() string {
		if done >= total {
			return "linking"
		}
		return "compiling"
	}
	j.tell(Building, 0, total, detail())
	tail, err := j.follow(cmd, func(line string) {
		if line == "" || strings.ContainsAny(line, ": \t") {
			return // not the name of a package
		}
		done = min(done+1, total)
		j.tell(Building, done, total, detail())
	})
	if err != nil {
		return j.failed(ctx, "compile", err, tail)
	}
	return nil
}

// command is a go command in the scratch module, without the user's settings
// of how to build.
func (j build) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, j.builder.Go, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "CGO_ENABLED=0", "GOWORK=off", "GO111MODULE=on", "GOFLAGS=-mod=readonly")
	// The compilers are children of the go command: they end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// follow runs the command, calling line for each line of its standard error,
// and returns the last of them.
func (j build) follow(cmd *exec.Cmd, line func(string)) (tail []string, err error) {
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
		const keep = 15
		if tail = append(tail, lines.Text()); len(tail) > keep {
			tail = tail[1:]
		}
		line(lines.Text())
	}
	_, _ = io.Copy(io.Discard, stderr) // what a line too long has left: the command must not block
	return tail, cmd.Wait()
}

// failed is the error of a build, with what the compiler said and what to do.
func (j build) failed(ctx context.Context, what string, err error, tail []string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("build %s: %s: %w", j.program.Name, what, context.Cause(ctx))
	}
	text := strings.Join(tail, "\n  ")
	return fmt.Errorf("build %s: %s: %w:\n  %s\n%s", j.program.Name, what, err, text, remedy(text))
}

// remedy says what to do about the usual reasons.
func remedy(output string) string {
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(output, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has("dial tcp", "i/o timeout", "no such host", "connection refused", "TLS handshake", "403 Forbidden", "502 Bad Gateway"):
		return "The Go module proxy could not be reached: check the network and GOPROXY, then run the command again; what was downloaded is kept."
	case has("no space left on device"):
		return "The disk is full: Go's build cache needs about 5 GiB (go env GOCACHE GOMODCACHE), then run the command again."
	case has("signal: killed", "cannot allocate memory"):
		return "The machine ran out of memory: linking kube-apiserver takes about 3 GiB; free some and run the command again."
	case has("checksum mismatch", "SECURITY ERROR"):
		return "A module is not the one that was pinned: do not go on; check GOPROXY and whoever stands between."
	case has("requires go >=", "toolchain not available"):
		return "This Go is too old: install Go 1.26 or newer (https://go.dev/dl)."
	}
	return "Run the command again with the same pins; if it fails again, the lines above are the compiler's."
}
