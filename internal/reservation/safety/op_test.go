package safety

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// kind of an operation.
type kind string

const (
	acquire    kind = "acquire"
	renew      kind = "renew"
	check      kind = "check"
	release    kind = "release"
	evict      kind = "evict"
	block      kind = "block"
	clean      kind = "clean"
	renewClean kind = "renew-clean"
	finish     kind = "finish"
	fail       kind = "fail"
	stand      kind = "stand"
	take       kind = "take"
	handBack   kind = "hand-back"
	impound    kind = "impound"
	extend     kind = "extend"
	notify     kind = "notify"
	look       kind = "look"   // which token the store has
	unused     kind = "unused" // not requested: a part of acquire
)

// outcome is how it was answered.
type outcome string

const (
	unanswered outcome = "" // the process was killed meanwhile
	done       outcome = "done"
	busy       outcome = "busy"
	stale      outcome = "stale"
	notDirty   outcome = "not-dirty"
	notOpen    outcome = "not-open"
	limit      outcome = "limit"
	over       outcome = "over"
	lost       outcome = "lost"
	gaveUp     outcome = "gave-up" // the client stopped waiting
	unreached  outcome = "unreached"
	unexpected outcome = "unexpected"
)

// op is one operation. It is written down twice, before and after.
type op struct {
	Worker, Client int
	ID             int64
	Kind           kind
	On             []string    // reservations
	Token          int64       `json:",omitempty"` // that is shown
	Holder         string      `json:",omitempty"`
	Period         int64       `json:",omitempty"` // ns
	Wait           bool        `json:",omitempty"`
	Ends, Last     int64       `json:",omitempty"` // that stand asks for, µs since 1970
	By             int64       `json:",omitempty"` // that extend asks for, ns
	Call           int64       // CLOCK_MONOTONIC, ns
	Ret            int64       `json:",omitempty"`
	Outcome        outcome     `json:",omitempty"`
	Tokens         []int64     `json:",omitempty"` // that were granted, as On
	State          lease.State `json:",omitempty"` // of what is busy
	Err            string      `json:",omitempty"`
	Got            []string    `json:",omitempty"` // reservations that Tokens are of
	Saw            terms       `json:",omitzero"`  // of the lease that was answered
}

// terms are the known terms of a published lease.
type terms struct {
	Token int64 `json:",omitempty"`
	Ends  int64 `json:",omitempty"` // µs since 1970
	Last  int64 `json:",omitempty"`
}

func termsOf(l lease.Lease) terms {
	t := terms{Token: l.Token}
	if l.TermEndsAt != nil {
		t.Ends = l.TermEndsAt.UnixMicro()
	}
	if l.MaxEndsAt != nil {
		t.Last = l.MaxEndsAt.UnixMicro()
	}
	return t
}

func (o op) String() string {
	raw, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// monotonic is the same in all processes of a machine.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // every Linux has it
	}
	return ts.Nano()
}

// outcomeOf reads an error as its callers do.
func outcomeOf(err error) (outcome, lease.State) {
	var isBusy *broker.BusyError
	var isStale *lease.StaleError
	switch {
	case err == nil:
		return done, ""
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return gaveUp, ""
	case errors.As(err, &isBusy) && !broker.IsTransient(err): // else a ticket could not be cancelled
		return busy, isBusy.State
	case errors.As(err, &isStale):
		return stale, ""
	case errors.Is(err, lease.ErrNotDirty):
		return notDirty, ""
	case errors.Is(err, lease.ErrNotAvailable):
		return notOpen, ""
	case errors.Is(err, lease.ErrPastMaxTerm):
		return limit, ""
	case errors.Is(err, lease.ErrTermOver):
		return over, ""
	case errors.Is(err, broker.ErrTicketLost), errors.Is(err, lease.ErrTicketNotFound):
		return lost, ""
	case broker.IsTransient(err):
		return unreached, ""
	default:
		return unexpected, ""
	}
}

// journal is where a process writes its operations down.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

// write leaves a line with the kernel: a kill does not take it back.
func (j *journal) write(o op) error {
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(raw, '\n'))
	return err
}

// reader reads a journal as it grows.
type reader struct {
	file *os.File
	rest []byte
}

// more calls f for each line that is new.
func (r *reader) more(f func(op)) error {
	in := bufio.NewReader(r.file)
	for {
		line, err := in.ReadBytes('\n')
		r.rest = append(r.rest, line...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var o op
		if err := json.Unmarshal(r.rest, &o); err != nil {
			return fmt.Errorf("journal line %q: %w", r.rest, err)
		}
		r.rest = r.rest[:0]
		f(o)
	}
}
