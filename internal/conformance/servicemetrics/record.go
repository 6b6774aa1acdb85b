package servicemetrics

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// look is one thing that is looked at.
type look struct {
	kind, target, command string
	at                    time.Time
}

func (c *Check) look(kind, target, command string) look {
	return look{kind: kind, target: target, command: command, at: c.deps.Clock.Now()}
}

// keep records what was seen, or why nothing was.
func (c *Check) keep(rec check.Recorder, l look, figures any, seen error) error {
	o := check.Observation{Kind: l.kind, Target: l.target, Command: l.command, At: l.at, Took: metav1.Duration{Duration: c.deps.Clock.Since(l.at)}}
	if seen != nil {
		o.Err = seen.Error()
	} else {
		var err error
		if o, err = o.WithFigures(figures); err != nil {
			return fmt.Errorf("record %s: %w", l.kind, err)
		}
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record %s: %w", l.kind, err)
	}
	return nil
}
