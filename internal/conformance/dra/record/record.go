// Package record writes down what a conformance check looks at, one note a look.
package record

import (
	"fmt"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
)

// Notes begins notes of one check.
type Notes struct {
	check.Recorder
	Clock clock.PassiveClock
}

// Note is one thing that is being looked at.
type Note struct {
	rec check.Recorder
	now clock.PassiveClock
	o   check.Observation
}

// Begin begins a note now.
func (n Notes) Begin(kind, target, command string) Note {
	return Note{rec: n.Recorder, now: n.Clock, o: check.Observation{Kind: kind, Target: target, Command: command, At: n.Clock.Now()}}
}

// Raw adds output as it came.
func (n Note) Raw(raw []byte) Note {
	n.o.Raw = raw
	return n
}

// Keep records what was seen or, when unseen is set, why nothing was. The error is
// the store's.
func (n Note) Keep(figures any, unseen error) error {
	n.o.Took.Duration = n.now.Since(n.o.At)
	if unseen != nil {
		n.o.Err = unseen.Error()
	} else {
		var err error
		if n.o, err = n.o.WithFigures(figures); err != nil {
			return fmt.Errorf("record %s: %w", n.o.Kind, err)
		}
	}
	if _, err := n.rec.Record(n.o); err != nil {
		return fmt.Errorf("record %s: %w", n.o.Kind, err)
	}
	return nil
}
