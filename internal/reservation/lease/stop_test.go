package lease

import (
	"testing"
	"time"
)

// Renewals may fail for two thirds of an interval. The work is killed within the last third.
func TestWorkIsKilledBeforeItsLeaseCanExpire(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 10 * time.Second, 44 * time.Second, time.Minute, time.Hour} {
		if stop := StopTime(interval); stop <= 0 || RenewFor(interval)+stop >= interval || stop > MaxStopTime {
			t.Errorf("with an interval of %s it is killed after %s", interval, stop)
		}
	}
	if StopTime(0) != MaxStopTime {
		t.Error("a lease without renewals has the whole time")
	}
}
