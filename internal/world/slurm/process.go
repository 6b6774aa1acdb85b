package slurm

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

// grace is the time between SIGTERM and SIGKILL: slurmctld saves its state when it ends.
const grace = 10 * time.Second

// process is a program that runs until its context ends; it also ends with this process.
type process struct {
	output *output
	stop   context.CancelFunc
	done   chan struct{}
	err    error // set when done is closed
}

func start(ctx context.Context, cmd *exec.Cmd) *process {
	p := &process{output: &output{}, done: make(chan struct{})}
	ctx, p.stop = context.WithCancel(ctx)
	cmd.Stdout, cmd.Stderr = p.output, p.output
	go func() {
		defer close(p.done)
		p.err = proctree.Run(ctx, cmd, grace)
	}()
	return p
}

// end ends the program and returns when it has ended.
func (p *process) end() {
	p.stop()
	<-p.done
}

// alive returns an error if the program has ended.
func (p *process) alive() error {
	select {
	case <-p.done:
		return errors.Join(fmt.Errorf("it ended: %s", tail(p.output.String())), p.err)
	default:
		return nil
	}
}

func tail(text string) string { return text[max(0, len(text)-1000):] }

// output is what a program has printed.
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
