package pregate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// A preparation's children survived its timeout where they ignored SIGTERM, or had left its
// process group.
func TestChildrenEndWithThePreparation(t *testing.T) {
	for name, left := range map[string]string{
		"in its group":            `sh -c "$0" "$1" > /dev/null 2>&1 &`,
		"in a session of its own": `env -i setsid sh -c "$0" "$1" > /dev/null 2>&1 < /dev/null &`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			const stays = `trap "" TERM; echo $$ > "$0.tmp"; mv "$0.tmp" "$0"; while :; do sleep 600; done`
			c := &command{argv: []string{"sh", "-c", `trap "exit 3" TERM; ` + left + ` sleep 600 & wait`, stays, file}, timeout: 5 * time.Minute, grace: 5 * time.Minute}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			started := make(chan int, 1)
			go func() {
				defer cancel()
				started <- written(ctx, file)
			}()
			var out strings.Builder
			if code, err := c.Run(ctx, &out, nil); err != nil || code != 3 {
				t.Errorf("it ended with %d, %v: %s", code, err, out.String())
			}
			pid := <-started
			if pid == 0 {
				t.Fatal("the child did not start")
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d still runs after the preparation: %v", pid, err)
			}
		})
	}
}

// written is the process id that a script writes; 0: it wrote none.
func written(ctx context.Context, file string) (pid int) {
	_ = poll.Until(ctx, 5*time.Millisecond, "the process id", func(context.Context) error {
		raw, err := os.ReadFile(file)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		return err
	})
	return pid
}

// The error of a command states its exit code and output, or that the program was not found.
func TestCommand(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		code int
		out  string
		err  string
	}{
		"done":      {argv: []string{"sh", "-c", "echo out; echo err >&2"}, out: "out\nerr\n"},
		"failed":    {argv: []string{"sh", "-c", "exit 75"}, code: 75},
		"killed":    {argv: []string{"sh", "-c", "kill -9 $$"}, code: -1},
		"not there": {argv: []string{"/nonexistent/command"}, code: -1, err: "/nonexistent/command"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			code, err := (&command{argv: c.argv, timeout: 5 * time.Minute}).Run(t.Context(), &out, nil)
			if code != c.code || out.String() != c.out || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%d, %q, %v; want %d, %q, %q", code, out.String(), err, c.code, c.out, c.err)
			}
		})
	}
}
