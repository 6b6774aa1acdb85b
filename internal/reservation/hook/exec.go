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
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Program runs a hook that is an executable.
type Program struct {
	Hook Hook
	// Lookup returns an environment variable; nil: os.LookupEnv.
	Lookup func(name string) (string, bool)
	// Grace is the time between SIGTERM and SIGKILL; 0: lease.MaxStopTime. The renewal interval of
	// the lease bounds it.
	Grace time.Duration
	// Log receives each line that the program logs; nil: none.
	Log *slog.Logger
}

// defaultVariables are passed to every hook.
var defaultVariables = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// environment returns the variables of the program, and the secrets among them.
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
		return nil, nil, fmt.Errorf("the hook of %s needs %s, which the environment does not set: set it, or remove it from the hooks file",
			p.Hook.Cloud, strings.Join(missing, ", "))
	}
	return env, secrets, nil
}

// Run starts the program in its own process group and ends its whole process tree afterwards. When
// ctx ends, or at the deadline of the lease, the group gets SIGTERM, and after the grace period
// SIGKILL.
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
	err = proctree.Run(ctx, cmd, cmp.Or(p.Grace, lease.MaxStopTime))
	out := Output{Response: []byte(log.secrets.Replace(stdout.buf.String())), Log: log.last()}
	return out.ended(ctx, argv[0], stdout.over, err)
}

// ended adds the end of a program: err is the error of proctree.Run, over a response that is too large.
func (out Output) ended(ctx context.Context, program string, over bool, err error) (Output, error) {
	var exit *exec.ExitError
	left, _ := errors.AsType[*proctree.LeftError](err)
	switch {
	case left != nil && ctx.Err() != nil: // not temporary: a retry would run in parallel with them
		return out, fmt.Errorf("run %s: %v: %w", program, context.Cause(ctx), left) //nolint:errorlint // the cause may be temporary
	case ctx.Err() != nil:
		return out, fmt.Errorf("run %s: %w", program, context.Cause(ctx))
	case errors.Is(err, proctree.ErrDeadline): // the caller learns in a moment that its lease is lost
		return out, fmt.Errorf("run %s: the lease was not renewed: %w", program, err)
	case left != nil && over:
		return out, fmt.Errorf("run %s: the response is larger than %d bytes; %w", program, MaxSize, left)
	case left != nil: // a retry would run in parallel with them: not temporary
		out.Status, out.Ended = left.ExitCode()
		return out, fmt.Errorf("run %s: %w", program, left)
	case over:
		return out, fmt.Errorf("run %s: the response is larger than %d bytes", program, MaxSize)
	case errors.Is(err, exec.ErrWaitDelay):
		return out, fmt.Errorf("run %s: it exited, but a child process keeps its standard output open", program)
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return out, fmt.Errorf("run %s: %w: %w", program, exit, ErrTemporary)
	case errors.As(err, &exit):
		out.Status = exit.ExitCode()
		return out, nil
	case err != nil:
		return out, fmt.Errorf("run %s: %w", program, err)
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
