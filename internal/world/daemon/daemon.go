// Package daemon runs the programs of other projects that stay: a subnet manager, Slurm's daemons.
package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/proctree"
)

// Daemon is a program that runs until Stop or the end of its context; it also ends with this process.
type Daemon struct {
	output output
	stop   context.CancelFunc
	done   chan struct{}
	err    error // set when done is closed
}

// Start starts a program. It is killed if it runs longer than grace after SIGTERM.
func Start(ctx context.Context, cmd *exec.Cmd, grace time.Duration) *Daemon {
	d := &Daemon{done: make(chan struct{})}
	ctx, d.stop = context.WithCancel(ctx)
	cmd.Stdout, cmd.Stderr = &d.output, &d.output
	go func() {
		defer close(d.done)
		d.err = proctree.Run(ctx, cmd, grace)
	}()
	return d
}

// Stop ends the program and returns when it has ended.
func (d *Daemon) Stop() {
	d.stop()
	d.Wait()
}

// Wait returns when the program has ended.
func (d *Daemon) Wait() { <-d.done }

// Alive returns an error if the program has ended.
func (d *Daemon) Alive() error {
	select {
	case <-d.done:
		return errors.Join(fmt.Errorf("it ended: %s", Tail(d.Output())), d.err)
	default:
		return nil
	}
}

// Output is what the program has printed.
func (d *Daemon) Output() string { return d.output.String() }

// Tail is the end of an output or a log, for an error.
func Tail(text string) string { return text[max(0, len(text)-1000):] }

type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
