package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/proctree"
)

// Program runs a hook that is an executable.
type Program struct {
	Hook Hook
	// Lookup finds a variable of the environment; nil: os.LookupEnv.
	Lookup func(name string) (string, bool)
	// Grace is what a program has after SIGTERM before SIGKILL; 0: 30 s.
	Grace time.Duration
	// Log is told each line that the program logs; nil: nobody.
	Log *slog.Logger
}

var _ Runner = (*Program)(nil)

// usual are the variables that every hook gets.
var defaultVariables = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// environment is what the program gets, and the secrets in it.
func (p *Program) environment() (env []string, secrets map[string]string, err error) {
	lookup := p.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	secrets = map[string]string{}
	for _, name := range defaultVariables {
		if v, ok := lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	var missing []string
	for _, name := range slices.Concat(p.Hook.Environment, p.Hook.Secrets) {
		v, ok := lookup(name)
		if !ok {
			missing = append(missing, name)
			continue
		}
		env = append(env, name+"="+v)
		if slices.Contains(p.Hook.Secrets, name) {
			secrets[name] = v
		}
	}
	if len(missing) > 0 {
		return nil, nil, fmt.Errorf("the hook of %s wants %s, which the environment has not: set it, or take it out of the hooks file",
			p.Hook.Cloud, strings.Join(missing, ", "))
	}
	return env, secrets, nil
}

// Run starts the program in a process group of its own and ends all that it started with it.
// When ctx ends the group gets SIGTERM, and after the grace everything SIGKILL.
func (p *Program) Run(ctx context.Context, r Request, body []byte) (Output, error) {
	env, secrets, err := p.environment()
	if err != nil {
		return Output{}, err
	}
	argv := p.Hook.Command
	var stdout boundedBuffer
	log := newTail(secrets, p.logLine(ctx, r))
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // proctree.Run has the context
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), &stdout, log
	err = proctree.Run(ctx, cmd, cmp.Or(p.Grace, 30*time.Second))
	out := Output{Response: []byte(log.secrets.Replace(stdout.buf.String())), Log: log.last()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, fmt.Errorf("run %s: %w", argv[0], context.Cause(ctx))
	case stdout.over:
		return out, fmt.Errorf("run %s: its response is larger than %d bytes", argv[0], MaxSize)
	case errors.Is(err, exec.ErrWaitDelay):
		return out, fmt.Errorf("run %s: it ended, and something that it started held its standard output open", argv[0])
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return out, fmt.Errorf("run %s: %w: %w", argv[0], exit, ErrTemporary)
	case errors.As(err, &exit):
		out.Status = exit.ExitCode()
		return out, nil
	case err != nil:
		return out, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return out, nil
}

func (p *Program) logLine(ctx context.Context, r Request) func(string) {
	if p.Log == nil {
		return nil
	}
	log := p.Log.With("hook", string(r.Cloud), "verb", string(r.Verb), "of", r.Deployment, "attempt", r.Attempt)
	return func(line string) { log.DebugContext(ctx, line) }
}
