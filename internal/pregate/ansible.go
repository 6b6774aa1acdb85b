package pregate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/ansible"
	"github.com/firstlight/firstlight/internal/proctree"
)

// maxResult limits the output of ansible-playbook, in bytes: it has the facts of every host.
const maxResult = 512 << 20

// environment is that of ansible-playbook without the cluster: the callback whose document is read. The
// user's other settings of Ansible remain.
func environment() []string {
	return append(os.Environ(), "ANSIBLE_STDOUT_CALLBACK=ansible.posix.json", "ANSIBLE_JSON_INDENT=0", "ANSIBLE_NOCOLOR=1", "ANSIBLE_FORCE_COLOR=0", "ANSIBLE_RETRY_FILES_ENABLED=0")
}

// ran is one run of ansible-playbook.
type ran struct {
	stdout   []byte
	messages []string
	exit     int
	err      error
}

// run runs ansible-playbook without standard input. Its error is the context's.
func (r *rollout) run(ctx context.Context, env, argv []string) (ran, error) {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // proctree.Run has the context
	stdout, stderr := &limitedBuffer{limit: maxResult}, &limitedBuffer{limit: 1 << 20}
	cmd.Stdout, cmd.Stderr, cmd.Env = stdout, stderr, env
	err := proctree.Run(limited, cmd, killGrace)
	if ctx.Err() != nil {
		return ran{}, ctx.Err()
	}
	out := ran{stdout: stdout.Bytes(), messages: messages(stderr.String())}
	exited, isExit := errors.AsType[*exec.ExitError](err)
	switch {
	case limited.Err() != nil:
		out.exit, out.err = -1, fmt.Errorf("it did not end within %s", r.timeout)
	case isExit:
		out.exit = exited.ExitCode()
	case err != nil:
		out.exit, out.err = -1, fmt.Errorf("run %s: %w", argv[0], err)
	}
	if stdout.full && out.err == nil {
		out.err = fmt.Errorf("its output is longer than %d MiB", maxResult>>20)
	}
	return out, nil
}

// limitedBuffer keeps the first bytes that are written to it.
type limitedBuffer struct {
	bytes.Buffer
	limit int
	full  bool
}

// Write implements io.Writer; it never fails.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.limit-b.Len())
	b.full = b.full || n < len(p)
	b.Buffer.Write(p[:n])
	return len(p), nil
}

// messages are the warnings and errors of ansible-playbook, each with the lines that continue it: the
// program also prints lines of playbooks, which may have secrets.
func messages(stderr string) []string {
	var out []string
	open := false
	for text := range strings.Lines(stderr) {
		text = strings.TrimSpace(text)
		begins := strings.HasPrefix(text, "ERROR!") || strings.HasPrefix(text, "[ERROR]") || strings.HasPrefix(text, "[WARNING]")
		switch {
		case begins:
			out = append(out, text)
		case text == "" || strings.HasPrefix(text, "["):
			open = false
			continue
		case open && strings.HasPrefix(out[len(out)-1], "[WARNING]"):
			out[len(out)-1] += " " + text
		}
		open = open || begins
	}
	return out
}

// failure is why a run has no output to read: its error, or its exit status with its messages.
func (r ran) failure() string {
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.exit != 0:
		return fmt.Sprintf("exit status %d: %s", r.exit, cmp.Or(strings.Join(r.messages, "; "), "no message"))
	}
	return ""
}

// result is the result of a run that applied the playbook, whatever its exit status.
func (r ran) result() playbook.Run {
	out := playbook.Run{Exit: r.exit, Messages: r.messages}
	if r.err != nil {
		out.Err = r.err.Error()
		return out
	}
	result, err := ansible.Parse(r.stdout)
	if err != nil {
		out.Err = err.Error()
		if why := r.failure(); why != "" {
			out.Err += "; " + why
		}
		return out
	}
	out.Result = &result
	return out
}

// log is what the evidence keeps of the output: no result of a task.
func (r ran) log() []byte {
	lines := append([]string{fmt.Sprintf("exit status %d, %d bytes on standard output", r.exit, len(r.stdout))}, r.messages...)
	return []byte(strings.Join(lines, "\n") + "\n")
}
