// Package localhost runs the commands of probes on the machine that firstlight runs on, as
// package ssh does on other hosts: without a shell, in the C locale, with a timeout after which
// the command and all its descendants have ended.
package localhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/proctree"
)

// Origin is the origin of a command that ran on this machine.
const Origin = "this machine"

// exitNotFound is the exit code of a shell for a program that it does not find.
const exitNotFound = 127

// grace is the time between SIGTERM and SIGKILL.
const grace = 5 * time.Second

// Hosts is one host: this machine. It is safe for concurrent use.
type Hosts struct {
	// Name is the name of this machine in the site.
	Name string
	// Timeout is the longest that a command may take.
	Timeout time.Duration
	// Environment are the names of the variables that commands inherit; nil: all.
	Environment []string
}

// Run runs a command on this machine and waits for it. A command that sudo does not run is an
// error of type sudo.RefusedError.
func (h Hosts) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if host != h.Name {
		return ssh.Output{}, fmt.Errorf("run on %s: this machine is %s, and no other can be reached", host, h.Name)
	}
	out, err := h.run(ctx, argv)
	command, becomes := sudo.Command(argv)
	if err != nil || !becomes || !sudo.MayBeRefused(out.Exit) {
		return out, err
	}
	listed, err := h.run(ctx, sudo.List(command))
	if err != nil {
		return out, err
	}
	login, err := user.Current()
	if err != nil {
		return out, fmt.Errorf("find the user that sudo refused: %w", err)
	}
	return out, sudo.Refusal(host, login.Username, command, out.Exit, out.Stderr, listed.Exit)
}

func (h Hosts) environment() []string {
	all := os.Environ()
	if h.Environment == nil {
		return all
	}
	return slices.DeleteFunc(all, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(h.Environment, name)
	})
}

func (h Hosts) run(ctx context.Context, argv []string) (ssh.Output, error) {
	if len(argv) == 0 {
		return ssh.Output{}, fmt.Errorf("run on %s: command is empty", h.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, ssh.Limit(ctx, h.Timeout))
	defer cancel()
	stdout, stderr := &ssh.Buffer{}, &ssh.Buffer{}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // proctree.Run has the context
	cmd.Env = append(h.environment(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	out := ssh.Output{At: time.Now(), Origin: Origin}
	err := proctree.Run(ctx, cmd, grace)
	out.Took = time.Since(out.At)
	out.Stdout, out.Stderr = stdout.Bytes(), stderr.Bytes()
	line := ssh.Quote(argv)
	exited, isExit := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		out.Exit, out.Stderr = exitNotFound, fmt.Appendf(nil, "%s: command not found\n", argv[0])
		return out, nil
	case ctx.Err() != nil:
		return out, fmt.Errorf("run %s: %w", line, ctx.Err())
	case isExit && exited.ExitCode() >= 0:
		out.Exit = exited.ExitCode()
	case err != nil:
		return out, fmt.Errorf("run %s: %w", line, err)
	}
	if stdout.Over || stderr.Over {
		return out, fmt.Errorf("run %s: %w", line, ssh.ErrTooMuchOutput)
	}
	return out, nil
}
