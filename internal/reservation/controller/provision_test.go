package controller

import (
	"errors"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// A row whose deployment can never get ready gets none: neither by day nor in the batch.
func TestRowThatCannotGetADeployment(t *testing.T) {
	without := func(config.Reservation) error { return errors.New("no node-count of it") }
	d := newRotationDay(t)
	d.opts.CanProvision = without
	out, err := d.Up(t.Context(), d.row, d.times())
	if err == nil || out.Reservation != d.row.Name {
		t.Errorf("%+v, %v", out, err)
	}
	if len(d.cloud.calls) > 0 || d.state(t).Events > 0 {
		t.Errorf("%v, %+v", d.cloud.calls, d.state(t))
	}
	n := newNight(t, "main/training")
	n.opts.CanProvision = without
	n.want(n.run(), "failed 1 no node-count of it")
	n.free()
	if n.cloud.called(hook.Provision) > 0 {
		t.Errorf("%v", n.cloud.calls)
	}
}
