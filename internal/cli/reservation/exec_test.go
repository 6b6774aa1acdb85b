package reservation

import (
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Renewals may fail for two thirds of an interval. The command is killed within the last third.
func TestCommandIsKilledBeforeItsLeaseCanExpire(t *testing.T) {
	for _, period := range []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour} {
		var g broker.Grant
		g.RenewInterval = lease.Duration(period)
		if after := killAfter([]broker.Grant{{}, g}); after <= 0 || period*2/3+after >= period {
			t.Errorf("with an interval of %s it is killed after %s", period, after)
		}
	}
	if killAfter([]broker.Grant{{}}) != killTimeout {
		t.Error("a lease without renewals has the whole time")
	}
}
