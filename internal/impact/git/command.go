package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Repo is a repository with a working tree.
type Repo struct {
	// top is the root of the working tree.
	top string
}

// Error is a failed git command with its output.
type Error struct {
	Args []string
	Said string
	Err  error
}

func (e *Error) Error() string {
	text := "git " + strings.Join(e.Args, " ") + ": " + e.Err.Error()
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// ErrNoRepository means that a directory is not in a git working tree.
var ErrNoRepository = errors.New("no git repository")

// Open finds the repository of a directory.
func Open(ctx context.Context, dir string) (*Repo, error) {
	r := &Repo{top: dir}
	out, err := r.run(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		if failed, ok := errors.AsType[*Error](err); ok && strings.Contains(failed.Said, "not a git repository") {
			return nil, fmt.Errorf("%w at %s", ErrNoRepository, dir)
		}
		return nil, err
	}
	top := strings.TrimSuffix(string(out), "\n")
	if top == "" {
		return nil, fmt.Errorf("%w with a working tree at %s", ErrNoRepository, dir)
	}
	return &Repo{top: top}, nil
}

// Top returns the root of the working tree.
func (r *Repo) Top() string { return r.top }

// run runs one git command and returns its output.
func (r *Repo) run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd := r.command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	if err := cmd.Run(); err != nil {
		return nil, failure(ctx, args, said.String(), err)
	}
	return out.Bytes(), nil
}

func failure(ctx context.Context, args []string, said string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &Error{Args: args, Said: strings.TrimSpace(said), Err: err}
}

func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.quotePath=false", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = r.top
	cmd.Env = environment(os.Environ())
	return cmd
}

// redirecting are variables that make git use another repository than the working directory's,
// or change its output. Git sets some of them for its hooks.
var redirecting = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
	"GIT_PREFIX", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS",
	"GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_TRACE", "LC_ALL", "LANGUAGE",
}

func environment(from []string) []string {
	out := slices.DeleteFunc(slices.Clone(from), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(redirecting, name)
	})
	return append(out, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat")
}
