package proctree

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"
)

// ErrDeadline means that a program was not started because its Deadline had passed.
var ErrDeadline = errors.New("the deadline has passed")

// Deadline is a time that its owner moves while a program may continue. At that time the program gets
// SIGTERM, and SIGKILL after the grace period, also if the process that started it is stopped or
// hangs. It is safe for concurrent use.
type Deadline struct {
	grace time.Duration

	mu    sync.Mutex
	at    time.Time     // zero: none yet
	slept time.Duration // Suspended when it was set
	moved chan struct{}
}

// NewDeadline returns a deadline that is not set yet. grace bounds the grace period of programs.
func NewDeadline(grace time.Duration) *Deadline {
	return &Deadline{grace: grace, moved: make(chan struct{})}
}

// Move sets the time.
func (d *Deadline) Move(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at, d.slept = at, Suspended()
	close(d.moved)
	d.moved = make(chan struct{})
}

// At returns the time; zero: none. moved is closed when it changes.
func (d *Deadline) At() (at time.Time, moved <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at, d.moved
}

// Left returns the time until the deadline, less the time in which the machine was suspended since
// it was set; set is false before the first Move.
func (d *Deadline) Left() (left time.Duration, set bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Until(d.at) + d.slept - Suspended(), !d.at.IsZero()
}

type deadlineKey struct{}

// WithDeadline returns a context whose programs have a deadline.
func WithDeadline(ctx context.Context, d *Deadline) context.Context {
	return context.WithValue(ctx, deadlineKey{}, d)
}

// DeadlineOf returns the deadline of a context, or nil.
func DeadlineOf(ctx context.Context) *Deadline {
	d, _ := ctx.Value(deadlineKey{}).(*Deadline)
	return d
}

// Grace returns the grace period of a program that asks for one.
func (d *Deadline) Grace(most time.Duration) time.Duration {
	if d == nil {
		return most
	}
	return min(most, d.grace)
}

// send writes the deadline and each move of it, until done is closed. A message is a time of
// CLOCK_BOOTTIME, which all processes share, and which also counts while the machine is suspended.
func (d *Deadline) send(to io.WriteCloser, done <-chan struct{}) {
	defer to.Close() //nolint:errcheck // the subreaper reads until it is closed
	for {
		_, moved := d.At()
		if left, set := d.Left(); set {
			if binary.Write(to, binary.NativeEndian, int64(bootTime()+left)) != nil {
				return // the subreaper has ended
			}
		}
		select {
		case <-moved:
		case <-done:
			return
		}
	}
}

// receive returns each deadline that the other process sends, as a time of CLOCK_BOOTTIME.
func receive(from io.Reader) <-chan time.Duration {
	out := make(chan time.Duration)
	go func() {
		var at int64
		for binary.Read(from, binary.NativeEndian, &at) == nil {
			out <- time.Duration(at)
		}
	}()
	return out
}
