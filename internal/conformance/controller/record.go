package controller

import (
	"encoding/json"
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

func (w *walk) look(kind, target, command string, args ...any) look {
	return look{kind: kind, target: target, command: fmt.Sprintf(command, args...), at: w.deps.Clock.Now()}
}

// keep records what was seen, or why nothing was; raw are the objects themselves.
func (w *walk) keep(l look, figures, raw any, seen error) error {
	o := check.Observation{Kind: l.kind, Target: l.target, Command: l.command, At: l.at, Took: metav1.Duration{Duration: w.deps.Clock.Since(l.at)}}
	var err error
	if seen != nil {
		o.Err = seen.Error()
	} else if o, err = o.WithFigures(figures); err != nil {
		return err //nolint:wrapcheck // says what it encodes
	}
	if raw != nil {
		if o.Raw, err = json.MarshalIndent(raw, "", " "); err != nil {
			return fmt.Errorf("record %s: %w", l.kind, err)
		}
	}
	if _, err := w.rec.Record(o); err != nil {
		return fmt.Errorf("record %s: %w", l.kind, err)
	}
	return nil
}
